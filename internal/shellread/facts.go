package shellread

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Bounds on the value of a variable that is put in its place, and on all that
// is put in place together: a name of two bytes may otherwise stand for any
// number of them, many times over.
const (
	maxConstant = 512
	maxReplaced = 1 << 18
)

const never uint = math.MaxUint

// facts are what has to be known of a whole source before any of its commands
// can be read: which variables are constant, which names are functions, and
// from where on the working directory is not what it was.
//
// All of it errs to one side. A variable is constant only if it is assigned
// once, on the top level, without a condition, before it is used, and if
// nothing that could assign it unseen stands before the use. A name is a
// function only if it is defined so before anything could call it.
type facts struct {
	words     words
	library   *library
	depth     int
	values    map[string]*constant
	assigns   map[string]int
	functions map[string]uint     // offset of the first definition that always happens
	sometimes map[string]bool     // defined, but not always
	calls     []call              // outside of functions
	later     []deferred          // calls by names that are variables
	within    map[string][]string // the calls in the body of a function
	runs      map[string]uint     // the first call that runs a function
	opaque    uint                // the first thing that may assign anything
	cds       []uint              // what may change the working directory, in order
	cdWithin  bool                // some function may
	replaced  int                 // bytes of values put in place
	forgives  bool                // set -e may be taken back
	around    *facts              // of the code that runs this code; may be nil
	outer     func(string) bool   // functions of the shell that evaluates this; may be nil
}

type constant struct {
	offset uint
	value  *syntax.Word
	known  bool // settled, and constant after all
	pieces []piece
}

// deferred is a call whose name can be found out only with the constants.
type deferred struct {
	call *syntax.CallExpr
	at   place
}

// call is a name that is called; empty if only running would tell which.
type call struct {
	name   string
	offset uint
}

// newFacts looks through a file once.
func newFacts(file *syntax.File, w words, l *library, depth int) *facts {
	f := &facts{
		words: w, library: l, depth: depth, values: map[string]*constant{}, assigns: map[string]int{},
		functions: map[string]uint{}, sometimes: map[string]bool{}, within: map[string][]string{},
		runs: map[string]uint{}, opaque: never,
	}
	for _, s := range file.Stmts {
		f.topLevel(s)
	}
	f.look(file)
	f.words.facts = f
	f.settle()
	slices.Sort(f.cds)
	f.reach()
	return f
}

// settle works the constants out, and which commands are run by their names,
// in the order in which they stand: one may make an end to the others.
func (f *facts) settle() {
	var all []*constant
	for name, c := range f.values {
		if f.assigns[name] == 1 {
			all = append(all, c)
		}
	}
	slices.SortFunc(all, func(a, b *constant) int { return cmp.Compare(a.offset, b.offset) })
	within := never
	for _, d := range f.later {
		offset := d.call.Pos().Offset()
		for len(all) > 0 && all[0].offset < offset {
			f.value(all[0])
			all = all[1:]
		}
		f.words.function = d.at.function
		f.invoke(f.arguments(d.call), offset, d.at)
		f.words.function = ""
		if d.at.function != "" {
			within = min(within, offset)
		}
	}
	for _, c := range all {
		f.value(c)
	}
	if f.opaque != never { // then in functions nothing was constant
		f.blind(within)
	}
}

func (f *facts) value(c *constant) {
	value := f.words.quoted(c.value)
	if !value.many && size(value.pieces) <= maxConstant && !slices.ContainsFunc(value.pieces, running) {
		c.known, c.pieces = true, value.pieces
	}
}

func running(p piece) bool { return p.kind == anything || p.kind == pipe }

func size(pieces []piece) int {
	n := 0
	for _, p := range pieces {
		n += len(p.text)
	}
	return n
}

// reach finds out which call is the first that runs a function, through other
// functions too.
func (f *facts) reach() {
	slices.SortFunc(f.calls, func(a, b call) int { return cmp.Compare(a.offset, b.offset) })
	for _, c := range f.calls {
		for todo := []string{c.name}; len(todo) > 0; {
			name := todo[len(todo)-1]
			todo = todo[:len(todo)-1]
			if _, seen := f.runs[name]; seen {
				continue
			}
			f.runs[name] = c.offset
			todo = append(todo, f.within[name]...)
		}
	}
}

// runsAt returns the offset of the first call that may run function name.
func (f *facts) runsAt(name string) uint {
	at := never
	for _, known := range []string{name, ""} {
		if offset, ok := f.runs[known]; ok {
			at = min(at, offset)
		}
	}
	return at
}

// constant returns the value of a variable as it is at offset. In the body of
// a function, which may run at another time, less is constant.
func (f *facts) constant(name string, offset uint, function string) ([]piece, bool) {
	if f == nil || f.assigns[name] != 1 {
		return nil, false
	}
	c, ok := f.values[name]
	if !ok || offset <= c.offset || offset > f.opaque || function != "" && f.opaque != never {
		return nil, false
	}
	f.replaced += size(c.pieces)
	return c.pieces, c.known && f.replaced <= maxReplaced
}

// assigned reports whether a variable of the environment is given another
// value, or may be.
func (f *facts) assigned(name string) bool {
	return f != nil && (f.assigns[name] > 0 || f.opaque != never || f.around.assigned(name))
}

// splits reports whether the shell may split words in a way of its own.
func (f *facts) splits() bool { return f != nil && (f.assigns["IFS"] > 0 || f.around.splits()) }

// wanders reports whether calling a function may change the working directory.
func (f *facts) wanders() bool { return f != nil && (f.cdWithin || f.around.wanders()) }

// pardons reports whether set -e may be taken back.
func (f *facts) pardons() bool { return f != nil && (f.forgives || f.around.pardons()) }

// moved reports whether a path that was relative may not be any more.
func (f *facts) moved(offset uint, function string) bool {
	switch {
	case f == nil:
		return false
	case f.assigns["BASH_ARGV0"] > 0 || f.assigns["BASH_SOURCE"] > 0:
		return true
	}
	return len(f.cds) > 0 && (offset > f.cds[0] || function != "")
}

// moves reports whether something between two offsets may change the working
// directory.
func (f *facts) moves(from, to uint) bool {
	i, _ := slices.BinarySearch(f.cds, from)
	return f.wanders() || i < len(f.cds) && f.cds[i] < to
}

// isFunction reports whether a command at offset, in the body of a function or
// outside, calls a function of the file.
func (f *facts) isFunction(name string, offset uint, function string) bool {
	defined, ok := f.functions[name]
	if function != "" {
		offset = f.runsAt(function)
	}
	return ok && defined < offset || f.outer != nil && f.outer(name)
}

// topLevel notes what always happens: a plain assignment, a definition, a file
// that is sourced.
func (f *facts) topLevel(s *syntax.Stmt) {
	if s.Negated || s.Background || s.Coprocess {
		return
	}
	switch cmd := s.Cmd.(type) {
	case *syntax.CallExpr:
		if len(cmd.Args) == 0 {
			f.plain(cmd.Assigns)
			return
		}
		f.include(cmd)
	case *syntax.DeclClause:
		if keeps(cmd) {
			f.plain(cmd.Args)
		}
	case *syntax.FuncDecl:
		for _, name := range functionNames(cmd) {
			f.define(name, cmd.Pos().Offset())
		}
	case *syntax.BinaryCmd:
		if cmd.Op == syntax.AndStmt || cmd.Op == syntax.OrStmt {
			f.topLevel(cmd.X)
		}
	}
}

func (f *facts) define(name string, offset uint) {
	if _, again := f.functions[name]; !again {
		f.functions[name] = offset
	}
}

// include defines the functions of a file that is always sourced.
func (f *facts) include(c *syntax.CallExpr) {
	args := f.arguments(c)
	if len(args) < 2 || !args[0].is("source", ".") {
		return
	}
	if inner := f.library.facts(f, args[1]); inner != nil {
		for name := range inner.functions {
			f.define(name, c.Pos().Offset())
		}
	}
}

// keeps reports whether a declaration leaves values as they are written:
// export, readonly, declare -r and -x.
func keeps(d *syntax.DeclClause) bool {
	for _, a := range d.Args {
		if a.Name == nil && strings.Trim(a.Value.Lit(), "-rxg") != "" {
			return false
		}
	}
	return d.Variant.Value != "local" && d.Variant.Value != "nameref"
}

func (f *facts) plain(assigns []*syntax.Assign) {
	for _, a := range assigns {
		if a.Name != nil && !a.Naked && !a.Append && a.Index == nil && a.Array == nil && !changing(a.Name.Value) {
			f.values[a.Name.Value] = &constant{offset: a.Pos().Offset(), value: a.Value}
		}
	}
}

// changing are variables that the shell itself changes. They are not constant.
func changing(name string) bool {
	switch name {
	case "RANDOM", "SRANDOM", "SECONDS", "LINENO", "EPOCHSECONDS", "EPOCHREALTIME", "REPLY", "OPTARG", "OPTIND",
		"PWD", "OLDPWD", "PIPESTATUS", "DIRSTACK", "FUNCNAME", "GROUPS", "UID", "EUID", "PPID", "SHLVL", "HISTCMD",
		"COLUMNS", "LINES", "MAPFILE", "COPROC", "_", "IFS":
		return true
	}
	return strings.HasPrefix(name, "BASH")
}

func functionNames(d *syntax.FuncDecl) []string {
	var names []string
	if d.Name != nil {
		names = append(names, d.Name.Value)
	}
	for _, lit := range d.Names {
		names = append(names, lit.Value)
	}
	return names
}
