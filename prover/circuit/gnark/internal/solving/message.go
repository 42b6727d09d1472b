// Package solving is what runs in the child process that decodes and solves constraint systems with gnark, and the
// messages between it and its parent.
//
// They talk over a socket that keeps messages apart (SOCK_SEQPACKET). Messages are small; what is large lies in memory
// that both map, whose descriptor comes with the message.
package solving

import "github.com/cuzk-dev/cuzk/prover/curve"

// EnvChild is set in the environment of a child, and nowhere else; SocketFD is the descriptor it finds its socket at.
const (
	EnvChild = "CUZK_GNARK_SOLVER"
	SocketFD = 3
)

// MessageBytes bounds a message.
const MessageBytes = 64 << 10

// Request asks the child for one thing. Exactly one member is set.
type Request struct {
	Load  *Load  `json:"load,omitempty"`
	Solve *Solve `json:"solve,omitempty"`
}

// Load is the first request. Its descriptors are the constraint system's file and the commitment keys' memory: for each
// commitment its basis and its basis times sigma, G1 in raw form, back to back.
type Load struct {
	Curve       curve.ID `json:"curve"`
	FileBytes   int64    `json:"fileBytes"`
	MemoryBytes int64    `json:"memoryBytes"`
	Threads     int      `json:"threads"`
	// Shape is what the parent read in the file's header; the decoded system must agree.
	Shape Shape `json:"shape"`
	// Hash is the groth16.CommitmentHash.
	Hash string `json:"hash,omitempty"`
}

// Shape is the dimensions of a circuit; both sides compute the places in the shared memory from it.
type Shape struct {
	Constraints int `json:"constraints"`
	Public      int `json:"public"` // without the one
	Secret      int `json:"secret"`
	Internal    int `json:"internal"`
	// Committed is the number of private wires that each commitment covers.
	Committed []int `json:"committed,omitempty"`
}

// Wires counts all wires with the one.
func (s *Shape) Wires() int { return 1 + s.Public + s.Secret + s.Internal }

// Bytes is the size of the memory of a Solve: the wires, then A, B and C, Montgomery limbs, then the commitments and the
// proof of knowledge, G1 in raw form.
func (s *Shape) Bytes(id curve.ID) int64 {
	n := int64(s.Wires()+3*s.Constraints) * curve.ScalarBytes
	if len(s.Committed) > 0 {
		n += int64(len(s.Committed)+1) * int64(id.G1Bytes())
	}
	return n
}

// KeyBytes is the size of the memory of the commitment keys.
func (s *Shape) KeyBytes(id curve.ID) int64 {
	var n int64
	for _, c := range s.Committed {
		n += 2 * int64(c) * int64(id.G1Bytes())
	}
	return n
}

// Solve computes an assignment. Its descriptor is the memory that Shape describes, in which the inputs, or all wires if
// Complete is set, are already at their places.
type Solve struct {
	// Complete says that the wires are all there, and only to be checked.
	Complete bool `json:"complete,omitempty"`
}

// Fault says what a failure is about, so that the parent can name the file and choose the class.
type Fault string

const (
	FaultSystem   Fault = "system"
	FaultInput    Fault = "input"
	FaultHints    Fault = "hints"
	FaultInternal Fault = "internal"
)

// Reply answers a request.
type Reply struct {
	// Missing lists, after a Load, the numbers of the hints that the program does not have.
	Missing []uint32 `json:"missing,omitempty"`
	// MissingCount is their number; Missing may be cut.
	MissingCount int      `json:"missingCount,omitempty"`
	Failure      *Failure `json:"failure,omitempty"`
}

// Failure is why a request failed. It holds no values of wires.
type Failure struct {
	Fault Fault  `json:"fault"`
	Text  string `json:"text"`
	// Constraint is the number of the constraint concerned, or -1.
	Constraint int64 `json:"constraint"`
}
