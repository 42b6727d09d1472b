package filparams

import (
	"context"
	"sync"

	"github.com/cuzk-dev/cuzk/prover/internal/parallel"
)

// Check checks that every point of the file is on its curve and in its subgroup, on all cores, many points together. It
// returns an error of class Key that names section, number and offset of the first point that is not.
//
// progress, if not nil, is called with the number of points done and their total, from any goroutine, one call at a time.
func (f *File) Check(ctx context.Context, progress func(done, total int64)) error {
	var total, done int64
	for i := range f.layout.arrays {
		total += int64(f.layout.arrays[i].len())
	}
	var mu sync.Mutex
	for i := range f.layout.arrays {
		s := &f.layout.arrays[i]
		err := parallel.Ranges(ctx, s.len(), pointsPerStep, func(start, end int) error {
			if err := s.check(ctx, start, end); err != nil {
				return err
			}
			if progress != nil {
				mu.Lock()
				defer mu.Unlock()
				done += int64(end - start)
				progress(done, total)
			}
			return nil
		})
		if err != nil {
			return named(err, f.name)
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
