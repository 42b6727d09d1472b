package worker

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"k8s.io/utils/ptr"

	"github.com/cuzk-dev/cuzk/api/v1alpha1"
	"github.com/cuzk-dev/cuzk/prover/circuit/filecoin/synthesis"
	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/filecoin"
	"github.com/cuzk-dev/cuzk/prover/filecoin/fabricate"
	"github.com/cuzk-dev/cuzk/prover/filecoin/job"
	"github.com/cuzk-dev/cuzk/prover/filecoin/porep"
	"github.com/cuzk-dev/cuzk/prover/filecoin/post"
	"github.com/cuzk-dev/cuzk/prover/filecoin/proof"
	"github.com/cuzk-dev/cuzk/prover/filecoin/snap"
	"github.com/cuzk-dev/cuzk/prover/filecoin/vanilla"
	"github.com/cuzk-dev/cuzk/prover/groth16"
	"github.com/cuzk-dev/cuzk/prover/groth16/backend/cpu"
	"github.com/cuzk-dev/cuzk/prover/provingkey/filparams"
	"github.com/cuzk-dev/cuzk/prover/provingkey/filparams/generate"
	"github.com/cuzk-dev/cuzk/prover/worker/order"
	"github.com/cuzk-dev/cuzk/prover/worker/statement"
)

// windowKey is a parameter file of the window PoSt of 2 KiB, and its .vk: the smallest of registered circuits.
var windowKey = sync.OnceValues(func() (params, vk []byte) {
	ctx := context.Background()
	fail := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	m, err := synthesis.Record(filecoin.WindowPoStShape(filecoin.Sector2KiB)).Matrices(ctx)
	fail(err)
	secret, err := generate.SecretFrom("worker")
	fail(err)
	p, err := generate.New(ctx, m, secret)
	fail(err)
	var a, b bytes.Buffer
	fail(p.WriteParams(ctx, &a, nil))
	fail(p.WriteVerifyingKey(ctx, &b))
	return a.Bytes(), b.Bytes()
})

// windowCase is a circuit whose statement is about three sectors, in two partitions, and a folder of their vanilla proofs.
func windowCase(t *testing.T) (c *v1alpha1.Circuit, folder string) {
	t.Helper()
	s := &post.Statement{Randomness: filecoin.Node{1, 2, 3}, Sectors: []post.Sector{{ID: 9}, {ID: 10}, {ID: 11}}}
	p, err := filecoin.ParsePoStProof("StackedDrgWindow2KiBV1_1")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Register(p); err != nil {
		t.Fatal(err)
	}
	proofs, err := fabricate.PoSt(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	folder = t.TempDir()
	w := &v1alpha1.FilecoinWindowPoStCircuit{RegisteredProof: p.String(), Randomness: v1alpha1.Bytes32(s.Randomness.String())}
	for i, sector := range s.Sectors {
		w.Sectors = append(w.Sectors, v1alpha1.FilecoinSector{
			SectorNumber: ptr.To(int64(sector.ID)), CommR: v1alpha1.SealedCommitment(sector.CommR.String()),
		})
		writeFile(t, filepath.Join(folder, fmt.Sprintf("vanilla-%d.bin", sector.ID)), proofs[i].Bincode(s.Shape))
	}
	return &v1alpha1.Circuit{Type: v1alpha1.CircuitFilecoinWindowPoSt, FilecoinWindowPoSt: w}, folder
}

func writeFile(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

func claimOf(t *testing.T, c *v1alpha1.Circuit) *statement.Filecoin {
	t.Helper()
	s, err := statement.Of(c)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// inFolder is an input at a path on a claim.
func inFolder(folder, path string) namedInput {
	return namedInput{Input: order.Input{Name: "in", File: order.File{Root: folder, Path: path}}}
}

func openKey(t *testing.T, name string, data []byte) *NamedFile {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	writeFile(t, path, data)
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return &NamedFile{File: f, Name: path}
}

func TestProvesAPartitionOfAFolder(t *testing.T) {
	c, folder := windowCase(t)
	params, vk := windowKey()
	claim := claimOf(t, c)
	fs := &files{scratch: t.TempDir()}
	in, _, err := fs.pieces(t.Context(), inFolder(filepath.Dir(folder), filepath.Base(folder)))
	if err != nil {
		t.Fatal(err)
	}
	engine := &Filecoin{Backend: cpu.New(cpu.Config{}), CacheFolder: t.TempDir()}
	j, err := engine.read(t.Context(), in.Pieces, claim)
	if err != nil {
		t.Fatal(err)
	}
	if err := in.Close(); err != nil {
		t.Error(err)
	}
	key := KeyFiles{ProvingKey: openKey(t, "any-name", params), VerifyingKey: openKey(t, "vk", vk)}
	session, err := engine.load(t.Context(), key, j.Shape, &order.Order{Runs: 2}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	var runs []int
	p, err := session.prove(t.Context(), j, 1, nil, func(run int) { runs = append(runs, run) })
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(runs, []int{0, 1}) || len(p.Runs) != 2 || p.Runs[0].Type != v1alpha1.RunCold || p.Runs[1].Type != v1alpha1.RunWarm ||
		p.Backend != v1alpha1.BackendCPU || p.PublicInputs != nil {
		t.Errorf("runs %v: %+v", runs, p)
	}
	data, err := base64.StdEncoding.DecodeString(p.Proof)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := filparams.ParseVerifyingKey("vk", vk)
	if err != nil {
		t.Fatal(err)
	}
	v, err := groth16.NewVerifier(parsed, "")
	if err != nil {
		t.Fatal(err)
	}
	for partition, want := range []bool{false, true} {
		err := proof.Verify(v, proof.Claim{Statement: proof.Partition(claim.Statement, partition), Proof: data})
		if (err == nil) != want {
			t.Errorf("as the proof of partition %d: %v", partition, err)
		}
	}
}

// The digest of a folder is what this prints in it: LC_ALL=C sha256sum * | sha256sum
func TestDigestOfAFolder(t *testing.T) {
	folder := t.TempDir()
	for _, name := range []string{"p10", "p9", "B", ".hidden"} {
		writeFile(t, filepath.Join(folder, name), []byte("content of "+name))
	}
	fs := &files{scratch: t.TempDir()}
	const want = "sha256:2e4fc72527b8b0e31f3b3dc75a423a7dc6f0cc333373e4ccfc66c39dafd30398"
	in := inFolder(filepath.Dir(folder), filepath.Base(folder))
	for _, pinned := range []string{"", want} {
		in.Digest = pinned
		p, digest, err := fs.pieces(t.Context(), in)
		if err != nil || digest != want || len(p.Pieces) != 3 || p.Pieces[1].Name != "input in/p9" {
			t.Errorf("pinned by %q: %s, %v", pinned, digest, err)
		}
	}
	in.Digest = "sha256:" + strings.Repeat("0", 64)
	if _, _, err := fs.pieces(t.Context(), in); failure.ClassOf(err) != failure.Input || !strings.Contains(err.Error(), "digest of a folder") {
		t.Errorf("another digest: %v", err)
	}
	in.Digest, in.Path = "", filepath.Base(folder)+"/absent"
	if _, _, err := fs.pieces(t.Context(), in); failure.ClassOf(err) != failure.Input || !strings.Contains(err.Error(), "absent") {
		t.Errorf("a path that leads nowhere: %v", err)
	}
}

// What the statement says and the input denies is refused before the key is opened.
func TestInputsOfOtherStatements(t *testing.T) {
	for name, c := range map[string]contradictions{
		"porep": porepContradictions(t), "window-post": windowContradictions(t), "snap-deals": snapContradictions(t),
	} {
		engine := &Filecoin{}
		j, err := engine.read(t.Context(), c.in, claimOf(t, c.circuit()))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if claim := claimOf(t, c.circuit()); j.Shape != claim.Shape || j.Circuit != claim.Circuit || j.Statement.Partitions() != claim.Statement.Partitions() {
			t.Errorf("%s: the job is for %v", name, j.Shape)
		}
		for want, change := range c.changes {
			circuit := c.circuit()
			change(circuit)
			if _, err := engine.read(t.Context(), c.in, claimOf(t, circuit)); failure.ClassOf(err) != failure.Input || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %q", name, err, want)
			}
		}
	}
}

// contradictions are an input, the circuit that it fits, and changes of the circuit by what the refusal says.
type contradictions struct {
	in      []job.Piece
	circuit func() *v1alpha1.Circuit
	changes map[string]func(*v1alpha1.Circuit)
}

const otherNode = "0100000000000000000000000000000000000000000000000000000000000000"

func porepContradictions(t *testing.T) contradictions {
	t.Helper()
	registered, err := filecoin.ParseSealProof("StackedDrg2KiBV1_1")
	if err != nil {
		t.Fatal(err)
	}
	s := &porep.Statement{Prover: filecoin.ProverIDOf(1000), Sector: 7, Ticket: fabricate.Mark, Seed: filecoin.Node{5}}
	if err := s.Register(registered); err != nil {
		t.Fatal(err)
	}
	s.Shape = filecoin.PoRepTestShape
	c1, err := fabricate.PoRep(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	c1.Proof = &registered
	of := func(change func(*v1alpha1.FilecoinPoRepCircuit)) func(*v1alpha1.Circuit) {
		return func(c *v1alpha1.Circuit) { change(c.FilecoinPoRep) }
	}
	return contradictions{
		in: []job.Piece{{Name: "input c1", Data: c1.Format(vanilla.CommitJSON)}},
		circuit: func() *v1alpha1.Circuit {
			return &v1alpha1.Circuit{Type: v1alpha1.CircuitFilecoinPoRep, FilecoinPoRep: &v1alpha1.FilecoinPoRepCircuit{
				RegisteredProof: registered.String(), Shape: v1alpha1.FilecoinShapeTest, Miner: "f01000", SectorNumber: ptr.To[int64](7),
				Ticket: v1alpha1.Bytes32(s.Ticket.String()), Seed: v1alpha1.Bytes32(s.Seed.String()),
				CommD: v1alpha1.UnsealedCommitment(s.CommD.String()), CommR: v1alpha1.SealedCommitment(filecoin.Sealed.CID(s.CommR)),
			}}
		},
		changes: map[string]func(*v1alpha1.Circuit){
			"input c1: replica_id is ":                                           of(func(c *v1alpha1.FilecoinPoRepCircuit) { c.Miner = "f01001" }),
			"input c1: the sector is 7, but 8 was given":                         of(func(c *v1alpha1.FilecoinPoRepCircuit) { c.SectorNumber = ptr.To[int64](8) }),
			"input c1: the registered proof is StackedDrg2KiBV1_1, but StackedD": of(func(c *v1alpha1.FilecoinPoRepCircuit) { c.RegisteredProof = "StackedDrg2KiBV1" }),
			"input c1: the ticket is ":                                           of(func(c *v1alpha1.FilecoinPoRepCircuit) { c.Ticket = otherNode }),
			"input c1: the seed is ":                                             of(func(c *v1alpha1.FilecoinPoRepCircuit) { c.Seed = otherNode }),
			"input c1: comm_d is ":                                               of(func(c *v1alpha1.FilecoinPoRepCircuit) { c.CommD = otherNode }),
			"input c1: comm_r is ":                                               of(func(c *v1alpha1.FilecoinPoRepCircuit) { c.CommR = otherNode }),
			"vanilla_proofs":                                                     of(func(c *v1alpha1.FilecoinPoRepCircuit) { c.Shape = "" }),
		},
	}
}

func windowContradictions(t *testing.T) contradictions {
	t.Helper()
	c, folder := windowCase(t)
	f, err := job.OpenFiles(folder)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	of := func(change func(*v1alpha1.FilecoinWindowPoStCircuit)) func(*v1alpha1.Circuit) {
		return func(c *v1alpha1.Circuit) { change(c.FilecoinWindowPoSt) }
	}
	return contradictions{
		in: f.Pieces, circuit: c.DeepCopy,
		changes: map[string]func(*v1alpha1.Circuit){
			"vanilla-9.bin: sector_id is 9, which is none of the sectors": of(func(c *v1alpha1.FilecoinWindowPoStCircuit) { c.Sectors[0].SectorNumber = ptr.To[int64](8) }),
			"vanilla-10.bin: comm_r is ":                                  of(func(c *v1alpha1.FilecoinWindowPoStCircuit) { c.Sectors[1].CommR = otherNode }),
		},
	}
}

func snapContradictions(t *testing.T) contradictions {
	t.Helper()
	s := &snap.Statement{}
	if err := s.Register(0); err != nil {
		t.Fatal(err)
	}
	partitions, err := fabricate.Snap(s)
	if err != nil {
		t.Fatal(err)
	}
	u := &vanilla.Update{CommROld: s.CommROld, CommRNew: s.CommRNew, CommDNew: s.CommDNew, Partitions: partitions}
	data, err := u.JSON(true)
	if err != nil {
		t.Fatal(err)
	}
	of := func(change func(*v1alpha1.FilecoinSnapDealsCircuit)) func(*v1alpha1.Circuit) {
		return func(c *v1alpha1.Circuit) { change(c.FilecoinSnapDeals) }
	}
	return contradictions{
		in: []job.Piece{{Name: "input snap", Data: data}},
		circuit: func() *v1alpha1.Circuit {
			return &v1alpha1.Circuit{Type: v1alpha1.CircuitFilecoinSnapDeals, FilecoinSnapDeals: &v1alpha1.FilecoinSnapDealsCircuit{
				RegisteredProof: "StackedDrg2KiBV1", CommROld: v1alpha1.SealedCommitment(s.CommROld.String()),
				CommRNew: v1alpha1.SealedCommitment(s.CommRNew.String()), CommDNew: v1alpha1.UnsealedCommitment(s.CommDNew.String()),
			}}
		},
		changes: map[string]func(*v1alpha1.Circuit){
			"input snap: the registered proof is StackedDrg2KiBV1, but StackedDrg8MiBV1": of(func(c *v1alpha1.FilecoinSnapDealsCircuit) { c.RegisteredProof = "StackedDrg8MiBV1" }),
			"input snap: the old comm_r is ":                                             of(func(c *v1alpha1.FilecoinSnapDealsCircuit) { c.CommROld = otherNode }),
			"input snap: the new comm_r is ":                                             of(func(c *v1alpha1.FilecoinSnapDealsCircuit) { c.CommRNew = otherNode }),
			"input snap: the new comm_d is ":                                             of(func(c *v1alpha1.FilecoinSnapDealsCircuit) { c.CommDNew = otherNode }),
			"input snap: the circuit's shape is ":                                        of(func(c *v1alpha1.FilecoinSnapDealsCircuit) { c.Shape = v1alpha1.FilecoinShapePoseidon }),
		},
	}
}
