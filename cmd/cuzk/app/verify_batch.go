package app

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	"github.com/spf13/pflag"

	"github.com/cuzk-dev/cuzk/prover/failure"
)

// maxBatch bounds the number of proofs that are verified together.
const maxBatch = 100_000

// readBatch reads a list of claims. What an entry does not say comes from the command line's flags.
func (v *filecoinVerification) readBatch(ctx context.Context, common *pflag.FlagSet) ([]namedClaim, error) {
	data, err := v.app.readDocument(ctx, v.batch, failure.Input)
	if err != nil {
		return nil, err
	}
	var entries []map[string]json.RawMessage
	if err := json.Unmarshal(data, &entries); err != nil {
		return nil, failure.New(failure.Input, "is no JSON list of objects: %w", err).In(v.batch)
	}
	if len(entries) == 0 || len(entries) > maxBatch {
		return nil, failure.New(failure.Input, "lists %d proofs, there must be 1 to %d", len(entries), maxBatch).In(v.batch)
	}
	claims := make([]namedClaim, len(entries))
	for i, entry := range entries {
		if ctx.Err() != nil {
			return nil, failure.New(failure.Interrupted, "%w", ctx.Err())
		}
		c, err := v.readEntry(ctx, common, entry)
		if err == nil && i > 0 && c.shape.ParameterName() != claims[0].shape.ParameterName() {
			err = failure.New(failure.Input, "is of another circuit than the first: a batch has one")
		}
		if err != nil {
			return nil, failure.New(failure.ClassOf(err), "entry %d: %w", i, err).In(v.batch)
		}
		claims[i] = *c
	}
	return claims, nil
}

// readEntry reads one claim of a batch: its members are flags.
func (v *filecoinVerification) readEntry(ctx context.Context, common *pflag.FlagSet, entry map[string]json.RawMessage) (*namedClaim, error) {
	flags, f := v.newFlags(), pflag.NewFlagSet("", pflag.ContinueOnError)
	flags.register(f)
	var err error
	common.Visit(func(flag *pflag.Flag) {
		if f.Lookup(flag.Name) != nil && err == nil {
			err = f.Set(flag.Name, flag.Value.String())
		}
	})
	if err != nil {
		return nil, failure.New(failure.Usage, "%w", err)
	}
	out := &namedClaim{}
	for _, name := range slices.Sorted(maps.Keys(entry)) {
		value, ok := plainText(entry[name])
		switch {
		case !ok:
			return nil, failure.New(failure.Input, "%s is neither text nor number nor true nor false", name)
		case name == "proof":
			out.file = value
		case f.Lookup(name) == nil:
			return nil, failure.New(failure.Input, "there is no flag --%s", name)
		default:
			if err := f.Set(name, value); err != nil {
				return nil, failure.New(failure.Input, "%w", err)
			}
		}
	}
	if out.file == "" {
		return nil, failure.New(failure.Input, "proof is missing").WithFix("name the file of the proof")
	}
	out.claim, err = flags.claim(ctx, v.app, f)
	return out, err
}

// plainText is a JSON text, number or truth value as a flag takes it.
func plainText(raw json.RawMessage) (string, bool) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var value any
	if err := d.Decode(&value); err != nil {
		return "", false
	}
	switch value := value.(type) {
	case string:
		return value, true
	case json.Number:
		return value.String(), true
	case bool:
		return strconv.FormatBool(value), true
	}
	return "", false
}
