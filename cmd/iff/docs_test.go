package main

import (
	"flag"
	"fmt"
	"go/ast"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

var update = flag.Bool("update", false, "rewrite the generated documents and testdata/surface.txt")

const (
	moduleRoot = "../.."
	generated  = "<!-- Generated from the program: go test ./cmd/iff -run TestDocs -update -->\n\n"
)

// TestDocs compares the generated documents with the checked-in ones.
func TestDocs(t *testing.T) {
	app := newModel(t)
	for name, text := range map[string]string{
		"reasons.md": reasonsDoc(), "cli.md": cliDoc(app), "json.md": jsonDoc(t),
	} {
		golden(t, filepath.Join(moduleRoot, "docs", name), text, "rewrite it: go test ./cmd/iff -run TestDocs -update")
	}
}

// golden compares text with a file, or writes it there with -update.
func golden(t *testing.T, path, text, remedy string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	old, err := os.ReadFile(path)
	if err != nil {
		t.Errorf("%v\n%s", err, remedy)
		return
	}
	if string(old) != text {
		t.Errorf("%s is not what the program says:\n%s\n%s", path, difference(string(old), text), remedy)
	}
}

// difference lists the lines that only one of two texts has.
func difference(before, after string) string {
	a, b := strings.Split(before, "\n"), strings.Split(after, "\n")
	var out []string
	for _, line := range a {
		if !slices.Contains(b, line) {
			out = append(out, "- "+line)
		}
	}
	for _, line := range b {
		if !slices.Contains(a, line) {
			out = append(out, "+ "+line)
		}
	}
	if len(out) == 0 {
		return "the same lines in another order"
	}
	return strings.Join(out, "\n")
}

func newModel(t *testing.T) *kong.Application {
	t.Helper()
	var c cli
	parser, err := newParser(&c, io.Discard, io.Discard, new(int))
	if err != nil {
		t.Fatal(err)
	}
	return parser.Model
}

// table writes a Markdown table.
func table(out *strings.Builder, head []string, rows [][]string) {
	line := func(cells []string) {
		for _, c := range cells {
			out.WriteString("| " + strings.ReplaceAll(c, "|", `\|`) + " ")
		}
		out.WriteString("|\n")
	}
	line(head)
	out.WriteString(strings.Repeat("|---", len(head)) + "|\n")
	for _, r := range rows {
		line(r)
	}
	out.WriteString("\n")
}

func reasonsDoc() string {
	var out strings.Builder
	out.WriteString(generated + "# Reasons and findings\n\n" +
		"A reason is why something was refused; it is the same word in errors, in `--json`, in records and in the vectors. " +
		"A finding refuses nothing: it is what a person should see before deciding. No other words are used for either.\n\n")
	for _, part := range []struct {
		title  string
		groups []reasonGroup
	}{{"Reasons", reasons}, {"Findings and changes", kinds}} {
		out.WriteString("# " + part.title + "\n\n")
		for _, g := range part.groups {
			out.WriteString("## " + g.title + "\n\n" + g.about + "\n\n")
			var rows [][]string
			for _, r := range g.rows {
				rows = append(rows, []string{"`" + r.token + "`", r.meaning, r.remedy})
			}
			table(&out, []string{"word", "meaning", "what to do"}, rows)
		}
	}
	return strings.TrimRight(out.String(), "\n") + "\n"
}

// exitCode is one of the constants of main.go.
type exitCode struct {
	name    string
	code    int
	meaning string
}

func exitCodes() []exitCode {
	return []exitCode{
		{"exitHolds", exitHolds, "it was done, or it holds"},
		{"exitDoesNot", exitDoesNot, "it does not hold: a skill does not load, a file is not as signed, a log or receipt fails its check, an anchor does not take the checkpoint, a check of `iff doctor` says no, a verdict is FAIL, a policy decides otherwise than the log has it, not all was put back, a sweep has a run that is not judged right, a verdict of `iff ensemble run` is FAIL"},
		{"exitUsage", exitUsage, "the command was not as it must be: an unknown flag, no home, no such key, no passphrase where one is needed"},
		{"exitRefused", exitRefused, "refused, for a reason of [reasons.md](reasons.md); of `iff session run`: a call was denied, refused or failed; of `iff approve` and `iff deny`: an answer does not count"},
		{"exitOpen", exitOpen, "nobody knows: given up while the disk was at work, a verdict is OPEN, a call is in doubt, the runtime was lost before it answered"},
		{"exitInternal", exitInternal, "iff or the machine failed; nothing was decided"},
	}
}

func cliDoc(app *kong.Application) string {
	var out strings.Builder
	out.WriteString(generated + "# Commands\n\n" + app.Help + "\n\n")
	var rows [][]string
	for _, v := range app.Leaves(true) {
		rows = append(rows, []string{fmt.Sprintf("[`%s`](#%s)", v.FullPath(), fragment(v.FullPath())), v.Help})
	}
	table(&out, []string{"command", "what it does"}, rows)
	out.WriteString("## Flags of every command\n\n")
	flagTable(&out, app.Flags)
	out.WriteString("## Exit codes\n\n")
	rows = nil
	for _, c := range exitCodes() {
		rows = append(rows, []string{fmt.Sprint(c.code), c.meaning})
	}
	table(&out, []string{"code", "meaning"}, rows)
	for _, v := range app.Leaves(true) {
		verbDoc(&out, v)
	}
	return strings.TrimRight(out.String(), "\n") + "\n"
}

func verbDoc(out *strings.Builder, v *kong.Node) {
	usage := v.FullPath()
	var rows [][]string
	for _, p := range v.Positional {
		usage += " " + p.Summary()
		rows = append(rows, []string{"`" + p.Summary() + "`", p.Help})
	}
	if len(v.Flags) > 0 {
		usage += " [flags]"
	}
	fmt.Fprintf(out, "## %s\n\n%s\n\n    %s\n\n", v.FullPath(), v.Help, usage)
	if len(rows) > 0 {
		table(out, []string{"argument", "meaning"}, rows)
	}
	if len(v.Flags) > 0 {
		flagTable(out, v.Flags)
	}
	fmt.Fprintf(out, "With `--json`: [json.md](json.md#%s).\n\n", fragment(v.FullPath()))
}

func flagTable(out *strings.Builder, flags []*kong.Flag) {
	var rows [][]string
	for _, f := range flags {
		if f.Hidden {
			continue
		}
		spec := ""
		if f.HasDefault {
			spec = "`" + f.Default + "`"
		}
		help := f.Help
		if f.Enum != "" {
			help += " One of " + strings.Join(f.EnumSlice(), ", ") + "."
		}
		rows = append(rows, []string{"`" + f.String() + "`", spec, help})
	}
	table(out, []string{"flag", "default", "meaning"}, rows)
}

func fragment(heading string) string {
	return strings.ReplaceAll(strings.ToLower(heading), " ", "-")
}

// results is what each command prints with --json.
func results() map[string]any {
	return map[string]any{
		"iff demo": demoJSON{}, "iff init": initJSON{}, "iff connect": connectJSON{}, "iff config check": configJSON{}, "iff config show": configJSON{}, "iff config sign": configSignedJSON{}, "iff config schema": configSchemaJSON{},
		"iff doctor": doctorJSON{}, "iff version": versionJSON{},
		"iff key new": keyJSON{}, "iff key list": keyListJSON{}, "iff key export": keyJSON{},
		"iff trust show": trustJSON{}, "iff trust add": trustJSON{}, "iff trust revoke": trustJSON{},
		"iff skill inspect": inspectJSON{}, "iff skill draft": draftJSON{}, "iff skill adopt": adoptJSON{},
		"iff skill sign": signJSON{}, "iff skill verify": verifyJSON{}, "iff skill diff": diffJSON{},
		"iff skill list": listJSON{}, "iff key rotate": keyRotateJSON{},
		"iff inbox": inboxJSON{}, "iff approve": answersJSON{}, "iff deny": answersJSON{},
		"iff audit verify": auditVerifyJSON{}, "iff audit show": recordJSON{}, "iff audit tail": recordJSON{},
		"iff audit stat": auditStatJSON{}, "iff audit export": auditExportJSON{}, "iff audit prove": auditProveJSON{},
		"iff serve": serveJSON{}, "iff verdict": verdictJSON{}, "iff status": statusJSON{},
		"iff session run": sessionRunJSON{}, "iff session list": sessionListJSON{}, "iff session show": sessionShowJSON{},
		"iff session pause": sessionDoneJSON{}, "iff session resume": sessionDoneJSON{}, "iff session stop": sessionDoneJSON{},
		"iff session rollback": sessionRollbackJSON{}, "iff session reset": sessionDoneJSON{}, "iff session settle": sessionDoneJSON{},
		"iff policy check": policyCheckJSON{}, "iff policy explain": policyExplainJSON{}, "iff policy replay": policyReplayJSON{}, "iff policy schema": policySchemaJSON{},
		"iff upstream list": upstreamListJSON{}, "iff upstream accept": upstreamAcceptJSON{},
		"iff sweep": sweepJSON{}, "iff ensemble run": ensembleRunJSON{}, "iff audit check": auditCheckJSON{}, "iff audit anchor": auditAnchorJSON{}, "iff audit witness": auditWitnessJSON{},
	}
}

// protocols are the commands that print what another program reads, with --json and without.
func protocols() map[string]string {
	return map[string]string{
		"iff mcp":  "It speaks MCP on standard output, and nothing else; see [mcp.md](mcp.md).",
		"iff hook": "It says what an agent's hook is to say; see [hook.md](hook.md).",
	}
}

func jsonDoc(t *testing.T) string {
	var out strings.Builder
	out.WriteString(generated + "# JSON\n\nWith `--json` every command prints one JSON value on standard output: its result, or an error. " +
		"Exit codes are the same as without. With exit code 1 it is a result, which says what does not hold; " +
		"with 3 it is a result if it has the field `refused` or `answers`, else an error; with 2 and 70 it is an error. " +
		"`iff audit show` and `iff audit tail` print records, each on one line, as it stands in the log; " +
		"`iff session run` prints a value on one line for each answer; `iff serve` goes on behind its value. " +
		"`iff verdict` exits with 1 for FAIL and 4 for OPEN, `iff session run` with 3 if something was not done and 4 if that is not known.\n\n" +
		"In a field's name, `[]` stands for each element of a list. Every field is always there; a list without elements is []. " +
		"Releases add fields; they do not rename or remove them.\n\n")
	section := func(title string, value any) {
		out.WriteString("## " + title + "\n\n")
		rows, problems := fieldRows("", reflect.TypeOf(value))
		for _, p := range problems {
			t.Errorf("%s: %s", title, p)
		}
		table(&out, []string{"field", "type", "meaning"}, rows)
	}
	section("Errors", errorJSON{})
	known := results()
	for _, v := range newModel(t).Leaves(false) {
		name := v.FullPath()
		if told, ok := protocols()[name]; ok {
			out.WriteString("## " + name + "\n\n" + told + "\n\n")
			continue
		}
		if known[name] == nil {
			t.Errorf("%s: results in docs_test.go does not say what it prints with --json", name)
			continue
		}
		section(name, known[name])
		delete(known, name)
	}
	for name := range known {
		t.Errorf("%s is in results and is not a command", name)
	}
	return strings.TrimRight(out.String(), "\n") + "\n"
}

// fieldRows describes the fields of a struct and of what it contains. The
// problems are fields that say nothing about themselves.
func fieldRows(prefix string, typ reflect.Type) (rows [][]string, problems []string) {
	for f := range typ.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		doc := f.Tag.Get("doc")
		inline := f.Type.Kind() == reflect.Struct && f.Type.Name() == "" // its fields say it
		if name == "" || name == "-" || doc == "" && !inline {
			problems = append(problems, fmt.Sprintf("field %s of %s needs a json and a doc tag", f.Name, typ))
			continue
		}
		path, elem := prefix+name, f.Type
		for elem.Kind() == reflect.Pointer || elem.Kind() == reflect.Slice {
			if elem.Kind() == reflect.Slice {
				path += "[]"
			}
			elem = elem.Elem()
		}
		if !inline {
			rows = append(rows, []string{"`" + prefix + name + "`", jsonType(f.Type), doc})
		}
		if elem.Kind() == reflect.Struct {
			inner, more := fieldRows(path+".", elem)
			rows, problems = append(rows, inner...), append(problems, more...)
		}
		if strings.HasPrefix(jsonType(f.Type), "unknown") {
			problems = append(problems, fmt.Sprintf("field %s of %s is of a type that is not explained", f.Name, typ))
		}
	}
	return rows, problems
}

func jsonType(typ reflect.Type) string {
	switch typ.Kind() {
	case reflect.String:
		return "string"
	case reflect.Bool:
		return "boolean"
	case reflect.Int, reflect.Int64:
		return "integer"
	case reflect.Float64:
		return "number"
	case reflect.Struct, reflect.Interface:
		return "object"
	case reflect.Pointer:
		return jsonType(typ.Elem()) + " or null"
	case reflect.Slice:
		return "list of " + jsonType(typ.Elem())
	}
	return "unknown " + typ.String()
}

// TestDocsCoverDeclarations finds a result type that no command documents and
// an exit code that the table of codes does not explain.
func TestDocsCoverDeclarations(t *testing.T) {
	documented := map[string]bool{}
	for _, v := range results() {
		reached(reflect.TypeOf(v), documented)
	}
	reached(reflect.TypeFor[errorJSON](), documented)
	for _, c := range exitCodes() {
		documented[c.name] = true
	}
	for _, name := range undocumented(t, documented) {
		t.Errorf("%s is declared and not documented", name)
	}
	if len(undocumented(t, map[string]bool{})) < len(documented)/2 {
		t.Error("the check does not find the declarations")
	}
	type inner struct {
		X int `json:"x"`
	}
	for _, typ := range []reflect.Type{
		reflect.TypeFor[struct{ X int }](), reflect.TypeFor[struct {
			X complex128 `json:"x" doc:"of a type that is not explained"`
		}](), reflect.TypeFor[struct {
			X []*inner `json:"x" doc:"whose field is not explained"`
		}](),
	} {
		if _, problems := fieldRows("", typ); len(problems) == 0 {
			t.Errorf("%s: the check lets a field without explanation pass", typ)
		}
	}
}

// reached collects the names of the struct types within a type.
func reached(typ reflect.Type, into map[string]bool) {
	for typ.Kind() == reflect.Pointer || typ.Kind() == reflect.Slice {
		typ = typ.Elem()
	}
	if typ.Kind() != reflect.Struct {
		return
	}
	into[typ.Name()] = true
	for f := range typ.Fields() {
		reached(f.Type, into)
	}
}

// undocumented lists the types named ...JSON and constants named exit... of
// this package that are not in known.
func undocumented(t *testing.T, known map[string]bool) []string {
	var out []string
	add := func(name string, wanted bool) {
		if wanted && !known[name] {
			out = append(out, name)
		}
	}
	eachSource(t, func(s source) {
		if s.dir() != "cmd/iff" {
			return
		}
		for spec := range s.specs() {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				add(spec.Name.Name, strings.HasSuffix(spec.Name.Name, "JSON"))
			case *ast.ValueSpec:
				for _, n := range spec.Names {
					add(n.Name, strings.HasPrefix(n.Name, "exit"))
				}
			}
		}
	})
	return out
}
