package cuda

import (
	"errors"

	"github.com/cuzk-dev/cuzk/prover/groth16/backend/cuda/internal/libcuzk"
)

// Survey is what a machine has for this backend.
type Survey struct {
	// Library is where libcuzk was found, Build the CUDA version and architectures that it is built with.
	Library, Build string
	Devices        []DeviceState
}

// DeviceState is a GPU as it is found.
type DeviceState struct {
	Name, UUID, PCI string
	// ComputeMajor and ComputeMinor are its compute capability.
	ComputeMajor, ComputeMinor int
	// DriverCUDA and LibraryCUDA are versions of CUDA, 1000·major + 10·minor: what the driver knows, and what the library
	// is built with.
	DriverCUDA, LibraryCUDA int
	Multiprocessors         int
	FreeBytes, TotalBytes   int64
	// Native says that the library holds machine code for the device; else its kernels are compiled on first use.
	Native bool
	// Tested says that the self-test ran; Fault is why the device cannot be used, or nil.
	Tested bool
	Fault  error
	// OpenMilliseconds is what making the device's context took, PrepareMilliseconds what loading or compiling kernels took.
	OpenMilliseconds, PrepareMilliseconds float64
}

// Look lists the machine's GPUs, and tests each if asked to. It fails where there is none, and says why.
func Look(selfTest bool) (*Survey, error) { return look(nil, selfTest) }

func look(library libcuzk.Library, selfTest bool) (*Survey, error) {
	library, devices, err := discover(library)
	if err != nil {
		return nil, err
	}
	s := &Survey{Library: library.Path(), Build: library.Build()}
	for _, d := range devices {
		state := DeviceState{
			Name: d.Name, UUID: d.UUID, PCI: d.PCI, ComputeMajor: d.Major, ComputeMinor: d.Minor, DriverCUDA: d.Driver, LibraryCUDA: d.Runtime,
			Multiprocessors: d.Multiprocessors, TotalBytes: d.Memory, Native: d.Native,
		}
		if state.FreeBytes, _, err = library.Memory(d.Index); err != nil {
			state.Fault = explain(err, d.UUID)
		} else if selfTest {
			state.test(library, d)
		}
		s.Devices = append(s.Devices, state)
	}
	return s, nil
}

// test opens a device, tests it and closes it.
func (s *DeviceState) test(library libcuzk.Library, d libcuzk.Device) {
	s.Tested = true
	engine, err := library.OpenEngine(libcuzk.EngineOptions{Device: d.Index, Lanes: 1})
	if err != nil {
		s.Fault = explain(err, d.UUID)
		return
	}
	err = engine.SelfTest()
	if info, infoErr := engine.Info(); infoErr == nil {
		s.OpenMilliseconds, s.PrepareMilliseconds = info.OpenMilliseconds, info.PrepareMilliseconds
	}
	s.Fault = explain(errors.Join(err, engine.Close()), d.UUID)
}
