package vanilla_test

import (
	"encoding/binary"
	"runtime"
	"testing"

	"github.com/cuzk-dev/cuzk/prover/filecoin"
	"github.com/cuzk-dev/cuzk/prover/filecoin/fabricate"
	"github.com/cuzk-dev/cuzk/prover/filecoin/porep"
	"github.com/cuzk-dev/cuzk/prover/filecoin/vanilla"
)

// allocated is how many bytes a function allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// Whatever a length field claims, not more is allocated than the file could fill.
func TestClaimsOfLengthsCostNothing(t *testing.T) {
	_, commit := porepCase(t, "porep-v1_1")
	_, posts := postCase(t, "window-v1_2-3sectors")
	_, update := snapCase(t)
	snapShape := filecoin.SnapShapeOf(filecoin.Sector2KiB, false)
	for name, c := range map[string]struct {
		data []byte
		read func([]byte)
	}{
		"commit": {commit, func(b []byte) { _, _ = vanilla.ReadCommit1(t.Context(), "f", b, vanilla.CommitOptions{}) }},
		"PoSt":   {posts[0], func(b []byte) { _, _ = vanilla.ReadPoSt("f", b, filecoin.WindowPoStShape(filecoin.Sector2KiB)) }},
		"update": {update, func(b []byte) { _, _ = vanilla.ReadSnap("f", b, snapShape) }},
	} {
		for at := 0; at+8 <= len(c.data); at += 4 {
			changed := append([]byte(nil), c.data...)
			binary.LittleEndian.PutUint64(changed[at:], 10<<30)
			if n := allocated(func() { c.read(changed) }); n > 1<<20 {
				t.Fatalf("%s: 10 Gi at offset %d of a file of %d bytes: %d bytes are allocated", name, at, len(c.data), n)
			}
		}
	}
}

// A large output is read within twice the memory of its file, whatever its form.
func TestMemoryOfALargeOutput(t *testing.T) {
	s := &porep.Statement{Prover: filecoin.ProverIDOf(1000), Sector: 1, Ticket: fabricate.Mark}
	if err := s.Register(8); err != nil {
		t.Fatal(err)
	}
	s.Shape.Partitions = 1 // a tenth of a proof
	c, err := fabricate.PoRep(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	proof := filecoin.SealProof(8)
	c.Proof = &proof
	for _, e := range []vanilla.Encoding{vanilla.CommitJSON, vanilla.APIJSON} {
		data := c.Format(e)
		var read *vanilla.Commit1
		n := allocated(func() {
			read, err = vanilla.ReadCommit1(t.Context(), "f", data, vanilla.CommitOptions{Shape: &s.Shape})
		})
		if err != nil {
			t.Fatal(err)
		}
		if n > 2*uint64(len(data)) {
			t.Errorf("%s: %d bytes are allocated for a file of %d", e, n, len(data))
		}
		if read.CommR != s.CommR {
			t.Errorf("%s: comm_r %s, want %s", e, read.CommR, s.CommR)
		}
	}
}
