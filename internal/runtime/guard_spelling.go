package runtime

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/iff-run/iff/capability"
	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/gate"
)

// FindSpelling implements [gate.Guard]. It reads the text as careless programs
// would, in every way that we know of.
func (g *guard) FindSpelling(_ capability.Capability, target string) (gate.Guarded, bool) {
	target = target[:min(len(target), 2*capability.MaxPath)]
	for _, text := range readings(target) {
		for _, r := range g.roots {
			rest := text
			if name, after, prefixed := strings.Cut(text, ":"); prefixed && strings.EqualFold(name, r.corpus) {
				rest = after
			} else if r.corpus != capability.DefaultCorpus {
				continue
			}
			if found, ok := g.spelled(r.dir, rest); ok {
				return found, true
			}
		}
		if found, ok := g.spelled("/", text); ok {
			return found, true
		}
	}
	return gate.Guarded{}, false
}

// spellings looks at all readings of a path below a root.
func (g *guard) spellings(root, path string) (gate.Guarded, bool) {
	for _, text := range readings(path) {
		if found, ok := g.spelled(root, text); ok {
			return found, true
		}
	}
	return gate.Guarded{}, false
}

// spelled looks at a text from a directory: cleaned as text, and as the system
// goes.
func (g *guard) spelled(dir, text string) (gate.Guarded, bool) {
	w := trail(dir, text)
	path := filepath.Join(dir, text)
	found, ok := g.at(path, fold(path), w)
	if !ok {
		found, ok = g.at(w.end, fold(w.end), w)
	}
	if !ok {
		return found, false
	}
	found.Route = "spelling"
	found.Object = corpus.Name(found.Object.Corpus(), plainly(found.Object.Path()))
	return found, true
}

// maxReadings bounds how many ways of reading one text are tried.
const maxReadings = 32

// readings are the ways in which a text is read: each step is taken on what the
// steps before it have made, so that one may hide behind another.
func readings(text string) []string {
	out := []string{text}
	for i := 0; i < len(out) && len(out) < maxReadings; i++ {
		s := out[i]
		end, _, _ := strings.Cut(s, "\x00")
		after, _ := strings.CutPrefix(s, "file://")
		for _, next := range []string{
			end, after, unescaped(s), strings.ReplaceAll(s, `\`, "/"), strings.ReplaceAll(s, `\`, ""),
			strings.TrimFunc(s, func(r rune) bool { return r <= ' ' || r == '"' || r == '\'' }), strings.Map(printed, s),
			norm.NFKC.String(strings.Map(shown, s)),
		} {
			if !slices.Contains(out, next) {
				out = append(out, next)
			}
		}
	}
	return out
}

// printed leaves out control characters.
func printed(r rune) rune {
	if r < ' ' || r == 0x7f {
		return -1
	}
	return r
}

// unescaped takes percent escapes out of a text; those that are none stay.
func unescaped(s string) string {
	if !strings.Contains(s, "%") {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			if c, err := strconv.ParseUint(s[i+1:i+3], 16, 8); err == nil {
				b.WriteByte(byte(c))
				i += 2
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
