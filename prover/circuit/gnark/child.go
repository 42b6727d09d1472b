package gnark

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/cuzk-dev/cuzk/prover/circuit/gnark/internal/solving"
	"github.com/cuzk-dev/cuzk/prover/failure"
)

// ready says that Main was called, so that a child of this program will reach it too.
var ready atomic.Bool

// Main must be the first thing that the main function of a program with a Solver does (of its tests, TestMain), before it
// looks at arguments, but after hints are registered. In the program itself it returns at once; in a child, which is the
// same program, it solves circuits for its parent and does not return.
func Main() {
	ready.Store(true)
	if os.Getenv(solving.EnvChild) != "" {
		os.Exit(solving.Serve())
	}
}

// child is a running solver process.
type child struct {
	command *exec.Cmd
	socket  *net.UnixConn
	stderr  *headAndTail
	ended   chan struct{}
	dead    bool
}

// crashError is the end of a child that was not asked to end.
type crashError struct {
	cause crashCause
	text  string
}

type crashCause int

const (
	crashOther crashCause = iota
	crashMemory
	crashKilled
	crashSetup
)

func (e *crashError) Error() string { return "the solver ended: " + e.text }

func startChild() (*child, error) {
	if !ready.Load() {
		return nil, failure.New(failure.Internal, "the program does not call Main of prover/circuit/gnark, so it cannot start a solver")
	}
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, failure.New(failure.Internal, "make a socket for the solver: %w", err)
	}
	own, others := os.NewFile(uintptr(pair[0]), "solver"), os.NewFile(uintptr(pair[1]), "solver")
	defer own.Close()
	defer others.Close()
	conn, err := net.FileConn(own)
	if err != nil {
		return nil, failure.New(failure.Internal, "make a socket for the solver: %w", err)
	}
	c := &child{socket: conn.(*net.UnixConn), stderr: &headAndTail{}, ended: make(chan struct{})}
	// Of this process the child gets the socket and nothing else: no arguments, environment, working directory or
	// descriptors. It is in a group of its own, so that a terminal's interrupt reaches the parent alone, which then
	// ends it.
	c.command = &exec.Cmd{Path: "/proc/self/exe", Args: []string{"cuzk-gnark-solver"}, Env: []string{solving.EnvChild + "=1"}, Dir: "/",
		ExtraFiles: []*os.File{others}, Stderr: c.stderr, SysProcAttr: &syscall.SysProcAttr{Setpgid: true}}
	if err := c.command.Start(); err != nil {
		_ = conn.Close() // It was not used.
		return nil, failure.New(failure.Internal, "start the solver: %w", err)
	}
	go func() {
		defer close(c.ended)
		_ = c.command.Wait() // The state is looked at where it matters.
	}()
	return c, nil
}

// call sends a request with descriptors and waits for the reply. When the context ends first, or the child does, the
// child is dead afterwards.
func (c *child) call(ctx context.Context, r solving.Request, files []int) (*solving.Reply, error) {
	data, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = c.command.Process.Kill() })
	var reply solving.Reply
	if _, _, err = c.socket.WriteMsgUnix(data, unix.UnixRights(files...), nil); err == nil {
		buffer := make([]byte, solving.MessageBytes)
		var n int
		if n, err = c.socket.Read(buffer); err == nil && n > 0 {
			err = json.Unmarshal(buffer[:n], &reply)
		} else if err == nil {
			err = errors.New("the solver closed its socket")
		}
	}
	if err == nil {
		if !stop() {
			c.kill() // The context ended with the reply: the child is killed already, and the reply is good.
		}
		return &reply, nil
	}
	stop()
	c.kill()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return nil, c.crash()
}

// crash says why the child ended.
func (c *child) crash() *crashError {
	text := c.stderr.String()
	status, _ := c.command.ProcessState.Sys().(syscall.WaitStatus)
	for _, sign := range []string{"out of memory", "cannot allocate memory", "cannot map pages", "failed to allocate", "errno=12"} {
		if strings.Contains(text, sign) {
			return &crashError{cause: crashMemory, text: "out of memory"}
		}
	}
	if status.Signaled() && status.Signal() == syscall.SIGKILL {
		return &crashError{cause: crashKilled, text: "killed"}
	}
	// The first line says it; the stack that follows is for developers of gnark.
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if cause, ok := strings.CutPrefix(line, solving.SetupError); ok {
			return &crashError{cause: crashSetup, text: cause}
		}
		for _, prefix := range []string{"panic: ", "fatal error: ", "SIG"} {
			if strings.HasPrefix(line, prefix) {
				return &crashError{text: solving.WithoutNumbers(line)}
			}
		}
	}
	return &crashError{text: fmt.Sprint(c.command.ProcessState)}
}

// kill ends the child and waits for its end.
func (c *child) kill() {
	c.dead = true
	_ = c.command.Process.Kill() // It may have ended already.
	<-c.ended
	_ = c.socket.Close()
}

// headAndTail keeps the beginning and the end of what a child writes to its standard error.
type headAndTail struct {
	mu   sync.Mutex
	head []byte
	tail []byte
}

const keptBytes = 8 << 10

func (h *headAndTail) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	n := len(p)
	if room := keptBytes - len(h.head); room > 0 {
		k := min(room, len(p))
		h.head = append(h.head, p[:k]...)
		p = p[k:]
	}
	if h.tail = append(h.tail, p...); len(h.tail) > keptBytes {
		h.tail = bytes.Clone(h.tail[len(h.tail)-keptBytes:])
	}
	return n, nil
}

func (h *headAndTail) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return string(h.head) + string(h.tail)
}
