package cuda

import (
	"context"
	"errors"
	"fmt"

	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/groth16/backend/cuda/internal/libcuzk"
	"github.com/cuzk-dev/cuzk/prover/memory"
)

// leastDriver is the first driver that knows CUDA 13.0, with which the library is built.
const leastDriver = 580

const useCPU = "or use --backend cpu, or auto, which falls back to it"

// explain turns an error of the library into one of its class that says what to do. where names the device, or is empty.
func explain(err error, where string) error {
	var absent *libcuzk.UnusableError
	var e *libcuzk.Error
	switch {
	case errors.As(err, &absent) && absent.Absent:
		return failure.New(failure.Backend, "%w", err).
			WithFix("put %s beside cuzk, or name it by %s, %s", libcuzk.FileName, libcuzk.Env, useCPU)
	case errors.As(err, &absent) && absent.Glibc != "":
		return failure.New(failure.Backend, "%w", err).
			WithFix("it needs glibc %s or newer: use a newer system or image, or build the library on this one (make cuda), %s", absent.Glibc, useCPU)
	case errors.As(err, &absent):
		return failure.New(failure.Backend, "%w", err).WithFix("use the %s of the same release, %s", libcuzk.FileName, useCPU)
	case !errors.As(err, &e):
		return err
	}
	if where != "" {
		err = fmt.Errorf("%s: %w", where, e)
	}
	switch e.Code {
	case libcuzk.NoDevice:
		return failure.New(failure.Backend, "there is no NVIDIA GPU to use: %w", err).
			WithFix("install NVIDIA's driver %d or newer and, in a container, ask for a GPU, %s", leastDriver, useCPU)
	case libcuzk.DriverTooOld:
		return failure.New(failure.Backend, "NVIDIA's driver is too old: %w", err).
			WithFix("install driver %d or newer, %s", leastDriver, useCPU)
	case libcuzk.ArchNotBuilt:
		return failure.New(failure.Backend, "the CUDA library holds no code for this GPU: %w", err).
			WithFix("use a library that is built for it (make cuda ARCHS=…), %s", useCPU)
	case libcuzk.OutOfMemory:
		return failure.New(failure.Memory, "the GPU's memory is short: %s (%w)", shortage(e), err).
			WithFix("free memory of the GPU or take one with more, %s", useCPU)
	case libcuzk.OutOfHostMemory:
		return failure.New(failure.Memory, "the memory of this machine is short: %s (%w)", shortage(e), err).WithFix("raise the memory limit")
	case libcuzk.Unsupported:
		return failure.New(failure.Backend, "the GPU lacks what the kernels need: %w", err).WithFix("use another GPU, %s", useCPU)
	case libcuzk.Cancelled:
		return context.Canceled
	case libcuzk.SelfTestFailed:
		return failure.New(failure.Backend, "the GPU computes wrongly: %w", err).WithFix("have the GPU checked, and use another one")
	case libcuzk.DeviceLost:
		return failure.New(failure.Backend, "the GPU failed: %w", err).WithFix("look for Xid messages of the kernel, and start cuzk again")
	}
	return failure.New(failure.Internal, "libcuzk: %w", err)
}

// shortage says how much memory was asked for, as far as that is known.
func shortage(e *libcuzk.Error) string {
	switch {
	case e.Asked == 0:
		return "more was asked for than there is"
	case e.Code == libcuzk.OutOfHostMemory:
		return memory.Size(e.Asked) + " asked for"
	}
	return fmt.Sprintf("%s asked for, %s free", memory.Size(e.Asked), memory.Size(e.Free))
}

// elsewhere reports that what failed on one device may work on another or without any, and withdraws that the device is to
// take no more work.
func elsewhere(err error) (yes, withdraw bool) {
	var unopened unopenedError
	if errors.As(err, &unopened) {
		return true, true
	}
	if errors.Is(err, errDomain) {
		return true, false
	}
	var e *libcuzk.Error
	if !errors.As(err, &e) {
		return false, false
	}
	switch e.Code {
	case libcuzk.OutOfMemory, libcuzk.OutOfHostMemory, libcuzk.Busy, libcuzk.Internal:
		return true, false
	case libcuzk.DeviceLost, libcuzk.SelfTestFailed, libcuzk.ArchNotBuilt, libcuzk.NoDevice, libcuzk.DriverTooOld, libcuzk.Unsupported:
		return true, true
	}
	return false, false
}
