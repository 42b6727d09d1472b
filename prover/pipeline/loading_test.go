package pipeline_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/cuzk-dev/cuzk/prover/groth16"
	"github.com/cuzk-dev/cuzk/prover/groth16/backend/cpu"
	"github.com/cuzk-dev/cuzk/prover/internal/fixture"
	"github.com/cuzk-dev/cuzk/prover/internal/progresstest"
	"github.com/cuzk-dev/cuzk/prover/internal/samples"
	"github.com/cuzk-dev/cuzk/prover/pipeline"
	"github.com/cuzk-dev/cuzk/prover/stage"
)

// loadingTold is what an observer is told of the stage srs.
type loadingTold struct {
	stage.Nop
	key    progresstest.Work
	others int
}

func (l *loadingTold) Progress(s stage.Name, done, total int64) {
	if s != stage.SRS {
		l.others++
		return
	}
	l.key.Tell(done, total)
}

// wantsLoading wants all of a key to be told of, up to nearly its file's size: what is left are headers.
func (l *loadingTold) wantsLoading(t *testing.T, fileBytes int) {
	t.Helper()
	if l.key.Total < int64(fileBytes)*9/10 || l.key.Total > int64(fileBytes) || l.others > 0 {
		t.Errorf("%d bytes are told of a file of %d, and %d of other stages", l.key.Total, fileBytes, l.others)
	}
	l.key.Whole(t, l.key.Total)
}

// loadsFilecoin wants the loading of parameters by a backend to be told of.
func loadsFilecoin(t *testing.T, backend groth16.Backend) {
	t.Helper()
	files := tinyParams(t)
	seen := &loadingTold{}
	f, err := pipeline.OpenFilecoin(t.Context(), files, tinyPoSt, pipeline.Config{Backend: backend}, seen)
	if err != nil {
		t.Fatal(err)
	}
	seen.wantsLoading(t, len(files.ProvingKey.Data))
	if err := f.Close(); err != nil {
		t.Error(err)
	}
}

func TestTellsOfLoadingFilecoinsParameters(t *testing.T) { loadsFilecoin(t, cpu.New(cpu.Config{})) }

func TestTellsOfLoadingAZkey(t *testing.T) {
	key := read(t, filepath.Join(samples.Root(), "test", "circuits", "bls12381", "merkle16", "merkle16.zkey"))
	seen := &loadingTold{}
	p, err := pipeline.Open(t.Context(), pipeline.Files{ProvingKey: key}, pipeline.Config{Backend: cpu.New(cpu.Config{})}, seen)
	if err != nil {
		t.Fatal(err)
	}
	seen.wantsLoading(t, len(key.Data))
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}

// Of a gnark key work is told, not bytes.
func TestTellsOfLoadingAGnarkKey(t *testing.T) {
	path := func(file string) string { return fixture.Path(t, "gnark", "bn254", "mulchain_1000", file) }
	seen := &loadingTold{}
	p, err := pipeline.Open(t.Context(), pipeline.Files{
		ProvingKey: onDisk(t, path("pk.bin")), ConstraintSystem: onDisk(t, path("ccs.bin")), VerifyingKey: onDisk(t, path("vk.bin")),
	}, pipeline.Config{Backend: cpu.New(cpu.Config{})}, seen)
	if err != nil {
		t.Fatal(err)
	}
	if seen.key.Total == 0 {
		t.Error("nothing was told")
	}
	seen.key.Whole(t, seen.key.Total)
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}

// Loading ends with the context, in the middle of the key.
func TestLoadingIsCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	seen := &loadingTold{}
	seen.key.At = func(int64) { cancel() }
	_, err := pipeline.OpenFilecoin(ctx, tinyParams(t), tinyPoSt, pipeline.Config{Backend: cpu.New(cpu.Config{})}, seen)
	if !errors.Is(err, context.Canceled) || seen.key.Done == seen.key.Total {
		t.Errorf("got %v after %d of %d bytes", err, seen.key.Done, seen.key.Total)
	}
}
