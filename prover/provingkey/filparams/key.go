package filparams

import (
	"context"
	"fmt"
	"os"

	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/filecoin"
	"github.com/cuzk-dev/cuzk/prover/groth16"
	"github.com/cuzk-dev/cuzk/prover/internal/mapped"
	"github.com/cuzk-dev/cuzk/prover/internal/parallel"
)

// File is an open .params. It is safe for concurrent use until Close.
type File struct {
	name   string
	data   []byte
	file   *mapped.File // nil when it was parsed from memory
	layout *layout
	vk     *groth16.VerifyingKey
}

// Open maps a .params and checks its structure, and the points of its verifying key. Errors are *failure.Error of class
// Key (the file's content), Usage or IO (the file itself), naming file, section and offset.
func Open(path string) (*File, error) {
	file, err := mapped.Open(path)
	if err != nil {
		return nil, err
	}
	return open(path, file)
}

// OpenFile is Open for a file that is open already; the caller may close it afterwards. The name is for messages.
func OpenFile(f *os.File, name string) (*File, error) {
	file, err := mapped.FromFile(f, name)
	if err != nil {
		return nil, err
	}
	return open(name, file)
}

func open(name string, file *mapped.File) (*File, error) {
	f, err := Parse(name, file.Bytes())
	if err != nil {
		file.Close()
		return nil, err
	}
	f.file = file
	return f, nil
}

// Parse is Open for a file in memory, which must stay unchanged until Close; name is for messages.
func Parse(name string, data []byte) (*File, error) {
	f := &File{name: name, data: data}
	err := mapped.Guard(func() (err error) {
		if f.layout, err = parse(data, len(arrays)); err != nil {
			return err
		}
		if b1, b2 := f.layout.arrays[arrayB1].len(), f.layout.arrays[arrayB2].len(); b1 != b2 {
			return f.layout.arrays[arrayB2].lengthErrorf("has %d points, but b_g1 has %d: they are of the same wires", b2, b1).WithFix("%s", fetchAgain)
		}
		f.vk, err = f.layout.verifyingKey()
		return err
	})
	if err != nil {
		return nil, failure.InFile(err, name)
	}
	return f, nil
}

// Name is the path the file was opened by.
func (f *File) Name() string { return f.name }

// Size is the file's size in bytes.
func (f *File) Size() int64 { return int64(len(f.data)) }

// Lengths are the numbers of points of the file's arrays.
func (f *File) Lengths() filecoin.Lengths {
	n := f.layout.lengths()
	return filecoin.Lengths{IC: n[arrayIC], H: n[arrayH], L: n[arrayL], A: n[arrayA], B: n[arrayB1]}
}

// CheckLengths refuses a file of another circuit.
func (f *File) CheckLengths(want filecoin.Lengths) error {
	return failure.InFile(f.layout.checkLengths(want), f.name)
}

// ShapeOf is the shape of the proving key in a file of these lengths.
func ShapeOf(n filecoin.Lengths) groth16.KeyShape {
	s := groth16.KeyShape{Curve: id, Wires: n.IC + n.L, Domain: n.H + 1}
	s.Points[groth16.SectionA], s.Points[groth16.SectionB1], s.Points[groth16.SectionB2] = n.A, n.B, n.B
	s.Points[groth16.SectionL], s.Points[groth16.SectionH] = n.L, n.H
	return s
}

// VerifyingKey is the verifying key that the file begins with; its points have been checked.
func (f *File) VerifyingKey() *groth16.VerifyingKey { return f.vk }

// Close unmaps the file; what was handed out of it must not be used any more.
func (f *File) Close() error {
	if f.file == nil {
		return nil
	}
	return f.file.Close()
}

// Key is a parameter file together with the circuit that it belongs to: a proving key.
type Key struct {
	*File
	circuit *Circuit
}

var (
	_ groth16.KeySource   = (*Key)(nil)
	_ groth16.PointReader = (*Key)(nil)
)

// For makes the file the proving key of a circuit, which it must fit. The key owns the file.
func (f *File) For(c *Circuit) (*Key, error) {
	if err := f.CheckLengths(c.Lengths()); err != nil {
		return nil, err
	}
	return &Key{File: f, circuit: c}, nil
}

// Curve is BLS12-381.
func (k *Key) Curve() curve.ID { return id }

// Layout is LayoutCoefficients.
func (k *Key) Layout() groth16.Layout { return groth16.LayoutCoefficients }

// Wires counts all wires with the one.
func (k *Key) Wires() int { return k.circuit.Inputs + k.circuit.Aux }

// Public counts the public inputs without the one.
func (k *Key) Public() int { return k.circuit.Inputs - 1 }

// Domain is the size of the evaluation domain, a power of two.
func (k *Key) Domain() int { return k.circuit.Domain() }

// AlphaG1 and the four below are the single points; they have been checked to be in their groups.
func (k *Key) AlphaG1() curve.G1 { return k.vk.AlphaG1 }
func (k *Key) BetaG1() curve.G1  { return k.vk.BetaG1 }
func (k *Key) DeltaG1() curve.G1 { return k.vk.DeltaG1 }
func (k *Key) BetaG2() curve.G2  { return k.vk.BetaG2 }
func (k *Key) DeltaG2() curve.G2 { return k.vk.DeltaG2 }

// section is where a section of the key lies in the file.
func (k *Key) section(s groth16.Section) (*section, error) {
	i, ok := map[groth16.Section]int{groth16.SectionA: arrayA, groth16.SectionB1: arrayB1, groth16.SectionB2: arrayB2,
		groth16.SectionL: arrayL, groth16.SectionH: arrayH}[s]
	if !ok {
		return nil, fmt.Errorf("a .params has no section of points number %d", s)
	}
	return &k.layout.arrays[i], nil
}

// Points brings all points of a section into raw limbs, in memory of its own, on all cores. A key of many gigabytes is
// better read in parts: see ReadPoints.
func (k *Key) Points(s groth16.Section) ([]byte, error) {
	section, err := k.section(s)
	if err != nil {
		return nil, err
	}
	points := make([]byte, len(section.data))
	if err := k.ReadPoints(context.Background(), s, 0, points); err != nil {
		return nil, err
	}
	return points, nil
}

// pointsPerStep is how many points one step of a conversion or a check takes: some milliseconds.
const pointsPerStep = 4096

// ReadPoints fills dst with the points of a section from number first on, as raw limbs; dst must lie within the section.
func (k *Key) ReadPoints(ctx context.Context, s groth16.Section, first int, dst []byte) error {
	section, err := k.section(s)
	if err != nil {
		return err
	}
	return failure.InFile(section.read(ctx, first, dst), k.name)
}

func (s *section) read(ctx context.Context, first int, dst []byte) error {
	size := s.pointBytes()
	return parallel.Ranges(ctx, len(dst)/size, pointsPerStep, func(start, end int) error {
		for i := start; i < end; i++ {
			if err := convert(dst[i*size:(i+1)*size], s.data[(first+i)*size:(first+i+1)*size], s.g2); err != nil {
				return s.errorf(first+i, "%w", err).WithFix("%s", fetchAgain)
			}
		}
		return nil
	})
}

// Absent lists the wires that do not occur in A or B: their points at infinity are left out.
func (k *Key) Absent(s groth16.Section) []uint64 {
	switch s {
	case groth16.SectionA:
		return k.circuit.absent(k.circuit.A)
	case groth16.SectionB1, groth16.SectionB2:
		return k.circuit.absent(k.circuit.B)
	case groth16.SectionL, groth16.SectionH:
	}
	return nil
}

// Committed is nil: bellman has no commitments.
func (k *Key) Committed() []uint32 { return nil }

// Resident is false: Points are copies in another form.
func (k *Key) Resident() bool { return false }

// Digest is zero: the digest by which parameter files are known is not SHA-256, see Digest of a file.
func (k *Key) Digest() [32]byte { return [32]byte{} }
