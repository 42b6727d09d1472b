//go:build linux

package node

import (
	"context"
	"fmt"
	"log"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"github.com/cuzk-dev/cuzk/test/cluster/internal/layout"
)

// supervisor starts programs and reaps every process of the node, since it runs as the first one.
type supervisor struct {
	node layout.Node
	env  []string

	mu   sync.Mutex
	ends map[int]chan syscall.WaitStatus // of the processes that we started
}

func newSupervisor(n layout.Node, env []string) *supervisor {
	s := &supervisor{node: n, env: env, ends: map[int]chan syscall.WaitStatus{}}
	go s.reap()
	return s
}

// reap waits for all children, its own and the orphans that the kernel gives to the first process.
func (s *supervisor) reap() {
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, 0, nil)
		switch {
		case err == syscall.EINTR:
		case err != nil: // no child at the moment
			time.Sleep(100 * time.Millisecond)
		default:
			s.mu.Lock() // start holds it until its process is known
			if end, ok := s.ends[pid]; ok {
				delete(s.ends, pid)
				end <- status
			}
			s.mu.Unlock()
		}
	}
}

// start starts a program whose output is appended to the log file of that name, and returns where its end is told.
func (s *supervisor) start(c component) (<-chan syscall.WaitStatus, error) {
	out, err := os.OpenFile(s.node.Log(c.name), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	// Not Wait but reap learns of the end.
	cmd := exec.Command(c.path, c.args...)
	cmd.Env, cmd.Stdout, cmd.Stderr, cmd.Dir = s.env, out, out, "/"
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	end := make(chan syscall.WaitStatus, 1)
	s.ends[cmd.Process.Pid] = end
	return end, nil
}

// run starts a program and waits for its success.
func (s *supervisor) run(c component) error {
	end, err := s.start(c)
	if err != nil {
		return err
	}
	if status := <-end; status.ExitStatus() != 0 {
		return fmt.Errorf("%s failed (%s): see %s", c.name, describe(status), s.node.Log(c.name))
	}
	return nil
}

// keep runs a program for ever: one that ends is started again after a second, as a machine's service manager does.
func (s *supervisor) keep(c component) error {
	end, err := s.start(c)
	if err != nil {
		return err
	}
	log.Printf("started %s", c.name)
	go func() {
		for {
			log.Printf("%s ended (%s); see %s; starting it again", c.name, describe(<-end), s.node.Log(c.name))
			for {
				time.Sleep(time.Second)
				if end, err = s.start(c); err == nil {
					break
				}
				log.Printf("start %s: %v", c.name, err)
			}
		}
	}()
	return nil
}

func describe(s syscall.WaitStatus) string {
	if s.Signaled() {
		return s.Signal().String()
	}
	return fmt.Sprintf("exit status %d", s.ExitStatus())
}

// await calls probe until it succeeds; after the limit its last error is returned.
func await(ctx context.Context, what string, limit time.Duration, probe func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	start := time.Now()
	for {
		err := probe(ctx)
		if err == nil {
			log.Printf("%s after %.1f s", what, time.Since(start).Seconds())
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("not %s after %s: %w", what, limit, err)
		case <-time.After(50 * time.Millisecond):
		}
	}
}
