package verdict

import (
	"encoding/hex"

	"github.com/iff-run/iff/corpus"
)

// value is a corpus.State in a form that is fast to compare and keeps no line of
// the log alive. The zero value is no known state.
type value struct {
	word word
	sum  corpus.Digest
}

type word uint8

const (
	unknown word = iota
	digest
	absent
	anything
	unreadable
	malformed
)

func (v value) known() bool { return v.word == digest || v.word == absent }

// differ says whether both are known and not the same.
func differ(a, b value) bool { return a.known() && b.known() && a != b }

func valueOf(s corpus.State) value {
	switch s {
	case corpus.Absent:
		return value{word: absent}
	case corpus.Any:
		return value{word: anything}
	case corpus.Unreadable:
		return value{word: unreadable}
	}
	v := value{word: digest}
	if len(s) != 2*len(v.sum) {
		return value{word: malformed}
	}
	var bad byte
	for i := range v.sum {
		high, low := nibble(s[2*i]), nibble(s[2*i+1])
		bad |= high | low
		v.sum[i] = high<<4 | low
	}
	if bad > 15 {
		return value{word: malformed}
	}
	return v
}

func nibble(c byte) byte {
	switch {
	case c-'0' <= 9:
		return c - '0'
	case c-'a' <= 5:
		return c - 'a' + 10
	}
	return 0xff
}

// state is the inverse of valueOf; empty for what is not a state.
func (v value) state() corpus.State {
	switch v.word {
	case digest:
		return corpus.State(hex.EncodeToString(v.sum[:]))
	case absent:
		return corpus.Absent
	case anything:
		return corpus.Any
	case unreadable:
		return corpus.Unreadable
	}
	return ""
}
