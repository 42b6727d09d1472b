package welch

import (
	"math"
	"testing"
)

// The interval was computed apart, by integrating Student's distribution with 27.88 degrees of freedom.
func TestCompare(t *testing.T) {
	then := []float64{27.5, 21.0, 19.0, 23.6, 17.0, 17.9, 16.9, 20.1, 21.9, 22.6, 23.1, 19.6, 19.0, 21.7, 21.4}
	now := []float64{27.1, 22.0, 20.8, 23.4, 23.4, 23.5, 25.8, 22.0, 24.8, 20.2, 21.9, 22.1, 22.9, 30.5, 24.1}
	got, ok := Compare(then, now)
	want := Interval{2.8133, 0.7804, 4.8463}
	if !ok || math.Abs(got.Difference-want.Difference) > 1e-3 || math.Abs(got.Low-want.Low) > 0.01 || math.Abs(got.High-want.High) > 0.01 || !got.Clear() {
		t.Errorf("%+v, want about %+v", got, want)
	}
	if got, _ := Compare([]float64{1, 2}, []float64{1, 2}); got.Clear() || got.Difference != 0 {
		t.Errorf("equal sets differ: %+v", got)
	}
	if got, ok := Compare([]float64{1, 1}, []float64{2, 2}); !ok || got != (Interval{1, 1, 1}) || !got.Clear() {
		t.Errorf("sets without spread: %+v", got)
	}
	if _, ok := Compare([]float64{1}, now); ok {
		t.Error("one measurement has no spread")
	}
}

func TestQuantile(t *testing.T) {
	for freedom, want := range map[float64]float64{0.5: 12.706, 1: 12.706, 10: 2.228, 30: 2.042, 40: 2.021, 100: 1.984, 1e6: 1.960} {
		if got := quantile(freedom); math.Abs(got-want) > 2e-3 {
			t.Errorf("%v degrees of freedom: %v, want %v", freedom, got, want)
		}
	}
}
