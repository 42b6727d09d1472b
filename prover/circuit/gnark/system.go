// Package gnark is the front end for circuits compiled by gnark: a constraint system and a witness become an evaluated
// assignment that a backend can prove.
//
// gnark's decoder of constraint systems trusts the lengths and indices in a file, and its solver runs code that the
// circuit's author linked in, so both run in a child process with a memory limit (Solver). What this process reads
// itself, it reads with its own readers: the header of the constraint system (System), the witness (Witness) and, for
// circuits with hints that are not linked in, the solution (Solution).
//
// A program that uses a Solver must call Main first thing in its main function: the child is the program itself.
package gnark

import (
	"encoding/binary"
	"fmt"
	"math/big"
	"os"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/internal/mapped"
	"github.com/cuzk-dev/cuzk/prover/provingkey/gnarkkey"
)

const fixSystem = "hand in a complete constraint system as gnark's WriteTo wrote it, compiled for Groth16 (r1cs.NewBuilder)"

// System is a constraint system of gnark (its file is often called ccs, or .r1cs) as its header tells of it. The
// constraints themselves are read by the solver only.
type System struct {
	name   string
	size   int64
	file   *os.File
	memory *mapped.File

	// Curve is told by the scalar field's modulus in the header.
	Curve curve.ID
	// Version is the version of gnark that wrote the file, for instance "0.14.0".
	Version string
	// Constraints is the number of rows.
	Constraints int
	// Public and Secret count the inputs, without the one; Internal counts all other wires.
	Public, Secret, Internal int
	// Commitments are the circuit's Pedersen commitments, in the order in which they are made.
	Commitments []gnarkkey.Commitment
	// Hints are the functions that solving needs, by ascending number.
	Hints []Hint
	// Calldata is the number of 32-bit words of the solver's instructions.
	Calldata int64
}

// Hint is a function outside of the constraints that computes wires.
type Hint struct {
	// ID is gnark's number of it: FNV-1a, 32 bits, of the name.
	ID uint32
	// Name is the full name of the Go function, for instance "github.com/consensys/gnark/std/math/bits.nBits".
	Name string
}

// OpenSystem reads the header of a constraint system and checks that the lengths in it fit the file. Errors are of class
// Key and name section and offset. want, if not empty, is the curve the user asked for; another is refused.
func OpenSystem(path string, want curve.ID) (*System, error) {
	f, err := os.Open(path)
	if err != nil {
		// The error of a mapped file names the file and the fix.
		if m, named := mapped.Open(path); named != nil {
			err = named
		} else {
			_ = m.Close() // It has appeared since.
		}
		return nil, err
	}
	defer f.Close()
	return OpenSystemFile(f, path, want)
}

// OpenSystemFile is OpenSystem for a file that is open already; the caller may close it afterwards. The name is for
// messages.
func OpenSystemFile(f *os.File, name string, want curve.ID) (*System, error) {
	// The solver's children get the file handed over, so the System keeps a descriptor of its own.
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, failure.New(failure.IO, "duplicate the file's descriptor: %w", err).In(name)
	}
	f = os.NewFile(uintptr(fd), name)
	s := &System{name: name, file: f}
	if s.memory, err = mapped.FromFile(f, name); err != nil {
		_ = f.Close() // Why it cannot be used matters more.
		return nil, err
	}
	err = mapped.Guard(func() error { return s.parse(s.memory.Bytes()) })
	if err == nil && want != "" && want != s.Curve {
		err = failure.New(failure.Key, "the constraint system is for %s, but %s was asked for", s.Curve, want).In(name).
			WithFix("leave the curve out, or compile the circuit for %s", want)
	}
	if err != nil {
		_ = s.Close() // Why the file cannot be used matters more.
		return nil, err
	}
	return s, nil
}

// Name is the path of the file.
func (s *System) Name() string { return s.name }

// Size is the file's size in bytes.
func (s *System) Size() int64 { return s.size }

// Wires counts all wires with the one.
func (s *System) Wires() int { return 1 + s.Public + s.Secret + s.Internal }

// Close closes the file. Solvers that were started with the System go on.
func (s *System) Close() error {
	err := s.memory.Close()
	if e := s.file.Close(); err == nil {
		err = e
	}
	return err
}

// Circuit is what the proving key must agree with.
func (s *System) Circuit() gnarkkey.Circuit {
	return gnarkkey.Circuit{File: s.name, Curve: s.Curve, Constraints: s.Constraints, Wires: s.Wires(), Public: s.Public, Commitments: s.Commitments}
}

// The file (gnark, constraint/<curve>/marshal.go and constraint/marshal.go): little-endian u64 length of the rest and
// version (major, minor, patch); lengths of four sections; the sections levels, instructions, calldata and body (CBOR);
// u64 number of coefficients and the coefficients, Montgomery limbs.
const (
	outerHeader = 4 * 8
	innerHeader = 4 * 8
)

func (s *System) parse(data []byte) error {
	s.size = int64(len(data))
	fail := func(section string, offset uint64, msg string, args ...any) error {
		return failure.New(failure.Key, msg, args...).In(s.name).At(section, int64(offset)).WithFix("%s", fixSystem)
	}
	if len(data) == 0 {
		return failure.New(failure.Key, "the file is empty").In(s.name).WithFix("%s", fixSystem)
	}
	if len(data) < outerHeader+innerHeader {
		return fail("header", uint64(len(data)), "the file ends inside its header of %d bytes", outerHeader+innerHeader)
	}
	number := func(i int) uint64 { return binary.LittleEndian.Uint64(data[8*i:]) }
	total, major, minor, patch := number(0), number(1), number(2), number(3)
	if major != 0 || minor < 10 || minor > 1000 || patch > 1000 {
		return fail("header", 8, "it says gnark %d.%d.%d wrote it: it is not a constraint system of gnark, or of a version that is not supported", major, minor, patch)
	}
	s.Version = fmt.Sprintf("%d.%d.%d", major, minor, patch)
	if rest := uint64(len(data) - outerHeader); total != rest {
		return fail("header", 0, "it says that %d bytes follow the header, but %d do: the file is truncated, or has something behind it", total, rest)
	}
	// Each length is at most that of the file, so the sums below cannot overflow.
	at := uint64(outerHeader + innerHeader)
	var sections [4][]byte
	var offsets [4]uint64
	for i, name := range []string{"levels", "instructions", "calldata", "body"} {
		n := number(4 + i)
		if left := uint64(len(data)) - at; n > left {
			return fail("header", uint64(outerHeader+8*i), "section %s says it has %d bytes, but the file has only %d more", name, n, left)
		}
		sections[i], offsets[i] = data[at:at+n], at
		at += n
	}
	body := &cborReader{file: s.name, label: "section body", data: sections[3], base: int64(offsets[3])}
	if err := s.parseBody(body); err != nil {
		return err
	}
	if err := s.checkLevels(sections[0], offsets[0]); err != nil {
		return err
	}
	if err := s.checkInstructions(sections[1], offsets[1]); err != nil {
		return err
	}
	if n := len(sections[2]); n < 8 || binary.LittleEndian.Uint64(sections[2]) > uint64(n-8) {
		return fail("section calldata", offsets[2], "it is too short for the number of words it claims")
	}
	s.Calldata = int64(binary.LittleEndian.Uint64(sections[2]))
	return s.checkCoefficients(data[at:], at)
}

// maxWires is bounded by gnark's 32-bit wire numbers; so is the number of constraints.
const maxWires = 1<<32 - 1

func (s *System) parseBody(c *cborReader) error {
	var field string
	kind := -1
	public := 0
	c.fields("the constraint system", func(name string) bool {
		switch name {
		case "ScalarField":
			field = c.text("the modulus")
		case "Type":
			kind = c.count("the type", 1<<16)
		case "NbConstraints":
			s.Constraints = c.count("the number of constraints", maxWires)
		case "NbInternalVariables":
			s.Internal = c.count("the number of internal wires", maxWires)
		case "Public":
			public = c.array("the public inputs", func(int) { c.skip() })
		case "Secret":
			s.Secret = c.array("the secret inputs", func(int) { c.skip() })
		case "CommitmentInfo":
			s.parseCommitments(c)
		case "MHintsDependencies":
			s.parseHints(c)
		case "GkrInfo":
			s.refuseOldGKR(c)
		default:
			return false
		}
		return true
	})
	if c.err == nil && c.at != len(c.data) {
		c.fail("%d bytes follow the document", len(c.data)-c.at)
	}
	if c.err != nil {
		return c.err
	}
	fail := func(msg string, args ...any) error {
		return failure.New(failure.Key, msg, args...).In(s.name).At(c.label, c.base).WithFix("%s", fixSystem)
	}
	modulus, ok := new(big.Int).SetString(field, 16)
	if !ok || len(field) > 200 {
		return fail("its scalar field is not told: %.80q is not a hexadecimal number", field)
	}
	if s.Curve, ok = curve.FromScalarModulus(modulus); !ok {
		return fail("its scalar field, with modulus %#x, belongs neither to BN254 nor to BLS12-381", modulus)
	}
	switch kind {
	case 1:
	case 2:
		return fail("it is compiled for PLONK (scs.NewBuilder), not for Groth16")
	default:
		return fail("its type is %d, which is not known", kind)
	}
	if public == 0 {
		return fail("it has no constant wire")
	}
	s.Public = public - 1
	if s.Wires() > maxWires {
		return fail("it says it has %d wires: at most %d are possible", s.Wires(), uint64(maxWires))
	}
	for i, com := range s.Commitments {
		for _, w := range append([]uint32{com.Wire}, com.Private...) {
			if int(w) <= s.Public || int(w) >= s.Wires() {
				return fail("commitment %d is of wire %d, which is not a private one", i, w)
			}
		}
	}
	return nil
}

func (s *System) parseCommitments(c *cborReader) {
	if c.null() {
		return
	}
	if c.at < len(c.data) && c.data[c.at]>>5 == cborTag {
		c.head()
	}
	wire := func(what string) uint32 { return uint32(c.count(what, maxWires)) }
	c.array("the commitments", func(int) {
		var com gnarkkey.Commitment
		c.fields("a commitment", func(name string) bool {
			switch name {
			case "PrivateCommitted":
				c.array("the committed wires", func(int) { com.Private = append(com.Private, wire("a wire")) })
			case "CommitmentIndex":
				com.Wire = wire("the commitment's wire")
			default:
				return false
			}
			return true
		})
		s.Commitments = append(s.Commitments, com)
	})
}

func (s *System) parseHints(c *cborReader) {
	if c.null() {
		return
	}
	n := c.expect(cborMap, "the hints")
	for ; n > 0 && c.err == nil; n-- {
		id := c.count("a hint's number", 1<<32-1)
		s.Hints = append(s.Hints, Hint{ID: uint32(id), Name: c.text("a hint's name")})
	}
	slices.SortFunc(s.Hints, func(a, b Hint) int { return int(int64(a.ID) - int64(b.ID)) })
}

// refuseOldGKR fails for circuits that use GKR as gnark had it up to 0.14: later versions read the file, and would leave
// the wires of the GKR part unsolved.
func (s *System) refuseOldGKR(c *cborReader) {
	c.fields("the GKR part", func(name string) bool {
		if name != "Circuit" {
			return false
		}
		if c.array("the GKR circuit", func(int) { c.skip() }) > 0 {
			c.fail("the circuit uses GKR as gnark %s had it, which later versions cannot solve: compile it with gnark 0.16", s.Version)
		}
		return true
	})
}

// checkLevels walks over the compressed lists of instructions that can be solved at the same time.
func (s *System) checkLevels(data []byte, offset uint64) error {
	w := &packedReader{file: s.name, label: "section levels", data: data, base: offset}
	n := w.uint64()
	if w.err == nil && n > uint64(len(data))/8 {
		w.at = 0
		w.fail("%d levels are claimed, but there are only %d bytes", n, len(data))
	}
	for ; n > 0 && w.err == nil; n-- {
		w.skipPacked(4)
	}
	return w.end()
}

func (s *System) checkInstructions(data []byte, offset uint64) error {
	w := &packedReader{file: s.name, label: "section instructions", data: data, base: offset}
	var counts [4]uint64
	for i, word := range []uint64{4, 4, 4, 8} {
		counts[i] = w.skipPacked(word)
	}
	for _, n := range counts[1:] {
		if w.err == nil && n != counts[0] {
			w.at = 0
			w.fail("its four columns have %d entries: they must be equally long", counts)
		}
	}
	return w.end()
}

// checkCoefficients reads the coefficient table. Its first five entries are always 0, 1, 2, -1 and -2; in Montgomery
// form they differ between fields, so they show whether the table is of the field that the body names.
func (s *System) checkCoefficients(data []byte, offset uint64) error {
	const label = "coefficients"
	fail := func(at uint64, msg string, args ...any) error {
		return failure.New(failure.Key, msg, args...).In(s.name).At(label, int64(offset+at)).WithFix("%s", fixSystem)
	}
	if len(data) < 8 {
		return fail(0, "the file ends before them")
	}
	n, rest := binary.LittleEndian.Uint64(data), data[8:]
	if n > uint64(len(rest))/curve.ScalarBytes || n*curve.ScalarBytes != uint64(len(rest)) {
		return fail(0, "%d of %d bytes are claimed, but %d bytes are left for them", n, curve.ScalarBytes, len(rest))
	}
	if i := s.Curve.FirstUnreducedScalar(rest); i >= 0 {
		return fail(8+uint64(i)*curve.ScalarBytes, "number %d is not below r, the modulus of %s", i, s.Curve)
	}
	r := s.Curve.ScalarModulus()
	for i, x := range []int64{0, 1, 2, -1, -2} {
		want := curve.ScalarFromBig(new(big.Int).Mod(big.NewInt(x), r))
		one := []curve.Scalar{want}
		s.Curve.ToMontgomery(one)
		if n <= uint64(i) || scalarAt(rest, i) != one[0] {
			return fail(8+uint64(i)*curve.ScalarBytes, "number %d is not %d as an element of the scalar field of %s: the table is of another curve, or damaged", i, x, s.Curve)
		}
	}
	return nil
}

func scalarAt(data []byte, i int) (s curve.Scalar) {
	for j := range s {
		s[j] = binary.LittleEndian.Uint64(data[i*curve.ScalarBytes+8*j:])
	}
	return s
}
