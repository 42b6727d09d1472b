package porep

import (
	"bytes"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
	"github.com/google/go-cmp/cmp"

	"github.com/cuzk-dev/cuzk/prover/filecoin"
)

// The reference's own test of synthetic challenges: replica id and comm_r are small field elements.
func TestSyntheticChallenges(t *testing.T) {
	replica, commR := filecoin.NodeOf(fr.NewElement(55)), filecoin.NodeOf(fr.NewElement(101))
	s := newSynthetic(replica, commR, 1024, 21)
	want := []uint64{178, 297, 869, 211, 875, 477, 94, 781, 124, 332, 856, 801, 176, 692, 429, 691, 290, 204, 986, 210, 973}
	var got []uint64
	for i := range want {
		got = append(got, s.member(uint32(i)))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the set (-want +got):\n%s", diff)
	}
	seed := filecoin.Node(bytes.Repeat([]byte{1}, filecoin.NodeBytes))
	want = []uint64{176, 781, 801, 986, 290, 211, 692, 856, 986, 332}
	got = nil
	for i := range want {
		got = append(got, s.challenge(seed, uint32(i)))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the chosen ones (-want +got):\n%s", diff)
	}
}
