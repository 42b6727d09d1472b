package inspect

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/internal/mapped"
	"github.com/cuzk-dev/cuzk/prover/progress"
	"github.com/cuzk-dev/cuzk/prover/source"
)

// Report is what was found in a file. Members that do not apply to its kind are left out.
type Report struct {
	File     string   `json:"file"`
	Kind     Kind     `json:"kind"`
	Format   string   `json:"format"`
	Encoding string   `json:"encoding,omitempty"`
	Curve    curve.ID `json:"curve,omitempty"`

	SizeBytes int64   `json:"sizeBytes"`
	Digests   Digests `json:"digests,omitzero"`

	// Circuit is what the file says of its circuit.
	Circuit *Circuit `json:"circuit,omitempty"`
	// GnarkVersion is the gnark that wrote a constraint system; Hints are the functions that solving it needs.
	GnarkVersion string `json:"gnarkVersion,omitempty"`
	Hints        []Hint `json:"hints,omitempty"`
	// Sections are the runs of points of a proving key.
	Sections []Section `json:"sections,omitempty"`
	// Elements counts the values of a witness.
	Elements *int `json:"elements,omitempty"`
	// Filecoin is what a file of Filecoin's tells.
	Filecoin *Filecoin `json:"filecoin,omitempty"`
	// PublicInputs are the values of a list of public inputs; never those of a witness, which may be secret.
	PublicInputs []string `json:"publicInputs,omitempty"`

	Warnings []string `json:"warnings,omitempty"`
	Check    *Check   `json:"check,omitempty"`
}

// Digests of the file's bytes, as the API writes them.
type Digests struct {
	SHA256 string `json:"sha256,omitempty"`
	BLAKE2 string `json:"blake2b512,omitempty"`
	// Structure identifies the constraint system, however its file orders its terms.
	Structure string `json:"structure,omitempty"`
}

// Circuit holds the counts of a circuit; nil is what the file does not tell.
type Circuit struct {
	Constraints   *int `json:"constraints,omitempty"`
	Wires         *int `json:"wires,omitempty"`
	PublicInputs  *int `json:"publicInputs,omitempty"`
	Outputs       *int `json:"outputs,omitempty"`
	PrivateInputs *int `json:"privateInputs,omitempty"`
	DomainSize    *int `json:"domainSize,omitempty"`
	Entries       *int `json:"matrixEntries,omitempty"`
	Commitments   *int `json:"commitments,omitempty"`
}

// Hint is a function that a gnark circuit needs to be solved.
type Hint struct {
	ID   uint32 `json:"id"`
	Name string `json:"name"`
}

// Section is a run of points.
type Section struct {
	Name   string `json:"name"`
	Group  string `json:"group"`
	Points int    `json:"points"`
}

// Check is the outcome of looking at every point; a key that fails has an error instead.
type Check struct {
	OK bool `json:"ok"`
	// Points counts the points checked.
	Points int64 `json:"points"`
	// Remembered says that an earlier check of the same bytes stands.
	Remembered bool `json:"remembered"`
}

// Options of an inspection.
type Options struct {
	// Curve, if not empty, is what the file must be on; gnark's witnesses and constraint systems do not tell it.
	Curve curve.ID
	// Check looks at every point of a key: on its curve, in its subgroup.
	Check bool
	// Memory remembers which keys have passed, by digest. Nil does not.
	Memory *Memory
	// SkipDigests leaves out the digests, which take a pass over the file.
	SkipDigests bool
	// Progress, if not nil, makes what is told of a piece of work, in bytes or points.
	Progress func(what string) progress.Func
}

// tell is told of a piece of work.
func (o Options) tell(what string) progress.Func {
	if o.Progress == nil {
		return nil
	}
	return o.Progress(what)
}

func count[N int | int64 | uint64](n N) *int { v := int(n); return &v }

// File inspects a file. Errors are *failure.Error of the class that a prover would end with.
func File(ctx context.Context, path string, o Options) (*Report, error) {
	m, err := mapped.Open(path)
	if err != nil {
		return nil, err
	}
	defer m.Close()
	var head []byte
	if err := mapped.Guard(func() error {
		head = append(head, m.Bytes()[:min(HeadBytes, len(m.Bytes()))]...)
		return nil
	}); err != nil {
		return nil, err
	}
	r := &Report{File: path, SizeBytes: m.Size(), Kind: Recognise(head, m.Size())}
	i := &inspection{Options: o, path: path, file: m, report: r}
	defer func() {
		if i.done != nil {
			i.done()
		}
	}()
	if err := i.look(ctx, head); err != nil {
		return nil, err
	}
	r.Format = r.Kind.Title()
	if o.Curve != "" && r.Curve != "" && r.Curve != o.Curve {
		return nil, failure.New(failure.Usage, "the file is on %s, but %s was asked for", r.Curve, o.Curve).In(path).
			WithFix("leave --curve out, or hand in a file on %s", o.Curve)
	}
	if err := i.digests(ctx); err != nil {
		return nil, err
	}
	return r, i.check(ctx)
}

// inspection is one file being looked at.
type inspection struct {
	Options
	path   string
	file   *mapped.File
	report *Report
	// checkPoints looks at every point of the file, where it has any that its reader has not looked at; it tells their
	// number.
	checkPoints func(ctx context.Context) (int64, error)
	// sum is the SHA-256 of the file, once known.
	sum [32]byte
	// done closes what look opened; nil if nothing.
	done func()
}

func (i *inspection) look(ctx context.Context, head []byte) error {
	switch i.report.Kind {
	case Zkey:
		return i.zkey(ctx)
	case R1CS:
		return i.r1cs(ctx)
	case Wtns:
		return i.wtns(ctx)
	case Wasm:
		return nil
	case GnarkProvingKey:
		return i.gnarkProvingKey(ctx)
	case GnarkConstraints:
		return i.gnarkConstraints(ctx)
	case GnarkWitness:
		return i.gnarkWitness(ctx)
	}
	if ok, err := i.filecoin(ctx); ok || err != nil {
		return err
	}
	if IsJSON(head) {
		return i.document()
	}
	return i.gnarkPoints()
}

// small reads a file that is small by its nature into memory.
func (i *inspection) small(limit int64) ([]byte, error) {
	if i.file.Size() > limit {
		return nil, failure.New(failure.Usage, "is of no known format (%d bytes, too large for a proof or verifying key)", i.file.Size()).In(i.path)
	}
	var data []byte
	err := mapped.Guard(func() error { data = append(data, i.file.Bytes()...); return nil })
	return data, err
}

func (i *inspection) digests(ctx context.Context) error {
	if i.SkipDigests && !(i.Check && i.checkPoints != nil && i.Memory != nil) {
		return nil
	}
	f, err := os.Open(i.path)
	if err != nil {
		return failure.New(failure.IO, "%w", err)
	}
	defer f.Close()
	h := source.NewHasher("blake2b-512:") // to have both
	buf := make([]byte, 1<<20)
	read := progress.Count(i.file.Size(), i.tell("digest"))
	for {
		if err := ctx.Err(); err != nil {
			return failure.New(failure.Interrupted, "%w", err)
		}
		n, err := f.Read(buf)
		h.Write(buf[:n])
		read.Add(n)
		if err == io.EOF {
			break
		}
		if err != nil {
			return failure.New(failure.IO, "read: %w", err).In(i.path)
		}
	}
	i.sum = h.SHA256()
	if !i.SkipDigests {
		i.report.Digests.SHA256 = string(h.Digest("sha256"))
		i.report.Digests.BLAKE2 = string(h.Digest("blake2b-512"))
	}
	return nil
}

func (i *inspection) check(ctx context.Context) error {
	if !i.Check {
		return nil
	}
	if i.checkPoints == nil {
		if i.report.Kind == Wasm {
			return failure.New(failure.Usage, "a %s holds nothing to check", i.report.Format).In(i.path)
		}
		i.report.Check = &Check{OK: true} // what was read was checked
		return nil
	}
	if points, ok := i.Memory.Passed(i.sum); ok {
		i.report.Check = &Check{OK: true, Points: points, Remembered: true}
		return nil
	}
	points, err := i.checkPoints(ctx)
	if err != nil {
		return err
	}
	i.report.Check = &Check{OK: true, Points: points}
	if err := i.Memory.Remember(i.sum, points); err != nil {
		i.report.Warnings = append(i.report.Warnings, fmt.Sprintf("the check could not be remembered: %v", err))
	}
	return nil
}
