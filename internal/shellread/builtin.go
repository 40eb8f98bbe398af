package shellread

import (
	"fmt"
	"path"
	"strings"

	"github.com/iff-run/iff/capability"
)

// builtin reads a command that the shell runs itself. It reports whether name
// is one.
func (r *reading) builtin(name string, in invocation) bool {
	args := in.args[1:]
	switch {
	case !builtins[name] && !(r.noSplit && zshBuiltins[name]):
		return false
	case changesDirectory(name):
		r.changeDirectory(name, args)
	case name == "eval":
		for _, code := range codeOf(name, args) {
			r.nested(code, name, in, true)
		}
	case name == "trap" || name == "alias":
		r.apart(func() {
			if len(r.facts.cds) > 0 {
				r.lose("it runs later, and the working directory changes")
			}
			for _, code := range codeOf(name, args) {
				r.nested(code, name, in, true)
			}
		})
	case name == "source" || name == ".":
		r.source(in)
	case name == "zmodload" || name == "emulate" && len(args) > 1 || name == "functions" && len(args) > 1:
		r.sheet.bare(in.line, capability.SpawnProc, commandLine(in), "it changes what names mean")
	case name == "set":
		r.cwd.errexit = r.cwd.errexit || exitsOnError(args)
	default:
		r.trick(name, in)
	}
	return true
}

func (r *reading) trick(name string, in invocation) {
	letters := tricks[name]
	for _, arg := range in.args[1:] {
		if text := arg.prefix(); letters != "" && strings.HasPrefix(text, "-") && strings.ContainsAny(text, letters) {
			r.sheet.bare(in.line, capability.SpawnProc, commandLine(in), "it changes what names mean, or runs code")
			return
		}
	}
}

// exitsOnError reports whether set is given -e or -o errexit.
func exitsOnError(args []field) bool {
	for i, arg := range args {
		text, ok := arg.literal()
		switch {
		case !ok || text == "--" || text == "-" || !strings.HasPrefix(text, "-"):
			return false
		case strings.Contains(text, "e"), strings.HasSuffix(text, "o") && i+1 < len(args) && args[i+1].is("errexit"):
			return true
		case strings.HasSuffix(text, "o"):
			return exitsOnError(args[min(i+2, len(args)):])
		}
	}
	return false
}

// changeDirectory follows cd where it can.
func (r *reading) changeDirectory(name string, args []field) {
	var to *field
	for i, arg := range args {
		if text, ok := arg.literal(); ok && len(text) > 1 && text[0] == '-' && text != "--" && name != "popd" {
			continue
		}
		if !arg.is("--") {
			to = &args[i]
			break
		}
	}
	switch {
	case to == nil || name == "popd" || to.is("-"):
		r.lose("after " + name + " the working directory is not known")
		return
	case r.facts.assigned("CDPATH"):
		r.lose("CDPATH is set")
		return
	}
	if _, ok := to.inSkill(); ok {
		r.lose("it is relative to the skill's own directory")
		return
	}
	at, problem := r.resolve(*to)
	if problem != "" || len(at) > capability.MaxGrant || strings.ContainsAny(at, `*:\`) {
		r.lose("after " + name + " " + to.String() + " the working directory is not known")
		return
	}
	r.cwd.path, r.cwd.hoped = at, r.tested || !r.cwd.errexit || r.function != "" || r.facts.pardons()
}

// source reads source FILE: the file is one of the skill's, and then it is
// read by itself, or it is not known what it holds.
func (r *reading) source(in invocation) {
	if len(in.args) < 2 {
		return
	}
	file := in.args[1]
	inner := r.library.facts(r.facts, file)
	if inner == nil || len(inner.cds) > 0 {
		r.lose(fmt.Sprintf("line %d sources a file that may change the working directory", in.line))
	}
	if inner != nil {
		return
	}
	text, literal := file.literal()
	_, ours := file.inSkill()
	outside := strings.HasPrefix(text, "/") || strings.HasPrefix(path.Clean(text), "../")
	switch {
	case !literal && !ours:
		r.sheet.bare(in.line, capability.SpawnProc, "sources "+file.String(), file.unknown()+" is not static")
	case outside || !ours && r.outside(file):
		r.sheet.bare(in.line, capability.SpawnProc, "sources "+file.String(), "it is outside the skill and not read")
	case r.library.read != nil:
		r.sheet.bare(in.line, capability.SpawnProc, "sources "+file.String(), "it is not a shell script of the skill, or cannot be read")
	}
}

// outside reports whether a file is named by an absolute path or from home.
func (r *reading) outside(f field) bool {
	return len(f.pieces) > 0 && (f.pieces[0].kind == home || f.pieces[0].kind == pipe || strings.HasPrefix(f.prefix(), "/"))
}

// nested reads code that stands in a string. same means that it runs in this
// shell and not in one of its own.
func (r *reading) nested(code field, what string, in invocation, same bool) {
	line := in.line
	text, ok := code.literal()
	if !ok {
		r.sheet.bare(line, capability.SpawnProc, what+" runs a string", code.unknown()+" is not static")
		if same {
			r.lose(fmt.Sprintf("line %d runs a string that is not static", line))
		}
		return
	}
	if r.sheet.code -= len(text); r.depth >= maxNested || r.sheet.code < 0 {
		r.sheet.bare(line, capability.SpawnProc, what+" runs a string in a string", "further in than is read")
		return
	}
	file, _, fault := parse(text, justBash())
	if fault != nil {
		r.sheet.bare(line, capability.SpawnProc, what+" runs a string", "it does not parse as shell: "+fault.detail)
		return
	}
	inner := &reading{sheet: r.sheet, library: r.library, cwd: r.cwd, tested: r.tested, fixed: line, depth: r.depth + 1}
	if code.verbatim && r.fixed == 0 {
		inner.fixed, inner.above = 0, r.above+code.line-1
	}
	if !same {
		inner.cwd.errexit, inner.tested = false, false
	}
	inner.words = words{src: text, noSplit: r.noSplit}
	inner.facts = newFacts(file, inner.words, r.library, inner.depth)
	inner.facts.around = r.facts
	if same {
		outer, offset, function := r.facts, in.offset, r.function
		inner.facts.outer = func(name string) bool { return outer.isFunction(name, offset, function) }
	}
	inner.stmts(file.Stmts)
	if same {
		r.cwd = inner.cwd
	}
}
