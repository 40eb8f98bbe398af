package capability

import (
	"fmt"
	"testing"
)

// tables pins the vocabulary of each manifest schema: whoever changes a row
// adds a schema and its table here.
var tables = map[string]string{
	"iff/skill/v1": `
net.egress irreversible host
fs.read none path
fs.write.rev reversible path
fs.write.irrev irreversible path
tool.invoke irreversible name
spawn.proc irreversible argv
publish irreversible name
pay irreversible amount
mutate.schema irreversible name
`,
}

func TestVocabularyOfThisSchema(t *testing.T) {
	table := "\n"
	for _, r := range Vocabulary() {
		table += fmt.Sprintf("%s %s %s\n", r.Token, r.Effect, r.Shape)
	}
	if tables[ManifestSchema] != table {
		t.Errorf("the vocabulary of %s is\n%swant%sA changed vocabulary needs a new ManifestSchema.", ManifestSchema, table, tables[ManifestSchema])
	}
}

// The paper's table, word for word.
func TestVocabularyIsThePapers(t *testing.T) {
	paper := []struct{ token, sideEffect string }{
		{"net.egress", "DNS-resolved network reach to host"},
		{"fs.read", "filesystem read under path"},
		{"fs.write.rev", "write that can be rolled back"},
		{"fs.write.irrev", "delete, overwrite, truncate"},
		{"tool.invoke", "invoke a named tool registered with the harness"},
		{"spawn.proc", "external process spawn"},
		{"publish", "post to an external channel"},
		{"pay", "transfer of fungible value"},
		{"mutate.schema", "migrate a database / configuration schema"},
	}
	rows := Vocabulary()
	if len(rows) != len(paper) {
		t.Fatalf("%d rows", len(rows))
	}
	for i, r := range rows {
		if r.Token != paper[i].token || r.SideEffect != paper[i].sideEffect || int(r.Capability) != i+1 {
			t.Errorf("row %d: %+v", i, r)
		}
	}
}

func TestEachRow(t *testing.T) {
	effects := map[Effect][]string{}
	for _, r := range Vocabulary() {
		c, err := Parse(r.Token)
		if err != nil || c != r.Capability || c.String() != r.Token || c.Effect() != r.Effect || c.Shape() != r.Shape {
			t.Errorf("%s: %v", r.Token, err)
		}
		if g := mustGrant(t, r.Example); g.Capability() != c || g.Bare() {
			t.Errorf("%s: example %s", r.Token, g)
		}
		if !mustGrant(t, r.Token).Bare() {
			t.Errorf("%s: not bare", r.Token)
		}
		effects[r.Effect] = append(effects[r.Effect], r.Token)
	}
	if got := fmt.Sprint(effects[None], effects[Reversible]); got != "[fs.read] [fs.write.rev]" {
		t.Errorf("effects: %s", got)
	}
}

func TestVocabularyIsACopy(t *testing.T) {
	Vocabulary()[0].Token = "changed"
	if NetEgress.String() != "net.egress" {
		t.Error("the table can be changed from outside")
	}
}

func TestUnknownCapabilityFailsClosed(t *testing.T) {
	for _, c := range []Capability{0, MutateSchema + 1, 255} {
		if c.String() != "" || c.Effect() != Irreversible || c.Shape() != 0 {
			t.Errorf("capability %d: %q %s", c, c, c.Effect())
		}
	}
	if fmt.Sprint(Effect(0), Reversible, None, Effect(9)) != "irreversible reversible none irreversible" {
		t.Error("effect names")
	}
	if (Shape(0)).form().match("a", "a") {
		t.Error("no shape matches")
	}
}
