package shellread

import (
	"path"
	"strings"

	"github.com/iff-run/iff/capability"
	"mvdan.cc/sh/v3/syntax"
)

// redirect reads one redirect: which file it reads or writes, and whether the
// file is one at all.
func (r *reading) redirect(d *syntax.Redirect) {
	line := r.lineOf(d)
	if d.Hdoc != nil {
		r.inside(d.Hdoc)
	}
	r.inside(d.Word)
	switch d.Op {
	case syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc:
		return
	}
	target := r.target(d.Word)
	switch d.Op {
	case syntax.RdrIn:
		r.touch(line, capability.FSRead, target, "reads", false)
	case syntax.RdrInOut:
		r.touch(line, capability.FSRead, target, "reads", false)
		r.touch(line, capability.FSWriteIrrev, target, "writes", false)
	case syntax.DplIn:
	case syntax.DplOut:
		if !descriptor(target) {
			r.touch(line, capability.FSWriteIrrev, target, "writes", false)
		}
	default:
		r.touch(line, capability.FSWriteIrrev, target, "writes", false)
	}
}

// target returns the file that a redirect names.
func (r *reading) target(w *syntax.Word) field {
	fields := r.fields(w)
	if len(fields) != 1 {
		return field{many: true, pieces: r.quoted(w).pieces}
	}
	fields[0].many = false // more than one would be an error
	return fields[0]
}

// descriptor reports whether >& names a descriptor: 1, 1- or -.
func descriptor(f field) bool {
	text, ok := f.literal()
	return ok && strings.Trim(strings.TrimSuffix(text, "-"), "0123456789") == ""
}

// touch proposes to read or write a file. tree means that what is below it is
// touched too.
func (r *reading) touch(line int, class capability.Capability, f field, how string, tree bool) {
	if text, ok := f.literal(); ok && notAFile(text) || len(f.pieces) == 1 && f.pieces[0].kind == pipe {
		return
	}
	if strings.HasPrefix(f.prefix(), "/dev/tcp/") || strings.HasPrefix(f.prefix(), "/dev/udp/") {
		r.socket(line, f)
		return
	}
	how += " " + f.String()
	pattern, problem := r.resolve(f)
	switch {
	case problem == "":
	case r.cwd.lost != "" && strings.HasSuffix(problem, r.cwd.lost): // once is enough
		r.sheet.bare(line, class, how, problem)
		return
	default:
		r.sheet.bare(line, class, how, f.String()+" is "+problem)
		return
	}
	if pattern != "." || !tree {
		r.sheet.ask(line, class, pattern, how, "")
	}
	if tree {
		r.sheet.ask(line, class, strings.TrimPrefix(pattern+"/**", "./"), how+" and what is below it", "")
	}
}

// notAFile reports whether a path names a device that keeps nothing, or a
// descriptor.
func notAFile(text string) bool {
	switch text {
	case "-", "/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/tty":
		return true
	}
	return strings.HasPrefix(text, "/dev/fd/") || strings.HasPrefix(text, "/proc/self/fd/")
}

// socket is a redirect from or to /dev/tcp/HOST/PORT.
func (r *reading) socket(line int, f field) {
	if text, ok := f.literal(); ok {
		if host, port, found := strings.Cut(text[len("/dev/tcp/"):], "/"); found {
			r.egress(line, host, port, "opens "+show(text))
			return
		}
	}
	r.sheet.bare(line, capability.NetEgress, "opens "+f.String(), f.unknown()+" is not static")
}

// resolve returns the pattern of a path in corpus work, or why there is none.
func (r *reading) resolve(f field) (pattern, problem string) {
	text, problem := r.glob(f)
	switch {
	case problem != "":
		return "", problem
	case f.many:
		return "", "any number of files"
	case text == "":
		return "", "an empty name"
	case text[0] == '/':
		return "", "outside the working directory"
	case r.cwd.lost != "":
		return "", "relative, and " + r.cwd.lost
	case strings.Contains(text, "*") && strings.Contains(text, ".."):
		return "", "a glob with .. in it"
	}
	text = path.Join(r.cwd.path, text)
	if text == ".." || strings.HasPrefix(text, "../") {
		return "", "outside the working directory"
	}
	if first, _, _ := strings.Cut(text, "/"); strings.Contains(first, ":") {
		text = capability.DefaultCorpus + ":" + text
	}
	return text, ""
}

// glob writes a field as the path of a grant. The globs of the shell all
// become *, which matches no less.
func (r *reading) glob(f field) (text, problem string) {
	var b strings.Builder
	for i, p := range f.pieces {
		switch {
		case p.kind == exact:
			if i == 1 && f.pieces[0].kind == here && !strings.HasPrefix(p.text, "/") { // ${PWD}x
				return "", "outside the working directory"
			}
			b.WriteString(strings.NewReplacer(`\`, `\\`, `*`, `\*`).Replace(p.text))
		case p.kind == within:
			b.WriteByte('*')
		case p.kind == here && i == 0 && r.cwd.lost == "":
			b.WriteByte('.')
		case p.kind == home:
			return "", "outside the working directory"
		case p.kind == inSkill:
			return "", "in the skill's own directory"
		default:
			return "", "not static"
		}
	}
	return b.String(), ""
}
