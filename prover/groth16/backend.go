// Package groth16 computes and verifies Groth16 proofs. What differs between machines, the arithmetic on keys and
// assignments, stands behind the Backend interface; what does not, the proof's form and its verification, is here.
package groth16

import (
	"context"
	"io"

	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/memory"
	"github.com/cuzk-dev/cuzk/prover/r1cs"
	"github.com/cuzk-dev/cuzk/prover/stage"
)

// Backend computes proofs on one kind of hardware. It is safe for concurrent use.
type Backend interface {
	// Name is "cpu" or "cuda".
	Name() string
	// LoadKey makes a proving key ready for any number of proofs. On success the key owns the source and closes it when
	// it needs its memory no more, at the latest with its last user; on failure the source stays the caller's. What a key
	// takes on the host is held from Memory for as long; where that has no room for it, an error of class Memory comes before
	// any work.
	LoadKey(ctx context.Context, src KeySource, budget Budget) (Key, error)
	// LoadStructure makes a circuit's matrices ready, so that packed assignments can be evaluated.
	LoadStructure(ctx context.Context, m *r1cs.Matrices) (Structure, error)
	// Memory is the budget of host memory, of which keys hold a part and proofs reserve the rest. Whoever feeds the backend
	// reserves from it too, so that all stages of a proof share one bound.
	Memory() *memory.Budget
	// KeyDemand is the memory that a key of a shape will hold, and that each proof with it will take at its peak, as far as
	// they are known before the key is loaded: zero is not known.
	KeyDemand(shape KeyShape) (key, proof Budget)
	// Demand is the memory that a proof with this key takes at its peak, beside the key, the structure and the
	// assignment.
	Demand(key Key) Budget
	// Submit queues a proof and returns at once. r and s blind the proof: uniform, independent, canonical, used once.
	// Equal (key, assignment, r, s) give equal proofs on every backend.
	Submit(ctx context.Context, key Key, a Assignment, r, s curve.Scalar, opts Options) (Ticket, error)
	// Close releases what the backend holds; keys and structures must be closed before.
	Close() error
}

// Ticket is a proof under way. Cancelling the context given to Submit ends it within one kernel.
type Ticket interface {
	// Wait returns the proof, unverified, or why there is none.
	Wait(ctx context.Context) (*Proof, error)
}

// Judged is a ticket of a backend whose hardware may compute wrongly without noticing it. Who waits for its proof tells what
// became of it, while the assignment is still there.
type Judged interface {
	Ticket
	// Computer is the name of the backend that computed the proof; it is known after Wait.
	Computer() string
	// Judge says that the proof verified (a nil refusal) or why it did not. A refused proof is computed once more, with
	// equal r and s, on other hardware where there is some: the ticket returned is to be waited for and judged in its turn.
	// Nil without an error says that there is nothing more to ask, and that all that was asked agreed. Hardware found to
	// have computed wrongly takes no more work; an error says that no right proof can be had for that reason.
	Judge(ctx context.Context, refusal error) (Ticket, error)
}

// Watched is a backend that keeps hardware from further work once it has failed or computed wrongly.
type Watched interface {
	// Withdrawn lists that hardware.
	Withdrawn() []Withdrawal
}

// Withdrawal is hardware that takes no more work.
type Withdrawal struct {
	// Device is a GPU's UUID, Name its model.
	Device, Name string
	Reason       error
}

// Key is a proving key made ready by a backend. It is reference-counted: a proof under way keeps it alive after Close.
type Key interface {
	Curve() curve.ID
	// Bytes is the memory the key occupies, on the host and on the device.
	Bytes() (host, device int64)
	Close() error
}

// Structure is a circuit's matrices made ready by a backend, under the same rules as Key.
type Structure interface {
	Curve() curve.ID
	Close() error
}

// Budget is an amount of memory; as a bound, zero means that there is none.
type Budget struct {
	HostBytes   int64
	DeviceBytes int64
}

// Options of one proof.
type Options struct {
	// Priority orders proofs that wait for a turn; higher goes first.
	Priority int
	// Reservation is memory that the caller has reserved for the proof, at least Backend.Demand. The backend gives parts
	// of it back as they fall free, and leaves its release to the caller. Nil makes the backend reserve by itself. A
	// caller that holds other memory of the same budget while it waits for the proof must pass it, or two proofs could
	// wait for each other.
	Reservation *memory.Reservation
	// Observer is told of the compute stage (stage.GPU) and its kernels: it begins when the proof's turn has come. Nil is
	// allowed.
	Observer stage.Observer
}

// Form says how the field elements of a buffer are held.
type Form uint8

const (
	// Canonical is the integer below the modulus itself.
	Canonical Form = iota
	// Montgomery is the integer times R = 2^256 modulo the modulus.
	Montgomery
)

// Vector is a sequence of scalars that can be read piece by piece, so that a device can be fed without the whole of it
// on the host.
type Vector interface {
	Len() int
	Form() Form
	// Read fills dst with the elements from offset on; dst must lie within the vector.
	Read(ctx context.Context, offset int, dst []curve.Scalar) error
}

// Assignment is either Packed or Evaluated.
type Assignment interface{ assignment() }

// Packed is a witness alone; the backend evaluates the constraints with the structure.
type Packed struct {
	Structure Structure
	// Witness holds wire 0 (the one), then the public inputs, then the rest.
	Witness Vector
	// Bits, if not nil, tells for each wire that it is a bit, and Values its value; Witness then holds only the
	// other wires, in order. One bit a wire, least significant first.
	Bits, Values []uint64
}

// Evaluated is a witness with the constraints already evaluated on it: A·w, B·w and C·w, each of the number of
// constraints. C may be nil where the key's layout says that c = a∘b.
type Evaluated struct {
	A, B, C Vector
	Witness Vector
	// Commitments are the Pedersen commitments made while solving (gnark), with the proof of knowledge's challenge.
	Commitments *Commitments
}

func (Packed) assignment()    {}
func (Evaluated) assignment() {}

// Commitments of a gnark circuit: points to be carried in the proof, already computed by the solver.
type Commitments struct {
	Points []curve.G1
	// PoK is the folded proof of knowledge.
	PoK curve.G1
}

// Layout says what the H part of a key is a basis of, and which points it leaves out.
type Layout uint8

const (
	// LayoutCoefficients: H holds τ^i·Z(τ)/δ in natural order, i < N-1 (bellman, Filecoin).
	LayoutCoefficients Layout = iota
	// LayoutGnark: as coefficients, but H is in bit-reversed order, and A and B leave out their points at infinity.
	LayoutGnark
	// LayoutSnarkjs: H is the Lagrange basis of the odd points of the doubled domain, with roots of unity generated
	// by 5 on every curve; c = a∘b on the domain.
	LayoutSnarkjs
)

// Section names a run of points of a proving key.
type Section uint8

const (
	SectionA  Section = iota // G1, one a wire
	SectionB1                // G1, one a wire
	SectionB2                // G2, one a wire
	SectionL                 // G1, one a private wire (snarkjs: C, gnark: K)
	SectionH                 // G1
)

// KeySource is a proving key as its file holds it. Readers implement it; backends consume it.
type KeySource interface {
	io.Closer
	Curve() curve.ID
	Layout() Layout
	// Wires counts all wires with the one; Public counts the public inputs without the one; Domain is the size of
	// the evaluation domain.
	Wires() int
	Public() int
	Domain() int
	// Vertices of the key: single points.
	AlphaG1() curve.G1
	BetaG1() curve.G1
	DeltaG1() curve.G1
	BetaG2() curve.G2
	DeltaG2() curve.G2
	// Points returns all points of a section as raw limbs (curve.G1 or curve.G2 form, back to back). The slice stays
	// valid, and unchanged, until Close.
	Points(Section) ([]byte, error)
	// Absent lists, for gnark's SectionA and SectionB1/B2, one bit a wire: set where the point at infinity is left
	// out of the section. Nil when none is.
	Absent(Section) []uint64
	// Committed lists, ascending, the private wires that SectionL leaves out because a commitment covers them.
	Committed() []uint32
	// Resident reports that Points are views of mapped memory that costs nothing to keep.
	Resident() bool
	// Digest is the SHA-256 of the file, or the zero value when it has not been computed.
	Digest() [32]byte
}

// Forgetful is a KeySource that decodes points into memory of its own, and can give that memory back.
type Forgetful interface {
	// Forget drops the decoded points; what Points has returned stays valid for who holds it. Points decodes anew.
	Forget()
}

// PointReader is a KeySource whose points can be read in parts, so that a key of many gigabytes need not lie in memory as a whole.
// Its sections have as many points as its circuit needs, none of them infinity.
type PointReader interface {
	// ReadPoints fills dst with the points of a section from number first on, as raw limbs; dst must lie within the section.
	ReadPoints(ctx context.Context, s Section, first int, dst []byte) error
}

// Proof is a Groth16 proof. Points are affine raw limbs.
type Proof struct {
	Curve curve.ID
	A     curve.G1
	B     curve.G2
	C     curve.G1
	// Commitments and PoK are present only for gnark circuits that commit.
	Commitments []curve.G1
	PoK         curve.G1
}
