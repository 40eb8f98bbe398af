package canonical

import (
	"bytes"
	"unicode"
	"unicode/utf8"
)

// linearKeys is how many keys of one object are compared one by one before a
// map takes over; it keeps hostile objects from costing quadratic time.
const linearKeys = 16

// keys holds the keys of all objects that are open, in one buffer: each key
// folded, then as it is. An object's own keys are those since its scope.
type keys struct {
	text  []byte
	spans []span
}

// span is a key in keys.text: the folded form from start to folded, the exact
// form from there to end.
type span struct{ start, folded, end int }

// scope is one open object.
type scope struct {
	spans, text int
	index       map[string]int // by folded form; nil while there are few keys
}

func (k *keys) open() scope { return scope{spans: len(k.spans), text: len(k.text)} }

func (k *keys) close(s *scope) {
	k.spans, k.text = k.spans[:s.spans], k.text[:s.text]
}

// add takes the next key of the object, valid UTF-8. It returns DuplicateKey
// or CaseKey if the object has such a key already, otherwise "".
func (k *keys) add(s *scope, name []byte) Reason {
	if k.spans == nil {
		k.spans, k.text = make([]span, 0, 8), make([]byte, 0, 128)
	}
	start := len(k.text)
	k.text = appendFolded(k.text, name)
	sp := span{start: start, folded: len(k.text)}
	k.text = append(k.text, name...)
	sp.end = len(k.text)

	folded := k.text[sp.start:sp.folded]
	if i := k.find(s, folded); i >= 0 {
		if other := k.spans[i]; bytes.Equal(k.text[other.folded:other.end], name) {
			return DuplicateKey
		}
		return CaseKey
	}
	if s.index != nil {
		s.index[string(folded)] = len(k.spans)
	}
	k.spans = append(k.spans, sp)
	return ""
}

// find returns the number of the span with that folded form, or -1.
func (k *keys) find(s *scope, folded []byte) int {
	if s.index == nil && len(k.spans)-s.spans == linearKeys {
		s.index = make(map[string]int, 4*linearKeys)
		for i := s.spans; i < len(k.spans); i++ {
			s.index[string(k.text[k.spans[i].start:k.spans[i].folded])] = i
		}
	}
	if s.index != nil {
		if i, ok := s.index[string(folded)]; ok {
			return i
		}
		return -1
	}
	for i := s.spans; i < len(k.spans); i++ {
		if bytes.Equal(k.text[k.spans[i].start:k.spans[i].folded], folded) {
			return i
		}
	}
	return -1
}

// ordered says whether the last key of the object comes after the one before it
// in canonical order.
func (k *keys) ordered(s *scope) bool {
	n := len(k.spans)
	return n-s.spans < 2 || compareKeys(k.exact(n-2), k.exact(n-1)) < 0
}

func (k *keys) exact(n int) []byte { return k.text[k.spans[n].folded:k.spans[n].end] }

// appendFolded appends a form of the text that is equal for two texts exactly
// when strings.EqualFold holds for them.
func appendFolded(dst, text []byte) []byte {
	for i := 0; i < len(text); {
		c := text[i]
		if c < utf8.RuneSelf {
			dst = append(dst, lower(c))
			i++
			continue
		}
		r, size := utf8.DecodeRune(text[i:])
		i += size
		dst = utf8.AppendRune(dst, foldRune(r))
	}
	return dst
}

// foldRune returns the smallest rune of the folding orbit, and for an orbit
// with an ASCII letter (K and the Kelvin sign, S and the long s) that letter in
// lower case.
func foldRune(r rune) rune {
	smallest := r
	for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
		smallest = min(smallest, next)
	}
	if smallest < utf8.RuneSelf {
		return rune(lower(byte(smallest)))
	}
	return smallest
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + ('a' - 'A')
	}
	return c
}

// compareKeys orders valid UTF-8 as RFC 8785 section 3.2.3 does: by UTF-16 code
// units. That is the order of the bytes, except that U+E000 to U+FFFF (lead
// bytes EE and EF) come after the surrogate pairs (lead bytes F0 to F4).
func compareKeys[T string | []byte](a, b T) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return int(unitOrder(a[i])) - int(unitOrder(b[i]))
		}
	}
	return len(a) - len(b)
}

func unitOrder(c byte) byte {
	if c == 0xEE || c == 0xEF {
		return c + 0x10
	}
	return c
}
