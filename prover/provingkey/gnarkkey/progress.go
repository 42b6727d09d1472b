package gnarkkey

import "sync"

// meter adds up the work of concurrent goroutines and reports it, one call at a time.
type meter struct {
	report func(done, total int64)
	total  int64

	mu   sync.Mutex
	done int64
}

func newMeter(runs []*run, report func(done, total int64)) *meter {
	if report == nil {
		return nil
	}
	m := &meter{report: report}
	for _, r := range runs {
		m.total += int64(r.count) * r.weight()
	}
	return m
}

func (m *meter) add(r *run, points int) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.done += int64(points) * r.weight()
	m.report(m.done, m.total)
}
