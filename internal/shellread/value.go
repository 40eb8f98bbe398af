package shellread

import (
	"path"
	"slices"
	"strings"
)

// kind says what is known of a piece of an argument.
type kind uint8

const (
	exact    kind = iota // exactly this text
	within               // any text within one path segment: a glob as written
	anything             // any text; what stands in the source
	home                 // a home directory
	inSkill              // a file or directory of the skill, by its path there
	here                 // the working directory
	pipe                 // the end of a pipe: <(...) or >(...)
)

type piece struct {
	kind kind
	text string
}

// field is one argument as far as the text tells. many means that it may be
// any number of arguments, none too.
type field struct {
	pieces   []piece
	many     bool
	line     int
	verbatim bool // its lines are lines of the source
	word     bool // one word without quotes or expansions
}

// literal returns the text of a field that is known exactly.
func (f field) literal() (string, bool) {
	if f.many {
		return "", false
	}
	var b strings.Builder
	for _, p := range f.pieces {
		if p.kind != exact {
			return "", false
		}
		b.WriteString(p.text)
	}
	return b.String(), true
}

// is reports whether f is exactly one of these texts.
func (f field) is(texts ...string) bool {
	have, ok := f.literal()
	for _, text := range texts {
		if ok && have == text {
			return true
		}
	}
	return false
}

// prefix returns the exact text that f begins with.
func (f field) prefix() string {
	var b strings.Builder
	for _, p := range f.pieces {
		if p.kind != exact {
			break
		}
		b.WriteString(p.text)
	}
	return b.String()
}

// inSkill returns the path in the skill that f names, if it does.
func (f field) inSkill() (string, bool) {
	if f.many || len(f.pieces) == 0 || f.pieces[0].kind != inSkill {
		return "", false
	}
	rest, ok := field{pieces: f.pieces[1:]}.literal()
	if !ok || rest != "" && rest[0] != '/' {
		return "", false
	}
	clean := path.Clean(f.pieces[0].text + rest)
	return clean, clean != ".." && !strings.HasPrefix(clean, "../")
}

// String shows f as it stands in the source, more or less.
func (f field) String() string { return show(f.text()) }

func (f field) text() string {
	if at, ok := f.inSkill(); ok {
		return "<skill>/" + at
	}
	var b strings.Builder
	for _, p := range f.pieces {
		b.WriteString(p.text)
	}
	return b.String()
}

// isPath reports whether f, as the name of a command, is that of a program
// file: with a slash in it nothing is a function or a builtin.
func (f field) isPath() bool {
	return !f.many && slices.ContainsFunc(f.pieces, func(p piece) bool {
		return p.kind == exact && strings.Contains(p.text, "/") || p.kind == home
	})
}

// unknown returns what in f is not static, for a Why.
func (f field) unknown() string {
	for _, p := range f.pieces {
		if p.kind == anything {
			return show(p.text)
		}
	}
	return f.String()
}

func literals(texts ...string) []field {
	fields := make([]field, len(texts))
	for i, text := range texts {
		fields[i] = field{pieces: []piece{{exact, text}}}
	}
	return fields
}
