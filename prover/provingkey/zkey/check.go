package zkey

import (
	"context"

	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/internal/parallel"
	"github.com/cuzk-dev/cuzk/prover/progress"
)

// pointsPerStep is how many points one step of a full check takes: enough for checking them together to pay, few enough
// for progress and cancellation to be prompt (tens of milliseconds).
const pointsPerStep = 4096

// Check checks that every point of the key is on its curve and in its subgroup, on all cores, many points together
// (curve.ID.FirstInvalidG1). It returns an error of class Key that names section, index and offset of the first point of
// the first section that is not. For large keys it costs about as much as a proof.
// tell, if not nil, is told of the points checked.
func (k *Key) Check(ctx context.Context, tell progress.Func) error {
	var total int64
	for _, r := range k.runs() {
		total += int64(r.len())
	}
	checked := progress.Count(total, tell)
	for _, r := range k.runs() {
		err := parallel.Ranges(ctx, r.len(), pointsPerStep, func(start, end int) error {
			first := k.header.curve.FirstInvalidG1
			if r.g2 {
				first = k.header.curve.FirstInvalidG2
			}
			if i, err := first(r.section.Bytes()[start*r.size : end*r.size]); err != nil {
				i += start
				return r.section.Errorf(i*r.size, "point %d: %w", i, err).
					WithFix("the key is damaged or was made wrongly; fetch or make it again")
			}
			checked.Add(end - start)
			return nil
		})
		if err != nil {
			return failure.InFile(err, k.name)
		}
	}
	return nil
}
