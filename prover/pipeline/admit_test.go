package pipeline_test

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	bls12381 "github.com/consensys/gnark-crypto/ecc/bls12-381"

	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/filecoin"
	"github.com/cuzk-dev/cuzk/prover/groth16/backend/cpu"
	"github.com/cuzk-dev/cuzk/prover/internal/fixture"
	"github.com/cuzk-dev/cuzk/prover/memory"
	"github.com/cuzk-dev/cuzk/prover/pipeline"
	"github.com/cuzk-dev/cuzk/prover/provingkey/filparams"
	"github.com/cuzk-dev/cuzk/prover/stage"
)

// hollowParams makes a .params with the lengths of a circuit and a verifying key, and holes where its other points would be:
// many gigabytes that take no place.
func hollowParams(t *testing.T, c filecoin.Circuit, size filecoin.SectorSize) *pipeline.File {
	t.Helper()
	published, ok := c.Published(size)
	if !ok {
		t.Fatalf("%s of %s has no parameters", c, size)
	}
	path := filepath.Join(t.TempDir(), c.Shape(size).ParameterName()+".params")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	_, _, one, two := bls12381.Generators()
	g1, g2 := one.RawBytes(), two.RawBytes()
	n := published.Lengths
	var vk []byte
	for _, p := range [][]byte{g1[:], g1[:], g2[:], g2[:], g1[:], g2[:], binary.BigEndian.AppendUint32(nil, uint32(n.IC))} {
		vk = append(vk, p...)
	}
	for range n.IC {
		vk = append(vk, g1[:]...)
	}
	at := int64(len(vk))
	if _, err := f.WriteAt(vk, 0); err != nil {
		t.Fatal(err)
	}
	for _, array := range []struct{ count, size int }{{n.H, 96}, {n.L, 96}, {n.A, 96}, {n.B, 96}, {n.B, 192}} {
		if _, err := f.WriteAt(binary.BigEndian.AppendUint32(nil, uint32(array.count)), at); err != nil {
			t.Fatal(err)
		}
		at += 4 + int64(array.count)*int64(array.size)
	}
	if err := f.Truncate(at); err != nil {
		t.Fatal(err)
	}
	return onDisk(t, path)
}

// A machine of 64 GB that is asked for a proof of replication of 32 GiB on its processor says at once what it would take:
// 44.1 GiB of points, 16 of tables of the domain, and a witness and three vectors of the domain for a proof.
func TestRefusesAKeyWithWhichNoProofFits(t *testing.T) {
	params := hollowParams(t, filecoin.PoRep, filecoin.Sector32GiB)
	cache := t.TempDir()
	config := pipeline.Config{Backend: cpu.New(cpu.Config{Memory: memory.NewBudget(62 << 30)}), CacheFolder: cache}
	_, err := pipeline.OpenFilecoin(t.Context(), pipeline.Files{ProvingKey: params}, filecoin.PoRepShapeOf(filecoin.Sector32GiB), config, nil)
	if failure.ClassOf(err) != failure.Memory {
		t.Fatalf("got %v, want an error of class Memory", err)
	}
	for _, want := range []string{
		params.Name + ": proving with this key needs 76.2 GiB of memory, 60.3 GiB for the key and 15.9 GiB for a proof, but there are 62.0 GiB",
		"--memory-limit", "on a GPU",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q lacks %q", err, want)
		}
	}
	if kept, err := os.ReadDir(cache); err != nil || len(kept) > 0 {
		t.Errorf("constraints were recorded before the refusal (%v)", err)
	}
}

// Circuits of 2 KiB fit into small machines and pods.
func TestAdmitsSmallCircuits(t *testing.T) {
	backend := cpu.New(cpu.Config{Threads: 8})
	for circuit, limit := range map[filecoin.Circuit]int64{
		filecoin.PoRep: 3 << 30, filecoin.SnapDeals: 2 << 30, filecoin.WindowPoSt: 256 << 20, filecoin.WinningPoSt: 512 << 20,
	} {
		published, _ := circuit.Published(filecoin.Sector2KiB)
		key, proof := backend.KeyDemand(filparams.ShapeOf(published.Lengths))
		if need := key.HostBytes + proof.HostBytes; need > limit {
			t.Errorf("%s needs %s, more than %s", circuit, memory.Size(need), memory.Size(limit))
		}
	}
}

// reading notes how far a stage is.
type reading struct {
	stage.Nop
	told bool
}

func (r *reading) Progress(stage.Name, int64, int64) { r.told = true }

// The points of a gnark key are not decoded first.
func TestRefusesAGnarkKeyBeforeItsPointsAreRead(t *testing.T) {
	path := func(file string) string { return fixture.Path(t, "gnark", "bn254", "mulchain_1000", file) }
	seen := &reading{}
	_, err := pipeline.Open(t.Context(), pipeline.Files{
		ProvingKey: onDisk(t, path("pk.bin")), ConstraintSystem: onDisk(t, path("ccs.bin")), VerifyingKey: onDisk(t, path("vk.bin")),
	}, pipeline.Config{Backend: cpu.New(cpu.Config{Memory: memory.NewBudget(100 << 10)})}, seen)
	if failure.ClassOf(err) != failure.Memory || seen.told {
		t.Errorf("got %v, points were read: %t", err, seen.told)
	}
}
