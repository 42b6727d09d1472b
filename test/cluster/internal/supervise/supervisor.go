//go:build linux

// Package supervise runs programs as the first process of a process namespace must: it starts them again when they
// end, and reaps every process whose parent is gone.
package supervise

import (
	"context"
	"fmt"
	"log"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// Program is a command and the name of its log.
type Program struct {
	Name string
	Path string
	Args []string
}

// Supervisor starts programs. There is one in a process, the first of its namespace.
type Supervisor struct {
	env []string
	log func(name string) string

	mu   sync.Mutex
	ends map[int]chan syscall.WaitStatus // of the processes that we started
}

// New returns a supervisor whose programs get the environment env and write to the files that log names.
func New(env []string, log func(name string) string) *Supervisor {
	s := &Supervisor{env: env, log: log, ends: map[int]chan syscall.WaitStatus{}}
	go s.reap()
	return s
}

// reap waits for all children, its own and the orphans that the kernel gives to the first process.
func (s *Supervisor) reap() {
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, 0, nil)
		switch {
		case err == syscall.EINTR:
		case err != nil: // no child at the moment
			<-time.After(100 * time.Millisecond)
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
func (s *Supervisor) start(p Program) (<-chan syscall.WaitStatus, error) {
	out, err := os.OpenFile(s.log(p.Name), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	// Not Wait but reap learns of the end.
	cmd := exec.Command(p.Path, p.Args...)
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

// Run starts a program and waits for its success.
func (s *Supervisor) Run(p Program) error {
	end, err := s.start(p)
	if err != nil {
		return err
	}
	if status := <-end; status.ExitStatus() != 0 {
		return fmt.Errorf("%s failed (%s): see %s", p.Name, describe(status), s.log(p.Name))
	}
	return nil
}

// Keep runs a program for ever: one that ends is started again after a second, as a machine's service manager does.
func (s *Supervisor) Keep(p Program) error {
	end, err := s.start(p)
	if err != nil {
		return err
	}
	log.Printf("started %s", p.Name)
	go func() {
		for {
			log.Printf("%s ended (%s); see %s; starting it again", p.Name, describe(<-end), s.log(p.Name))
			for {
				<-time.After(time.Second)
				if end, err = s.start(p); err == nil {
					break
				}
				log.Printf("start %s: %v", p.Name, err)
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

// Await calls probe until it succeeds; after the limit its last error is returned.
func Await(ctx context.Context, what string, limit time.Duration, probe func(context.Context) error) error {
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
