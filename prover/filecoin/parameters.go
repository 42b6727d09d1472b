package filecoin

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

// Circuit is a kind of Filecoin circuit.
type Circuit uint8

// The circuits of registered proofs, and the Poseidon variant of SnapDeals, for which parameters are published too.
const (
	PoRep Circuit = iota
	WindowPoSt
	WinningPoSt
	SnapDeals
	SnapDealsPoseidon
)

// Circuits lists them all.
var Circuits = []Circuit{PoRep, WindowPoSt, WinningPoSt, SnapDeals, SnapDealsPoseidon}

var circuitNames = [...]string{
	PoRep: "porep", WindowPoSt: "window-post", WinningPoSt: "winning-post", SnapDeals: "snap-deals", SnapDealsPoseidon: "snap-deals-poseidon",
}

// String is the circuit's name on the command line.
func (c Circuit) String() string { return circuitNames[c] }

// ParseCircuit reads a circuit's name.
func ParseCircuit(text string) (Circuit, error) {
	for c, name := range circuitNames {
		if name == text {
			return Circuit(c), nil
		}
	}
	return 0, fmt.Errorf("%q is no circuit: use %s", text, strings.Join(circuitNames[:], ", "))
}

// Shape is a circuit's shape; ParameterName names its parameter files.
type Shape interface {
	// ParameterName is the name of the shape's parameter files, without the extension (.params, .vk, .meta).
	ParameterName() string
}

// Shape is the shape that registered proofs of a size have.
func (c Circuit) Shape(size SectorSize) Shape {
	switch c {
	case WindowPoSt:
		return WindowPoStShape(size)
	case WinningPoSt:
		return WinningPoStShape(size)
	case SnapDeals, SnapDealsPoseidon:
		return SnapShapeOf(size, c == SnapDealsPoseidon)
	}
	return PoRepShapeOf(size)
}

// parameterVersion begins all names; it has not changed since the circuits were frozen.
const parameterVersion = "v28"

// parameterName puts together prefix and digest of the string by which the reference identifies a circuit.
func parameterName(prefix, identifier string) string {
	digest := sha256.Sum256([]byte(identifier))
	return parameterVersion + "-" + prefix + "-" + hex.EncodeToString(digest[:])
}

// merkleTree is the reference's name of a replica's tree.
func (s SectorSize) merkleTree() string { return "merkletree-poseidon_hasher-" + s.Tree().String() }

// ParameterName depends on the number of challenges of a partition, but not on that of partitions, nor on what draws the
// challenges.
func (s PoRepShape) ParameterName() string {
	tree := s.Sector.merkleTree()
	return parameterName("stacked-proof-of-replication-"+tree+"-sha256_hasher", fmt.Sprintf(
		"layered_drgporep::PublicParams{ graph: stacked_graph::StackedGraph{expansion_degree: %d base_graph: drgraph::BucketGraph{size: %d; degree: %d; hasher: poseidon_hasher} }, challenges: LayerChallenges { layers: %d, max_count: %d }, tree: %s }",
		ExpanderParents, s.Sector.Nodes(), DRGParents, s.Layers, s.Challenges, tree))
}

// ParameterName depends on sector size, challenges and slots.
func (s PoStShape) ParameterName() string {
	return parameterName("proof-of-spacetime-fallback-"+s.Sector.merkleTree(), fmt.Sprintf(
		"FallbackPoSt::PublicParams{sector_size: %d, challenge_count: %d, sector_count: %d}", uint64(s.Sector), s.Challenges, s.Slots))
}

// ParameterName depends on the number of nodes alone.
func (s SnapShape) ParameterName() string {
	prefix := "empty-sector-update-"
	if s.Poseidon {
		prefix += "poseidon-"
	}
	return parameterName(prefix+s.Sector.merkleTree(), fmt.Sprintf("empty_sector_update::PublicParams{ sector_nodes: %d }", s.Sector.Nodes()))
}
