package shellread

import (
	"slices"
	"strings"

	"github.com/iff-run/iff/capability"
)

// wrapper looks through a program that runs another one. It reports whether
// base is one.
func (r *reading) wrapper(base string, in invocation) bool {
	w, ok := wrappers[base]
	if !ok {
		return false
	}
	args := in.args[1:]
	n, query, unclear := w.own(args)
	own, inner := in.args[:1+n], args[n:]
	switch {
	case base == "env" && splitsString(own):
		r.sheet.bare(in.line, capability.SpawnProc, commandLine(in), "env -S makes a command of a string")
	case unclear:
		r.sheet.bare(in.line, capability.SpawnProc, "runs "+commandLine(in), base+" is given a command that is not static")
	case (query || len(inner) == 0) && (w.silent || w.quiet):
	case query || len(inner) == 0:
		r.spawn(in, in.args, false, "")
	default:
		r.through(base, w, own, in.with(inner))
	}
	return true
}

// own returns how many of the arguments are the wrapper's own. unclear means
// that only running would tell.
func (w wrapper) own(args []field) (n int, query, unclear bool) {
	for n < len(args) {
		text := args[n].prefix()
		_, literal := args[n].literal()
		switch {
		case literal && text == "--":
			n, far := w.after(args, n+1)
			return n, query, unclear || far
		case len(text) > 1 && text[0] == '-':
			query = query || text[1] != '-' && strings.ContainsAny(text, w.queries)
			n++
			if literal && w.wantsValue(text) {
				unclear = unclear || n < len(args) && args[n].many
				n++
			}
			unclear = unclear || args[min(n, len(args))-1].many
		case w.assigns && assignment(text) != "":
			n++
		default:
			n, far := w.after(args, n)
			return n, query, unclear || far
		}
	}
	return min(n, len(args)), query, unclear
}

// after skips the operands before the command.
func (w wrapper) after(args []field, n int) (end int, unclear bool) {
	for range w.operands {
		unclear = unclear || n < len(args) && args[n].many
		n++
	}
	return min(n, len(args)), unclear
}

// wantsValue reports whether the value of an option is the next argument.
func (w wrapper) wantsValue(text string) bool {
	if strings.HasPrefix(text, "--") {
		return has(w.longs, text)
	}
	i := strings.IndexAny(text[1:], w.letters)
	return i >= 0 && i == len(text)-2
}

// assignment returns the name in NAME=value. For env anything is a name.
func assignment(text string) string {
	name, _, found := strings.Cut(text, "=")
	if !found {
		return ""
	}
	return name
}

// through reads the command that a wrapper runs. own are its name and its own
// arguments.
func (r *reading) through(base string, w wrapper, own []field, in invocation) {
	before := r.cwd
	for i, arg := range own[1:] {
		text := arg.prefix()
		switch {
		case w.assigns && assignment(text) != "":
			r.steers(in.line, assignment(text), arg.from(len(assignment(text))+1))
		case base == "env" && (strings.HasPrefix(text, "-C") || strings.HasPrefix(text, "--chdir")), base == "chroot":
			r.lose(base + " changes the directory")
		case base == "xargs" && strings.HasPrefix(text, "-I"):
			in.args = substitute(in.args, value(own, i+1))
		}
	}
	switch {
	case w.stays:
		in.prefix = slices.Concat(in.prefix, own)
	case w.feeds != "":
		in.feeds = w.feeds
		if !slices.ContainsFunc(in.args, func(f field) bool { return f.unknown() == "{}" }) {
			in.args = append(slices.Clone(in.args), field{many: true, pieces: []piece{{anything, "(the input of " + base + ")"}}})
		}
	}
	in.inside++
	in.noFunction = in.noFunction || !w.lookup
	in.noBuiltin = in.noBuiltin || !w.silent
	if base == "flock" && in.args[0].is("-c") && len(in.args) > 1 {
		r.nested(in.args[1], "flock -c", in, false)
	} else {
		r.run(in)
	}
	if !w.silent {
		r.cwd = before
	}
}

func splitsString(own []field) bool {
	return slices.ContainsFunc(own, func(f field) bool {
		text := f.prefix()
		return strings.HasPrefix(text, "--split-string") || strings.HasPrefix(text, "-") && !strings.HasPrefix(text, "--") && strings.Contains(text, "S")
	})
}

// value returns that of the option at i: what follows it in the same argument
// or in the next.
func value(args []field, i int) string {
	const letter = 2
	if text := args[i].prefix(); len(text) > letter {
		return text[letter:]
	}
	if i+1 < len(args) {
		return args[i+1].prefix()
	}
	return ""
}

// substitute puts what is not known in the place of a text that xargs or find
// replaces.
func substitute(args []field, text string) []field {
	out := make([]field, len(args))
	for i, arg := range args {
		out[i] = arg
		have, ok := arg.literal()
		if !ok || text == "" || !strings.Contains(have, text) {
			continue
		}
		before, after, _ := strings.Cut(have, text)
		out[i].pieces = []piece{{exact, before}, {anything, "{}"}, {exact, after}}
	}
	return out
}

// from returns f without its first n bytes, which are exact.
func (f field) from(n int) field {
	pieces := slices.Clone(f.pieces)
	for n > 0 && len(pieces) > 0 {
		cut := min(n, len(pieces[0].text))
		pieces[0].text = pieces[0].text[cut:]
		if n -= cut; pieces[0].text == "" {
			pieces = pieces[1:]
		}
	}
	f.pieces = pieces
	return f
}

// executes reads what find runs, and what it deletes and writes.
func (r *reading) executes(in invocation) {
	args := in.args[1:]
	for i := 0; i < len(args); i++ {
		switch {
		case args[i].is("-exec", "-execdir", "-ok", "-okdir"):
			end := i + 1
			for end < len(args) && !args[end].is(";", "+") {
				end++
			}
			inner := in.with(substitute(args[i+1:end], "{}"))
			inner.inside++
			inner.feeds, inner.noFunction, inner.noBuiltin = "find puts file names into its arguments", true, true
			r.run(inner)
			i = end
		case args[i].is("-delete"):
			r.sheet.bare(in.line, capability.FSWriteIrrev, commandLine(in), "find -delete removes what it finds")
		case args[i].is("-fprint", "-fprint0", "-fprintf", "-fls") && i+1 < len(args):
			r.touch(in.line, capability.FSWriteIrrev, args[i+1], "find writes", false)
		case args[i].many:
			r.sheet.bare(in.line, capability.SpawnProc, commandLine(in), "find may run any command: "+args[i].unknown()+" is not static")
		}
	}
}
