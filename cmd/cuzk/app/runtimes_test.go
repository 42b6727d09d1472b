package app

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestStatistic(t *testing.T) {
	for _, tc := range []struct {
		in   []float64
		want statistic
	}{
		{nil, statistic{}},
		{[]float64{3}, statistic{3, 3, 3}},
		{[]float64{9, 1, 4}, statistic{4, 1, 9}},
		{[]float64{4, 1, 9, 2}, statistic{3, 1, 9}},
	} {
		if d := cmp.Diff(tc.want, statisticOf(tc.in)); d != "" {
			t.Errorf("%v (-want +got):\n%s", tc.in, d)
		}
	}
}
