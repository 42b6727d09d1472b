package cpu_test

import (
	"context"

	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/groth16"
)

func (v vector) Len() int           { return len(v.scalars) }
func (v vector) Form() groth16.Form { return v.form }
func (v vector) Read(_ context.Context, offset int, dst []curve.Scalar) error {
	copy(dst, v.scalars[offset:offset+len(dst)])
	return nil
}
