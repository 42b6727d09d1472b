package cpu_test

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/groth16"
	"github.com/cuzk-dev/cuzk/prover/groth16/backend/cpu"
	"github.com/cuzk-dev/cuzk/prover/groth16/backend/internal/instance"
)

// inParts is a key that can be read in parts alone, and ends its reading's context if told to.
type inParts struct {
	*instance.Key
	cancel context.CancelFunc
	read   map[groth16.Section][]byte
}

func (k *inParts) Points(groth16.Section) ([]byte, error) {
	return nil, errors.New("all points at once")
}

func (k *inParts) ReadPoints(ctx context.Context, s groth16.Section, first int, dst []byte) error {
	if k.cancel != nil {
		k.cancel()
	}
	size := k.Curve().G1Bytes()
	if s == groth16.SectionB2 {
		size = k.Curve().G2Bytes()
	}
	copy(dst, k.Sections[s][first*size:][:len(dst)])
	k.read[s] = append(k.read[s], dst...)
	return ctx.Err()
}

// A key that can be read in parts is read so, each point once and in order, and cancelled in the middle.
func TestReadsKeysInParts(t *testing.T) {
	in := instance.New(t, curve.BLS12381, groth16.LayoutCoefficients, ordinary, 1)
	source := &inParts{Key: in.Source, read: map[groth16.Section][]byte{}}
	b := cpu.New(cpu.Config{})
	key, err := b.LoadKey(t.Context(), source, groth16.Budget{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { key.Close() })
	for s, points := range in.Source.Sections {
		if !bytes.Equal(source.read[s], points) {
			t.Errorf("section %d: other points were read", s)
		}
	}
	l := in.Load(t, b)
	l.Key = key
	proof := l.Prove(t, l.Packed(), curve.Scalar{1}, curve.Scalar{2})
	if err := groth16.Verify(in.VK, proof, in.Public, ""); err != nil {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	source.cancel, source.read = cancel, map[groth16.Section][]byte{}
	if _, err := b.LoadKey(ctx, source, groth16.Budget{}); !errors.Is(err, context.Canceled) || len(source.read) != 1 {
		t.Errorf("got %v after %d sections", err, len(source.read))
	}
}
