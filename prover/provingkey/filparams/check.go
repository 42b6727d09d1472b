package filparams

import (
	"context"

	"github.com/cuzk-dev/cuzk/prover/failure"
	"github.com/cuzk-dev/cuzk/prover/internal/parallel"
	"github.com/cuzk-dev/cuzk/prover/progress"
)

// Check checks that every point of the file is on its curve and in its subgroup, on all cores, many points together. It
// returns an error of class Key that names section, number and offset of the first point that is not.
// tell, if not nil, is told of the points checked.
func (f *File) Check(ctx context.Context, tell progress.Func) error {
	var total int64
	for i := range f.layout.arrays {
		total += int64(f.layout.arrays[i].len())
	}
	checked := progress.Count(total, tell)
	for i := range f.layout.arrays {
		s := &f.layout.arrays[i]
		err := parallel.Ranges(ctx, s.len(), pointsPerStep, func(start, end int) error {
			if err := s.check(ctx, start, end); err != nil {
				return err
			}
			checked.Add(end - start)
			return nil
		})
		if err != nil {
			return failure.InFile(err, f.name)
		}
	}
	return nil
}

// check looks at the points of a range.
func (s *section) check(ctx context.Context, start, end int) error {
	raw := make([]byte, (end-start)*s.pointBytes())
	if err := s.read(ctx, start, raw); err != nil {
		return err
	}
	first := id.FirstInvalidG1
	if s.g2 {
		first = id.FirstInvalidG2
	}
	if i, err := first(raw); err != nil {
		return s.errorf(start+i, "%w", err).WithFix("the file is damaged or was made wrongly; fetch or generate it again")
	}
	return nil
}
