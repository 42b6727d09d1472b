package filecoin

import (
	"fmt"
	"strconv"
	"strings"
)

// APIVersion changes how challenges and parents are drawn, never a circuit.
type APIVersion int

// The versions, in order.
const (
	V1_0 APIVersion = iota
	V1_1
	V1_2
)

// String is the version as the reference writes it.
func (v APIVersion) String() string { return fmt.Sprintf("1.%d.0", int(v)) }

// SealProof is a registered proof of replication, by its number on the chain.
type SealProof uint8

// Kind is how a proof of replication's challenges are drawn.
type Kind uint8

// The kinds of proofs of replication.
const (
	Interactive Kind = iota
	// Synthetic challenges are chosen among a set that depends on comm_r.
	Synthetic
	// NonInteractive challenges do without a seed of the chain; the proof is an aggregate.
	NonInteractive
)

// sealFamilies are five registered proofs each, one a published size.
var sealFamilies = []struct {
	suffix  string
	version APIVersion
	kind    Kind
}{
	{"V1", V1_0, Interactive},
	{"V1_1", V1_1, Interactive},
	{"V1_1_Feat_SyntheticPoRep", V1_2, Synthetic},
	{"V1_2_Feat_NonInteractivePoRep", V1_2, NonInteractive},
}

// SealProofs is the number of registered proofs of replication: they are numbered from 0.
const SealProofs = 20

// Valid tells whether there is such a proof.
func (p SealProof) Valid() bool { return p < SealProofs }

// Sector is the sector's size.
func (p SealProof) Sector() SectorSize { return PublishedSizes[int(p)%len(PublishedSizes)] }

// Version is the version that draws parents and challenges.
func (p SealProof) Version() APIVersion { return sealFamilies[int(p)/len(PublishedSizes)].version }

// Kind is how challenges are drawn.
func (p SealProof) Kind() Kind { return sealFamilies[int(p)/len(PublishedSizes)].kind }

// String is the proof's name.
func (p SealProof) String() string {
	if !p.Valid() {
		return fmt.Sprintf("registered proof %d", uint8(p))
	}
	return "StackedDrg" + p.Sector().String() + sealFamilies[int(p)/len(PublishedSizes)].suffix
}

// PoRepID seeds graph and challenges of the proof: its number, then a nonce of zero.
func (p SealProof) PoRepID() Node { return Node{byte(p)} }

// Shape is the shape of the proof's circuit and the number of its partitions. Non-interactive proofs have another, and are
// aggregates, which cuzk does not make: see CheckSupported.
func (p SealProof) Shape() PoRepShape { return PoRepShapeOf(p.Sector()) }

// CheckSupported refuses the proofs that cuzk neither makes nor verifies.
func (p SealProof) CheckSupported() error {
	switch {
	case !p.Valid():
		return fmt.Errorf("there is no registered proof of replication %d: they are numbered 0 to %d", uint8(p), SealProofs-1)
	case p.Kind() == NonInteractive:
		return fmt.Errorf("%s (%d) is non-interactive: its proof is a SnarkPack aggregate of %d Groth16 proofs, which cuzk does not make",
			p, uint8(p), p.nonInteractivePartitions())
	}
	return nil
}

func (p SealProof) nonInteractivePartitions() int {
	if p.Sector() >= Sector32GiB {
		return 126
	}
	return 13
}

// ParseSealProof reads a proof's name, with or without lotus's prefix, or its number.
func ParseSealProof(text string) (SealProof, error) {
	n, ok := parseRegistered(text, "RegisteredSealProof_", SealProofs, func(n int) string { return SealProof(n).String() })
	if !ok {
		return 0, fmt.Errorf("%q is no registered proof of replication: use a name like StackedDrg32GiBV1_1, or its number", text)
	}
	return SealProof(n), nil
}

// parseRegistered finds a registered proof among those numbered below n.
func parseRegistered(text, prefix string, n int, names ...func(int) string) (int, bool) {
	if i, err := strconv.Atoi(text); err == nil {
		return i, i >= 0 && i < n
	}
	text = strings.TrimPrefix(text, prefix)
	for i := range n {
		for _, name := range names {
			if name(i) == text {
				return i, true
			}
		}
	}
	return 0, false
}

// PoStProof is a registered proof of spacetime, by its number on the chain.
type PoStProof uint8

// postFamilies are five registered proofs each; the reference's name of the last differs from the chain's.
var postFamilies = []struct {
	kind, suffix, reference string
	version                 APIVersion
}{
	{"Winning", "V1", "V1", V1_0},
	{"Window", "V1", "V1", V1_0},
	{"Window", "V1_1", "V1_2", V1_2},
}

// PoStProofs is the number of registered proofs of spacetime: they are numbered from 0.
const PoStProofs = 15

// Valid tells whether there is such a proof.
func (p PoStProof) Valid() bool { return p < PoStProofs }

// Winning tells winning PoSt from window PoSt.
func (p PoStProof) Winning() bool { return int(p) < len(PublishedSizes) }

// Sector is the sector's size.
func (p PoStProof) Sector() SectorSize { return PublishedSizes[int(p)%len(PublishedSizes)] }

// Version is the version that draws challenges.
func (p PoStProof) Version() APIVersion { return postFamilies[int(p)/len(PublishedSizes)].version }

// Shape is the shape of the proof's circuit.
func (p PoStProof) Shape() PoStShape {
	if p.Winning() {
		return WinningPoStShape(p.Sector())
	}
	return WindowPoStShape(p.Sector())
}

// String is the proof's name on the chain.
func (p PoStProof) String() string {
	if !p.Valid() {
		return fmt.Sprintf("registered PoSt proof %d", uint8(p))
	}
	f := postFamilies[int(p)/len(PublishedSizes)]
	return "StackedDrg" + f.kind + p.Sector().String() + f.suffix
}

func (p PoStProof) referenceName() string {
	f := postFamilies[int(p)/len(PublishedSizes)]
	return "StackedDrg" + f.kind + p.Sector().String() + f.reference
}

// ParsePoStProof reads a proof's name, the chain's or the reference's, with or without lotus's prefix, or its number.
func ParsePoStProof(text string) (PoStProof, error) {
	n, ok := parseRegistered(text, "RegisteredPoStProof_", PoStProofs,
		func(n int) string { return PoStProof(n).String() }, func(n int) string { return PoStProof(n).referenceName() })
	if !ok {
		return 0, fmt.Errorf("%q is no registered proof of spacetime: use a name like StackedDrgWindow32GiBV1_1, or its number", text)
	}
	return PoStProof(n), nil
}

// UpdateProof is a registered proof of a sector's update (SnapDeals), by its number on the chain.
type UpdateProof uint8

// UpdateProofs is the number of registered proofs of updates: they are numbered from 0.
const UpdateProofs = 5

// Valid tells whether there is such a proof.
func (p UpdateProof) Valid() bool { return p < UpdateProofs }

// Sector is the sector's size.
func (p UpdateProof) Sector() SectorSize { return PublishedSizes[p] }

// Shape is the shape of the proof's circuit and the number of its partitions.
func (p UpdateProof) Shape() SnapShape { return SnapShapeOf(p.Sector(), false) }

// String is the proof's name.
func (p UpdateProof) String() string {
	if !p.Valid() {
		return fmt.Sprintf("registered update proof %d", uint8(p))
	}
	return "StackedDrg" + p.Sector().String() + "V1"
}

// ParseUpdateProof reads a proof's name, with or without lotus's prefix, or its number.
func ParseUpdateProof(text string) (UpdateProof, error) {
	n, ok := parseRegistered(text, "RegisteredUpdateProof_", UpdateProofs, func(n int) string { return UpdateProof(n).String() })
	if !ok {
		return 0, fmt.Errorf("%q is no registered proof of an update: use a name like StackedDrg32GiBV1, or its number", text)
	}
	return UpdateProof(n), nil
}
