package shellread

import (
	"slices"
	"strings"

	"github.com/iff-run/iff/capability"
	"mvdan.cc/sh/v3/syntax"
)

// maxNested bounds code in strings in code in strings.
const maxNested = 8

// reading is one walk over one parsed source.
type reading struct {
	words
	sheet   *sheet
	library *library
	cwd     directory
	tested  bool // whether the command fails is asked, so set -e does not end the script
	above   int  // lines above the first one
	fixed   int  // if not 0, the line of everything
	depth   int
}

// directory is the working directory as far as it is known, relative to where
// the script was started.
type directory struct {
	path    string // "." or a clean relative path
	lost    string // if not empty, why it is not known
	hoped   bool   // only if the last command succeeded
	errexit bool   // a command that fails ends the shell
}

func (r *reading) line(n int) int {
	if r.fixed > 0 {
		return r.fixed
	}
	return r.above + n
}

func (r *reading) lineOf(n syntax.Node) int { return r.line(int(n.Pos().Line())) }

// lose gives up knowing the working directory.
func (r *reading) lose(why string) {
	if r.cwd.lost == "" {
		r.cwd.lost = why
	}
}

// apart visits what runs in a shell of its own.
func (r *reading) apart(visit func()) {
	before := r.cwd
	visit()
	r.cwd = before
}

// perhaps visits what may not run.
func (r *reading) perhaps(visit func()) {
	before := r.cwd
	visit()
	r.changed(before)
}

// changed gives up knowing the working directory if it is not what it was.
func (r *reading) changed(before directory) {
	if r.cwd.path != before.path || r.cwd.lost != before.lost {
		r.lose("a branch before it changes the working directory")
	}
	r.cwd.hoped, r.cwd.errexit = false, before.errexit
}

// asked visits commands whose failure is looked at.
func (r *reading) asked(visit func()) {
	before := r.tested
	r.tested = true
	visit()
	r.tested = before
}

func (r *reading) stmts(list []*syntax.Stmt) {
	for _, s := range list {
		r.stmt(s)
		if r.cwd.hoped {
			r.lose("a cd before it may have failed")
			r.cwd.hoped = false
		}
	}
}

func (r *reading) stmt(s *syntax.Stmt) {
	for _, redirect := range s.Redirs {
		r.redirect(redirect)
	}
	switch {
	case s.Background || s.Coprocess:
		r.apart(func() { r.command(s) })
	case s.Negated:
		r.asked(func() { r.command(s) })
	default:
		r.command(s)
	}
}

func (r *reading) command(s *syntax.Stmt) {
	switch cmd := s.Cmd.(type) {
	case nil:
	case *syntax.CallExpr:
		r.call(s, cmd)
	case *syntax.Block:
		r.stmts(cmd.Stmts)
	case *syntax.Subshell:
		r.apart(func() { r.stmts(cmd.Stmts) })
	case *syntax.IfClause:
		r.branches(cmd)
	case *syntax.WhileClause:
		r.loop(cmd.WhilePos, cmd.DonePos, cmd.Cond, cmd.Do)
	case *syntax.ForClause:
		r.inside(cmd.Loop)
		r.loop(cmd.ForPos, cmd.DonePos, nil, cmd.Do)
	case *syntax.CaseClause:
		r.cases(cmd)
	case *syntax.BinaryCmd:
		r.binary(cmd)
	case *syntax.FuncDecl:
		r.definition(cmd)
	case *syntax.DeclClause:
		for _, a := range cmd.Args {
			r.assign(a)
		}
	case *syntax.TimeClause:
		if cmd.Stmt != nil {
			r.stmt(cmd.Stmt)
		}
	case *syntax.CoprocClause:
		r.coprocess(cmd)
	case *syntax.TestDecl:
		r.apart(func() { r.stmt(cmd.Body) })
	default: // arithmetic and tests
		r.inside(cmd)
	}
}

func (r *reading) branches(c *syntax.IfClause) {
	r.asked(func() { r.stmts(c.Cond) })
	r.perhaps(func() { r.stmts(c.Then) })
	if c.Else != nil {
		r.perhaps(func() { r.branches(c.Else) })
	}
}

// loop visits a body that may run any number of times, the second time where
// the first one left it.
func (r *reading) loop(from, to syntax.Pos, condition, body []*syntax.Stmt) {
	if r.facts.moves(from.Offset(), to.Offset()) {
		r.lose("a loop changes the working directory")
	}
	r.perhaps(func() {
		r.asked(func() { r.stmts(condition) })
		r.stmts(body)
	})
}

func (r *reading) cases(c *syntax.CaseClause) {
	r.inside(c.Word)
	for _, item := range c.Items {
		for _, pattern := range item.Patterns {
			r.inside(pattern)
		}
		r.perhaps(func() { r.stmts(item.Stmts) })
	}
}

// binary visits pipes, whose ends are shells of their own, and lists.
func (r *reading) binary(c *syntax.BinaryCmd) {
	switch c.Op {
	case syntax.AndStmt:
		r.and(c)
	case syntax.OrStmt:
		r.or(c)
	default:
		r.apart(func() { r.stmt(c.X) })
		r.apart(func() { r.stmt(c.Y) })
	}
}

// or visits a || b. After cd x || exit the directory is x.
func (r *reading) or(c *syntax.BinaryCmd) {
	before := r.cwd
	r.asked(func() { r.stmt(c.X) })
	r.apart(func() {
		if r.cwd.hoped { // the cd failed
			r.cwd = before
		}
		r.stmt(c.Y)
	})
	if leaves(c.Y) {
		r.cwd.hoped = false
		return
	}
	r.changed(before)
	if r.facts.moves(c.Y.Pos().Offset(), c.Y.End().Offset()) {
		r.lose("a branch before it changes the working directory")
	}
}

// leaves reports whether nothing comes after s.
func leaves(s *syntax.Stmt) bool {
	if s.Background || s.Negated {
		return false
	}
	switch cmd := s.Cmd.(type) {
	case *syntax.CallExpr:
		name := ""
		if len(cmd.Args) > 0 {
			name = cmd.Args[0].Lit()
		}
		return name == "exit" || name == "return"
	case *syntax.Block:
		return leaves(cmd.Stmts[len(cmd.Stmts)-1])
	}
	return false
}

// and visits a && b && c: where one fails the rest does not run, so each may
// build on the ones before it, but what follows the list may not.
func (r *reading) and(c *syntax.BinaryCmd) {
	list := []*syntax.Stmt{c.Y}
	first := c.X
	for {
		inner, ok := first.Cmd.(*syntax.BinaryCmd)
		if !ok || inner.Op != syntax.AndStmt || len(first.Redirs) > 0 || first.Negated || first.Background {
			break
		}
		list = append(list, inner.Y)
		first = inner.X
	}
	before := r.cwd
	r.asked(func() { r.stmt(first) })
	for _, s := range slices.Backward(list) {
		r.cwd.hoped = false
		r.asked(func() { r.stmt(s) })
	}
	r.changed(before)
}

// definition visits the body of a function, which runs who knows where.
func (r *reading) definition(d *syntax.FuncDecl) {
	function := r.function
	r.function = strings.Join(functionNames(d), " ")
	if r.function == "" {
		r.function = "()"
	}
	r.apart(func() {
		r.cwd = directory{path: "."}
		if len(r.facts.cds) > 0 || r.depth > 0 {
			r.lose("the working directory changes elsewhere in the file")
		}
		r.stmt(d.Body)
	})
	r.function = function
}

// coprocess visits coproc. Only a compound command can have a name before it;
// the parser takes coproc rm export x for one that is called rm.
func (r *reading) coprocess(c *syntax.CoprocClause) {
	r.apart(func() { r.stmt(c.Stmt) })
	switch c.Stmt.Cmd.(type) {
	case nil, *syntax.CallExpr, *syntax.DeclClause, *syntax.LetClause, *syntax.TimeClause, *syntax.FuncDecl, *syntax.CoprocClause:
		if c.Name != nil {
			args := append(r.fields(c.Name), field{many: true, pieces: []piece{{anything, "..."}}})
			r.apart(func() { r.run(invocation{args: args, line: r.lineOf(c), offset: c.Pos().Offset()}) })
		}
	}
}

// inside visits the substitutions in a word or an expression.
func (r *reading) inside(n syntax.Node) {
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst:
			r.substitution(n.Stmts)
			return false
		case *syntax.ProcSubst:
			r.substitution(n.Stmts)
			return false
		case *syntax.ParamExp:
			if n.Exp != nil && n.Exp.Op == syntax.OtherParamOps && n.Exp.Word != nil && n.Exp.Word.Lit() == "P" {
				r.sheet.bare(r.lineOf(n), capability.SpawnProc, "${...@P}", "it may run commands that the value holds")
			}
		}
		return true
	})
}

// substitution visits $(...), in which bash forgets set -e.
func (r *reading) substitution(stmts []*syntax.Stmt) {
	r.apart(func() {
		r.cwd.errexit = false
		r.stmts(stmts)
	})
}

func (r *reading) assign(a *syntax.Assign) {
	r.inside(a)
	if a.Name != nil && !a.Naked {
		var value field
		if a.Value != nil {
			value = r.quoted(a.Value)
		}
		r.steers(r.lineOf(a), a.Name.Value, value)
	}
}

// steers notes a variable that decides which programs run.
func (r *reading) steers(line int, name string, value field) {
	switch name {
	case "PATH":
		if !systemPath(value) {
			r.sheet.bare(line, capability.SpawnProc, "PATH is changed", "the name of a program may mean another program")
		}
	case "EDITOR", "VISUAL", "PAGER", "BROWSER", "GIT_SSH", "GIT_SSH_COMMAND", "GIT_EXTERNAL_DIFF", "GIT_PAGER", "GIT_EDITOR",
		"PROMPT_COMMAND":
		r.nested(value, name, invocation{line: line}, false)
	case "BASH_ENV", "PS4", "BASH_ALIASES", "BASH_CMDS",
		"LD_PRELOAD", "LD_LIBRARY_PATH", "LD_AUDIT", "DYLD_INSERT_LIBRARIES", "DYLD_LIBRARY_PATH",
		"NODE_OPTIONS", "PYTHONSTARTUP", "PERL5OPT", "RUBYOPT", "JAVA_TOOL_OPTIONS":
		r.sheet.bare(line, capability.SpawnProc, name+" is set", "it decides what else runs")
	default:
		ofZsh := r.noSplit && has("path aliases galiases saliases functions commands", name)
		if ofZsh || strings.HasPrefix(name, "BASH_FUNC_") {
			r.sheet.bare(line, capability.SpawnProc, show(name)+" is set", "it changes what names mean")
		}
	}
}

// systemPath reports whether a value of PATH adds nothing but the directories
// that systems have there.
func systemPath(value field) bool {
	var b strings.Builder
	for _, p := range value.pieces {
		switch {
		case p.kind == exact:
			b.WriteString(p.text)
		case p.text != "$PATH" && p.text != "${PATH}":
			return false
		}
	}
	usual := []string{"", "/bin", "/usr/bin", "/usr/local/bin", "/sbin", "/usr/sbin", "/usr/local/sbin", "/opt/homebrew/bin"}
	for dir := range strings.SplitSeq(b.String(), ":") {
		if !slices.Contains(usual, dir) {
			return false
		}
	}
	return b.Len() > 0
}
