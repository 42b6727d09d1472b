package job_test

import (
	"encoding/base64"
	"encoding/json"
	"testing"

	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/filecoin"
	"github.com/cuzk-dev/cuzk/prover/filecoin/job"
	"github.com/cuzk-dev/cuzk/prover/internal/golden"
)

// base64List is pieces as a JSON list of them in base64.
func base64List(t *testing.T, in []job.Piece) []job.Piece {
	t.Helper()
	var texts []string
	for _, p := range in {
		texts = append(texts, base64.StdEncoding.EncodeToString(p.Data))
	}
	list, err := json.Marshal(texts)
	if err != nil {
		t.Fatal(err)
	}
	return []job.Piece{{Name: "list.json", Data: list}}
}

// The versions of window PoSts open other leaves, and the kinds have other numbers of them.
func TestDetectsRegisteredProofs(t *testing.T) {
	for _, name := range []string{"window-v1_2-3sectors", "window-v1-2sectors", "winning"} {
		c := golden.Read(t, name)
		want, err := filecoin.ParsePoStProof(c.RegisteredPoSt)
		if err != nil {
			t.Fatal(err)
		}
		in := vanillaPieces(t, c)
		in = append(in[1:], in[0]) // the leaves of the first sector are the same in both versions
		for _, in := range [][]job.Piece{in, base64List(t, in)} {
			got, err := job.DetectPoSt(in, postStatement(t, c), want.Winning())
			if err != nil || got != want {
				t.Errorf("%s is %s (%v), want %s", name, got, err, want)
			}
			if _, err := job.DetectPoSt(in, postStatement(t, c), !want.Winning()); failure.ClassOf(err) != failure.Input {
				t.Errorf("%s passes for the other kind: %v", name, err)
			}
		}
		s := postStatement(t, c)
		s.Randomness[0]++
		if got, err := job.DetectPoSt(in, s, want.Winning()); failure.ClassOf(err) != failure.Input {
			t.Errorf("%s with other randomness is %s (%v)", name, got, err)
		}
	}
	snap := []job.Piece{{Name: "vanilla", Data: golden.File(t, "snap.vanilla-p0.bincode")}}
	if got, err := job.DetectSnap(snap, false); err != nil || got != 0 {
		t.Errorf("the update is %s (%v)", got, err)
	}
	for _, in := range [][]job.Piece{nil, {{Name: "empty"}}, {{Name: "list", Data: []byte("[]")}}} {
		if _, err := job.DetectSnap(in, false); failure.ClassOf(err) != failure.Input {
			t.Errorf("%v: %v", in, err)
		}
	}
}
