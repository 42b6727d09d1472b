package cuda

import (
	"context"
	"errors"
	"sync"
)

// handle is something of the library's that has to be released.
type handle interface {
	comparable
	Release() error
}

// copies are a key or a structure on the devices, made on each when a proof first needs it there.
type copies[T handle] struct {
	// turn is held by who makes a copy: all come from one source, and its memory or disk.
	turn chan struct{}
	mu   sync.Mutex
	on   map[*device]T
}

func newCopies[T handle]() copies[T] {
	return copies[T]{turn: make(chan struct{}, 1), on: map[*device]T{}}
}

// get returns the copy on a device, made by load if there is none yet.
func (c *copies[T]) get(ctx context.Context, d *device, load func() (T, error)) (T, error) {
	if made, ok := c.find(d); ok {
		return made, nil
	}
	select {
	case c.turn <- struct{}{}:
		defer func() { <-c.turn }()
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
	if made, ok := c.find(d); ok {
		return made, nil
	}
	made, err := load()
	if err != nil {
		return made, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.on[d] = made
	return made, nil
}

func (c *copies[T]) find(d *device) (T, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	made, ok := c.on[d]
	return made, ok
}

// all lists the copies.
func (c *copies[T]) all() []T {
	c.mu.Lock()
	defer c.mu.Unlock()
	var list []T
	for _, made := range c.on {
		list = append(list, made)
	}
	return list
}

// release gives all copies up. What a withdrawn device says to it is of no interest: it may be gone.
func (c *copies[T]) release(withdrawn func(*device) bool) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	var errs []error
	for d, made := range c.on {
		if err := made.Release(); err != nil && !withdrawn(d) {
			errs = append(errs, err)
		}
		delete(c.on, d)
	}
	return errors.Join(errs...)
}
