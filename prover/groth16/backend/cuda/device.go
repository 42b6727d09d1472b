package cuda

import (
	"errors"
	"fmt"
	"sync"
	"time"
	"unsafe"

	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/groth16/backend/cuda/internal/libcuzk"
	"github.com/cuzk-dev/cuzk/prover/stage"
)

// device is a GPU with its lanes, each for one proof under way.
type device struct {
	libcuzk.Device
	library libcuzk.Library
	options libcuzk.EngineOptions

	// Guarded by the queue: lanes that are free, and why the device takes no work.
	free  int
	fault error

	once   sync.Once
	engine libcuzk.Engine
	err    error
	// staging are page-locked buffers, one a lane, through which vectors are read.
	staging chan []curve.Scalar
	memory  [][]byte
	// compiled is told to one proof, if kernels had to be compiled.
	compiled chan stage.Span
}

func newDevice(library libcuzk.Library, info libcuzk.Device, lanes, copyThreads int) *device {
	return &device{
		Device: info, library: library, options: libcuzk.EngineOptions{Device: info.Index, Lanes: lanes, CopyThreads: copyThreads},
		free: lanes, staging: make(chan []curve.Scalar, lanes), compiled: make(chan stage.Span, 1),
	}
}

func (d *device) String() string { return fmt.Sprintf("%s (%s)", d.UUID, d.Name) }

// unopenedError is why a device could not be opened. It is not tried again.
type unopenedError struct{ error }

func (e unopenedError) Unwrap() error { return e.error }

// ready opens the device and tests it, once.
func (d *device) ready() (libcuzk.Engine, error) {
	d.once.Do(func() {
		if err := d.open(); err != nil {
			d.err = unopenedError{errors.Join(err, d.close())}
		}
	})
	return d.engine, d.err
}

func (d *device) open() (err error) {
	start := time.Now()
	if d.engine, err = d.library.OpenEngine(d.options); err != nil {
		return err
	}
	if err := d.engine.SelfTest(); err != nil {
		return err
	}
	if !d.Native {
		d.compiled <- stage.Span{Stage: stage.JIT, Lane: d.UUID, Start: start, End: time.Now()}
	}
	for range d.options.Lanes {
		memory, err := d.library.AllocateHost(d.Index, stagingScalars*curve.ScalarBytes)
		if err != nil {
			return err
		}
		d.memory = append(d.memory, memory)
		d.staging <- unsafe.Slice((*curve.Scalar)(unsafe.Pointer(unsafe.SliceData(memory))), stagingScalars)
	}
	return nil
}

// close gives up what open took; keys, structures and proofs must be gone.
func (d *device) close() error {
	var errs []error
	for _, m := range d.memory {
		errs = append(errs, d.library.FreeHost(d.Index, m))
	}
	d.memory = nil
	if d.engine != nil {
		errs = append(errs, d.engine.Close())
		d.engine = nil
	}
	return errors.Join(errs...)
}
