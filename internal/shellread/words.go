package shellread

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// placeholder stands for <id> and its like in instructions: a private-use
// character, so that the parser takes it for a letter.
const placeholder = "\ue000"

// maxBraces bounds the words that one brace expansion is followed into.
const maxBraces = 64

// words turns the words of one source into fields.
type words struct {
	src      string
	script   string // the path of the script in the skill; empty if $0 is not that
	facts    *facts
	function string // in the body of this function, which runs later than it stands
	prose    bool   // an instruction, not code
	noSplit  bool   // a variable without quotes stays one word, as in zsh
}

// fields returns the arguments that w stands for.
func (w *words) fields(word *syntax.Word) []field {
	var out []field
	for _, one := range w.braced(word) {
		b := builder{words: w, line: int(word.Pos().Line()), verbatim: verbatim(one)}
		for _, part := range one.Parts {
			b.part(part, false)
		}
		b.end()
		if _, plain := one.Parts[0].(*syntax.Lit); plain && len(one.Parts) == 1 && len(b.done) == 1 {
			b.done[0].word = true
		}
		out = append(out, b.done...)
	}
	return out
}

// quoted returns word as one field: the value of an assignment, the target of
// a test. Nothing is split.
func (w *words) quoted(word *syntax.Word) field {
	b := builder{words: w, whole: true, begun: true}
	if word != nil {
		b.line, b.verbatim = int(word.Pos().Line()), verbatim(word)
		for _, part := range word.Parts {
			b.part(part, false)
		}
	}
	b.end()
	return b.done[0]
}

// verbatim reports whether line n of the word's value is line n of the word.
func verbatim(w *syntax.Word) bool {
	if len(w.Parts) != 1 {
		return false
	}
	switch p := w.Parts[0].(type) {
	case *syntax.SglQuoted:
		return !p.Dollar
	case *syntax.DblQuoted:
		return true
	}
	return false
}

// braced follows brace expansions, as far as they are few.
func (w *words) braced(word *syntax.Word) []*syntax.Word {
	open := 0
	for _, part := range word.Parts {
		if lit, ok := part.(*syntax.Lit); ok {
			open += strings.Count(lit.Value, "{")
		}
	}
	copied := &syntax.Word{Parts: word.Parts}
	switch {
	case open == 0:
		return []*syntax.Word{word}
	case open > maxBraces: // splitting takes time quadratic in these
		return []*syntax.Word{unfollowed(word)}
	case !syntax.SplitBraces(copied):
		return []*syntax.Word{word}
	}
	if out := alternatives(copied); len(out) <= maxBraces {
		return out
	}
	return []*syntax.Word{unfollowed(word)}
}

// unfollowed is a word that may be any arguments.
func unfollowed(word *syntax.Word) *syntax.Word {
	return &syntax.Word{Parts: []syntax.WordPart{&syntax.BraceExp{Elems: []*syntax.Word{word}}}}
}

// alternatives multiplies the brace expansions of word out. More than
// maxBraces words mean that there are too many.
func alternatives(word *syntax.Word) []*syntax.Word {
	done := []*syntax.Word{{}}
	for _, part := range word.Parts {
		brace, ok := part.(*syntax.BraceExp)
		if !ok || brace.Sequence {
			for _, head := range done {
				head.Parts = append(head.Parts, part)
			}
			continue
		}
		var next []*syntax.Word
		for _, elem := range brace.Elems {
			for _, tail := range alternatives(elem) {
				for _, head := range done {
					next = append(next, &syntax.Word{Parts: slices.Concat(head.Parts, tail.Parts)})
				}
			}
			if len(next) > maxBraces {
				return next
			}
		}
		done = next
	}
	return done
}

// builder makes the fields of one word.
type builder struct {
	*words
	whole    bool // nothing is split
	done     []field
	cur      field
	begun    bool // cur is an argument even if it is empty
	line     int
	verbatim bool
}

func (b *builder) end() {
	if b.begun || len(b.cur.pieces) > 0 || b.cur.many {
		b.cur.line, b.cur.verbatim = b.line, b.verbatim
		b.done = append(b.done, b.cur)
	}
	b.cur, b.begun = field{}, false
}

func (b *builder) add(pieces ...piece) {
	for _, p := range pieces {
		if p.kind == exact && strings.Contains(p.text, placeholder) {
			p.kind = anything
			p.text = strings.ReplaceAll(p.text, placeholder, "<...>")
		}
		b.cur.pieces = append(b.cur.pieces, p)
	}
}

// unknown adds what only running would tell. Without quotes it may be split,
// into no argument at all too.
func (b *builder) unknown(n syntax.Node, quoted bool) {
	b.add(piece{anything, b.source(n)})
	b.cur.many = b.cur.many || !quoted && !b.whole
}

func (b *builder) source(n syntax.Node) string {
	const most = 200
	from, to := n.Pos().Offset(), n.End().Offset()
	if from >= to || to > uint(len(b.src)) {
		return "…"
	}
	to = min(to, from+most)
	return strings.ReplaceAll(b.src[from:to], placeholder, "<...>")
}

func (b *builder) part(part syntax.WordPart, quoted bool) {
	switch p := part.(type) {
	case *syntax.Lit:
		if quoted {
			b.add(piece{exact, unquote(p.Value, "$`\"\\")})
			return
		}
		b.literal(p.Value)
	case *syntax.SglQuoted:
		b.begun = true
		text := p.Value
		if p.Dollar {
			text = ansiC(text)
		}
		b.add(piece{exact, text})
	case *syntax.DblQuoted:
		b.begun = b.begun || len(p.Parts) != 1 || !every(p.Parts[0])
		for _, inner := range p.Parts {
			b.part(inner, true)
		}
	case *syntax.ParamExp:
		b.param(p, quoted)
	case *syntax.CmdSubst:
		if known := b.directory(p.Stmts); known != nil {
			b.add(known...)
			return
		}
		b.unknown(p, quoted)
	case *syntax.ExtGlob:
		b.add(piece{within, b.source(p)})
	case *syntax.ProcSubst:
		b.add(piece{pipe, b.source(p)})
	case *syntax.ArithmExp:
		b.unknown(p, true)
	case *syntax.BraceExp: // a sequence, or one that was not followed
		b.unknown(p, false)
	default:
		b.unknown(p, false)
	}
}

// literal adds text without quotes around it.
func (b *builder) literal(text string) {
	if first := len(b.cur.pieces) == 0 && (b.whole || !b.begun); first && strings.HasPrefix(text, "~") {
		user, _, _ := strings.Cut(text, "/")
		b.add(piece{home, user})
		text = text[len(user):]
	}
	if b.noSplit && strings.Contains(text, "(") { // a glob qualifier of zsh
		b.add(piece{anything, text})
		return
	}
	b.add(globs(text, true)...)
}

// every reports whether part is "$@" or the like, which may be no argument.
func every(part syntax.WordPart) bool {
	p, ok := part.(*syntax.ParamExp)
	return ok && p.Param != nil && (p.Param.Value == "@" || subscript(p) == "@")
}

// subscript returns the plain text of ${a[x]}.
func subscript(p *syntax.ParamExp) string {
	if w, ok := p.Index.(*syntax.Word); ok {
		return w.Lit()
	}
	return ""
}

func (b *builder) param(p *syntax.ParamExp, quoted bool) {
	known, ok := b.value(p)
	switch {
	case ok && (quoted || b.whole || b.noSplit):
		b.add(known...)
	case ok && !b.facts.splits():
		b.split(known)
	default:
		b.unknown(p, quoted)
		if quoted && strings.Contains(b.source(p), "@") {
			b.cur.many = true
		}
	}
}

// value returns what is known of a parameter.
func (w *words) value(p *syntax.ParamExp) ([]piece, bool) {
	if p.Param == nil {
		return nil, false
	}
	name := p.Param.Value
	if file, ok := w.scriptName(p); ok {
		return []piece{{inSkill, file}}, true
	}
	if !simple(p) {
		return nil, false
	}
	if value, ok := w.facts.constant(name, p.Pos().Offset(), w.function); ok {
		return value, true
	}
	switch {
	case w.facts.assigned(name):
	case w.prose && name == skillVariable:
		return []piece{{inSkill, "."}}, true
	case name == "HOME":
		return []piece{{home, "$HOME"}}, true
	case name == "PWD":
		return []piece{{here, "$PWD"}}, true
	}
	return nil, false
}

// simple reports whether p is $name or ${name}.
func simple(p *syntax.ParamExp) bool {
	return p.Flags == nil && !p.Excl && !p.Length && !p.Width && !p.IsSet &&
		p.Split == syntax.OptUnset && p.GlobSubst == syntax.OptUnset && p.RcExpand == syntax.OptUnset &&
		p.NestedParam == nil && p.Index == nil && len(p.Modifiers) == 0 &&
		p.Slice == nil && p.Repl == nil && p.Names == 0 && p.Exp == nil
}

// scriptName knows the ways in which a script names itself and its directory:
// $0, ${BASH_SOURCE[0]}, and either with %/* or a default behind it.
func (w *words) scriptName(p *syntax.ParamExp) (string, bool) {
	name := p.Param.Value
	self := name == "0" && p.Index == nil || name == "BASH_SOURCE" && (p.Index == nil || subscript(p) == "0")
	if !self || w.script == "" || p.Excl || p.Length || p.Slice != nil || p.Repl != nil || p.Names != 0 ||
		p.Flags != nil || len(p.Modifiers) > 0 || w.facts.moved(p.Pos().Offset(), w.function) {
		return "", false
	}
	switch {
	case p.Exp == nil:
		return w.script, true
	case p.Exp.Op == syntax.DefaultUnset || p.Exp.Op == syntax.DefaultUnsetOrNull:
		return w.script, true
	case p.Exp.Op == syntax.RemSmallSuffix && p.Exp.Word.Lit() == "/*":
		return path.Dir(w.script), true
	}
	return "", false
}

// split adds a value that stands without quotes: what the default IFS
// separates is separate arguments, and globs are globs.
func (b *builder) split(value []piece) {
	const blanks = " \t\n"
	for _, p := range value {
		if p.kind != exact {
			b.add(p)
			continue
		}
		for rest := p.text; rest != ""; {
			word := rest
			if i := strings.IndexAny(rest, blanks); i >= 0 {
				word = rest[:i]
			}
			b.add(globs(word, false)...)
			rest = rest[len(word):]
			if trimmed := strings.TrimLeft(rest, blanks); trimmed != rest {
				b.end()
				rest = trimmed
			}
		}
	}
}
