package cpu

import (
	"bytes"
	"context"
	"fmt"
	"math/bits"

	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/groth16"
	"github.com/cuzk-dev/cuzk/prover/groth16/backend/internal/refcount"
	"github.com/cuzk-dev/cuzk/prover/memory"
)

// provingKey is a proving key made ready: its sections, mapped or in memory, and the tables of its domain.
type provingKey struct {
	refcount.Counter
	shape  groth16.KeyShape
	curve  curve.ID
	arith  *arithmetic
	layout groth16.Layout

	wires, public, domain int
	alphaG1, betaG1       curve.G1
	deltaG1               curve.G1
	betaG2, deltaG2       curve.G2
	a, b1, b2, l          *section
	h                     []byte
	tables                transforms
	order                 order
}

func (k *provingKey) Curve() curve.ID { return k.curve }

// Bytes is what the key holds in memory of its own; mapped points belong to the page cache.
func (k *provingKey) Bytes() (host, device int64) { return keyBytes(k.shape), 0 }

// LoadKey makes a key ready: it checks the sections' sizes, notes the points at infinity, and computes the tables of the
// domain. Points stay where the source has them, so the key keeps it until its last user is done.
func (b *Backend) LoadKey(ctx context.Context, src groth16.KeySource, budget groth16.Budget) (groth16.Key, error) {
	k := &provingKey{
		curve: src.Curve(), layout: src.Layout(), wires: src.Wires(), public: src.Public(), domain: src.Domain(),
		alphaG1: bytes.Clone(src.AlphaG1()), betaG1: bytes.Clone(src.BetaG1()), deltaG1: bytes.Clone(src.DeltaG1()),
		betaG2: bytes.Clone(src.BetaG2()), deltaG2: bytes.Clone(src.DeltaG2()),
	}
	var err error
	if k.arith, err = arithmeticOf(k.curve); err != nil {
		return nil, failure.New(failure.Key, "the proving key: %w", err)
	}
	if err := k.checkShape(); err != nil {
		return nil, failure.New(failure.Key, "the proving key: %w", err)
	}
	k.shape = groth16.ShapeOf(src)
	held, err := b.holdKey(k.shape, budget)
	if err != nil {
		return nil, err
	}
	if err := k.load(ctx, src); err != nil {
		held.Release()
		return nil, err
	}
	k.OnRelease(func() error {
		defer held.Release()
		return src.Close()
	})
	return k, nil
}

// holdKey takes the memory of a key before it is loaded.
func (b *Backend) holdKey(s groth16.KeyShape, budget groth16.Budget) (*memory.Reservation, error) {
	need := keyBytes(s)
	if budget.HostBytes > 0 && need > budget.HostBytes {
		return nil, failure.New(failure.Memory, "the proving key needs %s of memory, %s are allowed for it", memory.Size(need), memory.Size(budget.HostBytes)).
			WithFix(memory.RaiseLimit)
	}
	return b.memory.Hold(need, "the proving key")
}

func (k *provingKey) load(ctx context.Context, src groth16.KeySource) (err error) {
	points := map[groth16.Section][]byte{}
	for s := groth16.SectionA; s <= groth16.SectionH; s++ {
		if points[s], err = sectionPoints(ctx, src, k.shape, s); err != nil {
			return fmt.Errorf("read section %s of the proving key: %w", sectionName(s), err)
		}
	}
	if err := k.makeSections(ctx, src, points); err != nil {
		if ctx.Err() != nil {
			return err
		}
		return failure.New(failure.Key, "the proving key: %w", err)
	}
	k.makeTables()
	return nil
}

func (k *provingKey) checkShape() error {
	switch {
	case k.wires < 1 || k.public < 0 || k.public >= k.wires:
		return fmt.Errorf("%d wires with %d public inputs", k.wires, k.public)
	case k.domain < 1 || bits.OnesCount(uint(k.domain)) != 1:
		return fmt.Errorf("a domain of %d elements, which is no power of two", k.domain)
	case bits.TrailingZeros(uint(k.domain)) > k.arith.twoAdicity:
		return fmt.Errorf("a domain of %d elements, more than the field of %s allows", k.domain, k.curve)
	case k.layout > groth16.LayoutSnarkjs:
		return fmt.Errorf("unknown layout %d", k.layout)
	}
	return nil
}

func (k *provingKey) makeSections(ctx context.Context, src groth16.KeySource, points map[groth16.Section][]byte) (err error) {
	g1, g2 := k.arith.g1, k.arith.g2
	if k.a, err = newSection(ctx, "A", g1, points[groth16.SectionA], k.wires, 0, src.Absent(groth16.SectionA)); err != nil {
		return err
	}
	if k.b1, err = newSection(ctx, "B1", g1, points[groth16.SectionB1], k.wires, 0, src.Absent(groth16.SectionB1)); err != nil {
		return err
	}
	if k.b2, err = newSection(ctx, "B2", g2, points[groth16.SectionB2], k.wires, 0, src.Absent(groth16.SectionB2)); err != nil {
		return err
	}
	var absent bitset
	if committed := src.Committed(); len(committed) > 0 {
		absent = newBitset(k.wires)
		for _, w := range committed {
			if int64(w) >= int64(k.wires) || int(w) <= k.public {
				return fmt.Errorf("committed wire %d is not a private wire", w)
			}
			absent.set(int(w))
		}
	}
	if k.l, err = newSection(ctx, "L", g1, points[groth16.SectionL], k.wires, k.public+1, absent); err != nil {
		return err
	}
	k.h = points[groth16.SectionH]
	if want := k.quotientLength() * g1.pointBytes(); len(k.h) != want {
		return fmt.Errorf("section H has %d bytes, its %d points need %d", len(k.h), k.quotientLength(), want)
	}
	return nil
}

// quotientLength is the number of points of section H. The quotient has degree n−2; snarkjs's basis has n points.
func (k *provingKey) quotientLength() int {
	if k.layout == groth16.LayoutSnarkjs {
		return k.domain
	}
	return k.domain - 1
}

func (k *provingKey) makeTables() {
	k.order = order{k: 1, mask: k.domain - 1}
	if k.layout != groth16.LayoutSnarkjs {
		k.tables = k.arith.transforms(k.domain, nil)
		return
	}
	k.order = snarkjsOrder(k.curve, k.arith.generator, k.domain)
	k.tables = k.arith.transforms(k.domain, snarkjsShift(k.curve, k.arith.twoAdicity, k.domain))
}
