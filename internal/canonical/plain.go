package canonical

import (
	"bytes"
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

// asItIs says whether a string is ASCII that stands for itself between quotes, as
// most are.
func asItIs(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return false
		}
	}
	return true
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
