package zkey

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"sync"

	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/groth16"
	"github.com/cuzk-dev/cuzk/prover/internal/binfile"
	"github.com/cuzk-dev/cuzk/prover/internal/mapped"
	"github.com/cuzk-dev/cuzk/prover/progress"
)

// Key is an open .zkey. It is safe for concurrent use until Close.
type Key struct {
	name   string
	data   []byte
	file   *mapped.File // nil when the key was parsed from memory
	header header

	ic           *binfile.Section
	coefficients *binfile.Section
	points       [groth16.SectionH + 1]*binfile.Section

	rows     int // highest row of a coefficient, plus one
	warnings []string

	mu     sync.Mutex
	digest [sha256.Size]byte
}

var _ groth16.KeySource = (*Key)(nil)

// Open maps a key and makes the cheap checks, on all cores; errors are *failure.Error of class Key (the file's content),
// Usage or IO (the file itself), naming file, section and offset. tell, if not nil, is told of the bytes checked, which are
// nearly all of the file's.
func Open(ctx context.Context, path string, tell progress.Func) (*Key, error) {
	file, err := mapped.Open(path)
	if err != nil {
		return nil, err
	}
	return open(ctx, path, file, tell)
}

// OpenFile is Open for a file that is open already; the caller may close it afterwards. The name is for messages.
func OpenFile(ctx context.Context, f *os.File, name string, tell progress.Func) (*Key, error) {
	file, err := mapped.FromFile(f, name)
	if err != nil {
		return nil, err
	}
	return open(ctx, name, file, tell)
}

func open(ctx context.Context, name string, file *mapped.File, tell progress.Func) (*Key, error) {
	k, err := Parse(ctx, name, file.Bytes(), tell)
	if err != nil {
		file.Close()
		return nil, err
	}
	k.file = file
	return k, nil
}

// Parse is Open for a key in memory, which must stay unchanged until Close; name is for messages.
func Parse(ctx context.Context, name string, data []byte, tell progress.Func) (*Key, error) {
	k := &Key{name: name, data: data}
	if err := mapped.Guard(k.readStructure); err != nil {
		return nil, failure.InFile(err, name)
	}
	checked := progress.Count(k.scannedBytes(), tell)
	if err := k.checkCoefficients(ctx, checked); err != nil {
		return nil, failure.InFile(err, name)
	}
	if err := k.checkCoordinates(ctx, checked); err != nil {
		return nil, failure.InFile(err, name)
	}
	if err := mapped.Guard(k.checkVertices); err != nil {
		return nil, failure.InFile(err, name)
	}
	return k, nil
}

// Name is the path the key was opened by.
func (k *Key) Name() string { return k.name }

// Size is the file's size in bytes.
func (k *Key) Size() int64 { return int64(len(k.data)) }

// Warnings are oddities that do not keep the key from proving, as sentences.
func (k *Key) Warnings() []string { return k.warnings }

// Curve is the curve whose primes the key's header holds.
func (k *Key) Curve() curve.ID { return k.header.curve }

// Layout is LayoutSnarkjs.
func (k *Key) Layout() groth16.Layout { return groth16.LayoutSnarkjs }

// Wires counts all wires with the one.
func (k *Key) Wires() int { return k.header.wires }

// Public counts the public inputs without the one.
func (k *Key) Public() int { return k.header.public }

// Domain is the size of the evaluation domain, a power of two.
func (k *Key) Domain() int { return k.header.domain }

// Rows is the number of rows of the key's matrices: the circuit's constraints, then one row for the one and for each
// public input, which binds it.
func (k *Key) Rows() int { return k.rows }

// Constraints is the number of the circuit's own constraints.
func (k *Key) Constraints() int { return max(0, k.rows-k.header.public-1) }

// Coefficients is the number of entries of the matrices A and B together.
func (k *Key) Coefficients() int {
	return (k.coefficients.Len() - 4) / (coefficientHead + curve.ScalarBytes)
}

// AlphaG1 and the four below are the single points of the header; they have been checked to be in their groups.
func (k *Key) AlphaG1() curve.G1 { return k.header.alphaG1 }
func (k *Key) BetaG1() curve.G1  { return k.header.betaG1 }
func (k *Key) DeltaG1() curve.G1 { return k.header.deltaG1 }
func (k *Key) BetaG2() curve.G2  { return k.header.betaG2 }
func (k *Key) DeltaG2() curve.G2 { return k.header.deltaG2 }

// Points returns a section's points as raw limbs: views of the mapped file, at any alignment of four bytes.
func (k *Key) Points(s groth16.Section) ([]byte, error) {
	if int(s) >= len(k.points) {
		return nil, fmt.Errorf("a .zkey has no section of points number %d", s)
	}
	return k.points[s].Bytes(), nil
}

// Absent is nil: a .zkey holds its points at infinity.
func (k *Key) Absent(groth16.Section) []uint64 { return nil }

// Committed is nil: snarkjs has no commitments.
func (k *Key) Committed() []uint32 { return nil }

// Resident reports whether Points are views of the page cache.
func (k *Key) Resident() bool { return k.file == nil || k.file.Mapped() }

// Close unmaps the file; slices that the key handed out must not be used any more.
func (k *Key) Close() error {
	if k.file == nil {
		return nil
	}
	return k.file.Close()
}
