package docs_test

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/iff-run/iff/internal/trusttest"
	"github.com/iff-run/iff/record"
)

// bodies has one body of every kind.
var bodies = []record.Body{
	record.Init{}, record.KeyCreated{}, record.KeyRotated{}, record.TrustChanged{}, record.SkillAdopted{}, record.SkillSigned{},
	record.SkillLoaded{}, record.SkillRefused{}, record.SkillEvicted{}, record.Revocation{}, record.Request{},
	record.ReversibleRequest{}, record.Decision{}, record.LateDecision{}, record.Intent{}, record.Executed{}, record.Error{},
	record.Staged{}, record.CommitIntent{}, record.Committed{}, record.RollbackIntent{}, record.RolledBack{}, record.Resolved{},
	record.Mutation{}, record.Boot{}, record.Lock{}, record.Session{}, record.Barrier{}, record.Verdict{}, record.Recovery{},
	record.Checkpoint{}, record.Tool{}, record.Hook{}, record.Refused{},
}

// closedSets are the token types of package record with their constants, read
// from its source.
func closedSets(t *testing.T) map[string][]string {
	t.Helper()
	files, err := filepath.Glob("../record/*.go")
	must(t, err)
	out := map[string][]string{}
	for _, path := range files {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		must(t, err)
		ast.Inspect(file, func(n ast.Node) bool {
			v, ok := n.(*ast.ValueSpec)
			if !ok || len(v.Values) != 1 {
				return true
			}
			name, isNamed := v.Type.(*ast.Ident)
			value, isText := v.Values[0].(*ast.BasicLit)
			if isNamed && isText && value.Kind == token.STRING {
				text, err := strconv.Unquote(value.Value)
				must(t, err)
				out[name.Name] = append(out[name.Name], text)
			}
			return true
		})
	}
	return out
}

// filler makes values of every field, or the least that a line takes.
type filler struct {
	sets map[string][]string
	all  bool
}

func (f filler) fill(v reflect.Value) {
	set, isToken := f.sets[v.Type().Name()]
	switch {
	case v.Type() == reflect.TypeFor[time.Time]():
		if f.all {
			v.Set(reflect.ValueOf(trusttest.Now))
		}
	case isToken:
		v.SetString(set[0])
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			f.fill(v.Field(i))
		}
	case !f.all:
	case v.Kind() == reflect.String:
		v.SetString("text")
	case v.Kind() == reflect.Int64:
		v.SetInt(1)
	case v.Kind() == reflect.Bool:
		v.SetBool(true)
	case v.Kind() == reflect.Array:
		v.Index(0).SetUint(1)
	case v.Kind() == reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		f.fill(v.Index(0))
	}
}

// objectOf is the body of a line.
func (f filler) objectOf(t *testing.T, b record.Body) map[string]any {
	t.Helper()
	v := reflect.New(reflect.TypeOf(b)).Elem()
	f.fill(v)
	line, err := record.Record{Time: trusttest.Now, Body: v.Interface().(record.Body)}.Line()
	must(t, err)
	var r struct{ Body map[string]any }
	must(t, json.Unmarshal(line, &r))
	return r.Body
}

// shapes are the objects that stand in bodies, by their fields.
var shapes = map[string]string{
	"digest,size,text":                          "payload",
	"after,before,object":                       "change",
	"content,level,name,signer,subject,version": "skill",
	"base,corpus,objects,observer,place,root,snapshot,unread,volatile": "corpus",
}

func (f filler) typeOf(t *testing.T, v any) string {
	t.Helper()
	switch v := v.(type) {
	case string:
		switch {
		case len(v) == 64:
			return "hash"
		case v == "2026-11-20T12:00:00.000000000Z":
			return "time"
		case v == "text":
			return "string"
		}
		for _, set := range f.sets {
			if set[0] == v {
				return "`" + strings.Join(set, "`, `") + "`"
			}
		}
	case float64:
		return "whole number"
	case bool:
		return "true or false"
	case []any:
		return "array of " + f.typeOf(t, v[0])
	case map[string]any:
		if name := shapes[strings.Join(slices.Sorted(maps.Keys(v)), ",")]; name != "" {
			return name
		}
	}
	t.Fatalf("%v is of no type that the document has", v)
	return ""
}

// row is one field of an object as the document lists it.
type row struct{ field, kind string }

// rows are the fields of an object.
func (f filler) rows(t *testing.T, full, least map[string]any) []row {
	t.Helper()
	var out []row
	for _, name := range slices.Sorted(maps.Keys(full)) {
		kind := f.typeOf(t, full[name])
		if _, always := least[name]; !always {
			kind += ", optional"
		}
		out = append(out, row{name, kind})
	}
	return out
}

// bare are the objects in bodies with the least that a line takes.
func bare(t *testing.T) map[string]map[string]any {
	t.Helper()
	object := func(b record.Body, field string) map[string]any {
		line, err := record.Record{Body: b}.Line()
		must(t, err)
		var r struct{ Body map[string]any }
		must(t, json.Unmarshal(line, &r))
		v := r.Body[field]
		if list, ok := v.([]any); ok {
			v = list[0]
		}
		return v.(map[string]any)
	}
	return map[string]map[string]any{
		"payload": object(record.Recovery{Torn: record.Payload{Size: 1}}, "torn"),
		"change":  object(record.Staged{Plan: []record.Change{{}}}, "plan"),
		"skill":   object(record.SkillSigned{}, "skill"),
		"corpus":  object(record.Barrier{Corpora: []record.CorpusRoot{{}}}, "corpora"),
	}
}

// fromCode are the tables that the code makes: of every kind, and of the objects
// in bodies.
func fromCode(t *testing.T) map[string][]row {
	t.Helper()
	sets := closedSets(t)
	delete(sets, "Kind")
	f, least := filler{sets, true}, filler{sets, false}
	out := map[string][]row{}
	for _, b := range bodies {
		full := f.objectOf(t, b)
		out[string(b.Kind())] = f.rows(t, full, least.objectOf(t, b))
		for _, v := range full {
			if list, ok := v.([]any); ok {
				v = list[0]
			}
			if object, ok := v.(map[string]any); ok {
				name := f.typeOf(t, object)
				out["object "+name] = f.rows(t, object, bare(t)[name])
			}
		}
	}
	return out
}

var (
	kindHeading   = regexp.MustCompile("(?m)^### (`[a-z.-]+`(?:, `[a-z.-]+`)*)$")
	objectHeading = regexp.MustCompile(`(?m)^\*\*([a-z]+)\*\*$`)
	fieldRow      = regexp.MustCompile("(?m)^\\| `([A-Za-z]+)` \\| ([^|]+) \\|")
)

// fromDocument are the tables of section 13.
func fromDocument(t *testing.T, text string) map[string][]row {
	t.Helper()
	_, text, _ = strings.Cut(text, "\n## 13. ")
	text, _, found := strings.Cut(text, "\n## 14. ")
	kinds, objects, foundObjects := strings.Cut(text, "\n### Objects in bodies\n")
	if !found || !foundObjects {
		t.Fatal("log-format.md has no section 13 with objects")
	}
	out := map[string][]row{}
	for name, table := range headed(kinds, kindHeading) {
		for kind := range strings.SplitSeq(name, ", ") {
			out[strings.Trim(kind, "`")] = table
		}
	}
	for name, table := range headed(objects, objectHeading) {
		out["object "+name] = table
	}
	return out
}

// headed are the tables of a text by their headings.
func headed(text string, heading *regexp.Regexp) map[string][]row {
	out := map[string][]row{}
	at := heading.FindAllStringSubmatchIndex(text, -1)
	for i, m := range at {
		end := len(text)
		if i+1 < len(at) {
			end = at[i+1][0]
		}
		name := text[m[2]:m[3]]
		out[name] = append(out[name], rowsOf(text[m[1]:end])...)
	}
	return out
}

func rowsOf(table string) []row {
	var out []row
	for _, m := range fieldRow.FindAllStringSubmatch(table, -1) {
		out = append(out, row{m[1], m[2]})
	}
	return out
}

// compareTables says where two sets of tables differ.
func compareTables(code, document map[string][]row) error {
	for name := range document {
		if _, ok := code[name]; !ok {
			return fmt.Errorf("section 13 has %s, which there is not", name)
		}
	}
	for name, rows := range code {
		if !slices.Equal(rows, document[name]) {
			return fmt.Errorf("%s: section 13 has\n%v\nand it is\n%v", name, document[name], rows)
		}
	}
	return nil
}

// Section 13 has every kind with every field, and no other.
func TestKindsAreDocumented(t *testing.T) {
	code := fromCode(t)
	var have []record.Kind
	for _, b := range bodies {
		have = append(have, b.Kind())
	}
	if !slices.Equal(slices.Sorted(slices.Values(have)), record.Kinds()) {
		t.Fatalf("the test knows %v, package record %v", have, record.Kinds())
	}
	text := readFile(t, formatPage)
	if err := compareTables(code, fromDocument(t, text)); err != nil {
		t.Error(err)
	}
	for what, edit := range map[string][2]string{
		"a field less":   {"| `protected` | true or false | it has a passphrase |\n", ""},
		"a field more":   {"| `protected` |", "| `hidden` | string | |\n| `protected` |"},
		"another type":   {"| `fence` | whole number | higher", "| `fence` | string | higher"},
		"not optional":   {"| `rule` | string, optional |", "| `rule` | string |"},
		"a token less":   {"`not-executed`, ", ""},
		"a kind less":    {", `decision.late`", ""},
		"a kind more":    {"### `boot`", "### `boot`, `shutdown`"},
		"an object less": {"**corpus**", "corpus"},
	} {
		planted := strings.Replace(text, edit[0], edit[1], 1)
		if planted == text || compareTables(code, fromDocument(t, planted)) == nil {
			t.Errorf("%s: not noticed", what)
		}
	}
}
