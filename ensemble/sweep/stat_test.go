package sweep

import (
	"math"
	"testing"
)

// bounds is a way to make an interval.
type bounds func(Rate) (low, high float64)

// normal is the interval that is not Wilson's: it has no width where all is right.
func normal(r Rate) (low, high float64) {
	p, n := r.Value(), float64(r.Runs)
	half := z * math.Sqrt(p*(1-p)/n)
	return p - half, p + half
}

// published are score intervals of 95 percent that statisticians have printed
// (Newcombe 1998, table I, method 3), and those of the paper's tables.
func published() map[Rate][2]float64 {
	return map[Rate][2]float64{
		{81, 263}: {0.2553, 0.3662}, {15, 148}: {0.0624, 0.1605}, {0, 20}: {0, 0.1611}, {1, 29}: {0.0061, 0.1718},
		{200, 200}: {0.981, 1}, {5400, 5400}: {0.999, 1},
	}
}

func asPublished(f bounds) bool {
	for r, want := range published() {
		low, high := f(r)
		off := 0.00005
		if r.Runs == 200 || r.Runs == 5400 {
			off = 0.0005
		}
		if math.Abs(low-want[0]) > off || math.Abs(high-want[1]) > off {
			return false
		}
	}
	return true
}

// scored says whether each bound is z standard deviations from what was counted,
// by its own deviation, and the interval is the same seen from the other side.
func scored(f bounds) bool {
	for _, n := range []int{1, 2, 3, 7, 20, 200, 5400} {
		for k := 0; k <= n; k += 1 + n/40 {
			low, high := f(Rate{k, n})
			other, _ := f(Rate{n - k, n})
			p := float64(k) / float64(n)
			if low > p || high < p || low < 0 || high > 1 || math.Abs(high-(1-other)) > 1e-9 {
				return false
			}
			for _, b := range []float64{low, high} {
				if b > 0 && b < 1 && math.Abs((p-b)*(p-b)*float64(n)-z*z*b*(1-b)) > 1e-9 {
					return false
				}
			}
			if k > 0 && low == 0 || k < n && high == 1 {
				return false
			}
		}
	}
	return true
}

func TestInterval(t *testing.T) {
	if !asPublished(Rate.Interval) {
		t.Error("intervals are not those that are published")
	}
	if !scored(Rate.Interval) {
		t.Error("a bound is not where the score is z")
	}
	if asPublished(normal) || scored(normal) {
		t.Error("the checks let another interval pass")
	}
	if low, high := (Rate{}).Interval(); low != 0 || high != 1 {
		t.Errorf("of no run the interval is %v to %v", low, high)
	}
}

func TestDecimals(t *testing.T) {
	for part, want := range map[float64]string{0: "0.000", 1: "1.000", 0.5: "0.500", 0.9999: "0.999", 0.0001: "0.001", 0.98116: "0.981", 0.1315: "0.132"} {
		if got := Decimals(part); got != want {
			t.Errorf("%v is written %s and not %s", part, got, want)
		}
	}
	if got := (Rate{200, 200}).String(); got != "1.000 [0.981, 1.000]" {
		t.Error(got)
	}
	if got := (Rate{26999, 27000}).String(); got != "0.999 [0.999, 0.999]" {
		t.Errorf("one wrong run of many is not seen: %s", got)
	}
}
