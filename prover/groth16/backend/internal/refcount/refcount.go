// Package refcount keeps a thing until its last user is done with it, also after it was closed.
package refcount

import (
	"errors"
	"sync"
)

// Counter counts the users of a thing; the zero value has none. It is safe for concurrent use.
type Counter struct {
	mu      sync.Mutex
	users   int
	closed  bool
	release func() error
}

var errClosed = errors.New("it has been closed")

// OnRelease sets what gives the thing up, once.
func (c *Counter) OnRelease(release func() error) { c.release = release }

// Acquire adds a user, who calls Done once; a closed thing takes none.
func (c *Counter) Acquire() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return errClosed
	}
	c.users++
	return nil
}

// Done ends a user's hold.
func (c *Counter) Done() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.users--
	return c.releaseIfUnused()
}

// Close gives the thing up; what uses it keeps it until it is done. Closing again does nothing.
func (c *Counter) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	return c.releaseIfUnused()
}

func (c *Counter) releaseIfUnused() error {
	if !c.closed || c.users > 0 || c.release == nil {
		return nil
	}
	release := c.release
	c.release = nil
	return release()
}
