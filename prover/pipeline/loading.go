package pipeline

import (
	"context"
	"sync"

	"github.com/cuzk-dev/cuzk/prover/groth16"
	"github.com/cuzk-dev/cuzk/prover/progress"
	"github.com/cuzk-dev/cuzk/prover/provingkey/filparams"
	"github.com/cuzk-dev/cuzk/prover/stage"
)

// loading tells of the bytes of a key.
func loading(obs stage.Observer) progress.Func {
	return func(done, total int64) { obs.Progress(stage.SRS, done, total) }
}

// reading is a key of which a backend reads the points, section after section, and that tells how far it is. What is read again,
// for another device or after a failure, is not told again.
type reading struct {
	*filparams.Key
	shape  groth16.KeyShape
	before [groth16.SectionH + 1]int64 // bytes of the sections before each

	mu   sync.Mutex
	tell progress.Func
}

func newReading(key *filparams.Key, tell progress.Func) *reading {
	r := &reading{Key: key, shape: groth16.ShapeOf(key), tell: progress.Rising(tell)}
	for s := groth16.SectionB1; s <= groth16.SectionH; s++ {
		r.before[s] = r.before[s-1] + r.shape.SectionBytes(s-1)
	}
	return r
}

// ReadPoints implements groth16.PointReader.
func (r *reading) ReadPoints(ctx context.Context, s groth16.Section, first int, dst []byte) error {
	if err := r.Key.ReadPoints(ctx, s, first, dst); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tell(r.before[s]+int64(first)*int64(r.shape.PointSize(s))+int64(len(dst)), r.shape.PointBytes())
	return nil
}
