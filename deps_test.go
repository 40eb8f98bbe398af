package iff_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/iff-run/iff"

// rows is the house: a package imports packages of strictly lower rows only.
// A package that is not listed fails the test.
var rows = map[string]int{
	"label": 0, "level": 0, "vectors": 0,
	"internal/canonical": 0, "internal/scratch": 0, "internal/beneath": 0, "internal/durable": 0, "internal/visible": 0,
	"internal/durable/durabletest": 1, "capability": 1, "trust": 1, "internal/skillmd": 1,
	"manifest": 2, "corpus": 2, "internal/shellread": 2, "internal/trusttest": 2,
	"record": 3,
	"skill":  4, "audit": 4, "audit/audittest": 7, "approval": 4, "verdict": 4, "verdict/verdicttest": 7,
	"gate": 5, "broker": 5, "gate/gatetest": 7,
	"internal/host/fs": 6, "internal/host/net": 6, "internal/host/tool": 6, "internal/observe/rehash": 6, "internal/observe/control": 6,
	"internal/ask/inbox": 6, "internal/ask/webhook": 6,
	"internal/runtime": 7,
	"internal/keyfile": 6, "internal/keyfile/keyfiletest": 7, "internal/store/file": 6, "internal/anchor": 6, "internal/witness": 6,
	"internal/witness/witnesstest": 7,
	"internal/home":                7,
	"":                             8, "ensemble": 8, "ensemble/sweep": 9, "ensemble/model": 9, "ensemble/trial": 9, "internal/serve": 9,
	"internal/mcpgate": 10, "internal/connect": 10, "internal/connect/model": 9, "internal/hook": 10,
	"cmd/iff": 11, "docs": 11, "vectors/gen": 11, "internal/crashtest": 11, "internal/honest": 11, "internal/gatecrash": 11, "verdict/compare": 11,
	"examples/webhook/receiver": 10, "examples/webhook": 11, "examples/chat": 11, "test/e2e": 12, "test/e2e/playmodel": 11,
}

// pureRows may not reach the network, other processes, databases or the
// testing package, not even through a library.
const pureRows = 5

var impure = []string{"net", "os/exec", "database/sql", "testing"}

// graph maps each package of the module to its direct imports.
type graph map[string][]string

func checkRows(g graph) []string {
	var out []string
	for pkg, imports := range g {
		row, ok := rows[pkg]
		if !ok {
			out = append(out, fmt.Sprintf("package %q has no row", pkg))
			continue
		}
		for _, imp := range imports {
			other, ours := strings.CutPrefix(imp, module)
			other = strings.TrimPrefix(other, "/")
			if !ours {
				continue
			}
			if to, ok := rows[other]; !ok || to >= row {
				out = append(out, fmt.Sprintf("%q (row %d) imports %q (row %d)", pkg, row, other, to))
			}
		}
	}
	slices.Sort(out)
	return out
}

// checkPure takes the transitive dependencies of the packages in pure rows.
func checkPure(closure graph) []string {
	var out []string
	for pkg, deps := range closure {
		if row, ok := rows[pkg]; !ok || row > pureRows {
			continue
		}
		for _, bad := range impure {
			if slices.Contains(deps, bad) {
				out = append(out, fmt.Sprintf("%q reaches %q", pkg, bad))
			}
		}
	}
	slices.Sort(out)
	return out
}

// list runs go list over the module and returns package -> words.
func list(t *testing.T, format string) graph {
	t.Helper()
	out, err := exec.Command("go", "list", "-f", "{{.ImportPath}}\t"+format, "./...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	g := graph{}
	for line := range strings.Lines(string(out)) {
		pkg, words, _ := strings.Cut(strings.TrimSpace(line), "\t")
		g[strings.TrimPrefix(strings.TrimPrefix(pkg, module), "/")] = strings.Fields(words)
	}
	return g
}

func TestImportsGoDown(t *testing.T) {
	for _, problem := range checkRows(list(t, `{{join .Imports " "}}`)) {
		t.Error(problem)
	}
	for name, planted := range map[string]graph{
		"upward":   {"label": {module + "/trust"}},
		"sideways": {"label": {module + "/level"}},
		"unlisted": {"internal/util": nil},
		"unknown":  {"skill": {module + "/internal/util"}},
		"the root": {"skill": {module}},
	} {
		if len(checkRows(planted)) == 0 {
			t.Errorf("%s: the check lets a planted violation pass", name)
		}
	}
}

func TestPureRowsStayPure(t *testing.T) {
	for _, problem := range checkPure(list(t, `{{join .Deps " "}}`)) {
		t.Error(problem)
	}
	for _, bad := range impure {
		if len(checkPure(graph{"skill": {"fmt", bad}})) == 0 {
			t.Errorf("the check lets %s pass", bad)
		}
	}
	if len(checkPure(graph{"cmd/iff": {"net"}})) != 0 {
		t.Error("the check refuses what a high row may do")
	}
}

// testOnly are packages that only tests and the vector generator import.
var testOnly = []string{"audit/audittest", "internal/witness/witnesstest", "internal/trusttest", "internal/durable/durabletest", "internal/keyfile/keyfiletest", "vectors/gen", "internal/honest", "internal/crashtest", "internal/gatecrash", "gate/gatetest", "verdict/verdicttest", "verdict/compare"}

func TestNothingForTestsShips(t *testing.T) {
	shipped := list(t, `{{join .Deps " "}}`)["cmd/iff"]
	if !slices.Contains(shipped, module+"/skill") {
		t.Fatal("the program's dependencies were not listed")
	}
	for _, pkg := range testOnly {
		if slices.Contains(shipped, module+"/"+pkg) {
			t.Errorf("the program contains %s", pkg)
		}
	}
}

// decoders are the functions and types of encoding/json that read.
var decoders = []string{"Unmarshal", "NewDecoder", "Decoder", "Valid", "Compact", "Indent", "Unmarshaler", "RawMessage"}

// jsonReads reports where a file reads JSON with another decoder than
// internal/canonical: encoding/json under any name, or the module behind
// canonical.
func jsonReads(file *ast.File) []string {
	var out []string
	local := ""
	for _, imp := range file.Imports {
		p, _ := strconv.Unquote(imp.Path.Value)
		if strings.HasPrefix(p, "github.com/go-json-experiment/") || p == "github.com/gowebpki/jcs" || p == "encoding/json/v2" || p == "encoding/json/jsontext" {
			out = append(out, "imports "+p)
		}
		if p == "encoding/json" {
			local = "json"
			if imp.Name != nil {
				local = imp.Name.Name
			}
		}
	}
	if local == "." {
		return append(out, "dot-imports encoding/json")
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok {
			if id, ok := sel.X.(*ast.Ident); ok && local != "" && id.Name == local && slices.Contains(decoders, sel.Sel.Name) {
				out = append(out, "uses encoding/json."+sel.Sel.Name)
			}
		}
		return true
	})
	return out
}

// TestOneDecoder keeps every reader of JSON behind internal/canonical. Tests
// are exempt: they compare with other decoders.
func TestOneDecoder(t *testing.T) {
	eachFile(t, func(name string, file *ast.File) {
		if strings.HasPrefix(name, "internal/canonical/") || strings.HasSuffix(name, "_test.go") {
			return
		}
		for _, problem := range jsonReads(file) {
			t.Errorf("%s %s; use internal/canonical", name, problem)
		}
	})
	for name, src := range map[string]string{
		"plain":   `package p; import "encoding/json"; var _ = json.Unmarshal`,
		"renamed": `package p; import j "encoding/json"; var _ = j.NewDecoder`,
		"dot":     `package p; import . "encoding/json"; var _ = Unmarshal`,
		"v2":      `package p; import _ "github.com/go-json-experiment/json"`,
	} {
		file, err := parser.ParseFile(token.NewFileSet(), name, src, 0)
		if err != nil {
			t.Fatal(err)
		}
		if len(jsonReads(file)) == 0 {
			t.Errorf("%s: the check lets a planted decoder pass", name)
		}
	}
}

func eachFile(t *testing.T, f func(name string, file *ast.File)) {
	t.Helper()
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && d.Name() != ".") {
			return filepath.SkipDir
		}
		if path.Ext(name) != ".go" {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		f(filepath.ToSlash(name), file)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
