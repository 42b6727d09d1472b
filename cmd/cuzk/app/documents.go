package app

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/groth16"
	"github.com/cuzk-dev/cuzk/prover/groth16/gnarkfmt"
	"github.com/cuzk-dev/cuzk/prover/groth16/snarkjs"
	"github.com/cuzk-dev/cuzk/prover/inspect"
	"github.com/cuzk-dev/cuzk/prover/provingkey/zkey"
	"github.com/cuzk-dev/cuzk/prover/source"
)

// readDocument reads a small file whole. class is that of what is wrong with its content.
func (a *app) readDocument(ctx context.Context, path string, class failure.Class) ([]byte, error) {
	data, _, err := source.Fetch{Class: class}.ReadAll(ctx, source.File(path), snarkjs.MaxDocumentBytes)
	if errors.Is(err, source.ErrAbsent) {
		return nil, failure.New(failure.Usage, "does not exist").In(path).WithFix("check the path")
	}
	return data, err
}

// readVerifyingKey reads snarkjs's JSON, gnark's binary, or the verifying key in a .zkey, told apart by content. id, if not
// empty, is the curve the user asked for.
func (a *app) readVerifyingKey(ctx context.Context, path string, id curve.ID) (*groth16.VerifyingKey, error) {
	kind, err := kindOf(path)
	if err != nil {
		return nil, err
	}
	vk, err := a.parseVerifyingKey(ctx, path, kind, id)
	if err != nil {
		return nil, failure.InFile(err, path)
	}
	if id != "" && vk.Curve != id {
		return nil, failure.New(failure.Usage, "the verifying key is on %s, but --curve says %s", vk.Curve, id).In(path).
			WithFix("leave --curve out")
	}
	return vk, nil
}

func (a *app) parseVerifyingKey(ctx context.Context, path string, kind inspect.Kind, id curve.ID) (*groth16.VerifyingKey, error) {
	if kind == inspect.Zkey {
		p := a.progress()
		defer p.clear()
		k, err := zkey.Open(ctx, path, p.work("proving key"))
		if err != nil {
			return nil, err
		}
		defer k.Close()
		return k.VerifyingKey(ctx)
	}
	if kind != inspect.Unknown {
		return nil, failure.New(failure.Usage, "is a %s, not a verifying key", kind.Title())
	}
	data, err := a.readDocument(ctx, path, failure.Key)
	if err != nil {
		return nil, err
	}
	if len(data) == 0 {
		return nil, failure.New(failure.Key, "the file is empty")
	}
	if inspect.IsJSON(data) {
		return snarkjs.ParseVerifyingKey(data)
	}
	curves := curve.All
	if id != "" {
		curves = []curve.ID{id}
	}
	var errs []error
	for _, c := range curves {
		vk, err := gnarkfmt.ParseVerifyingKey(data, c)
		if err == nil {
			return vk, nil
		}
		errs = append(errs, fmt.Errorf("as one of %s: %w", c, err))
	}
	if len(errs) == 1 {
		return nil, errors.Unwrap(errs[0])
	}
	return nil, failure.New(failure.Key, "is neither JSON of snarkjs nor a verifying key of gnark (%w)", joined(errs)).
		WithFix("name the curve by --curve for an exact message")
}

// joined puts errors on one line.
func joined(errs []error) error {
	texts := make([]string, len(errs))
	for i, e := range errs {
		texts[i] = e.Error()
	}
	return errors.New(strings.Join(texts, "; "))
}

func kindOf(path string) (inspect.Kind, error) {
	f, err := source.File(path).OpenFile()
	if err != nil {
		if errors.Is(err, source.ErrAbsent) {
			return "", failure.New(failure.Usage, "does not exist").In(path).WithFix("check the path")
		}
		return "", failure.New(failure.Usage, "%w", err)
	}
	defer f.Close()
	kind, err := kindOfFile(f)
	if err != nil {
		return "", failure.New(failure.IO, "%w", err).In(path)
	}
	return kind, nil
}

func kindOfFile(f *os.File) (inspect.Kind, error) {
	st, err := f.Stat()
	if err != nil {
		return "", err
	}
	head := make([]byte, inspect.HeadBytes)
	n, _ := f.ReadAt(head, 0) // a short file is short
	return inspect.Recognise(head[:n], st.Size()), nil
}

// readProof reads proof.json or gnark's binary proof.
func (a *app) readProof(ctx context.Context, path string, id curve.ID) (*groth16.Proof, error) {
	data, err := a.readDocument(ctx, path, failure.Input)
	if err != nil {
		return nil, err
	}
	if len(data) == 0 {
		return nil, failure.New(failure.Input, "the file is empty").In(path)
	}
	var proof *groth16.Proof
	if inspect.IsJSON(data) {
		proof, err = snarkjs.ParseProof(data, id)
	} else {
		proof, err = gnarkfmt.ParseProof(data, id)
	}
	return proof, failure.InFile(err, path)
}

// readPublic reads public.json or the public part of a gnark witness.
func (a *app) readPublic(ctx context.Context, path string, id curve.ID) ([]curve.Scalar, error) {
	data, err := a.readDocument(ctx, path, failure.Input)
	if err != nil {
		return nil, err
	}
	if len(data) == 0 {
		return nil, failure.New(failure.Input, "the file is empty").In(path)
	}
	if inspect.IsJSON(data) {
		public, err := snarkjs.ParsePublic(data, id)
		return public, failure.InFile(err, path)
	}
	public, err := parsePublicWitness(data, id)
	return public, failure.InFile(err, path)
}

// parsePublicWitness reads gnark's form of public inputs: u32 public, u32 secret (0), u32 length, then elements of 32
// bytes, all big-endian. The secret part of a whole witness is not looked at.
func parsePublicWitness(data []byte, id curve.ID) ([]curve.Scalar, error) {
	if inspect.Recognise(data, int64(len(data))) != inspect.GnarkWitness {
		return nil, failure.New(failure.Input, "is neither a JSON list nor a public witness of gnark")
	}
	n := int(binary.BigEndian.Uint32(data)) // compared with the file's size above
	public := make([]curve.Scalar, n)
	for i := range public {
		b := slices.Clone(data[12+32*i : 12+32*(i+1)])
		slices.Reverse(b)
		s := curve.Load[curve.Scalar](b)
		if !id.IsCanonical(s) {
			return nil, failure.New(failure.Verification, "public input %d is not below r, the order of the scalar field of %s: it would stand for another value", i, id).
				At("", int64(12+32*i))
		}
		public[i] = s
	}
	return public, nil
}

// formatPublicWitness writes public inputs as gnark writes a witness without a secret part.
func formatPublicWitness(public []curve.Scalar) []byte {
	n := uint32(len(public))
	out := binary.BigEndian.AppendUint32(nil, n)
	out = binary.BigEndian.AppendUint32(out, 0)
	out = binary.BigEndian.AppendUint32(out, n)
	for _, s := range public {
		out = append(out, curve.ScalarToBig(s).FillBytes(make([]byte, curve.ScalarBytes))...)
	}
	return out
}
