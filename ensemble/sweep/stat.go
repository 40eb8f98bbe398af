package sweep

import (
	"fmt"
	"math"
)

// Rate is how many of how many runs were judged as they have to be. The zero
// value is of no run, and says nothing: its interval is all that can be.
type Rate struct{ Right, Runs int }

// z is the 97.5th percentile of the normal distribution, for 95 percent between
// two bounds.
const z = 1.959963984540054

// Value is the part that was right, 0 of no runs.
func (r Rate) Value() float64 {
	if r.Runs <= 0 {
		return 0
	}
	return float64(r.Right) / float64(r.Runs)
}

// Interval is Wilson's score interval of 95 percent: the parts for which what was
// counted is not further off than z standard deviations.
func (r Rate) Interval() (low, high float64) {
	if r.Runs <= 0 {
		return 0, 1
	}
	n, p := float64(r.Runs), r.Value()
	middle := p + z*z/(2*n)
	half := z * math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	low, high = (middle-half)/(1+z*z/n), (middle+half)/(1+z*z/n)
	if r.Right == 0 {
		low = 0 // but for rounding
	}
	if r.Right == r.Runs {
		high = 1
	}
	return low, high
}

func (r *Rate) add(right bool) {
	r.Runs++
	if right {
		r.Right++
	}
}

// String is, for instance, 1.000 [0.981, 1.000].
func (r Rate) String() string {
	low, high := r.Interval()
	return fmt.Sprintf("%s [%s, %s]", Decimals(r.Value()), Decimals(low), Decimals(high))
}

// Decimals writes a part of one in three decimals. Nothing is rounded to all or to
// nothing.
func Decimals(part float64) string {
	return fmt.Sprintf("%.3f", Rounded(part))
}

// Rounded is the number that [Decimals] writes.
func Rounded(part float64) float64 {
	n := math.Round(part * 1000)
	switch {
	case part < 1 && n >= 1000:
		n = 999
	case part > 0 && n <= 0:
		n = 1
	}
	return n / 1000
}
