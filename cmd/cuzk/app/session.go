package app

import (
	"context"
	"errors"

	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/groth16"
	"github.com/cuzk-dev/cuzk/prover/memory"
	"github.com/cuzk-dev/cuzk/prover/pipeline"
	"github.com/cuzk-dev/cuzk/prover/source"
)

// session is a circuit's files opened and its key loaded.
type session struct {
	prover  *pipeline.Prover
	backend groth16.Backend
	input   *pipeline.File
	opened  []*pipeline.File
}

// backendFor makes the backend that --backend names.
func (a *app) backendFor(name string) (groth16.Backend, error) {
	limit := int64(a.flags.memoryLimit)
	if limit == 0 {
		limit = memory.Limit() // a proof that cannot fit is refused before the system ends us
	}
	return a.openBackend(backendWish{name: name, memory: limit, kernelCache: a.privateFolder("kernels")})
}

// open opens the files that the flags name and loads the key.
func (a *app) open(ctx context.Context, c *circuitFlags, p *display) (_ *session, err error) {
	s := &session{}
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	if s.backend, err = a.backendFor(c.backend); err != nil {
		return nil, err
	}
	open := map[string]*pipeline.File{}
	for flag, path := range c.files() {
		class := failure.Key
		if flag == "witness" || flag == "input" || flag == "solution" {
			class = failure.Input
		}
		f, err := a.openFile(ctx, c, p, flag, path, class)
		if err != nil {
			return nil, err
		}
		s.opened = append(s.opened, f)
		open[flag] = f
	}
	if err := c.recognise(open["proving-key"].File); err != nil {
		return nil, err
	}
	for _, flag := range []string{"witness", "input", "solution"} {
		if f := open[flag]; f != nil {
			s.input = f
		}
	}
	config := pipeline.Config{
		Backend: s.backend, Format: pipeline.Snarkjs, Curve: c.curve, CommitmentHash: c.hash, Threads: a.flags.threads, Log: a.log,
	}
	if c.gnark {
		config.Format = pipeline.Gnark
	}
	if c.wasmLog {
		config.SignalLog = a.stderr
	}
	if c.wasm != "" {
		config.CacheFolder = a.privateFolder("wasm")
	}
	s.prover, err = pipeline.Open(ctx, pipeline.Files{
		ProvingKey: open["proving-key"], VerifyingKey: open["verifying-key"], ConstraintSystem: open["constraint-system"], WitnessGenerator: open["wasm"],
	}, config, p.stages())
	return s, err
}

// openFile opens a path, or fetches a URI, and checks it against its pinned digest.
func (a *app) openFile(ctx context.Context, c *circuitFlags, p *display, flag, path string, class failure.Class) (*pipeline.File, error) {
	digest, err := source.ParseDigest(c.digests[flag])
	if err != nil {
		return nil, failure.New(failure.Usage, "--digest %s: %w", flag, err)
	}
	var src source.Source = source.File(path)
	if source.IsURI(path) {
		if src, err = source.Parse(ctx, path, source.Options{Credentials: c.credentials}); err != nil {
			return nil, err
		}
	}
	fetch := source.Fetch{Digest: digest, Class: class, Progress: p.work(flag)}
	if source.IsURI(path) {
		if fetch.Dir = a.privateFolder("downloads"); fetch.Dir == "" {
			return nil, failure.New(failure.Usage, "--%s: there is no cache folder to download to that nobody else can write to", flag).
				WithFix("name one with --cache-dir")
		}
	}
	got, err := fetch.Get(ctx, src)
	if err != nil {
		if _, local := src.(source.Local); local && (errors.Is(err, source.ErrAbsent) || errors.Is(err, source.ErrRefused) || errors.Is(err, source.ErrNotFile)) {
			return nil, failure.New(failure.Usage, "--%s: %w", flag, errors.Unwrap(err)).WithFix("check the path")
		}
		return nil, err
	}
	return &pipeline.File{Name: src.String(), File: got.File}, nil
}

// close gives everything back; errors of it change nothing any more.
func (s *session) close() {
	if s.prover != nil {
		_ = s.prover.Close()
	}
	if s.backend != nil {
		_ = s.backend.Close()
	}
	for _, f := range s.opened {
		_ = f.Close()
	}
}
