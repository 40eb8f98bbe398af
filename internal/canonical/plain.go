package canonical

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"strings"
)

// Most documents that programs write are their own canonical form, or nearly. What
// is here sees that while a document is read, so that none has to be made; it may
// overlook it, but never takes another form for the canonical one.

// took notes a token of that length, just read: between it and the one before
// there may be a comma or a colon, and nothing else.
func (d *decoder) took(length int) {
	end := d.tokens.InputOffset()
	between := d.data[d.taken : end-int64(length)]
	if len(between) > 1 || len(between) == 1 && between[0] != ',' && between[0] != ':' {
		d.other = true
	}
	d.taken = end
}

// plainText says whether a string that the tokenizer has accepted has its one
// spelling: RFC 8785 section 3.2.2.2 escapes as little as it can.
func plainText(quoted []byte) bool {
	for {
		i := bytes.IndexByte(quoted, '\\')
		if i < 0 {
			return true
		}
		letter, rest := quoted[i+1], quoted[i+2:]
		if letter == '/' || letter == 'u' && !plainUnit(rest[:4]) {
			return false
		}
		quoted = rest
	}
}

// PlainPrefix is how many bytes a string begins with that stand for themselves
// between quotes: ASCII without control characters, quote and backslash. Most
// strings are nothing else.
func PlainPrefix(s string) int {
	i := 0
	for ; i+8 <= len(s); i += 8 {
		if odd := notPlain(binary.LittleEndian.Uint64([]byte(s[i : i+8]))); odd != 0 {
			return i + bits.TrailingZeros64(odd)/8
		}
	}
	if last := len(s) - 8; last >= 0 { // some of it once more, which was plain
		if odd := notPlain(binary.LittleEndian.Uint64([]byte(s[last:]))); odd != 0 {
			return last + bits.TrailingZeros64(odd)/8
		}
		return len(s)
	}
	for i < len(s) && s[i] >= ' ' && s[i] <= '~' && s[i] != '"' && s[i] != '\\' {
		i++
	}
	return i
}

// notPlain has a bit for the lowest of eight bytes that is not plain, and none if
// all are; bits above it say nothing. The high bit of a byte below n gets set by
// subtracting n, that of a quote by subtracting 1 from how it differs from one; and
// that of 0x7f or more by adding 1, or stays set when something is subtracted. Of a
// plain byte no high bit gets set, and nothing is carried into the next.
func notPlain(x uint64) uint64 {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	quote, slash := x^(ones*'"'), x^(ones*'\\')
	return ((x - ones*' ') | (x + ones) | (quote - ones) | (slash - ones)) & highs
}

// plainUnit says whether the four digits are those of a control character that
// has no shorter escape.
func plainUnit(digits []byte) bool {
	const shorter = "89acd" // \b \t \n \f \r
	last := digits[3]
	return isHex(last) && (string(digits[:3]) == "001" || string(digits[:3]) == "000" && strings.IndexByte(shorter, last) < 0)
}

func isHex(c byte) bool { return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' }

// plainNumber says whether a number is a whole one with so few digits that they
// are its form. Zero with a sign never gets here: it is refused.
func plainNumber(token []byte) bool {
	const most = 15
	for i, c := range token {
		if (c < '0' || c > '9') && (c != '-' || i > 0) {
			return false
		}
	}
	return len(token) <= most
}
