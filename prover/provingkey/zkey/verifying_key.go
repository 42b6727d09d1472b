package zkey

import (
	"bytes"
	"context"

	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/groth16"
	"github.com/cuzk-dev/cuzk/prover/internal/parallel"
)

// VerifyingKey returns the verifying key that the proving key holds, as copies, each point checked to be in its group.
func (k *Key) VerifyingKey(ctx context.Context) (*groth16.VerifyingKey, error) {
	ic := run{k.ic, k.header.curve.G1Bytes(), false}
	vk := &groth16.VerifyingKey{Curve: k.header.curve, IC: make([]curve.G1, ic.len())}
	err := parallel.Ranges(ctx, ic.len(), 16, func(start, end int) error {
		for i := start; i < end; i++ {
			if err := k.checkPoint(ic.point(i), false); err != nil {
				return ic.section.Errorf(i*ic.size, "point %d: %w", i, err).
					WithFix("the key is damaged; fetch or make it again")
			}
			vk.IC[i] = bytes.Clone(ic.point(i))
		}
		return nil
	})
	if err != nil {
		return nil, failure.InFile(err, k.name)
	}
	vk.AlphaG1 = bytes.Clone(k.header.alphaG1)
	vk.BetaG1 = bytes.Clone(k.header.betaG1)
	vk.DeltaG1 = bytes.Clone(k.header.deltaG1)
	vk.BetaG2 = bytes.Clone(k.header.betaG2)
	vk.GammaG2 = bytes.Clone(k.header.gammaG2)
	vk.DeltaG2 = bytes.Clone(k.header.deltaG2)
	return vk, nil
}
