// Package libcuzk is the CUDA engine's C interface (cuda/include/cuzk.h) in Go: it finds the shared library, opens it
// without cgo, and turns its handles and codes into Go values. It knows nothing of schedules, budgets or fallbacks.
//
// What it offers are interfaces, so that tests can put a library of their own in the place of the real one.
package libcuzk

import (
	"context"

	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/groth16"
	"github.com/cuzk-dev/cuzk/prover/r1cs"
)

// Library is an opened libcuzk. Everything may be used from any goroutine, but for what Proof says.
type Library interface {
	// Path is where it was found.
	Path() string
	// Build names the CUDA version and the architectures that it is built with.
	Build() string
	// Devices lists the machine's GPUs. It fails with NoDevice or DriverTooOld where there is none to use.
	Devices() ([]Device, error)
	// Memory is a device's free memory and all of it, in bytes.
	Memory(device int) (free, total int64, err error)
	// AllocateHost makes page-locked memory, from which data crosses to the device about twice as fast.
	AllocateHost(device, bytes int) ([]byte, error)
	FreeHost(device int, memory []byte) error
	// OpenEngine makes a device's context.
	OpenEngine(EngineOptions) (Engine, error)
}

// Device is a GPU.
type Device struct {
	Index int
	Name  string
	// UUID is written as nvidia-smi does: GPU-…
	UUID string
	// PCI is its address on the bus: domain:bus:device.
	PCI string
	// Major and Minor are the compute capability.
	Major, Minor int
	// Driver and Runtime are CUDA versions, 1000·major + 10·minor: what the driver knows, and what the library is
	// built with.
	Driver, Runtime int
	Memory          int64
	Multiprocessors int
	// Native says that the library holds machine code for the device; else its kernels are compiled on first use.
	Native bool
	// Architectures are those that the library is built for.
	Architectures string
}

// EngineOptions choose a device and its share; zero leaves a choice to the library.
type EngineOptions struct {
	Device      int
	DeviceLimit int64
	Lanes       int
	CopyThreads int
}

// EngineInfo is the state of an engine.
type EngineInfo struct {
	Lanes, LanesFree int
	Keys, Structures int
	// DeviceBytes is the device memory that the engine holds now.
	DeviceBytes int64
	// OpenMilliseconds is what making the context took, PrepareMilliseconds what the first self-test took to load or
	// compile kernels.
	OpenMilliseconds, PrepareMilliseconds float64
}

// Engine is a device at work.
type Engine interface {
	Info() (EngineInfo, error)
	// SelfTest proves small circuits and compares with what must come out.
	SelfTest() error
	// LoadKey copies a key to the device; the data is not needed afterwards. Cancelling ends it with Cancelled.
	LoadKey(ctx context.Context, k *KeyData) (Key, error)
	LoadStructure(ctx context.Context, m *r1cs.Matrices) (Structure, error)
	// Begin takes a lane and the memory of a proof.
	Begin(Key, ProofOptions) (Proof, error)
	// Close fails while keys, structures or proofs are there.
	Close() error
}

// KeyData is a proving key as its file holds it.
type KeyData struct {
	Curve                 curve.ID
	Layout                groth16.Layout
	Wires, Public, Domain int

	AlphaG1, BetaG1, DeltaG1 curve.G1
	BetaG2, DeltaG2          curve.G2
	// Counts, Points and Absent are indexed by groth16.Section. Points of a section are nil where Read is to read them.
	Counts [groth16.SectionH + 1]int
	Points [groth16.SectionH + 1][]byte
	Absent [groth16.SectionH + 1][]uint64
	// Read fills into with the points of a section from number first on. It is called while the key is loaded, one call at a
	// time; its error is the loading's.
	Read      func(section groth16.Section, first int, into []byte) error
	Committed []uint32
	// DeviceBudget and HostBudget bound the device memory and the page-locked memory of the key; zero does not.
	DeviceBudget, HostBudget int64
}

// KeyInfo says what a key takes, in bytes.
type KeyInfo struct {
	// Streamed says that points stay on the host for lack of device memory.
	Streamed    bool
	DeviceBytes int64
	HostBytes   int64
	// ProofDeviceBytes is what each proof under way takes besides.
	ProofDeviceBytes int64
}

// Key is a proving key on a device.
type Key interface {
	Info() (KeyInfo, error)
	Release() error
}

// Structure is a circuit's matrices on a device.
type Structure interface {
	Bytes() (int64, error)
	Release() error
}

// ProofOptions say what will be written.
type ProofOptions struct {
	// Structure evaluates the constraints; nil means that A, B and C are written.
	Structure Structure
	// Bits says that Bits and Values are written, and Witness holds the other wires only.
	Bits bool
	// Constraints is the number of elements of A, B and C, Witness that of the witness.
	Constraints, Witness int
}

// Vector names what is written.
type Vector uint32

const (
	Witness Vector = iota
	A
	B
	C
	Bits
	Values
)

// Proof is a proof under way. Its calls must not overlap, except Cancel, which may come at any time, also after Release.
type Proof interface {
	// Write hands over elements from offset on; they are not needed afterwards.
	Write(v Vector, form groth16.Form, offset int, elements []curve.Scalar) error
	// WriteWords hands over words of Bits or Values.
	WriteWords(v Vector, offset int, words []uint64) error
	Compute(r, s curve.Scalar) (*Result, error)
	Cancel()
	Release() error
}

// Result is a proof's points, as raw limbs, and its times.
type Result struct {
	A       curve.G1
	B       curve.G2
	C       curve.G1
	Timings Timings
}

// Timings are milliseconds on the device, by family; families may overlap.
type Timings struct {
	Upload, Evaluate                            float64
	PrepMSM, NTTMSMH, BatchAdd, BG2MSM, TailMSM float64
	GPUTotal                                    float64
}

// PointBytes is the size of a point of a section.
func (k *KeyData) PointBytes(section int) int {
	if groth16.Section(section) == groth16.SectionB2 {
		return k.Curve.G2Bytes()
	}
	return k.Curve.G1Bytes()
}
