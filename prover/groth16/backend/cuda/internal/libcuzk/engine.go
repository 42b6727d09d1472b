//go:build linux && (amd64 || arm64) && !nocuda

package libcuzk

import (
	"context"
	"fmt"
	"runtime"
	"sync/atomic"
	"unsafe"

	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/r1cs"
)

type nativeEngine struct {
	*functions
	handle handle
}

func (n *nativeEngine) Info() (EngineInfo, error) {
	var e cError
	info := cEngineInfo{size: uint32(unsafe.Sizeof(cEngineInfo{}))}
	if err := e.check(n.engineInfo(n.handle, &info, &e)); err != nil {
		return EngineInfo{}, err
	}
	return EngineInfo{
		Lanes: int(info.lanes), LanesFree: int(info.lanesFree), Keys: int(info.keys), Structures: int(info.structures),
		DeviceBytes: int64(info.deviceBytes), OpenMilliseconds: info.openMS, PrepareMilliseconds: info.prepareMS,
	}, nil
}

func (n *nativeEngine) SelfTest() error {
	var e cError
	return e.check(n.engineSelftest(n.handle, &e))
}

func (n *nativeEngine) Close() error {
	var e cError
	return e.check(n.engineClose(n.handle, &e))
}

// flag is a word that becomes one when the context ends; stop must be called when nobody reads it any more.
func flag(ctx context.Context) (word *uint32, stop func()) {
	word = new(uint32)
	done := context.AfterFunc(ctx, func() { atomic.StoreUint32(word, 1) })
	return word, func() { done(); runtime.KeepAlive(word) }
}

func (n *nativeEngine) LoadKey(ctx context.Context, k *KeyData) (Key, error) {
	id, err := curveNumber(k.Curve)
	if err != nil {
		return nil, err
	}
	cancel, stop := flag(ctx)
	defer stop()
	source := cKeySource{
		size: uint32(unsafe.Sizeof(cKeySource{})), curve: id, layout: uint32(k.Layout),
		wires: uint64(k.Wires), publicInputs: uint64(k.Public), domain: uint64(k.Domain),
		alphaG1: first(k.AlphaG1), betaG1: first(k.BetaG1), deltaG1: first(k.DeltaG1), betaG2: first(k.BetaG2), deltaG2: first(k.DeltaG2),
		committed: first(k.Committed), committedCount: uint64(len(k.Committed)),
		deviceBudget: uint64(k.DeviceBudget), hostBudget: uint64(k.HostBudget), cancel: cancel,
	}
	for i := range source.section {
		source.section[i] = cSection{
			points: first(k.Points[i]), count: uint64(k.Counts[i]), absent: first(k.Absent[i]), absentWords: uint64(len(k.Absent[i])),
		}
	}
	var asked *reading
	if k.Read != nil {
		asked = startReading(k)
		defer asked.stop()
		source.read, source.readContext = readCallback(), asked.number
	}
	var e cError
	key := &nativeKey{functions: n.functions}
	err = e.check(n.keyLoad(n.handle, &source, &key.handle, &e))
	runtime.KeepAlive(k)
	if asked != nil && asked.err != nil {
		return nil, asked.err
	}
	if err != nil {
		return nil, err
	}
	return key, nil
}

func (n *nativeEngine) LoadStructure(ctx context.Context, m *r1cs.Matrices) (Structure, error) {
	id, err := curveNumber(m.Curve)
	if err != nil {
		return nil, err
	}
	cancel, stop := flag(ctx)
	defer stop()
	source := cStructureSource{
		size: uint32(unsafe.Sizeof(cStructureSource{})), curve: id, wires: uint64(m.Wires), publicInputs: uint64(m.Public),
		constraints: uint64(m.Constraints), a: matrix(m.A), b: matrix(m.B), c: matrix(m.C),
		coefficients: first(m.Coefficients), coefficientCount: uint64(len(m.Coefficients)), cancel: cancel,
	}
	var e cError
	structure := &nativeStructure{functions: n.functions}
	err = e.check(n.structureLoad(n.handle, &source, &structure.handle, &e))
	runtime.KeepAlive(m)
	if err != nil {
		return nil, err
	}
	return structure, nil
}

func matrix(m *r1cs.Matrix) cMatrix {
	if m == nil {
		return cMatrix{}
	}
	return cMatrix{start: first(m.Start), wire: first(m.Wire), coefficient: first(m.Coefficient), entries: uint64(len(m.Wire))}
}

// first is the address of a slice's memory, nil for an empty one.
func first[S ~[]E, E any](s S) unsafe.Pointer {
	if len(s) == 0 {
		return nil
	}
	return unsafe.Pointer(unsafe.SliceData(s))
}

// curveNumber is the curve's value of enum cuzk_curve.
func curveNumber(id curve.ID) (uint32, error) {
	switch id {
	case curve.BN254:
		return 0, nil
	case curve.BLS12381:
		return 1, nil
	}
	return 0, fmt.Errorf("unknown curve %q", id)
}

type nativeKey struct {
	*functions
	handle handle
}

func (k *nativeKey) Info() (KeyInfo, error) {
	var e cError
	info := cKeyInfo{size: uint32(unsafe.Sizeof(cKeyInfo{}))}
	if err := e.check(k.keyInfo(k.handle, &info, &e)); err != nil {
		return KeyInfo{}, err
	}
	return KeyInfo{
		Streamed: info.streamed != 0, DeviceBytes: int64(info.deviceBytes), HostBytes: int64(info.hostBytes),
		ProofDeviceBytes: int64(info.proofDeviceBytes),
	}, nil
}

func (k *nativeKey) Release() error {
	var e cError
	return e.check(k.keyRelease(k.handle, &e))
}

type nativeStructure struct {
	*functions
	handle handle
}

func (s *nativeStructure) Bytes() (int64, error) {
	var e cError
	var bytes uint64
	err := e.check(s.structureBytes(s.handle, &bytes, &e))
	return int64(bytes), err
}

func (s *nativeStructure) Release() error {
	var e cError
	return e.check(s.structureRelease(s.handle, &e))
}
