package synthesis

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"testing"

	"github.com/cuzk-dev/cuzk/prover/filecoin"
	"github.com/cuzk-dev/cuzk/prover/filecoin/post"
	"github.com/cuzk-dev/cuzk/prover/filecoin/vanilla"
)

// curioPoSt names Curio's lib/proof/testgolden/post.vproof, which `make filecoin-test-data` downloads: the vanilla proof of a
// real sector of 32 GiB.
const curioPoSt = "CUZK_CURIO_POST"

func TestRealPoStOf32GiBSatisfies(t *testing.T) {
	name := os.Getenv(curioPoSt)
	if name == "" {
		t.Skipf("set %s to Curio's post.vproof", curioPoSt)
	}
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != "3c906a399450aba007683a8a974604ffef5297a25c51731eb7832e26340c41e9" {
		t.Fatalf("%s is another file: SHA-256 %x", name, sum)
	}
	commR, err := filecoin.ParseNode("df691086e3c673c95a45908713d4c5938e5ced43f21b888bd9bc6e181c9f326b")
	if err != nil {
		t.Fatal(err)
	}
	// One slot is what the file is about; its circuit is the block of a window PoSt.
	shape := filecoin.WindowPoStShape(32 * gib)
	shape.Slots = 1
	s := &post.Statement{Shape: shape, Version: filecoin.V1_0, Sectors: []post.Sector{{ID: 1, CommR: commR}}}
	v, err := vanilla.ReadPoSt(name, data, shape)
	if err != nil {
		t.Fatal(err)
	}
	if err := v.Check(name, s, 0); err != nil {
		t.Error(err)
	}
	public, err := s.PublicInputs(0)
	if err != nil {
		t.Fatal(err)
	}
	for i, leaf := range []uint64{707914199, 439148358, 967788220, 548708700, 1061661429, 6202012, 1055504637, 389535735, 1000069704, 600088878} {
		if public[i+1][0] != leaf {
			t.Errorf("challenge %d is %d, want %d", i, public[i+1][0], leaf)
		}
	}
	system := recorded(shape)
	w, err := AssignPoSt(t.Context(), system.Layout(), shape, []*vanilla.PoSt{v})
	satisfies(t, system, w, err, public)
}
