package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"iter"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
)

// source is one parsed file of the module, named from its root.
type source struct {
	name  string
	fset  *token.FileSet
	file  *ast.File
	names map[string]string // local name of an import to its path
}

func (s source) dir() string { return path.Dir(s.name) }

func (s source) place(n ast.Node) string {
	return fmt.Sprintf("%s:%d", s.name, s.fset.Position(n.Pos()).Line)
}

// specs are the file's top-level declarations of types, constants and variables.
func (s source) specs() iter.Seq[ast.Spec] {
	return func(yield func(ast.Spec) bool) {
		for _, d := range s.file.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok {
				continue
			}
			for _, spec := range g.Specs {
				if !yield(spec) {
					return
				}
			}
		}
	}
}

// eachSource parses every file of the module that is not a test.
func eachSource(t *testing.T, f func(source)) {
	t.Helper()
	err := filepath.WalkDir(moduleRoot, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && name != moduleRoot) {
			return filepath.SkipDir
		}
		if d.IsDir() || path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(moduleRoot, name)
		if err != nil {
			return err
		}
		f(parse(t, filepath.ToSlash(rel), string(text)))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func parse(t *testing.T, name, text string) source {
	t.Helper()
	s := source{name: name, fset: token.NewFileSet(), names: map[string]string{}}
	var err error
	if s.file, err = parser.ParseFile(s.fset, name, text, parser.ParseComments); err != nil {
		t.Fatal(err)
	}
	for _, imp := range s.file.Imports {
		p, err := strconv.Unquote(imp.Path.Value)
		if err != nil {
			t.Fatal(err)
		}
		local := path.Base(p)
		if imp.Name != nil {
			local = imp.Name.Name
		}
		s.names[local] = p
	}
	return s
}

// TestReasons holds the tables of reasons.go against every token that the
// packages declare or use.
func TestReasons(t *testing.T) {
	reasonTokens, kindTokens := map[string]string{}, map[string]string{}
	eachSource(t, func(s source) {
		if s.name == "cmd/iff/reasons.go" {
			return
		}
		collect(s, isReason, reasonTokens)
		collect(s, isKind, kindTokens)
	})
	for _, problem := range checkTable(reasons, reasonTokens) {
		t.Errorf("reasons: %s", problem)
	}
	for _, problem := range checkTable(kinds, kindTokens) {
		t.Errorf("kinds: %s", problem)
	}
	if len(reasonTokens) < 100 || len(kindTokens) < 40 {
		t.Errorf("found %d reasons and %d kinds; the search does not see them", len(reasonTokens), len(kindTokens))
	}
	if remedyFor("content-changed") == "" || remedyFor("") != "" || remedyFor("no-such-token") != "" {
		t.Error("remedyFor does not answer from the table")
	}
}

// typed says whether an expression names a type of tokens, in a file of the
// package at dir.
type typed func(dir string, typ ast.Expr) bool

func isReason(_ string, typ ast.Expr) bool { return lastName(typ) == "Reason" }

// isKind means findings and changes, not the kinds of records or files.
func isKind(dir string, typ ast.Expr) bool {
	if sel, ok := typ.(*ast.SelectorExpr); ok {
		x, ok := sel.X.(*ast.Ident)
		return ok && (x.Name+"."+sel.Sel.Name == "skillmd.Kind" || x.Name+"."+sel.Sel.Name == "skill.ChangeKind")
	}
	return lastName(typ) == "Kind" && dir == "internal/skillmd" || lastName(typ) == "ChangeKind" && dir == "skill"
}

func lastName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	}
	return ""
}

// collect finds tokens: constants and variables of the type, conversions to
// it, and literals given to a field called Reason or reason. A value that is
// not a literal is collected as its place, which no table has.
func collect(s source, is typed, into map[string]string) {
	add := func(e ast.Expr) {
		token, where := s.literal(e), s.place(e)
		if token == "" {
			token = where + " is not a literal"
		}
		into[token] = where
	}
	ast.Inspect(s.file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ValueSpec:
			if n.Type != nil && is(s.dir(), n.Type) {
				for _, v := range n.Values {
					add(v)
				}
			}
		case *ast.CallExpr:
			if is(s.dir(), n.Fun) && len(n.Args) == 1 && s.literal(n.Args[0]) != "" {
				add(n.Args[0])
			}
		case *ast.KeyValueExpr:
			if is(s.dir(), &ast.Ident{Name: "Reason"}) && strings.EqualFold(lastName(n.Key), "reason") && s.literal(n.Value) != "" {
				add(n.Value)
			}
		}
		return true
	})
}

// literal is the value of a string literal, empty for anything else.
func (s source) literal(e ast.Expr) string {
	if b, ok := e.(*ast.BasicLit); ok && b.Kind == token.STRING {
		if v, err := strconv.Unquote(b.Value); err == nil {
			return v
		}
	}
	return ""
}

// checkTable says what is wrong with a table: rows that are empty, twice, or
// for tokens that nothing declares, and tokens without a row.
func checkTable(groups []reasonGroup, declared map[string]string) []string {
	var out []string
	seen := map[string]bool{}
	for _, g := range groups {
		if !sentence(g.about) || g.title == "" || len(g.rows) == 0 {
			out = append(out, fmt.Sprintf("group %q needs a title, one sentence about it, and rows", g.title))
		}
		for _, r := range g.rows {
			if seen[r.token] {
				out = append(out, r.token+" has two rows")
			}
			seen[r.token] = true
			if declared[r.token] == "" {
				out = append(out, r.token+" is in the table and no package declares it")
			}
			if !sentence(r.meaning) {
				out = append(out, r.token+": the meaning is not one sentence")
			}
			if !imperative(r.remedy) {
				out = append(out, r.token+": the remedy is not one short line without a full stop")
			}
		}
	}
	for token, where := range declared {
		if !seen[token] {
			out = append(out, fmt.Sprintf("%s, declared at %s, has no row", token, where))
		}
	}
	slices.Sort(out)
	return out
}

func sentence(s string) bool {
	return strings.HasSuffix(s, ".") && (unicode.IsUpper([]rune(s)[0]) || strings.HasPrefix(s, "iff"))
}

func imperative(s string) bool {
	return s != "" && len(s) <= 120 && !strings.ContainsAny(s, "\r\n\t") && !strings.HasSuffix(s, ".") && strings.TrimSpace(s) == s
}

// TestReasonsControls plants what the checks must find.
func TestReasonsControls(t *testing.T) {
	for name, src := range map[string]string{
		"constant":   `package p; type Reason string; const X Reason = "planted"`,
		"block":      `package p; const ( Y = 1; X Reason = "planted" )`,
		"imported":   `package p; import "q"; const X q.Reason = "planted"`,
		"conversion": `package p; func f() { use(Reason("planted")) }`,
		"field":      `package p; var e = &Error{Reason: "planted"}`,
		"lower case": `package p; var e = &usageError{reason: "planted"}`,
		"variable":   `package p; var x Reason = "planted"`,
	} {
		found := map[string]string{}
		collect(parse(t, "p/p.go", src), isReason, found)
		if found["planted"] == "" {
			t.Errorf("%s: a planted reason is not found", name)
		}
	}
	found := map[string]string{}
	collect(parse(t, "skill/p.go", `package skill; const ( A skillmd.Kind = "planted"; B ChangeKind = "too"; C Kind = "other" )`), isKind, found)
	if found["planted"] == "" || found["too"] == "" || found["other"] != "" {
		t.Errorf("planted kinds: found %v", found)
	}
	good := reasonRow{"a", "It is so.", "mend it"}
	declared := map[string]string{"a": "a.go:1"}
	for name, rows := range map[string][]reasonRow{
		"twice": {good, good}, "undeclared": {good, {"b", "It is so.", "mend it"}}, "no remedy": {{"a", "It is so.", ""}},
		"no meaning": {{"a", "", "mend it"}}, "two lines": {{"a", "It is so.", "mend\nit"}}, "missing": {},
	} {
		if len(checkTable([]reasonGroup{{"Group", "It is so.", rows}}, declared)) == 0 {
			t.Errorf("%s: the check lets a planted mistake pass", name)
		}
	}
	if problems := checkTable([]reasonGroup{{"Group", "It is so.", []reasonRow{good}}}, declared); len(problems) > 0 {
		t.Errorf("the check refuses a good table: %v", problems)
	}
}

// TestRemediesParse has the program parse every command that a remedy names.
func TestRemediesParse(t *testing.T) {
	n := 0
	for _, g := range slices.Concat(reasons, kinds) {
		for _, r := range g.rows {
			for _, command := range commands(r.remedy) {
				n++
				if err := parseCommand(command); err != nil {
					t.Errorf("%s: iff %s: %v", r.token, command, err)
				}
			}
		}
	}
	if n < 20 {
		t.Errorf("only %d commands were found in the remedies", n)
	}
	for _, planted := range []string{"skill adopt", "skill adopt --force DIR", "skill vouch DIR", "trust add KEY --level best"} {
		if parseCommand(planted) == nil {
			t.Errorf("the check lets iff %s pass", planted)
		}
	}
}

// commands are the parts of a remedy that begin with iff, without it.
func commands(remedy string) []string {
	var out []string
	for _, part := range strings.FieldsFunc(remedy, func(r rune) bool { return strings.ContainsRune(",;:", r) }) {
		part = strings.TrimSpace(part)
		for _, lead := range []string{"or ", "then "} {
			part = strings.TrimPrefix(part, lead)
		}
		if command, ok := strings.CutPrefix(part, "iff "); ok {
			out = append(out, command)
		}
	}
	return out
}

func parseCommand(command string) error {
	var c cli
	parser, err := newParser(&c, io.Discard, io.Discard, new(int))
	if err != nil {
		return err
	}
	words := strings.NewReplacer("LEVEL", "declared", "FINDING", "executed", " N ", " 2 ", "SEQ", "12").Replace(command)
	_, err = parser.Parse(strings.Fields(words))
	return err
}
