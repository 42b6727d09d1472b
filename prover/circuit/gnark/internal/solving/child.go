package solving

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"runtime"
	"runtime/debug"

	"github.com/consensys/gnark/logger"
	"golang.org/x/sys/unix"

	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/groth16"
)

// Serve is the child's main function: it answers requests until the parent closes its end of the socket, and returns the
// exit code.
func Serve() int {
	if err := serve(); err != nil {
		fmt.Fprintln(os.Stderr, SetupError+err.Error())
		return 1
	}
	return 0
}

func serve() error {
	if err := confine(); err != nil {
		return err
	}
	os.Clearenv()
	// gnark's log holds values of wires.
	logger.Disable()
	f := os.NewFile(SocketFD, "socket")
	conn, err := net.FileConn(f)
	if err != nil {
		return fmt.Errorf("the solver is started by a prover, not by hand: %w", err)
	}
	_ = f.Close() // The connection has a descriptor of its own.
	socket, ok := conn.(*net.UnixConn)
	if !ok {
		return errors.New("the solver is started by a prover, not by hand: its socket is none")
	}
	requests := make(chan request)
	go receive(socket, requests)
	var c *circuit
	for r := range requests {
		reply := handle(&c, r)
		for _, fd := range r.files {
			_ = unix.Close(fd) // What it named is mapped.
		}
		data, err := json.Marshal(reply)
		if err != nil {
			return err
		}
		if _, err := socket.Write(data); err != nil {
			return err
		}
	}
	return nil
}

// SetupError begins the line that a child writes to its standard error when it ends because of something between it and
// its parent, or the system, not because of gnark.
const SetupError = "gnark solver: "

type request struct {
	Request
	files []int
}

// receive hands on requests. When the parent is gone, the process ends at once, whatever it is doing: nobody waits for
// the result, and the memory is wanted elsewhere.
func receive(socket *net.UnixConn, requests chan<- request) {
	data, rights := make([]byte, MessageBytes), make([]byte, 128)
	for {
		n, m, _, _, err := socket.ReadMsgUnix(data, rights)
		if err != nil || n == 0 {
			os.Exit(0)
		}
		r := request{}
		if err := json.Unmarshal(data[:n], &r.Request); err != nil {
			fmt.Fprintln(os.Stderr, SetupError+"read a request:", err)
			os.Exit(1)
		}
		messages, err := unix.ParseSocketControlMessage(rights[:m])
		if err == nil && len(messages) > 0 {
			r.files, err = unix.ParseUnixRights(&messages[0])
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, SetupError+"read a request's descriptors:", err)
			os.Exit(1)
		}
		requests <- r
	}
}

// handle answers one request. A panic of gnark on this goroutine is an answer too; on another, it ends the process, and
// the parent finds it on the standard error.
func handle(c **circuit, r request) (reply Reply) {
	fault := FaultSystem
	if r.Solve != nil {
		fault = FaultInput
	}
	defer func() {
		if p := recover(); p != nil {
			reply = Reply{Failure: &Failure{Fault: fault, Text: "gnark panicked: " + WithoutNumbers(fmt.Sprint(p)), Constraint: -1}}
		}
	}()
	switch {
	case r.Load != nil && *c == nil && len(r.files) >= 1:
		loaded, failure := load(r.Load, r.files)
		if failure != nil {
			return Reply{Failure: failure}
		}
		*c = loaded
		missing := loaded.missing()
		return Reply{MissingCount: len(missing), Missing: missing[:min(len(missing), 100)]}
	case r.Solve != nil && *c != nil && len(r.files) == 1:
		return Reply{Failure: (*c).run(r.Solve, r.files[0])}
	}
	return Reply{Failure: internalFailure(errors.New("a request that does not fit"))}
}

func load(l *Load, files []int) (*circuit, *Failure) {
	if l.Threads > 0 {
		runtime.GOMAXPROCS(l.Threads)
	}
	engine, err := engineOf(l.Curve)
	if err != nil {
		return nil, internalFailure(err)
	}
	data, err := unix.Mmap(files[0], 0, int(l.FileBytes), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil, internalFailure(fmt.Errorf("map the constraint system: %w", err))
	}
	c := &circuit{id: l.Curve, engine: engine, shape: l.Shape, hash: groth16.CommitmentHash(l.Hash), threads: l.Threads}
	if size := l.Shape.KeyBytes(l.Curve); size > 0 {
		if len(files) != 2 {
			return nil, internalFailure(errors.New("the commitment keys are missing"))
		}
		memory, err := unix.Mmap(files[1], 0, int(size), unix.PROT_READ, unix.MAP_SHARED)
		if err != nil {
			return nil, internalFailure(fmt.Errorf("map the commitment keys: %w", err))
		}
		c.keys = commitmentKeys(memory, l.Curve, l.Shape.Committed)
	} else {
		c.keys = make([]commitmentKey, len(l.Shape.Committed))
	}
	if err := limitMemory(l.MemoryBytes); err != nil {
		return nil, internalFailure(err)
	}
	system, coefficients, err := engine.decode(bytes.NewReader(data))
	if err != nil {
		return nil, &Failure{Fault: FaultSystem, Text: "gnark cannot decode it: " + err.Error(), Constraint: -1}
	}
	if err := unix.Munmap(data); err != nil {
		return nil, internalFailure(err)
	}
	if err := checkStructure(system, coefficients, &l.Shape); err != nil {
		return nil, &Failure{Fault: FaultSystem, Text: "its instructions are damaged: " + err.Error(), Constraint: -1}
	}
	c.system = system
	// What decoding left behind would count against solving.
	debug.FreeOSMemory()
	return c, nil
}

// run maps the memory of a Solve, and solves.
func (c *circuit) run(s *Solve, file int) *Failure {
	size := c.shape.Bytes(c.id)
	memory, err := unix.Mmap(file, 0, int(size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return internalFailure(fmt.Errorf("map the assignment: %w", err))
	}
	defer func() { _ = unix.Munmap(memory) }() // The parent has the memory; here only the address is given back.
	all := scalarsOf(memory[:(c.shape.Wires()+3*c.shape.Constraints)*curve.ScalarBytes])
	n, m := c.shape.Wires(), c.shape.Constraints
	to := &assignment{w: all[:n], a: all[n : n+m], b: all[n+m : n+2*m], c: all[n+2*m:], commitments: memory[len(all)*curve.ScalarBytes:]}
	if s.Complete {
		return c.complete(to)
	}
	return c.solve(to)
}
