package gnarkkey

import (
	"context"
	"errors"

	"github.com/cuzk-dev/cuzk/prover/curve"
	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/internal/parallel"
	"github.com/cuzk-dev/cuzk/prover/progress"
)

var errInfinity = errors.New("the point at infinity cannot be here")

// Check looks at each point of the key: its coordinates are below the prime, it is on the curve and in the subgroup of
// order r. It takes longer than a proof, so it is for inspection and for finding out why a proof does not verify. The
// error names the section, the point's index and its offset. tell is as for Load.
func (k *Key) Check(ctx context.Context, tell progress.Func) error {
	for _, v := range k.vertices {
		err := checkPoint(k.id, v.group, v.raw)
		if err == nil && curve.IsInfinity(v.raw) {
			err = errInfinity
		}
		if err != nil {
			return failure.New(failure.Key, "%w", err).In(k.Name()).At(v.label, v.offset).WithFix("%s", fixFile)
		}
	}
	if err := k.Load(ctx, nil); err != nil {
		return err
	}
	runs := k.allRuns()
	checked := progress.Count(work(runs), tell)
	for _, r := range runs {
		points, err := r.load(ctx, nil)
		if err != nil {
			return err
		}
		size := r.rawSize()
		err = parallel.Ranges(ctx, r.count, chunkCompressed, func(start, end int) error {
			for i := start; i < end; i++ {
				if err := checkPoint(k.id, r.group, points[i*size:(i+1)*size]); err != nil {
					return r.fail(i, err)
				}
			}
			checked.Add((end - start) * r.weight())
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func checkPoint(id curve.ID, group int, raw []byte) error {
	if group == 2 {
		return id.CheckG2(raw)
	}
	return id.CheckG1(raw)
}
