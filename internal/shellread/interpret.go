package shellread

import (
	"strings"

	"github.com/iff-run/iff/capability"
)

// maxInline bounds code in an argument that is proposed word for word.
const maxInline = 120

func isShell(base string) bool {
	return has("sh bash dash ash zsh ksh mksh rbash yash", base)
}

// shell reads sh -c CODE, sh FILE and sh with code on its standard input.
func (r *reading) shell(base string, in invocation) {
	const valued = "oO"
	command, n := false, 1
	for ; n < len(in.args); n++ {
		text, ok := in.args[n].literal()
		if !ok || len(text) < 2 || text[0] != '-' && text[0] != '+' {
			break
		}
		if text == "--" {
			n++
			break
		}
		if strings.HasPrefix(text, "--") {
			if has("--rcfile --init-file", text) {
				n++
			}
			continue
		}
		command = command || text[0] == '-' && strings.Contains(text, "c")
		if strings.ContainsRune(valued, rune(text[len(text)-1])) {
			n++
		}
	}
	n = min(n, len(in.args))
	rest := in.args[n:]
	switch {
	case command && len(rest) > 0:
		r.codeArgument(base, rest[0], in)
	case command:
	case len(rest) > 0 && !rest[0].is("-", "/dev/stdin"):
		r.scriptArgument(base, n, in)
	case n > 1 && in.input == nil && has("--version --help", in.args[1].prefix()):
		r.spawn(in, in.args[:n], false, "")
	case in.input != nil:
		r.asOther(in)
		r.apart(func() { r.nested(*in.input, base, in, false) })
	default:
		r.sheet.bare(in.line, capability.SpawnProc, commandLine(in), base+" runs the commands that it reads from its standard input")
	}
}

// asOther notes commands of which it cannot be said one by one that somebody
// else runs them.
func (r *reading) asOther(in invocation) {
	if in.prefix != nil {
		r.sheet.bare(in.line, capability.SpawnProc, commandLine(in), "a string of commands is run as somebody else")
	}
}

// codeArgument reads the string after -c.
func (r *reading) codeArgument(base string, code field, in invocation) {
	r.asOther(in)
	r.nested(code, base+" -c", in, false)
}

// scriptArgument proposes an interpreter with the file that it runs, args[n].
func (r *reading) scriptArgument(base string, n int, in invocation) {
	file := in.args[n]
	text, ok := file.literal()
	if at, ours := file.inSkill(); ours {
		text, ok = at, true
	}
	if !ok || text == "" {
		if r.sheet.prose && vague(file) {
			return
		}
		r.sheet.bare(in.line, capability.SpawnProc, base+" runs "+file.String(), file.unknown()+" is not static")
		return
	}
	r.spawn(in, in.args[:n+1], true, "")
}

// interpreter proposes a program of another language: word for word where code
// is given as an argument, with the file or module where one is run.
func (r *reading) interpreter(p program, base string, in invocation) {
	for n := 1; n < len(in.args); n++ {
		text, ok := in.args[n].literal()
		switch {
		case !ok || len(text) < 2 || text[0] != '-':
			if in.args[n].is("-", "/dev/stdin") {
				r.programFromInput(base, in)
				return
			}
			r.scriptArgument(base, n, in)
			return
		case codeOption(p, text):
			r.inline(base, n, in)
			return
		case has(p.module, text) && n+1 < len(in.args):
			r.scriptArgument(base, n+1, in)
			r.network(in.args[n+1].prefix(), in.with(in.args[n+1:]))
			return
		case has(p.queries, text) && len(in.args) == 2:
			r.spawn(in, in.args, false, "")
			return
		case has(p.values, text):
			n++
		}
	}
	r.programFromInput(base, in)
}

// codeOption reports whether an option gives code: by itself, with the code
// attached to it, or at the end of a cluster as in perl -ne.
func codeOption(p program, text string) bool {
	if name, _, _ := strings.Cut(text, "="); has(p.code, name) {
		return true
	}
	for option := range strings.FieldsSeq(p.code) {
		if len(option) == 2 && text[1] != '-' && (strings.HasPrefix(text, option) || strings.HasSuffix(text, option[1:])) {
			return true
		}
	}
	return false
}

func (r *reading) inline(base string, n int, in invocation) {
	const opaque = " runs code of another language that is given as an argument; it is not read"
	end := min(n+2, len(in.args))
	for _, arg := range in.args[:end] {
		if text, ok := arg.literal(); !ok || len(text) > maxInline || strings.Contains(text, "\n") {
			r.sheet.bare(in.line, capability.SpawnProc, commandLine(in), base+opaque)
			return
		}
	}
	r.spawn(in, in.args[:end], true, base+opaque)
}

func (r *reading) programFromInput(base string, in invocation) {
	r.sheet.bare(in.line, capability.SpawnProc, commandLine(in), base+" runs the program that it reads from its standard input; it is not read")
}
