// Package gnarkkey reads the Groth16 proving keys that gnark 0.14 to 0.16 write, on BN254 and BLS12-381, in each of
// gnark's three encodings: WriteTo (compressed points), WriteRawTo (uncompressed) and WriteDump (raw memory).
//
// gnark's own reader allocates by the lengths that a file claims. This one compares every length with the size of the
// file before it believes it, and says which section, at which offset, does not fit.
package gnarkkey

import (
	"context"
	"crypto/sha256"
	"os"
	"sync"

	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/groth16"
	"github.com/cuzk-dev/cuzk/prover/internal/mapped"
	"github.com/cuzk-dev/cuzk/prover/progress"
)

// Encoding is how the points of a key are written.
type Encoding string

const (
	// Compressed: one coordinate and a sign; gnark's WriteTo. Reading it takes a square root a point.
	Compressed Encoding = "compressed"
	// Raw: both coordinates, big-endian; gnark's WriteRawTo.
	Raw Encoding = "raw"
	// Dump: the memory of a little-endian machine; gnark's WriteDump. It is used where it lies, without a copy.
	Dump Encoding = "dump"
)

// Options of opening a key.
type Options struct {
	// Curve, if not empty, is the curve the user asked for; a key on another curve is refused.
	Curve curve.ID
}

// Key is a gnark proving key as its file holds it. It implements groth16.KeySource with groth16.LayoutGnark. It is safe
// for concurrent use, but for Bind and Close.
type Key struct {
	name     string
	data     []byte
	file     *mapped.File // nil when the key was parsed from memory
	id       curve.ID
	encoding Encoding
	domain   int
	wires    int
	public   int

	alphaG1, betaG1, deltaG1 curve.G1
	betaG2, deltaG2          curve.G2
	vertices                 []vertex

	runs             [5]*run // by groth16.Section
	absentA, absentB []uint64
	commitments      []commitmentRuns
	committed        []uint32

	digestOnce sync.Mutex
	digest     [sha256.Size]byte
}

// commitmentRuns are the points of one Pedersen commitment key, as many in both.
type commitmentRuns struct{ basis, sigma *run }

// vertex is a single point of the key with its place in the file.
type vertex struct {
	label  string
	offset int64
	raw    []byte
	group  int
}

var _ groth16.KeySource = (*Key)(nil)

// Open maps a proving key and reads everything but the points of its sections, which follow with Load, or one by one
// when they are asked for. Errors are of class Key and name the section and the offset.
func Open(path string, opts Options) (*Key, error) {
	f, err := mapped.Open(path)
	if err != nil {
		return nil, err
	}
	return open(f, opts)
}

// OpenFile is Open for a file that is open already; the caller may close it afterwards. The name is for messages.
func OpenFile(f *os.File, name string, opts Options) (*Key, error) {
	m, err := mapped.FromFile(f, name)
	if err != nil {
		return nil, err
	}
	return open(m, opts)
}

func open(f *mapped.File, opts Options) (*Key, error) {
	k, err := Parse(f.Name(), f.Bytes(), opts)
	if err != nil {
		_ = f.Close() // The reason why the key cannot be used matters more.
		return nil, err
	}
	k.file = f
	return k, nil
}

// Parse is Open for a key in memory, which must not change until Close. The name is for messages.
func Parse(name string, data []byte, opts Options) (*Key, error) {
	k := &Key{name: name, data: data}
	if err := mapped.Guard(k.parse); err != nil {
		return nil, err
	}
	if opts.Curve != "" && opts.Curve != k.id {
		return nil, failure.New(failure.Key, "the proving key is for %s, but %s was asked for", k.id, opts.Curve).
			In(name).WithFix("leave the curve out, or hand in a key for %s", opts.Curve)
	}
	return k, nil
}

// Curve is told from the key's evaluation domain.
func (k *Key) Curve() curve.ID { return k.id }

// Encoding is how the file holds its points.
func (k *Key) Encoding() Encoding { return k.encoding }

// Layout is groth16.LayoutGnark.
func (k *Key) Layout() groth16.Layout { return groth16.LayoutGnark }

// Wires counts all wires with the one.
func (k *Key) Wires() int { return k.wires }

// Public counts the public inputs without the one. The file does not hold it; it is what is left of the wires when the
// private ones, the committed ones and the commitments are taken away.
func (k *Key) Public() int { return k.public }

// Domain is the size of the evaluation domain.
func (k *Key) Domain() int { return k.domain }

// AlphaG1 is [α]₁.
func (k *Key) AlphaG1() curve.G1 { return k.alphaG1 }

// BetaG1 is [β]₁.
func (k *Key) BetaG1() curve.G1 { return k.betaG1 }

// DeltaG1 is [δ]₁.
func (k *Key) DeltaG1() curve.G1 { return k.deltaG1 }

// BetaG2 is [β]₂.
func (k *Key) BetaG2() curve.G2 { return k.betaG2 }

// DeltaG2 is [δ]₂.
func (k *Key) DeltaG2() curve.G2 { return k.deltaG2 }

// Points returns a section. Points of a compressed or raw file are decoded on first use and kept; those of a dump are
// the mapped file itself, at any alignment, once their coordinates have been compared with the prime.
func (k *Key) Points(s groth16.Section) ([]byte, error) {
	if int(s) >= len(k.runs) {
		return nil, failure.New(failure.Internal, "unknown section %d of a proving key", s)
	}
	return k.runs[s].load(context.Background(), nil)
}

// Absent tells, for SectionA, SectionB1 and SectionB2, which wires have no point in the section.
func (k *Key) Absent(s groth16.Section) []uint64 {
	switch s {
	case groth16.SectionA:
		return k.absentA
	case groth16.SectionB1, groth16.SectionB2:
		return k.absentB
	}
	return nil
}

// Committed lists, ascending, the private wires that SectionL leaves out: those that a commitment covers, and the
// commitments' own. Only the constraint system knows them, so it is nil until Bind.
func (k *Key) Committed() []uint32 { return k.committed }

// Commitments is the number of Pedersen commitments that a proof with this key carries.
func (k *Key) Commitments() int { return len(k.commitments) }

// CommitmentKey returns the two bases of a Pedersen commitment, G1 in raw form: the one that commits, and the same
// multiplied by the secret σ, which proves knowledge.
func (k *Key) CommitmentKey(i int) (basis, basisExpSigma []byte, err error) {
	if basis, err = k.commitments[i].basis.load(context.Background(), nil); err != nil {
		return nil, nil, err
	}
	basisExpSigma, err = k.commitments[i].sigma.load(context.Background(), nil)
	return basis, basisExpSigma, err
}

// Load decodes all sections on all cores. tell, if not nil, is told of work in units that take about equal time.
func (k *Key) Load(ctx context.Context, tell progress.Func) error {
	runs := k.allRuns()
	done := progress.Count(work(runs), tell)
	for _, r := range runs {
		if _, err := r.load(ctx, done); err != nil {
			return err
		}
	}
	return nil
}

func (k *Key) allRuns() []*run {
	runs := append([]*run(nil), k.runs[:]...)
	for _, c := range k.commitments {
		runs = append(runs, c.basis, c.sigma)
	}
	return runs
}

// Resident reports whether Points are views of the mapped file.
func (k *Key) Resident() bool { return k.encoding == Dump && (k.file == nil || k.file.Mapped()) }

// HostBytes is the memory that the points take when all are loaded; for a mapped dump it is page cache.
func (k *Key) HostBytes() int64 {
	var n int64
	for _, r := range k.allRuns() {
		n += int64(r.count) * int64(r.rawSize())
	}
	return n
}

// Size is the file's size in bytes.
func (k *Key) Size() int64 { return int64(len(k.data)) }

// Name is the path of the file.
func (k *Key) Name() string { return k.name }

// Digest is the SHA-256 of the file, or zero before ComputeDigest.
func (k *Key) Digest() [32]byte {
	k.digestOnce.Lock()
	defer k.digestOnce.Unlock()
	return k.digest
}

// ComputeDigest reads the whole file once and remembers its SHA-256. tell, if not nil, is told of the bytes read.
func (k *Key) ComputeDigest(ctx context.Context, tell progress.Func) ([32]byte, error) {
	k.digestOnce.Lock()
	defer k.digestOnce.Unlock()
	if k.digest != ([32]byte{}) {
		return k.digest, nil
	}
	h, read := sha256.New(), progress.Count(k.Size(), tell)
	err := mapped.Guard(func() error {
		const piece = 16 << 20
		for data := k.data; len(data) > 0; {
			if err := ctx.Err(); err != nil {
				return err
			}
			n := min(piece, len(data))
			h.Write(data[:n])
			data = data[n:]
			read.Add(n)
		}
		return nil
	})
	if err != nil {
		return [32]byte{}, err
	}
	k.digest = [32]byte(h.Sum(nil))
	return k.digest, nil
}

// Forget drops the decoded points of the sections; the next call of Points decodes them anew.
func (k *Key) Forget() {
	for _, r := range k.runs {
		r.forget()
	}
}

// Close gives the memory back; slices that Points returned must not be used any more.
func (k *Key) Close() error {
	for _, r := range k.allRuns() {
		r.drop()
	}
	if k.file == nil {
		return nil
	}
	return k.file.Close()
}

// PointCounts is the number of points of each section as the file holds them, by groth16.Section; nothing is decoded.
func (k *Key) PointCounts() [groth16.SectionH + 1]int {
	var n [groth16.SectionH + 1]int
	for s, r := range k.runs {
		n[s] = r.count
	}
	return n
}
