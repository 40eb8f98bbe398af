package canonical

import (
	"bytes"
	"math"
	"math/bits"
	"strconv"
)

// plainToken is the length up to which a token's own digits are trusted to be
// what every reader makes of them. Beyond, strconv is asked: it and others lose
// count of the zeros in 1000...000e-100000, which is 1.
const plainToken = 20

// mostDigits is how many significant decimal digits the shortest form of a
// float64 can have; a decimal with more is never equal to its shortest form.
const mostDigits = 17

// number is the exact decimal value of a JSON number, digits times ten to the
// exponent, where digits does not end in a zero. Zero has exponent 0.
type number struct {
	negative bool
	digits   uint64
	exponent int64
	float    float64 // set by readNumber alone
}

// readNumber takes a token that follows the JSON grammar. It reports false for
// a number that a float64 does not hold without a change: see the package
// documentation. Time and memory are linear in the length of the token,
// whatever the exponent says.
func readNumber(token []byte) (number, bool) {
	n, ok := decimal(token)
	if !ok || n.digits == 0 {
		return n, ok && !n.negative
	}
	if i, ok := n.integer(); ok && i <= 1<<53 && len(token) <= plainToken {
		n.float = float64(i)
	} else if !n.convert(token) {
		return n, false
	}
	if n.negative {
		n.float = -n.float
	}
	return n, true
}

// convert asks strconv what other readers would make of the token, and
// compares its shortest form with the token digit by digit.
func (n *number) convert(token []byte) bool {
	f, err := strconv.ParseFloat(string(token), 64)
	if err != nil {
		return false
	}
	n.float = math.Abs(f)
	var buf [32]byte
	short, _ := decimal(strconv.AppendFloat(buf[:0], n.float, 'e', -1, 64))
	if short.digits != n.digits || short.exponent != n.exponent {
		return false
	}
	return n.exponent < 0 || n.fits53()
}

// fits53 reports whether the integer is exactly a float64: its odd part has at
// most 53 bits. (Its size is known to be in range.)
func (n *number) fits53() bool {
	odd := n.digits >> bits.TrailingZeros64(n.digits)
	for range n.exponent {
		if odd > 1<<53/5 {
			return false
		}
		odd *= 5
	}
	return odd <= 1<<53
}

// integer returns the magnitude, or false if it is a fraction or does not fit
// in 64 bits.
func (n *number) integer() (uint64, bool) {
	if n.exponent < 0 {
		return 0, false
	}
	value := n.digits
	for range n.exponent {
		hi, lo := bits.Mul64(value, 10)
		if hi != 0 {
			return 0, false
		}
		value = lo
	}
	return value, true
}

// int64 is integer with the sign.
func (n *number) int64() (int64, bool) {
	value, ok := n.integer()
	switch {
	case !ok:
		return 0, false
	case n.negative:
		return -int64(value), value <= 1<<63
	default:
		return int64(value), value < 1<<63
	}
}

// uint64 is integer for numbers that are not negative.
func (n *number) uint64() (uint64, bool) {
	value, ok := n.integer()
	return value, ok && !n.negative
}

// decimal splits a token into sign, significant digits and power of ten. It
// reports false if there are more significant digits than a float64 can have.
func decimal(token []byte) (number, bool) {
	var n number
	token, n.negative = bytes.CutPrefix(token, []byte("-"))
	mantissa := token
	if i := bytes.IndexAny(token, "eE"); i >= 0 {
		mantissa, n.exponent = token[:i], exponent(token[i+1:])
	}
	significant, zeros := 0, 0
	fraction := false
	for _, c := range mantissa {
		if c == '.' {
			fraction = true
			continue
		}
		if fraction {
			n.exponent--
		}
		if c == '0' {
			if n.digits != 0 {
				zeros++
			}
			continue
		}
		if significant += zeros + 1; significant > mostDigits {
			return n, false
		}
		for ; zeros > 0; zeros-- {
			n.digits *= 10
		}
		n.digits = n.digits*10 + uint64(c-'0')
	}
	n.exponent += int64(zeros)
	if n.digits == 0 {
		n.exponent = 0
	}
	return n, true
}

// exponent reads digits with an optional sign; it stops growing long before
// int64 ends, and long after any float64 has.
func exponent(text []byte) int64 {
	sign := int64(1)
	switch text[0] {
	case '-':
		sign, text = -1, text[1:]
	case '+':
		text = text[1:]
	}
	var value int64
	for _, c := range text {
		if value < 1<<50 {
			value = value*10 + int64(c-'0')
		}
	}
	return sign * value
}
