package worker

import (
	"bytes"
	"context"
	"io"
	"path/filepath"
	"strings"

	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/filecoin"
	"github.com/cuzk-dev/cuzk/prover/progress"
	"github.com/cuzk-dev/cuzk/prover/provingkey/filparams"
	"github.com/cuzk-dev/cuzk/prover/source"
)

// filecoinFacts are those of a parameter file. It holds its verifying key, at its beginning and as a .vk has it. Which
// circuit it is for is told by its lengths alone, as a file may have any name in a pod.
func filecoinFacts(ctx context.Context, key KeyFiles, id curve.ID, pinned string, tell progress.Func) (*KeyFacts, error) {
	if id != curve.BLS12381 {
		return nil, wrongCurve(key.ProvingKey, curve.BLS12381, id)
	}
	params, err := filparams.OpenFile(key.ProvingKey.File, key.ProvingKey.Name)
	if err != nil {
		return nil, err
	}
	defer params.Close()
	if err := checkNamedLengths(params); err != nil {
		return nil, err
	}
	lengths := params.Lengths()
	vk := make([]byte, lengths.VKBytes())
	if _, err := key.ProvingKey.ReadAt(vk, 0); err != nil {
		return nil, failure.New(failure.IO, "%w", err).In(key.ProvingKey.Name)
	}
	if key.VerifyingKey != nil {
		if err := sameFile(key.VerifyingKey, vk, key.ProvingKey); err != nil {
			return nil, err
		}
	}
	digest, err := keyDigest(ctx, key.ProvingKey, pinned, tell)
	if err != nil {
		return nil, err
	}
	return &KeyFacts{
		Curve: string(id), PublicInputs: int64(lengths.IC) - 1, Wires: int64(lengths.IC) + int64(lengths.L),
		DomainSize: int64(lengths.H) + 1, Parameters: parametersOf(lengths),
		ProvingKeyDigest: digest, ProvingKeyBytes: params.Size(), VerifyingKey: vk,
	}, nil
}

// checkNamedLengths refuses a file that has the name of published parameters, but not their lengths.
func checkNamedLengths(params *filparams.File) error {
	name, _ := strings.CutSuffix(filepath.Base(params.Name()), ".params")
	for _, p := range filecoin.PublishedParameters {
		if p.Circuit.Shape(p.Sector).ParameterName() == name {
			return params.CheckLengths(p.Lengths)
		}
	}
	return nil
}

// sameFile refuses a .vk that is not the parameters' own. Points have one spelling, so that bytes tell.
func sameFile(f *NamedFile, own []byte, params *NamedFile) error {
	given, err := readSmall(f)
	if err != nil {
		return err
	}
	if _, err := filparams.ParseVerifyingKey(f.Name, given); err != nil {
		return err
	}
	if !bytes.Equal(given, own) {
		return failure.New(failure.Key, "is not the verifying key of %s", params.Name).In(f.Name).
			WithFix("use the .vk of the same set-up, or leave files.verifyingKey out")
	}
	return nil
}

// parametersOf names the published parameters that have these lengths.
func parametersOf(l filecoin.Lengths) string {
	for _, p := range filecoin.PublishedParameters {
		if p.Lengths == l {
			return p.Circuit.Shape(p.Sector).ParameterName()
		}
	}
	return ""
}

// keyDigest is the SHA-256 of a file of up to a hundred gigabytes, which need not be read again if that is what pins it.
func keyDigest(ctx context.Context, f *NamedFile, pinned string, tell progress.Func) (string, error) {
	if d, err := source.ParseDigest(pinned); err == nil && strings.HasPrefix(string(d), "sha256:") {
		return string(d), nil
	}
	info, err := f.Stat()
	if err != nil {
		return "", failure.New(failure.IO, "%w", err).In(f.Name)
	}
	h := source.NewHasher("")
	if _, err := copyFrom(ctx, io.MultiWriter(h, counter{progress.Count(info.Size(), tell)}), f.File); err != nil {
		return "", failure.New(failure.IO, "%w", err).In(f.Name)
	}
	return string(h.Digest("sha256")), nil
}

// counter counts the bytes that pass.
type counter struct{ *progress.Counter }

func (c counter) Write(p []byte) (int, error) {
	c.Add(len(p))
	return len(p), nil
}
