//go:build linux && (amd64 || arm64) && !nocuda

package libcuzk

import (
	"bytes"
	"fmt"
	"sync"
	"unsafe"

	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/groth16"
)

func (n *nativeEngine) Begin(key Key, o ProofOptions) (Proof, error) {
	k, ok := key.(*nativeKey)
	if !ok {
		return nil, fmt.Errorf("a key of another library: %T", key)
	}
	options := cProofOptions{
		size: uint32(unsafe.Sizeof(cProofOptions{})), constraints: uint64(o.Constraints), witness: uint64(o.Witness),
	}
	if o.Bits {
		options.bits = 1
	}
	if o.Structure != nil {
		s, ok := o.Structure.(*nativeStructure)
		if !ok {
			return nil, fmt.Errorf("a structure of another library: %T", o.Structure)
		}
		options.structure = s.handle
	}
	var e cError
	proof := &nativeProof{functions: n.functions}
	if err := e.check(n.proofBegin(n.handle, k.handle, &options, &proof.handle, &e)); err != nil {
		return nil, err
	}
	return proof, nil
}

type nativeProof struct {
	*functions
	handle handle

	// released keeps Cancel from a handle that is gone.
	mu       sync.Mutex
	released bool
}

func (p *nativeProof) Write(v Vector, form groth16.Form, offset int, elements []curve.Scalar) error {
	var e cError
	return e.check(p.proofWrite(p.handle, uint32(v), uint32(form), uint64(offset), uint64(len(elements)), first(elements), &e))
}

func (p *nativeProof) WriteWords(v Vector, offset int, words []uint64) error {
	var e cError
	return e.check(p.proofWrite(p.handle, uint32(v), 0, uint64(offset), uint64(len(words)), first(words), &e))
}

func (p *nativeProof) Compute(r, s curve.Scalar) (*Result, error) {
	var e cError
	result := cProofResult{size: uint32(unsafe.Sizeof(cProofResult{}))}
	times := cProofTimings{size: uint32(unsafe.Sizeof(cProofTimings{}))}
	if err := e.check(p.proofCompute(p.handle, unsafe.Pointer(&r), unsafe.Pointer(&s), &result, &times, &e)); err != nil {
		return nil, err
	}
	id := curve.BN254
	if result.curve != 0 {
		id = curve.BLS12381
	}
	return &Result{
		A: bytes.Clone(result.a[:id.G1Bytes()]), B: bytes.Clone(result.b[:id.G2Bytes()]), C: bytes.Clone(result.c[:id.G1Bytes()]),
		Timings: Timings{
			Upload: times.upload, Evaluate: times.evaluate, PrepMSM: times.prepMSM, NTTMSMH: times.nttMSMH, BatchAdd: times.batchAdd,
			BG2MSM: times.bG2MSM, TailMSM: times.tailMSM, GPUTotal: times.gpuTotal,
		},
	}, nil
}

func (p *nativeProof) Cancel() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.released {
		// It only sets a mark, and fails only for a handle that is none.
		_ = p.proofCancel(p.handle)
	}
}

func (p *nativeProof) Release() error {
	p.mu.Lock()
	p.released = true
	p.mu.Unlock()
	var e cError
	return e.check(p.proofRelease(p.handle, &e))
}
