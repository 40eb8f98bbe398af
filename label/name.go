package label

import (
	"fmt"
	"strconv"
	"strings"
)

const maxName = 64 // bytes

// checkName is the one rule for names, see the package doc.
func checkName(field, name string) error {
	if name == "" || len(name) > maxName {
		return schemeError(SchemeInvalid, field, "a name of %d bytes; it has 1 to %d", len(name), maxName)
	}
	for i := range len(name) {
		if !allowed(name, i) {
			return schemeError(SchemeInvalid, field,
				"%s: byte %d is not allowed there; a name begins with an ASCII letter or digit and goes on with those, - _ . + and single spaces inside",
				quote(name), i)
		}
	}
	if upper := strings.ToUpper(name); upper == "ABSENT" || upper == nobody || upper == "REL" || strings.HasPrefix(upper, releasePrefix) {
		return schemeError(SchemeReserved, field,
			"%s is reserved, like ABSENT, NOBODY, REL and what begins with REL and a space, in any case; choose another name", quote(name))
	}
	return nil
}

func allowed(name string, i int) bool {
	switch c := name[i]; {
	case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		return true
	case c == '-', c == '_', c == '.', c == '+':
		return i > 0
	case c == ' ':
		return i > 0 && i < len(name)-1 && name[i-1] != ' '
	}
	return false
}

// quote shows foreign text on one line: ASCII, because names are, so that a
// look-alike letter shows; and not much of it.
func quote(text string) string {
	const most = 96
	if len(text) > most {
		return fmt.Sprintf("%s... (%d bytes)", strconv.QuoteToASCII(text[:most]), len(text))
	}
	return strconv.QuoteToASCII(text)
}

func enumerate(names []string) string {
	const most = 16
	if len(names) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
	}
	return strings.Join(names, ", ")
}

// nearest is the known name that name most likely is a slip of, "" if none.
func nearest(name string, known []string) string {
	if len(name) > maxName {
		return ""
	}
	match, best := "", 3
	for _, k := range known {
		d := distance(strings.ToUpper(name), strings.ToUpper(k))
		if d < best && 2*d < len(k) {
			match, best = k, d
		}
	}
	return match
}

// distance counts the bytes to insert, delete or replace to make a into b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replace := diagonal
			if a[i] != b[j] {
				replace++
			}
			diagonal = row[j+1]
			row[j+1] = min(replace, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
