package cuda

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/groth16"
	"github.com/cuzk-dev/cuzk/prover/groth16/backend/cpu"
	"github.com/cuzk-dev/cuzk/prover/groth16/backend/cuda/internal/libcuzk"
	"github.com/cuzk-dev/cuzk/prover/groth16/backend/internal/instance"
	"github.com/cuzk-dev/cuzk/prover/r1cs"
)

// fakeLibrary is a library whose devices compute on the processor, and fail as told.
type fakeLibrary struct {
	engines []*fakeEngine
	err     error // of Devices

	mu     sync.Mutex
	pinned map[int]int // bytes, by device
}

func (l *fakeLibrary) Path() string  { return "fake" }
func (l *fakeLibrary) Build() string { return "CUDA 13.0, 90" }

func (l *fakeLibrary) Devices() ([]libcuzk.Device, error) {
	if l.err != nil {
		return nil, l.err
	}
	var devices []libcuzk.Device
	for i := range l.engines {
		devices = append(devices, libcuzk.Device{Index: i, Name: "Fake", UUID: "GPU-" + string(rune('a'+i)), Native: i == 0})
	}
	return devices, nil
}

func (l *fakeLibrary) Memory(int) (free, total int64, err error) { return 1 << 30, 2 << 30, nil }

func (l *fakeLibrary) AllocateHost(device, bytes int) ([]byte, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.engines[device].pinError; err != nil {
		return nil, err
	}
	if l.pinned == nil {
		l.pinned = map[int]int{}
	}
	l.pinned[device] += bytes
	return make([]byte, bytes), nil
}

func (l *fakeLibrary) FreeHost(device int, memory []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pinned[device] -= len(memory)
	if slices.ContainsFunc(memory, func(b byte) bool { return b != 0 }) {
		return errors.New("a buffer was not cleared")
	}
	return nil
}

func (l *fakeLibrary) OpenEngine(o libcuzk.EngineOptions) (libcuzk.Engine, error) {
	e := l.engines[o.Device]
	e.count(&e.tried, 1)
	if e.openError != nil {
		return nil, e.openError
	}
	e.opened++
	e.lanes = o.Lanes
	return e, nil
}

// fakeEngine is a device. What it does wrong can be changed between proofs.
type fakeEngine struct {
	openError, pinError, selfTestError, loadError, beginError, computeError, releaseError error
	// corrupt changes a proof.
	corrupt func(*libcuzk.Result)
	// atCompute is called when a proof is computed.
	atCompute func()

	mu                       sync.Mutex
	tried, opened            int // to be opened; was opened
	closed, lanes            int
	keys, structures, proofs int
	loads, computed          int
	// hostBytes is what a key takes on the host, hostBudget what the last one was allowed to.
	hostBytes, hostBudget int64
}

func (e *fakeEngine) count(what *int, n int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	*what += n
}

func (e *fakeEngine) takeLane() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.proofs == e.lanes {
		return false
	}
	e.proofs++
	return true
}

func (e *fakeEngine) Info() (libcuzk.EngineInfo, error) {
	return libcuzk.EngineInfo{Lanes: e.lanes, Keys: e.keys, Structures: e.structures}, nil
}

func (e *fakeEngine) SelfTest() error {
	if !e.takeLane() {
		return errBusy
	}
	e.count(&e.proofs, -1)
	return e.selfTestError
}

var errBusy = &libcuzk.Error{Code: libcuzk.Busy, Message: "all lanes have a proof under way"}

func (e *fakeEngine) Close() error {
	e.closed++
	if e.keys+e.structures+e.proofs > 0 {
		return errors.New("something was not released")
	}
	return nil
}

// source is key data as a source; the points are copied, since those of the caller go.
type source struct{ *libcuzk.KeyData }

func (s source) Curve() curve.ID         { return s.KeyData.Curve }
func (s source) Layout() groth16.Layout  { return s.KeyData.Layout }
func (s source) Wires() int              { return s.KeyData.Wires }
func (s source) Public() int             { return s.KeyData.Public }
func (s source) Domain() int             { return s.KeyData.Domain }
func (s source) AlphaG1() curve.G1       { return s.KeyData.AlphaG1 }
func (s source) BetaG1() curve.G1        { return s.KeyData.BetaG1 }
func (s source) DeltaG1() curve.G1       { return s.KeyData.DeltaG1 }
func (s source) BetaG2() curve.G2        { return s.KeyData.BetaG2 }
func (s source) DeltaG2() curve.G2       { return s.KeyData.DeltaG2 }
func (s source) Committed() []uint32     { return s.KeyData.Committed }
func (s source) Resident() bool          { return false }
func (s source) Digest() (none [32]byte) { return none }
func (s source) Close() error            { return nil }
func (s source) Points(n groth16.Section) ([]byte, error) {
	if s.Read == nil {
		return slices.Clone(s.KeyData.Points[n]), nil
	}
	size := s.PointBytes(int(n))
	points := make([]byte, size*s.Counts[n])
	half := len(points) / 2 / size
	return points, errors.Join(s.Read(n, 0, points[:half*size]), s.Read(n, half, points[half*size:]))
}
func (s source) Absent(n groth16.Section) []uint64 { return s.KeyData.Absent[n] }

// processor computes for all fake devices.
var processor = cpu.New(cpu.Config{Proofs: 4})

type fakeKey struct {
	groth16.Key
	engine *fakeEngine
}

func (e *fakeEngine) LoadKey(ctx context.Context, k *libcuzk.KeyData) (libcuzk.Key, error) {
	e.count(&e.loads, 1)
	e.hostBudget = k.HostBudget
	if e.loadError != nil {
		return nil, e.loadError
	}
	key, err := processor.LoadKey(ctx, source{k}, groth16.Budget{})
	if err != nil {
		return nil, err
	}
	e.count(&e.keys, 1)
	return &fakeKey{key, e}, nil
}

func (k *fakeKey) Info() (libcuzk.KeyInfo, error) {
	return libcuzk.KeyInfo{HostBytes: k.engine.hostBytes, DeviceBytes: 1000, ProofDeviceBytes: 100}, nil
}

func (k *fakeKey) Release() error {
	k.engine.count(&k.engine.keys, -1)
	return errors.Join(k.Close(), k.engine.releaseError)
}

type fakeStructure struct {
	groth16.Structure
	engine *fakeEngine
}

func (e *fakeEngine) LoadStructure(ctx context.Context, m *r1cs.Matrices) (libcuzk.Structure, error) {
	s, err := processor.LoadStructure(ctx, m)
	if err != nil {
		return nil, err
	}
	e.count(&e.structures, 1)
	return &fakeStructure{s, e}, nil
}

func (s *fakeStructure) Bytes() (int64, error) { return 10, nil }
func (s *fakeStructure) Release() error        { s.engine.count(&s.engine.structures, -1); return s.Close() }

// fakeProof gathers what is written.
type fakeProof struct {
	engine  *fakeEngine
	key     *fakeKey
	options libcuzk.ProofOptions
	vectors map[libcuzk.Vector]*instance.Vector
	words   map[libcuzk.Vector][]uint64
	ctx     context.Context
	cancel  context.CancelFunc
}

func (e *fakeEngine) Begin(key libcuzk.Key, o libcuzk.ProofOptions) (libcuzk.Proof, error) {
	if e.beginError != nil {
		return nil, e.beginError
	}
	if !e.takeLane() {
		return nil, errBusy
	}
	p := &fakeProof{engine: e, key: key.(*fakeKey), options: o, vectors: map[libcuzk.Vector]*instance.Vector{}, words: map[libcuzk.Vector][]uint64{}}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	return p, nil
}

func (p *fakeProof) Write(v libcuzk.Vector, form groth16.Form, offset int, elements []curve.Scalar) error {
	if p.ctx.Err() != nil {
		return &libcuzk.Error{Code: libcuzk.Cancelled}
	}
	if p.vectors[v] == nil {
		p.vectors[v] = &instance.Vector{Encoding: form}
	}
	all := p.vectors[v]
	if len(all.Elements) != offset || all.Encoding != form {
		return &libcuzk.Error{Code: libcuzk.Invalid, Message: "pieces do not follow each other"}
	}
	all.Elements = append(all.Elements, elements...)
	return nil
}

func (p *fakeProof) WriteWords(v libcuzk.Vector, offset int, words []uint64) error {
	p.words[v] = append(p.words[v][:offset], words...)
	return nil
}

func (p *fakeProof) assignment() groth16.Assignment {
	vector := func(v libcuzk.Vector) groth16.Vector {
		if p.vectors[v] == nil {
			return instance.Vector{}
		}
		return *p.vectors[v]
	}
	if p.options.Structure != nil {
		return groth16.Packed{
			Structure: p.options.Structure.(*fakeStructure).Structure, Witness: vector(libcuzk.Witness),
			Bits: p.words[libcuzk.Bits], Values: p.words[libcuzk.Values],
		}
	}
	e := groth16.Evaluated{A: vector(libcuzk.A), B: vector(libcuzk.B), Witness: vector(libcuzk.Witness)}
	if p.vectors[libcuzk.C] != nil || p.options.Constraints == 0 {
		e.C = vector(libcuzk.C)
	}
	return e
}

func (p *fakeProof) Compute(r, s curve.Scalar) (*libcuzk.Result, error) {
	e := p.engine
	if e.atCompute != nil {
		e.atCompute()
	}
	e.count(&e.computed, 1)
	if e.computeError != nil {
		return nil, e.computeError
	}
	ticket, err := processor.Submit(p.ctx, p.key.Key, p.assignment(), r, s, groth16.Options{})
	if err != nil {
		return nil, err
	}
	proof, err := ticket.Wait(context.Background())
	if p.ctx.Err() != nil {
		return nil, &libcuzk.Error{Code: libcuzk.Cancelled}
	}
	if err != nil {
		return nil, err
	}
	result := &libcuzk.Result{A: proof.A, B: proof.B, C: proof.C, Timings: libcuzk.Timings{GPUTotal: 1}}
	if e.corrupt != nil {
		e.corrupt(result)
	}
	return result, nil
}

func (p *fakeProof) Cancel()        { p.cancel() }
func (p *fakeProof) Release() error { p.engine.count(&p.engine.proofs, -1); return nil }
