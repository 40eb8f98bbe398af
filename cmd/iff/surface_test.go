package main

import (
	"go/ast"
	"go/build/constraint"
	"go/token"
	"go/types"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// The classes of the surface: every way in which something outside the program
// changes what it does.
const (
	onCommandLine = "command line"
	inEnvironment = "environment"
	atBuild       = "build constraints and compiler directives"
	atLink        = "string variables that a linker could set"
	bySignal      = "signals"
	byListener    = "listeners"
	byRoute       = "routes"
)

// surface is what was found, by class.
type surface map[string]map[string]bool

func (s surface) add(class, text string) {
	if s[class] == nil {
		s[class] = map[string]bool{}
	}
	s[class][text] = true
}

func (s surface) String() string {
	var out strings.Builder
	out.WriteString("# Every way in which something outside changes what iff does. None may weaken gating, recording,\n" +
		"# egress, labels or the locked trust root. Reviewed; go test ./cmd/iff -run TestSurface -update rewrites it.\n")
	for _, class := range []string{onCommandLine, inEnvironment, atBuild, atLink, bySignal, byListener, byRoute} {
		out.WriteString("\n[" + class + "]\n")
		if len(s[class]) == 0 {
			out.WriteString("none\n")
		}
		for _, line := range slices.Sorted(maps.Keys(s[class])) {
			out.WriteString(line + "\n")
		}
	}
	return out.String()
}

// TestSurface fails on a flag, argument, variable, build constraint, signal,
// listener or route that nobody reviewed.
func TestSurface(t *testing.T) {
	found := surface{}
	commandLine(newModel(t).Node, found)
	eachSource(t, func(s source) { scan(s, found) })
	goMod, err := os.ReadFile(filepath.Join(moduleRoot, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(goMod)) {
		if strings.HasPrefix(line, "godebug") {
			found.add(atBuild, "go.mod: "+strings.TrimSpace(line))
		}
	}
	golden(t, filepath.Join("testdata", "surface.txt"), found.String(),
		"Nobody reviewed this. Ask of each line whether it can weaken gating, recording, egress, labels or the locked trust root.\n"+
			"If none can: go test ./cmd/iff -run TestSurface -update, and say so in the change.")
}

// commandLine lists the verbs below a node with their flags and arguments.
func commandLine(n *kong.Node, into surface) {
	name := n.FullPath()
	into.add(onCommandLine, name+attributes(map[string]bool{"hidden": n.Hidden, "passthrough": n.Passthrough}))
	for _, p := range n.Positional {
		value(name+" "+p.Summary(), p, into)
	}
	for _, f := range n.Flags {
		spec := name + " " + f.String() + attributes(map[string]bool{
			"hidden": f.Hidden, "required": f.Required, "default " + f.Default: f.HasDefault, "one of " + f.Enum: f.Enum != "",
			"also --" + strings.Join(f.Aliases, " --"): len(f.Aliases) > 0, "excludes others of " + strings.Join(f.Xor, " "): len(f.Xor) > 0,
			"with --no-" + f.Name: f.Tag.Negatable != "",
		})
		value(spec, f.Value, into)
	}
	for _, c := range n.Children {
		commandLine(c, into)
	}
}

// value lists a flag or argument and the environment that kong reads for it.
func value(spec string, v *kong.Value, into surface) {
	into.add(onCommandLine, spec)
	where, _, _ := strings.Cut(spec, ",")
	for _, env := range v.Tag.Envs {
		into.add(inEnvironment, env+" sets "+where)
	}
	if v.Tag.Type == "path" || strings.HasPrefix(v.Tag.Type, "existing") || strings.HasPrefix(v.Default, "~") {
		into.add(inEnvironment, "HOME expands ~ in "+where)
	}
}

func attributes(of map[string]bool) string {
	out := ""
	for _, a := range slices.Sorted(maps.Keys(of)) {
		if of[a] {
			out += ", " + a
		}
	}
	return out
}

// scan lists what a file adds to the surface.
func scan(s source, into surface) {
	for _, group := range s.file.Comments {
		for _, c := range group.List {
			if constraint.IsGoBuild(c.Text) || constraint.IsPlusBuild(c.Text) || strings.HasPrefix(c.Text, "//go:debug") || strings.HasPrefix(c.Text, "//go:linkname") {
				into.add(atBuild, s.name+": "+c.Text)
			}
		}
	}
	for local, p := range s.names {
		if class := classOf(p, ""); class != "" {
			into.add(class, s.name+": imports "+p)
		} else if local == "." {
			into.add(atLink, s.name+": imports all of "+p+", which hides what it uses")
		}
	}
	linkable(s, into)
	called := map[ast.Expr]*ast.CallExpr{}
	ast.Inspect(s.file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			called[n.Fun] = n
			method(s, n, into)
		case *ast.SelectorExpr:
			selector(s, n, called[n], into)
		case *ast.Field:
			tag(s, n, into)
		}
		return true
	})
}

// classOf says which class a function or variable of a package belongs to;
// name "" asks for the package as a whole.
func classOf(pkg, name string) string {
	switch pkg {
	case "net/http/pprof", "expvar":
		return byRoute
	case "plugin", "C":
		return atBuild
	case "unique": // its Handle is a type
		return ""
	case "flag":
		return map[bool]string{true: "", false: onCommandLine}[name == ""]
	case "github.com/alecthomas/kong":
		return map[string]string{"DefaultEnvars": inEnvironment, "Configuration": inEnvironment, "Resolvers": inEnvironment}[name]
	case "os/user":
		return map[bool]string{true: "", false: inEnvironment}[name == ""]
	case "os/signal":
		return map[bool]string{true: "", false: bySignal}[name == ""]
	case "os", "syscall", "golang.org/x/sys/unix":
		if slices.Contains([]string{"Getenv", "LookupEnv", "Environ", "ExpandEnv", "Expand", "Setenv", "Unsetenv", "Clearenv", "UserHomeDir", "UserConfigDir", "UserCacheDir", "TempDir"}, name) {
			return inEnvironment
		}
	}
	if name == "Handle" || name == "HandleFunc" {
		return byRoute
	}
	if strings.HasPrefix(name, "Listen") || strings.HasPrefix(name, "Serve") || name == "FileListener" || name == "FilePacketConn" {
		return byListener
	}
	return ""
}

// selector looks at pkg.Name, called or not.
func selector(s source, n *ast.SelectorExpr, call *ast.CallExpr, into surface) {
	x, ok := n.X.(*ast.Ident)
	if !ok || s.names[x.Name] == "" {
		return
	}
	class := classOf(s.names[x.Name], n.Sel.Name)
	switch {
	case class == "":
	case call == nil:
		into.add(class, s.name+": "+types.ExprString(n)+" as a value")
	case class == inEnvironment && len(call.Args) > 0:
		for _, name := range s.values(call) {
			into.add(class, s.name+": "+types.ExprString(n)+" "+name)
		}
	default:
		into.add(class, s.name+": "+types.ExprString(call))
	}
}

// method looks at x.Name(...) where x is not a package.
func method(s source, call *ast.CallExpr, into surface) {
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return
	}
	if x, ok := sel.X.(*ast.Ident); ok && s.names[x.Name] != "" {
		return
	}
	if class := classOf("", sel.Sel.Name); class != "" {
		into.add(class, s.name+": "+types.ExprString(call))
	}
}

// values are those that the first argument of a call can have: a literal,
// or a variable that ranges over literals; otherwise the expression.
func (s source) values(call *ast.CallExpr) []string {
	if v := s.literal(call.Args[0]); v != "" {
		return []string{v}
	}
	out := []string{"computed: " + types.ExprString(call.Args[0])}
	name := lastName(call.Args[0])
	ast.Inspect(s.file, func(n ast.Node) bool {
		loop, ok := n.(*ast.RangeStmt)
		if !ok || loop.Pos() > call.Pos() || loop.End() < call.End() || loop.Value == nil || lastName(loop.Value) != name {
			return true
		}
		if values := s.literals(loop.X); values != nil {
			out = values
		}
		return true
	})
	return out
}

// literals are the elements of a list of string literals, nil for any other
// expression.
func (s source) literals(e ast.Expr) []string {
	list, ok := e.(*ast.CompositeLit)
	if !ok {
		return nil
	}
	var out []string
	for _, item := range list.Elts {
		v := s.literal(item)
		if v == "" {
			return nil
		}
		out = append(out, v)
	}
	return out
}

// linkable lists package variables that go build -ldflags -X can set.
func linkable(s source, into surface) {
	for _, d := range s.file.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.VAR {
			continue
		}
		for _, spec := range g.Specs {
			v := spec.(*ast.ValueSpec)
			for i, name := range v.Names {
				isString := lastName(v.Type) == "string"
				if i < len(v.Values) && !constantText(v.Values[i], isString) || len(v.Values) == 0 && !isString {
					continue
				}
				if len(v.Values) == 0 || i < len(v.Values) {
					into.add(atLink, s.name+": "+name.Name)
				}
			}
		}
	}
}

// constantText says whether an expression may be a constant string: literals,
// their sums, and, where the variable is said to be a string, names.
func constantText(e ast.Expr, named bool) bool {
	switch e := e.(type) {
	case *ast.BasicLit:
		return e.Kind == token.STRING
	case *ast.BinaryExpr:
		return constantText(e.X, true) && constantText(e.Y, true)
	case *ast.ParenExpr:
		return constantText(e.X, named)
	case *ast.Ident, *ast.SelectorExpr:
		return named
	}
	return false
}

// tag lists struct tags by which kong reads the environment.
func tag(s source, f *ast.Field, into surface) {
	if f.Tag == nil {
		return
	}
	text, err := strconv.Unquote(f.Tag.Value)
	if err != nil {
		return
	}
	for _, key := range []string{"env", "envprefix"} {
		if v := reflect.StructTag(text).Get(key); v != "" {
			into.add(inEnvironment, s.name+": tag "+key+" "+v)
		}
	}
	if v := reflect.StructTag(text).Get("kong"); strings.Contains(v, "env") {
		into.add(inEnvironment, s.name+": tag kong "+v)
	}
}

// TestSurfaceControls plants what the scanner must find.
func TestSurfaceControls(t *testing.T) {
	for src, want := range map[string]string{
		`import "os"; var _ = os.Getenv("K")`:                                              inEnvironment + " p.go: os.Getenv K",
		`import o "os"; func f() { o.LookupEnv("K") }`:                                     inEnvironment + " p.go: o.LookupEnv K",
		`import "os"; func f() { for _, k := range []string{"A", "B"} { os.Unsetenv(k) }}`: inEnvironment + " p.go: os.Unsetenv B",
		`import "os"; func f(k string) { os.Getenv(k) }`:                                   inEnvironment + " p.go: os.Getenv computed: k",
		`import "os"; var get = os.Getenv`:                                                 inEnvironment + " p.go: os.Getenv as a value",
		`import "os"; var _ = os.Environ()`:                                                inEnvironment + " p.go: os.Environ()",
		`import "os"; var _ = os.ExpandEnv("$K")`:                                          inEnvironment + " p.go: os.ExpandEnv $K",
		`import "syscall"; func f() { syscall.Getenv("K") }`:                               inEnvironment + " p.go: syscall.Getenv K",
		"type c struct { X string `help:\"x\" env:\"K\"` }":                                inEnvironment + " p.go: tag env K",
		"type c struct { X string `kong:\"env='K'\"` }":                                    inEnvironment + " p.go: tag kong env='K'",
		`import "github.com/alecthomas/kong"; var _ = kong.DefaultEnvars("IFF")`:           inEnvironment + " p.go: kong.DefaultEnvars IFF",
		`import . "os"; var _ = Getenv("K")`:                                               atLink + " p.go: imports all of os, which hides what it uses",
		`import "flag"; var _ = flag.Bool("unsafe", false, "")`:                            onCommandLine + ` p.go: flag.Bool("unsafe", false, "")`,
		`var mode string`:                                          atLink + " p.go: mode",
		`var a, mode = 1, "strict"`:                                atLink + " p.go: mode",
		`var mode = "str" + "ict"`:                                 atLink + " p.go: mode",
		`const strict = ""; var mode string = strict`:              atLink + " p.go: mode",
		`import "os/signal"; func f() { signal.Ignore(x) }`:        bySignal + " p.go: signal.Ignore(x)",
		`import "net"; func f() { net.Listen("tcp", ":1") }`:       byListener + ` p.go: net.Listen("tcp", ":1")`,
		`func f() { config.Listen(ctx, "unix", "s") }`:             byListener + ` p.go: config.Listen(ctx, "unix", "s")`,
		`import "net/http"; func f() { http.HandleFunc("/x", f) }`: byRoute + ` p.go: http.HandleFunc("/x", f)`,
		`func f() { mux.Handle("/x", h) }`:                         byRoute + ` p.go: mux.Handle("/x", h)`,
		`import _ "net/http/pprof"`:                                byRoute + " p.go: imports net/http/pprof",
		"import \"C\"":                                             atBuild + " p.go: imports C",
		"//go:linkname f runtime.f\nfunc f()":                      atBuild + " p.go: //go:linkname f runtime.f",
	} {
		planted(t, "package p\n"+src, want)
	}
	planted(t, "//go:build unsafe\n\npackage p", atBuild+" p.go: //go:build unsafe")
	planted(t, "//go:debug x509negativeserial=1\npackage p", atBuild+" p.go: //go:debug x509negativeserial=1")
	harmless := surface{}
	scan(parse(t, "p.go", "package p; import \"os\"; var n = 1; var list = []string{\"a\"}; const c = \"x\"; var e = f(\"x\"); func g() { os.Open(\"x\") }"), harmless)
	if len(harmless) > 0 {
		t.Errorf("the scanner finds what is not there: %v", harmless)
	}
}

func planted(t *testing.T, src, want string) {
	t.Helper()
	found := surface{}
	scan(parse(t, "p.go", src), found)
	for class, lines := range found {
		for line := range lines {
			if class+" "+line == want {
				return
			}
		}
	}
	t.Errorf("%s\nfound %v\nnot %s", src, found, want)
}

// TestCommandLineControls plants a grammar with what a reviewer must see.
func TestCommandLineControls(t *testing.T) {
	var grammar struct {
		Quiet bool `hidden:"" negatable:"" env:"IFF_QUIET"`
		Do    struct {
			File string `arg:"" type:"existingfile"`
			Mode string `enum:"a,b" default:"a" aliases:"m2" short:"m" xor:"g"`
		} `cmd:"" hidden:""`
	}
	parser, err := kong.New(&grammar, kong.Name("x"))
	if err != nil {
		t.Fatal(err)
	}
	found := surface{}
	commandLine(parser.Model.Node, found)
	text := found.String()
	for _, want := range []string{
		"\nx --quiet, hidden, with --no-quiet\n", "\nIFF_QUIET sets x --quiet\n", "\nx do, hidden\n", "\nx do <file>\n",
		"\nHOME expands ~ in x do <file>\n", "\nx do -m, --mode=\"a\", also --m2, default a, excludes others of g, one of a,b\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not listed in\n%s", want, text)
		}
	}
}
