// Package welch compares two sets of measurements whose spreads may differ: by Welch's unequal variances t-test.
package welch

import "math"

// Interval is the difference of two means, now less then, with the interval that holds the true difference with a
// confidence of 95 %.
type Interval struct{ Difference, Low, High float64 }

// Clear tells whether the interval leaves out zero: the difference is not likely to be chance.
func (i Interval) Clear() bool { return i.Low > 0 || i.High < 0 }

// Compare compares two sets of at least two measurements each; ok is false where there are fewer.
func Compare(then, now []float64) (_ Interval, ok bool) {
	if len(then) < 2 || len(now) < 2 {
		return Interval{}, false
	}
	meanThen, errorThen := moments(then)
	meanNow, errorNow := moments(now)
	difference := meanNow - meanThen
	spread := errorThen + errorNow
	if spread == 0 {
		return Interval{difference, difference, difference}, true
	}
	// Welch–Satterthwaite.
	freedom := spread * spread / (errorThen*errorThen/float64(len(then)-1) + errorNow*errorNow/float64(len(now)-1))
	half := quantile(freedom) * math.Sqrt(spread)
	return Interval{difference, difference - half, difference + half}, true
}

// moments are the mean, and the square of its standard error.
func moments(v []float64) (mean, squaredError float64) {
	for _, x := range v {
		mean += x
	}
	n := float64(len(v))
	mean /= n
	for _, x := range v {
		squaredError += (x - mean) * (x - mean)
	}
	return mean, squaredError / (n - 1) / n
}

// quantiles of Student's t at 97.5 %, by degrees of freedom from 1.
var quantiles = [...]float64{
	12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
	2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
}

// quantile is that of Student's t, a little too large between whole degrees of freedom.
func quantile(freedom float64) float64 {
	whole := int(freedom)
	switch {
	case whole < 1:
		return quantiles[0]
	case whole <= len(quantiles):
		return quantiles[whole-1]
	}
	return 1.960 + 2.5/freedom // within 0.002 from here on
}
