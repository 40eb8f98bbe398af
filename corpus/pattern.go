package corpus

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/iff-run/iff/capability"
)

// Patterns name objects of one corpus by their paths, spelled as in grants. The
// zero value names none.
type Patterns struct {
	texts  []string
	grants capability.Grants
	edges  []edges // of each; most names fit none, and are not read any further
}

// MaxPatterns bounds how many there are.
const MaxPatterns = capability.MaxGrants

// ParsePatterns reads patterns, each the argument of a grant such as .git/** or
// **/*.swp, without a corpus; work: before a first name with a colon is none.
// The root, another corpus and the character U+FFFD, which stands for what has
// no spelling, are refused. Its errors name the pattern; those of its spelling
// wrap *capability.Error.
func ParsePatterns(texts []string) (Patterns, error) {
	if len(texts) > MaxPatterns {
		return Patterns{}, fmt.Errorf("%d patterns, at most %d; join some with * or **", len(texts), MaxPatterns)
	}
	var gs []capability.Grant
	var es []edges
	for _, text := range texts {
		g, err := parsePattern(text)
		if err != nil {
			return Patterns{}, fmt.Errorf("pattern %q: %w", text, err)
		}
		gs, es = append(gs, g), append(es, edgesOf(text))
	}
	return Patterns{slices.Clone(texts), capability.NewGrants(gs...), es}, nil
}

// edges are what a name must begin and end with for a pattern to name it: what
// stands before its first wildcard and after its last. A name that gets another
// spelling gets U+FFFD in it, which no pattern has, so that the edges of the two
// fit alike.
type edges struct{ begin, end string }

func edgesOf(text string) edges {
	text = strings.TrimPrefix(text, capability.DefaultCorpus+":")
	first, last := strings.IndexByte(text, '*'), strings.LastIndexByte(text, '*')
	switch {
	case strings.Contains(text, `\`):
		return edges{}
	case first < 0:
		return edges{text, text}
	}
	return edges{text[:first], strings.TrimPrefix(text[last+1:], "/")} // ** may be no segment at all
}

func (e edges) fit(name string) bool {
	return strings.HasPrefix(name, e.begin) && strings.HasSuffix(name, e.end)
}

var (
	errRoot    = errors.New("the root of a corpus cannot be volatile; name what lies in it, all of it by **")
	errPrefix  = errors.New("a pattern belongs to one corpus already; write it without a corpus")
	errUnspelt = errors.New("U+FFFD stands for what cannot be spelled; write * in its place")
)

func parsePattern(text string) (capability.Grant, error) {
	first, _, _ := strings.Cut(text, "/")
	prefix, rest, prefixed := strings.Cut(first, ":")
	switch {
	case text == "." || prefixed && rest == "." && first == text:
		return capability.Grant{}, errRoot
	case prefixed && prefix != capability.DefaultCorpus:
		return capability.Grant{}, errPrefix
	case strings.ContainsRune(text, utf8.RuneError) && utf8.ValidString(text):
		return capability.Grant{}, errUnspelt
	}
	return capability.ParseGrant(capability.FSRead.String() + "(" + text + ")")
}

// Strings lists the patterns as they were given.
func (p Patterns) Strings() []string { return append([]string{}, p.texts...) }

// Len is how many there are.
func (p Patterns) Len() int { return len(p.texts) }

// Match says whether the object at a path below the root, as the file system has
// it, or a directory above it is named.
func (p Patterns) Match(name string) bool {
	for p.Len() > 0 && name != "" { // each time it is shorter, also where it is no path
		if p.Names(name) {
			return true
		}
		name = name[:max(0, strings.LastIndexByte(name, '/'))]
	}
	return false
}

// Names says whether the object at a path below the root itself is named, for who
// has asked about the directories above it. Bytes that no grant can spell, such
// as those that are not UTF-8, are named by * and ** alone, a path too long for a
// grant by none. The root never is.
func (p Patterns) Names(name string) bool {
	return name != "." && slices.ContainsFunc(p.edges, func(e edges) bool { return e.fit(name) }) && p.covers(name)
}

func (p Patterns) covers(name string) bool {
	t, err := capability.Path(capability.FSRead, capability.DefaultCorpus, name)
	if err != nil {
		t, err = capability.Path(capability.FSRead, capability.DefaultCorpus, spellable(name))
	}
	return err == nil && p.grants.Covers(t)
}

// spellable puts U+FFFD, which is in no pattern, where a target may not have what
// name has: for a byte that is not UTF-8, a character that does not show, a dot or
// space at the end of a segment.
func spellable(name string) string {
	segments := strings.Split(strings.ToValidUTF8(name, replacement), "/")
	for i, s := range segments {
		segments[i] = strings.Map(visible, s)
		if end := strings.TrimRight(s, ". "); end != s {
			segments[i] = strings.Map(visible, end) + replacement
		}
	}
	return strings.Join(segments, "/")
}

const replacement = string(utf8.RuneError)

// visible is r, or U+FFFD for what capability calls invisible and refuses.
func visible(r rune) rune {
	if unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Variation_Selector,
		unicode.Other_Default_Ignorable_Code_Point, unicode.Noncharacter_Code_Point) {
		return utf8.RuneError
	}
	return r
}
