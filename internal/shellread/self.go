package shellread

import (
	"path"

	"mvdan.cc/sh/v3/syntax"
)

// directory knows the command substitutions that say where the script or the
// working directory is, in the forms in which scripts have them:
//
//	$(dirname "$0")  $(cd "$(dirname "$0")" && pwd)  $(realpath "$0")  $(pwd)
//
// Anything else is nil.
func (w *words) directory(stmts []*syntax.Stmt) []piece {
	const most = 2
	stmts = sequence(stmts)
	switch len(stmts) {
	case 1:
		return w.locate(w.argumentsOf(stmts[0]))
	case most:
		cd, pwd := w.argumentsOf(stmts[0]), w.argumentsOf(stmts[1])
		if len(cd) >= most && cd[0].is("cd") && len(pwd) > 0 && pwd[0].is("pwd") {
			return w.self(operands(cd), false)
		}
	}
	return nil
}

// sequence flattens a && b into two statements.
func sequence(stmts []*syntax.Stmt) []*syntax.Stmt {
	if len(stmts) != 1 || stmts[0].Negated || stmts[0].Background {
		return stmts
	}
	if both, ok := stmts[0].Cmd.(*syntax.BinaryCmd); ok && both.Op == syntax.AndStmt {
		return []*syntax.Stmt{both.X, both.Y}
	}
	return stmts
}

func (w *words) argumentsOf(s *syntax.Stmt) []field {
	call, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Assigns) > 0 || s.Negated || s.Background {
		return nil
	}
	var args []field
	for _, word := range call.Args {
		args = append(args, w.quoted(word))
	}
	return args
}

func operands(args []field) []field {
	var out []field
	for _, arg := range args[1:] {
		if text := arg.prefix(); len(text) < 2 || text[0] != '-' {
			out = append(out, arg)
		}
	}
	return out
}

func (w *words) locate(args []field) []piece {
	if len(args) == 0 {
		return nil
	}
	switch {
	case args[0].is("pwd"):
		return []piece{{here, "$(pwd)"}}
	case args[0].is("dirname"):
		return w.self(operands(args), true)
	case args[0].is("realpath", "readlink"):
		return w.self(operands(args), false)
	}
	return nil
}

// self returns the one operand, or its directory, if it is a path of the
// skill.
func (w *words) self(args []field, parent bool) []piece {
	if len(args) != 1 {
		return nil
	}
	at, ok := args[0].inSkill()
	switch {
	case !ok:
		return nil
	case parent:
		at = path.Dir(at)
	}
	return []piece{{inSkill, at}}
}
