package shellread

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/iff-run/iff/capability"
	"mvdan.cc/sh/v3/syntax"
)

// maxWrappers bounds sudo env nice ... in front of a command.
const maxWrappers = 8

// invocation is one command with its arguments.
type invocation struct {
	args   []field
	line   int
	offset uint
	input  *field  // what stands in the text as its standard input
	prefix []field // the words that run it as somebody else: sudo -u x
	feeds  string  // where further arguments come from
	inside int     // so many wrappers

	noFunction, noBuiltin bool // what its name is not looked up as
}

func (r *reading) call(s *syntax.Stmt, c *syntax.CallExpr) {
	for _, a := range c.Assigns {
		r.assign(a)
	}
	var args []field
	for _, word := range c.Args {
		r.inside(word)
		args = append(args, r.fields(word)...)
	}
	if len(args) > 0 {
		r.run(invocation{args: args, line: r.lineOf(c.Args[0]), offset: c.Pos().Offset(), input: r.input(s)})
	}
}

// input returns the text of a here-document or here-string on standard input.
func (r *reading) input(s *syntax.Stmt) *field {
	var last *field
	for _, redirect := range s.Redirs {
		if redirect.N != nil && redirect.N.Value != "0" {
			continue
		}
		switch redirect.Op {
		case syntax.Hdoc, syntax.DashHdoc:
			body := r.hereDocument(redirect)
			last = &body
		case syntax.WordHdoc:
			text := r.quoted(redirect.Word)
			last = &text
		case syntax.RdrIn, syntax.DplIn:
			last = nil
		}
	}
	return last
}

// hereDocument returns the text of one: as it stands if the delimiter is
// quoted, else as inside double quotes.
func (r *reading) hereDocument(d *syntax.Redirect) field {
	if d.Hdoc == nil {
		return field{line: int(d.Pos().Line())}
	}
	b := builder{words: &r.words, whole: true, begun: true, line: int(d.Hdoc.Pos().Line()), verbatim: true}
	raw := slices.ContainsFunc(d.Word.Parts, func(p syntax.WordPart) bool {
		lit, ok := p.(*syntax.Lit)
		return !ok || strings.Contains(lit.Value, `\`)
	})
	for _, part := range d.Hdoc.Parts {
		lit, ok := part.(*syntax.Lit)
		switch {
		case ok && raw:
			b.add(piece{exact, lit.Value})
		case ok:
			b.add(piece{exact, unquote(lit.Value, "$`\\")})
		default:
			b.part(part, true)
		}
	}
	b.end()
	return b.done[0]
}

// run reads one command: a function, a builtin, or a program.
func (r *reading) run(in invocation) {
	if len(in.args) == 0 {
		return
	}
	if at, ok := in.args[0].inSkill(); ok {
		r.program("", in.with(append(literals(at), in.args[1:]...)))
		return
	}
	name, ok := in.args[0].literal()
	switch {
	case !ok, name != "[" && strings.Contains(name, "["): // the shell may read on to a ]
		r.unnamed(in)
	case name == "":
	case name == "!": // after time
		r.run(in.with(in.args[1:]))
	case assigns(name): // after coproc, where the parser takes it for the command
		r.external(name, in)
		r.run(in.with(in.args[1:]))
	case !in.noFunction && r.facts.isFunction(name, in.offset, r.function):
		if r.facts.wanders() {
			r.lose("a function changes the working directory")
		}
	case in.inside > maxWrappers:
		r.sheet.bare(in.line, capability.SpawnProc, commandLine(in), "it is wrapped further in than is read")
	case r.wrapper(path.Base(name), in):
	case !in.noBuiltin && r.builtin(name, in):
	default:
		r.external(path.Base(name), in)
	}
}

// assigns reports whether a word is an assignment.
func assigns(word string) bool {
	name, _, found := strings.Cut(word, "=")
	return found && syntax.ValidName(strings.TrimSuffix(name, "+"))
}

func (in invocation) with(args []field) invocation {
	in.args = args
	return in
}

// unnamed is a command whose name only running would tell. It may be cd.
func (r *reading) unnamed(in invocation) {
	if r.sheet.prose && vague(in.args[0]) {
		return
	}
	r.sheet.bare(in.line, capability.SpawnProc, "a command by a name that is not static", in.args[0].String())
	if !in.noBuiltin && !in.args[0].isPath() {
		r.lose(fmt.Sprintf("line %d runs a command by a name that is not static", in.line))
	}
}

// external is a program that is looked for in PATH, or named by its path.
func (r *reading) external(base string, in invocation) {
	if r.sheet.prose && vague(in.args[0]) {
		return
	}
	switch {
	case isShell(base):
		r.shell(base, in)
	default:
		if language, ok := interpreters[unversioned(base)]; ok {
			r.interpreter(language, base, in)
			return
		}
		r.program(base, in)
	}
}

// program proposes to run what in names, and reads from its arguments what it
// touches.
func (r *reading) program(base string, in invocation) {
	args, rest, doubt := subcommand(base, in.args)
	if in.feeds != "" && !rest {
		rest = true
	}
	r.spawn(in, args, rest, doubt)
	r.files(base, in)
	r.network(base, in)
}

// spawn proposes args, and any further ones if rest. doubt is what is not
// static about it, if anything.
func (r *reading) spawn(in invocation, args []field, rest bool, doubt string) {
	what := "runs "
	if r.sheet.prose {
		what = "instruction in prose: "
		if doubt == "" && slices.ContainsFunc(in.args, placeholding) {
			doubt = "it has placeholders"
		}
	}
	if doubt == "" {
		doubt = in.feeds
	}
	r.sheet.ask(in.line, capability.SpawnProc, argv(slices.Concat(in.prefix, args), rest), what+commandLine(in), doubt)
}

func commandLine(in invocation) string {
	const most = 12
	var words []string
	for _, arg := range slices.Concat(in.prefix, in.args[:min(most, len(in.args))]) {
		words = append(words, arg.text())
	}
	return show(strings.Join(words, " "))
}

// argv writes a pattern for arguments. What is not static in one is *; an
// argument that may be several ends it with **.
func argv(args []field, rest bool) string {
	var texts []string
	for _, arg := range args {
		if arg.many {
			rest = true
			break
		}
		texts = append(texts, argument(arg))
	}
	if rest {
		texts = append(texts, "**")
	}
	return strings.Join(texts, " ")
}

func argument(arg field) string {
	if at, ok := arg.inSkill(); ok {
		arg = literals(at)[0]
	}
	if text, ok := arg.literal(); ok {
		return escaped(text)
	}
	var b strings.Builder
	for _, p := range arg.pieces {
		switch {
		case p.kind != exact:
			b.WriteByte('*')
		case p.text != "":
			b.WriteString(escaped(p.text))
		}
	}
	return b.String()
}

// escaped is text as one argument of a grant. What has no spelling gives a
// text that no grant accepts either.
func escaped(text string) string {
	const program = "x "
	t, err := capability.Argv("x", text)
	if err != nil {
		return " "
	}
	return strings.TrimPrefix(t.String(), program)
}

// subcommand returns the words of a command that a grant keeps: its name, and
// where the tool has sub-commands also those, with the options before them.
// rest is false where there is a sub-command to give and none is given.
//
// Of a program that is in no table, up to two plain words behind the name are
// taken for sub-commands: a grant for mail send that should have been one for
// mail asks once too often, the other way round it sends.
func subcommand(base string, args []field) (kept []field, rest bool, doubt string) {
	t, known := tools[base]
	name, _ := args[0].literal()
	if !known && !utility(base) && !strings.Contains(name, "/") {
		n := 1
		for n < len(args) && n <= maxGuess && plainWord(args[n]) {
			n++
		}
		return args[:n], true, ""
	}
	kept, rest = args[:1], t.depth == 0
	for want := t.depth; want > 0 && len(kept) < len(args); {
		arg := args[len(kept)]
		text, ok := arg.literal()
		if !ok {
			return kept, true, "its sub-command is not static: " + arg.String()
		}
		kept = args[:len(kept)+1]
		if strings.HasPrefix(text, "-") {
			if has(t.values, text) && len(kept) < len(args) {
				kept = args[:len(kept)+1]
			}
			continue
		}
		rest = true
		if !has(t.deeper, text) {
			want--
		}
	}
	return kept, rest, ""
}

const maxGuess = 2

// plainWord reports whether an argument looks like a sub-command.
func plainWord(f field) bool {
	text, ok := f.literal()
	return ok && f.word && len(text) > 1 && text[0] >= 'a' && text[0] <= 'z' && strings.Trim(text, "abcdefghijklmnopqrstuvwxyz0123456789-_") == ""
}

// utility reports whether a program is known to have no sub-commands.
func utility(base string) bool {
	_, files := fileTools[base]
	_, net := netTools[base]
	return files || net || base == "" || utilities[base]
}

// has looks a word up in a list of words between spaces.
func has(list, word string) bool {
	for w := range strings.FieldsSeq(list) {
		if w == word {
			return true
		}
	}
	return false
}
