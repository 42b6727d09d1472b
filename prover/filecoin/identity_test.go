package filecoin_test

import (
	"strings"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"

	"github.com/cuzk-dev/cuzk/prover/filecoin"
)

func node(t testing.TB, hex string) filecoin.Node {
	t.Helper()
	n, err := filecoin.ParseNode(hex)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// The commitment to 32 GiB of zeros is one that every node of the network knows.
func TestCommitmentCIDs(t *testing.T) {
	const cid = "baga6ea4seaqao7s73y24kcutaosvacpdjgfe5pw76ooefnyqw4ynr3d2y6x2mpq"
	zeros := node(t, "077e5fde35c50a9303a55009e3498a4ebedff39c42b710b730d8ec7ac7afa63e")
	if got := filecoin.Unsealed.CID(zeros); got != cid {
		t.Errorf("%s, want %s", got, cid)
	}
	for _, text := range []string{cid, zeros.String(), "0x" + zeros.String()} {
		if got, err := filecoin.Unsealed.Parse(text); err != nil || got != zeros {
			t.Errorf("%s gives %s (%v)", text, got, err)
		}
	}
	sealed := filecoin.Sealed.CID(zeros)
	if got, err := filecoin.Sealed.Parse(sealed); err != nil || got != zeros || !strings.HasPrefix(sealed, "bagboea4b5abca") {
		t.Errorf("%s gives %s (%v)", sealed, got, err)
	}
	for text, want := range map[string]string{
		sealed:                           "is the CID of a comm_r (bagboea4b5abca…), not of a comm_d",
		cid[:len(cid)-1] + "r":           "something else",
		cid[:len(cid)-1]:                 "something else",
		cid[1:]:                          "no commitment",
		"bafybeigdyrzt5sfp7udm7hu76uh7y": "something else",
		zeros.String()[1:]:               "no commitment",
		"":                               "no commitment",
	} {
		if _, err := filecoin.Unsealed.Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q gives %v, want %q", text, err, want)
		}
	}
}

func TestMinersAndProverIDs(t *testing.T) {
	for _, text := range []string{"1000", "f01000", "t01000"} {
		if id, err := filecoin.ParseMiner(text); err != nil || id != 1000 {
			t.Errorf("%s gives %d (%v)", text, id, err)
		}
	}
	for _, text := range []string{"", "f0", "f1abc", "f2", "-1", "f0-1", "18446744073709551615"} {
		if id, err := filecoin.ParseMiner(text); err == nil {
			t.Errorf("%q gives %d", text, id)
		}
	}
	if got, want := filecoin.ProverIDOf(1000).String(), "e807"+strings.Repeat("0", 60); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestNodesAndElements(t *testing.T) {
	one := fr.One()
	n := filecoin.NodeOf(one)
	if n != (filecoin.Node{1}) {
		t.Errorf("one is %s", n)
	}
	if e, ok := n.Element(); !ok || e != one {
		t.Error("one does not survive")
	}
	modulus := node(t, "01000000fffffffffe5bfeff02a4bd5305d8a10908d83933487d9d2953a7ed73")
	if _, ok := modulus.Element(); ok || modulus.IsCanonical() {
		t.Error("the modulus passes for canonical")
	}
	modulus[0] = 0
	if _, ok := modulus.Element(); !ok || !modulus.IsCanonical() {
		t.Error("the modulus less one does not pass for canonical")
	}
	for i := range n {
		n[i] = 0xff
	}
	if got := n.Trim(); got[31] != 0x3f || !got.IsCanonical() {
		t.Errorf("trimmed to %s", got)
	}
}
