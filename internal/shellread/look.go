package shellread

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// place is where a node stands.
type place struct {
	function string // in the body of this function
	subshell bool
}

// look counts assignments and notes calls, definitions and changes of
// directory, everywhere in a file.
func (f *facts) look(file *syntax.File) {
	places := []place{{}}
	syntax.Walk(file, func(n syntax.Node) bool {
		if n == nil {
			places = places[:len(places)-1]
			return true
		}
		at := places[len(places)-1]
		f.node(n, at)
		switch n := n.(type) {
		case *syntax.FuncDecl:
			at.function = strings.Join(functionNames(n), " ")
			if at.function == "" { // of zsh, runs where it stands
				at.function = "()"
			}
		case *syntax.Subshell, *syntax.CmdSubst, *syntax.ProcSubst:
			at.subshell = true
		}
		places = append(places, at)
		return true
	})
}

func (f *facts) node(n syntax.Node, at place) {
	switch n := n.(type) {
	case *syntax.Assign:
		if n.Name != nil && !n.Naked {
			f.assigns[n.Name.Value]++
		}
	case *syntax.DeclClause:
		f.declaration(n)
	case *syntax.WordIter:
		f.assigns[n.Name.Value]++
	case *syntax.CoprocClause:
		if n.Name != nil {
			f.assigns[n.Name.Lit()]++
		}
	case *syntax.Redirect:
		if n.N != nil && strings.HasPrefix(n.N.Value, "{") {
			f.assigns[strings.Trim(n.N.Value, "{}")]++
		}
	case *syntax.FuncDecl:
		for _, name := range functionNames(n) {
			if start, ok := f.functions[name]; !ok || start != n.Pos().Offset() {
				f.sometimes[name] = true
			}
		}
	case *syntax.CallExpr:
		if len(n.Args) > 0 {
			f.call(n, at)
		}
	default:
		f.expression(n)
	}
}

// expression counts what ${a:=b}, a+=1 and a++ assign.
func (f *facts) expression(n syntax.Node) {
	switch n := n.(type) {
	case *syntax.ParamExp:
		if n.Param != nil && n.Exp != nil && (n.Exp.Op == syntax.AssignUnset || n.Exp.Op == syntax.AssignUnsetOrNull) {
			f.assigns[n.Param.Value]++
		}
	case *syntax.BinaryArithm:
		if strings.HasSuffix(n.Op.String(), "=") {
			f.arithmetic(n.X)
		}
	case *syntax.UnaryArithm:
		if n.Op == syntax.Inc || n.Op == syntax.Dec {
			f.arithmetic(n.X)
		}
	}
}

// arithmetic counts the variable that an expression assigns.
func (f *facts) arithmetic(x syntax.ArithmExpr) {
	word, ok := x.(*syntax.Word)
	if !ok {
		return
	}
	name := word.Lit()
	for _, part := range word.Parts {
		if p, ok := part.(*syntax.ParamExp); ok && p.Param != nil { // a[i]
			name = p.Param.Value
		}
	}
	f.assigns[name]++
}

// declaration counts names that get a new scope, and catches references and
// names that are not written out.
func (f *facts) declaration(d *syntax.DeclClause) {
	kind := d.Variant.Value
	if kind == "nameref" {
		f.blind(d.Pos().Offset())
	}
	for _, a := range d.Args {
		switch {
		case a.Name != nil:
			if a.Naked && kind != "export" && kind != "readonly" {
				f.assigns[a.Name.Value]++
			}
		case !strings.HasPrefix(a.Value.Lit(), "-") && !strings.HasPrefix(a.Value.Lit(), "+"),
			strings.Contains(a.Value.Lit(), "n"):
			f.blind(d.Pos().Offset())
		}
	}
}

// blind notes that from offset on any variable may have any value.
func (f *facts) blind(offset uint) { f.opaque = min(f.opaque, offset) }

// call notes what a command can do to the shell that runs it.
func (f *facts) call(c *syntax.CallExpr, at place) {
	for _, a := range c.Assigns { // for the command only: IFS= read
		if a.Name != nil && a.Name.Value == "IFS" {
			f.assigns["IFS"]--
		}
	}
	args := f.arguments(c)
	for _, arg := range args {
		if _, known := arg.literal(); !known {
			f.later = append(f.later, deferred{c, at})
			return
		}
		if !arg.is("command", "builtin") {
			break
		}
	}
	f.invoke(args, c.Pos().Offset(), at)
}

// invoke notes what a command does, whose name is known if it ever will be.
func (f *facts) invoke(args []field, offset uint, at place) {
	for len(args) > 0 && args[0].is("command", "builtin", "noglob", "nocorrect", "-") {
		args = args[1:]
	}
	if len(args) == 0 {
		return
	}
	name, known := args[0].literal()
	if _, ours := args[0].inSkill(); ours {
		return
	}
	if at.function == "" {
		f.calls = append(f.calls, call{name, offset})
	} else {
		f.within[at.function] = append(f.within[at.function], name)
	}
	switch {
	case !known && args[0].isPath():
	case !known:
		f.blind(offset)
		f.move(offset, at)
	case changesDirectory(name):
		f.move(offset, at)
	default:
		f.builtin(name, args[1:], offset, at)
	}
}

func changesDirectory(name string) bool {
	return slices.Contains([]string{"cd", "pushd", "popd", "chdir"}, name)
}

func (f *facts) move(offset uint, at place) {
	if at.subshell {
		return
	}
	f.cds = append(f.cds, offset)
	f.cdWithin = f.cdWithin || at.function != ""
}

func (f *facts) arguments(c *syntax.CallExpr) []field {
	var args []field
	for _, word := range c.Args {
		args = append(args, f.words.fields(word)...)
	}
	return args
}

// builtin notes what the builtins assign, unset and evaluate.
func (f *facts) builtin(name string, args []field, offset uint, at place) {
	switch name {
	case "eval", "trap", "alias":
		for _, code := range codeOf(name, args) {
			f.code(code, offset, at)
		}
	case "source", ".":
		if len(args) > 0 {
			f.source(args[0], offset, at)
		}
	case "export", "declare", "typeset", "local", "readonly", "enable", "vared":
		f.blind(offset) // as commands they get here only in disguise
	case "unset":
		f.unset(args, offset)
	case "read", "mapfile", "readarray", "getopts", "wait", "let", "integer", "float", "zparseopts":
		f.names(args, offset)
	case "printf":
		if len(args) > 1 && args[0].is("-v") {
			f.names(args[1:2], offset)
		}
	case "set":
		f.forgives = f.forgives || slices.ContainsFunc(args, func(arg field) bool {
			_, ok := arg.literal()
			return !ok || strings.HasPrefix(arg.prefix(), "+")
		})
		if len(args) > 1 && args[0].is("-A", "+A") {
			f.names(args[1:2], offset)
		}
	}
}

// codeOf returns the arguments of a builtin that are code: all of eval's as
// one, the first of trap's, the values of alias'.
func codeOf(name string, args []field) []field {
	for len(args) > 0 && args[0].is("--", "-g", "-s") {
		args = args[1:]
	}
	switch {
	case len(args) == 0:
		return nil
	case name == "eval":
		return []field{joined(args)}
	case name == "trap":
		if args[0].is("-", "-l", "-p", "-P", "") {
			return nil
		}
		return args[:1]
	}
	var out []field
	for _, arg := range args {
		text, ok := arg.literal()
		if _, value, found := strings.Cut(text, "="); found || !ok {
			if ok {
				arg = field{pieces: []piece{{exact, value}}, line: arg.line, verbatim: arg.verbatim}
			}
			out = append(out, arg)
		}
	}
	return out
}

// joined is what eval and watch make of their arguments.
func joined(args []field) field {
	out := field{line: args[0].line, verbatim: args[0].verbatim}
	for i, arg := range args {
		if i > 0 {
			out.pieces = append(out.pieces, piece{exact, " "})
		}
		out.pieces = append(out.pieces, arg.pieces...)
		out.many = out.many || arg.many
	}
	return out
}

// names counts every argument that could be the name of a variable.
func (f *facts) names(args []field, offset uint) {
	const withValue = "dinNptu" // of read: -p prompt
	for i := 0; i < len(args); i++ {
		text := args[i].prefix()
		if len(text) > 1 && text[0] == '-' {
			if strings.IndexByte(withValue, text[len(text)-1]) >= 0 {
				i++
			}
			continue
		}
		if _, ok := args[i].literal(); !ok {
			f.blind(offset)
		}
		end := strings.IndexAny(text+"=", "[=")
		f.assigns[text[:min(end, len(text))]]++
	}
}

func (f *facts) unset(args []field, offset uint) {
	for _, arg := range args {
		name, ok := arg.literal()
		if !ok {
			f.blind(offset)
			clear(f.functions)
		}
		f.assigns[name]++
		if _, defined := f.functions[name]; defined {
			delete(f.functions, name)
			f.sometimes[name] = true
		}
	}
}

// code looks into code that is given as a string.
func (f *facts) code(code field, offset uint, at place) {
	text, ok := code.literal()
	if ok && f.depth < maxNested {
		if file, _, fault := parse(text, justBash()); fault == nil {
			f.merge(newFacts(file, words{src: text}, f.library, f.depth+1), offset, at)
			return
		}
	}
	f.blind(offset)
	f.move(offset, at)
}

// merge takes over what other code does to the same shell.
func (f *facts) merge(inner *facts, offset uint, at place) {
	for name, n := range inner.assigns {
		f.assigns[name] += n
	}
	f.forgives = f.forgives || inner.forgives
	if inner.opaque != never {
		f.blind(offset)
	}
	if len(inner.cds) > 0 {
		f.move(offset, at)
	}
}

func (f *facts) source(file field, offset uint, at place) {
	if inner := f.library.facts(f, file); inner != nil {
		f.merge(inner, offset, at)
		return
	}
	f.blind(offset)
	f.move(offset, at)
}
