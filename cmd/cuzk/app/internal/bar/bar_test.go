package bar_test

import (
	"testing"
	"time"

	"github.com/cuzk-dev/cuzk/cmd/cuzk/app/internal/bar"
)

func TestLine(t *testing.T) {
	for _, tc := range []struct {
		fraction float64
		width    int
		want     string
	}{
		{-1, 80, "gpu      1:05"},
		{0, 35, "gpu      [.............]   0%  1:05"},
		{0.5, 35, "gpu      [######.......]  50%  1:05"},
		{1.5, 35, "gpu      [#############] 100%  1:05"},
		{0.5, 18, "gpu       50%  1:05"[:18]},
		{-1, 3, "gpu"},
	} {
		got := bar.Line("gpu", tc.fraction, 65*time.Second, tc.width)
		if got != tc.want {
			t.Errorf("fraction %v, width %d: %q, want %q", tc.fraction, tc.width, got, tc.want)
		}
	}
}

// A nil bar is what there is without a terminal.
func TestNilBar(*testing.T) {
	var b *bar.Bar
	b.Begin("gpu")
	b.Set(0.5)
	b.Clear()
}
