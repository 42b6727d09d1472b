package app

import (
	"context"
	"os"
	"path/filepath"

	"github.com/spf13/pflag"

	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/filecoin"
	"github.com/cuzk-dev/cuzk/prover/groth16"
	"github.com/cuzk-dev/cuzk/prover/provingkey/filparams"
)

// parameterCacheEnv names the folder of parameters for all of Filecoin's software; parameterCache is where it is else.
const (
	parameterCacheEnv = "FIL_PROOFS_PARAMETER_CACHE"
	parameterCache    = "/var/tmp/filecoin-proof-parameters"
)

// paramsDir is the folder that holds parameters.
type paramsDir struct{ path string }

func (p *paramsDir) register(f *pflag.FlagSet) {
	f.StringVar(&p.path, "params-dir", "", "folder of Filecoin's parameters (default: $"+parameterCacheEnv+", else "+parameterCache+")")
}

func (p *paramsDir) folder() string {
	if p.path != "" {
		return p.path
	}
	if dir := os.Getenv(parameterCacheEnv); dir != "" {
		return dir
	}
	return parameterCache
}

// file is the path of one of a shape's files: ext is .params, .vk or .meta.
func (p *paramsDir) file(s filecoin.Shape, ext string) string {
	return filepath.Join(p.folder(), s.ParameterName()+ext)
}

// parsed is a flag whose text is read by a function; errors name the flag.
type parsed[T any] struct {
	text  string
	value T
	given bool
}

// register registers a flag whose text parse reads later.
func (p *parsed[T]) register(f *pflag.FlagSet, name, usage string) {
	f.StringVar(&p.text, name, "", usage)
}

// read reads the text, where there is one.
func (p *parsed[T]) read(flag string, parse func(string) (T, error)) error {
	if p.text == "" {
		return nil
	}
	v, err := parse(p.text)
	if err != nil {
		return failure.New(failure.Usage, "--%s: %w", flag, err)
	}
	p.value, p.given = v, true
	return nil
}

// require refuses a command line without the flag.
func (p *parsed[T]) require(flag, why string) error {
	if p.given {
		return nil
	}
	return failure.New(failure.Usage, "--%s is missing", flag).WithFix("%s", why)
}

// minerFlags name who proves.
type minerFlags struct {
	miner    parsed[uint64]
	proverID parsed[filecoin.Node]
}

func (m *minerFlags) register(f *pflag.FlagSet) {
	m.miner.register(f, "miner", "miner's id address: 1000, f01000 or t01000")
	m.proverID.register(f, "prover-id", "prover id in hex, instead of --miner")
}

func (m *minerFlags) read() error {
	if err := m.miner.read("miner", filecoin.ParseMiner); err != nil {
		return err
	}
	if err := m.proverID.read("prover-id", filecoin.ParseNode); err != nil {
		return err
	}
	if m.miner.given && m.proverID.given && filecoin.ProverIDOf(m.miner.value) != m.proverID.value {
		return failure.New(failure.Usage, "--miner and --prover-id are of different miners").WithFix("give one of them")
	}
	return nil
}

// id is the prover id; ok is false where no flag gives it.
func (m *minerFlags) id() (_ filecoin.Node, ok bool) {
	if m.miner.given {
		return filecoin.ProverIDOf(m.miner.value), true
	}
	return m.proverID.value, m.proverID.given
}

// verifierOf reads the verifying key of a shape: the named file, or the one among the parameters. published tells that it
// is the one of the trusted set-up.
func (p *paramsDir) verifierOf(ctx context.Context, s filecoin.Shape, public int, named string) (v *groth16.Verifier, published bool, err error) {
	path := named
	if path == "" {
		path = p.file(s, extVK)
	}
	vk, err := filparams.OpenVerifyingKey(path)
	if err != nil {
		return nil, false, err
	}
	if err := filparams.CheckPublic(vk, public); err != nil {
		return nil, false, failure.InFile(err, path)
	}
	if known, ok := publishedNamed(s.ParameterName()); ok {
		digest, err := filparams.Digest(ctx, path, nil, nil)
		if err != nil {
			return nil, false, err
		}
		published = digest == known.VK
	}
	v, err = groth16.NewVerifier(vk, "")
	return v, published, failure.InFile(err, path)
}
