package canonical

import (
	"bytes"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"testing"

	"github.com/gowebpki/jcs"
	"pgregory.net/rapid"
)

// appendix is RFC 8785, Appendix B: the bits of a float64, and its text. Some
// are whole numbers no float64 is exactly; those have a text but are refused.
var appendix = []struct {
	bits    uint64
	text    string
	refused bool
}{
	{0x0000000000000000, "0", false},
	{0x8000000000000000, "0", true}, // minus zero
	{0x0000000000000001, "5e-324", false},
	{0x8000000000000001, "-5e-324", false},
	{0x7fefffffffffffff, "1.7976931348623157e+308", true},
	{0xffefffffffffffff, "-1.7976931348623157e+308", true},
	{0x4340000000000000, "9007199254740992", false},
	{0xc340000000000000, "-9007199254740992", false},
	{0x4430000000000000, "295147905179352830000", true},
	{0x44b52d02c7e14af5, "9.999999999999997e+22", true},
	{0x44b52d02c7e14af6, "1e+23", true},
	{0x44b52d02c7e14af7, "1.0000000000000001e+23", true},
	{0x444b1ae4d6e2ef4e, "999999999999999700000", true},
	{0x444b1ae4d6e2ef4f, "999999999999999900000", true},
	{0x444b1ae4d6e2ef50, "1e+21", false},
	{0x3eb0c6f7a0b5ed8c, "9.999999999999997e-7", false},
	{0x3eb0c6f7a0b5ed8d, "0.000001", false},
	{0x41b3de4355555553, "333333333.3333332", false},
	{0x41b3de4355555554, "333333333.33333325", false},
	{0x41b3de4355555555, "333333333.3333333", false},
	{0x41b3de4355555556, "333333333.3333334", false},
	{0x41b3de4355555557, "333333333.33333343", false},
	{0xbecbf647612f3696, "-0.0000033333333333333333", false},
	{0x43143ff3c1cb0959, "1424953923781206.2", false},
}

func TestNumberAppendix(t *testing.T) {
	for _, c := range appendix {
		f := math.Float64frombits(c.bits)
		out, err := Marshal(f)
		if c.refused != (err != nil) || err == nil && string(out) != c.text {
			t.Errorf("Marshal(%s): got %s, %v", c.text, out, err)
		}
		if f == 0 {
			continue
		}
		out, err = Transform([]byte(c.text), Limits{})
		if c.refused != (err != nil) || err == nil && string(out) != c.text {
			t.Errorf("Transform(%s): got %s, %v", c.text, out, err)
		}
	}
	for _, f := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		if out, err := Marshal(f); err == nil {
			t.Errorf("Marshal(%v) = %s", f, out)
		}
	}
}

func TestNumberForms(t *testing.T) {
	zeros := strings.Repeat("0", 100_000)
	for _, c := range []struct{ in, out string }{
		{"0", "0"}, {"0.0", "0"}, {"0e5", "0"}, {"0e999999999999999999999", "0"}, {"0.000e-99999999999", "0"},
		{"1", "1"}, {"1.0", "1"}, {"10e-1", "1"}, {"0.01e2", "1"}, {"1E0", "1"}, {"1e+00000000000000000000000", "1"},
		{"-1.50", "-1.5"}, {"1e2", "100"}, {"1e20", "100000000000000000000"}, {"1e21", "1e+21"}, {"1e22", "1e+22"},
		{"0.1", "0.1"}, {"1e-7", "1e-7"}, {"0.000001", "0.000001"}, {"0.1000", "0.1"}, {"1.7976931348623157e308", ""},
		{"9007199254740991", "9007199254740991"}, {"9007199254740992", "9007199254740992"}, {"9007199254740992.0", "9007199254740992"},
		{"9007199254740993", ""}, {"9007199254740993.0", ""}, {"9007199254740992.5", ""}, {"-9007199254740993", ""},
		{"9007199254740994", "9007199254740994"}, {"9007199254740995", ""}, {"9223372036854775807", ""}, {"9223372036854775808", ""},
		{"295147905179352825856", ""}, {"295147905179352830000", ""}, {"1e23", ""}, {"100000000000000000000000", ""},
		{"-0", ""}, {"-0.0", ""}, {"-0e9", ""}, {"-0" + "." + zeros, ""},
		{"1e308", ""}, {"1e309", ""}, {"1e400", ""}, {"-1e400", ""}, {"1e999999999999999999999", ""},
		{"1e-400", ""}, {"1e-999999999999999999999", ""}, {"4e-324", ""}, {"5e-324", "5e-324"},
		{"333333333.33333329", ""}, {"0.1000000000000000055511151231257827", ""}, {"3.141592653589793238", ""}, {"3.141592653589793", "3.141592653589793"},
		{"1" + zeros, ""}, {"1." + zeros, "1"}, {"1." + zeros + "1", ""}, {"0." + zeros + "1", ""},
		{"1" + zeros + "e-100000", ""}, {"0." + zeros + "1e100001", ""}, // equal to 1, but strconv and others lose count
		{"1" + zeros[:300] + "e-300", "1"}, {"0." + zeros[:300] + "1e301", "1"}, {"1." + zeros + "e-5", "0.00001"},
		{strings.Repeat("9", 100_000), ""}, {"0." + strings.Repeat("3", 100_000), ""},
	} {
		out, err := Transform([]byte(c.in), Limits{})
		if string(out) != c.out || (err == nil) != (c.out != "") {
			t.Errorf("%.40s: got %s, %v, want %s", c.in, out, err, c.out)
		}
	}
}

// TestNumberPlantedBug: canonicalizers alone give two documents one form, and
// so one hash. The check is what tells them apart.
func TestNumberPlantedBug(t *testing.T) {
	for _, pair := range [][2]string{
		{`[9007199254740992]`, `[9007199254740993]`},
		{`[0]`, `[-0]`},
		{`[0]`, `[1e-400]`},
		{`[0.1]`, `[0.10000000000000000001]`},
	} {
		a, errA := jcs.Transform([]byte(pair[0]))
		b, errB := jcs.Transform([]byte(pair[1]))
		if errA != nil || errB != nil || !bytes.Equal(a, b) {
			t.Errorf("%s: the mutant was to join them, got %s and %s, %v, %v", pair, a, b, errA, errB)
		}
		if err := Check([]byte(pair[0]), Limits{}); err != nil {
			t.Error(err)
		}
		if err := Check([]byte(pair[1]), Limits{}); err == nil {
			t.Errorf("%s was accepted", pair[1])
		}
	}
}

// TestNumberLaw compares the verdict with exact rational arithmetic.
func TestNumberLaw(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		token := drawNumber().Draw(t, "token")
		n, ok := readNumber([]byte(token))
		want := exactNumber(token)
		if ok != want {
			t.Fatalf("%s: got %v, want %v", token, ok, want)
		}
		if f, _ := strconv.ParseFloat(token, 64); ok && n.float != f {
			t.Fatalf("%s: read %v, others read %v", token, n.float, f)
		}
	})
}

// exactNumber is the definition in the package documentation, slowly.
func exactNumber(token string) bool {
	value, ok := new(big.Rat).SetString(token)
	if !ok || value.Sign() == 0 {
		return ok && !strings.HasPrefix(token, "-")
	}
	f, err := strconv.ParseFloat(token, 64)
	if err != nil {
		return false
	}
	shortest, _ := new(big.Rat).SetString(strconv.FormatFloat(f, 'g', -1, 64))
	if shortest.Cmp(value) != 0 {
		return false
	}
	return !value.IsInt() || new(big.Rat).SetFloat64(f).Cmp(value) == 0
}

// drawNumber draws JSON numbers, most of them near a border.
func drawNumber() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		sign := rapid.SampledFrom([]string{"", "", "-"}).Draw(t, "sign")
		switch rapid.IntRange(0, 3).Draw(t, "form") {
		case 0:
			return sign + rapid.StringMatching(`(0|[1-9][0-9]{0,20})(\.[0-9]{1,20})?([eE][+-]?[0-9]{1,3})?`).Draw(t, "grammar")
		case 1:
			f := math.Float64frombits(rapid.Uint64Range(0, 0x7fefffffffffffff).Draw(t, "bits"))
			return sign + strconv.FormatFloat(f, 'e', rapid.SampledFrom([]int{-1, -1, 15, 16, 17}).Draw(t, "digits"), 64)
		case 2:
			power := rapid.UintRange(50, 66).Draw(t, "power")
			n := new(big.Int).Lsh(big.NewInt(1), power)
			n.Add(n, big.NewInt(rapid.Int64Range(-40, 40).Draw(t, "offset")))
			return sign + n.String() + rapid.SampledFrom([]string{"", ".0", "e0"}).Draw(t, "suffix")
		default:
			return sign + fmt.Sprint(rapid.Uint64().Draw(t, "whole"))
		}
	})
}
