package cuda

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/bits"

	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/groth16"
	"github.com/cuzk-dev/cuzk/prover/groth16/backend/cuda/internal/libcuzk"
	"github.com/cuzk-dev/cuzk/prover/groth16/backend/internal/refcount"
	"github.com/cuzk-dev/cuzk/prover/internal/parallel"
	"github.com/cuzk-dev/cuzk/prover/memory"
)

// provingKey is a key with its copies on the devices. Its source stays open for further copies; points that the source has
// decoded are forgotten once no device needs them.
type provingKey struct {
	refcount.Counter
	source groth16.KeySource
	budget groth16.Budget

	curve                 curve.ID
	layout                groth16.Layout
	wires, public, domain int
	counts                [groth16.SectionH + 1]int // points of the sections
	one                   curve.Scalar              // in Montgomery form

	copies   copies[keyCopy]
	fallback lazy[groth16.Key]
}

// keyCopy is a key's copy on a device; what is streamed to it lies on the host and is held there.
type keyCopy struct {
	libcuzk.Key
	held *memory.Reservation
}

// Release gives the copy and its memory up.
func (c keyCopy) Release() error {
	defer c.held.Release()
	return c.Key.Release()
}

func (k *provingKey) Curve() curve.ID { return k.curve }

// Bytes is the memory of the key's copies.
func (k *provingKey) Bytes() (host, device int64) {
	for _, c := range k.copies.all() {
		// It fails only for a handle that is none.
		info, _ := c.Info()
		host += info.HostBytes
		device += info.DeviceBytes
	}
	return host, device
}

// LoadKey checks a key's sections and copies it to the least loaded device. To others it is copied when a proof is placed
// there.
func (b *Backend) LoadKey(ctx context.Context, src groth16.KeySource, budget groth16.Budget) (groth16.Key, error) {
	k := &provingKey{
		source: src, budget: budget, curve: src.Curve(), layout: src.Layout(), wires: src.Wires(), public: src.Public(), domain: src.Domain(),
		copies: newCopies[keyCopy](), fallback: newLazy[groth16.Key](),
	}
	if err := k.checkShape(); err != nil {
		return nil, failure.New(failure.Key, "the proving key: %w", err)
	}
	one := []curve.Scalar{{1}}
	k.curve.ToMontgomery(one)
	k.one = one[0]
	if err := k.checkSections(); err != nil {
		return nil, err
	}
	onDevice := func(d *device) error { _, err := b.keyOn(ctx, k, d); return err }
	onFallback := func() error { _, err := b.fallbackKey(ctx, k); return err }
	if err := b.load("the proving key", onDevice, onFallback); err != nil {
		return nil, errors.Join(err, b.releaseKey(k))
	}
	k.OnRelease(func() error { return errors.Join(b.releaseKey(k), src.Close()) })
	return k, nil
}

// releaseKey gives up all copies; the source stays open.
func (b *Backend) releaseKey(k *provingKey) error {
	err := k.copies.release(b.queue.withdrawn)
	if f, ok := k.fallback.find(); ok {
		err = errors.Join(err, f.Close())
	}
	return err
}

// keyOn is a key's copy on a device.
func (b *Backend) keyOn(ctx context.Context, k *provingKey, d *device) (libcuzk.Key, error) {
	if bits.TrailingZeros(uint(k.domain)) > maxLogDomain {
		return nil, errDomain
	}
	engine, err := d.ready()
	if err != nil {
		return nil, err
	}
	made, err := k.copies.get(ctx, d, func() (keyCopy, error) {
		data, err := k.data(ctx)
		if err != nil {
			return keyCopy{}, err
		}
		data.HostBudget = b.hostBudget(k)
		made, err := engine.LoadKey(ctx, data)
		if err != nil {
			return keyCopy{}, err
		}
		if len(b.queue.usable()) == len(k.copies.all())+1 {
			k.forget()
		}
		return b.hold(made)
	})
	return made.Key, err
}

// hostBudget is what one more copy may take on the host.
func (b *Backend) hostBudget(k *provingKey) int64 {
	room := max(1, b.memory.Room()) // zero would be no bound
	if k.budget.HostBytes > 0 {
		return min(room, k.budget.HostBytes)
	}
	return room
}

// hold holds what a copy takes on the host, or releases the copy.
func (b *Backend) hold(made libcuzk.Key) (keyCopy, error) {
	info, err := made.Info()
	if err == nil && info.HostBytes == 0 {
		return keyCopy{made, nil}, nil
	}
	var held *memory.Reservation
	if err == nil {
		held, err = b.memory.Hold(info.HostBytes, "what is streamed of the proving key")
	}
	if err != nil {
		return keyCopy{}, errors.Join(err, made.Release())
	}
	return keyCopy{made, held}, nil
}

// forget gives back what the source has decoded, unless the fallback uses it.
func (k *provingKey) forget() {
	if _, used := k.fallback.find(); used {
		return
	}
	if f, ok := k.source.(groth16.Forgetful); ok {
		f.Forget()
	}
}

// data is the source for the library: points that can be read in parts are read when it asks for them. Pages of a mapped file
// are touched, since the library cannot survive a fault.
func (k *provingKey) data(ctx context.Context) (*libcuzk.KeyData, error) {
	src := k.source
	data := &libcuzk.KeyData{
		Curve: k.curve, Layout: k.layout, Wires: k.wires, Public: k.public, Domain: k.domain,
		AlphaG1: bytes.Clone(src.AlphaG1()), BetaG1: bytes.Clone(src.BetaG1()), DeltaG1: bytes.Clone(src.DeltaG1()),
		BetaG2: bytes.Clone(src.BetaG2()), DeltaG2: bytes.Clone(src.DeltaG2()),
		Committed: src.Committed(), DeviceBudget: k.budget.DeviceBytes,
	}
	reader, reads := src.(groth16.PointReader)
	if reads {
		data.Read = func(s groth16.Section, first int, into []byte) error { return reader.ReadPoints(ctx, s, first, into) }
	}
	for s := groth16.SectionA; s <= groth16.SectionH; s++ {
		data.Counts[s], data.Absent[s] = k.counts[s], src.Absent(s)
		if reads {
			continue
		}
		points, err := src.Points(s)
		if err != nil {
			return nil, fmt.Errorf("read section %s of the proving key: %w", sectionNames[s], err)
		}
		if src.Resident() {
			if err := parallel.Touch(ctx, points); err != nil {
				return nil, err
			}
		}
		data.Points[s] = points
	}
	return data, nil
}

var sectionNames = [...]string{"A", "B1", "B2", "L", "H"}

// maxLogDomain bounds the domain on a GPU: transforms are of up to 2^28 values.
const maxLogDomain = 28

var errDomain = failure.New(failure.Backend, "the circuit is larger than GPUs prove: its domain has more than 2^%d elements", maxLogDomain).
	WithFix("use --backend cpu, or auto, which falls back to it")

// twoAdicity bounds the domain: 2^28 divides r−1 on BN254, 2^32 on BLS12-381.
var twoAdicity = map[curve.ID]int{curve.BN254: 28, curve.BLS12381: 32}

func (k *provingKey) checkShape() error {
	most, known := twoAdicity[k.curve]
	switch {
	case !known:
		return fmt.Errorf("unknown curve %q", k.curve)
	case k.wires < 1 || k.public < 0 || k.public >= k.wires:
		return fmt.Errorf("%d wires with %d public inputs", k.wires, k.public)
	case k.wires > math.MaxUint32:
		return fmt.Errorf("%d wires, more than 2^32", k.wires)
	case k.domain < 1 || bits.OnesCount(uint(k.domain)) != 1:
		return fmt.Errorf("a domain of %d elements, which is no power of two", k.domain)
	case bits.TrailingZeros(uint(k.domain)) > most:
		return fmt.Errorf("a domain of %d elements, more than the field of %s allows", k.domain, k.curve)
	case k.layout > groth16.LayoutSnarkjs:
		return fmt.Errorf("unknown layout %d", k.layout)
	}
	return nil
}

// checkSections counts the points that the circuit needs, and compares the sections' sizes with that where they are not read in
// parts.
func (k *provingKey) checkSections() error {
	_, reads := k.source.(groth16.PointReader)
	for s := groth16.SectionA; s <= groth16.SectionH; s++ {
		count, err := k.pointCount(s)
		if err != nil {
			return failure.New(failure.Key, "the proving key: section %s: %w", sectionNames[s], err)
		}
		k.counts[s] = count
		if reads {
			continue
		}
		points, err := k.source.Points(s)
		if err != nil {
			return fmt.Errorf("read section %s of the proving key: %w", sectionNames[s], err)
		}
		size := k.curve.G1Bytes()
		if s == groth16.SectionB2 {
			size = k.curve.G2Bytes()
		}
		if len(points) != count*size {
			return failure.New(failure.Key, "the proving key: section %s has %d bytes, its %d points need %d", sectionNames[s], len(points), count, count*size)
		}
	}
	return nil
}

// pointCount is the number of points that a section must have.
func (k *provingKey) pointCount(s groth16.Section) (int, error) {
	switch s {
	case groth16.SectionH:
		if k.layout == groth16.LayoutSnarkjs {
			return k.domain, nil
		}
		return k.domain - 1, nil
	case groth16.SectionL:
		committed := k.source.Committed()
		for _, w := range committed {
			if int64(w) >= int64(k.wires) || int(w) <= k.public {
				return 0, fmt.Errorf("committed wire %d is not a private wire", w)
			}
		}
		return k.wires - k.public - 1 - len(committed), nil
	}
	absent := k.source.Absent(s)
	if absent == nil {
		return k.wires, nil
	}
	if words := (k.wires + 63) / 64; len(absent) < words {
		return 0, fmt.Errorf("%d words tell the absent points of %d wires", len(absent), k.wires)
	}
	return k.wires - countBits(absent, k.wires), nil
}

// countBits counts the set bits among the first n.
func countBits(words []uint64, n int) int {
	count := 0
	for _, w := range words[:n/64] {
		count += bits.OnesCount64(w)
	}
	if rest := n % 64; rest > 0 {
		count += bits.OnesCount64(words[n/64] & (1<<rest - 1))
	}
	return count
}
