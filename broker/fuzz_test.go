package broker

import (
	"errors"
	"strings"
	"testing"

	"github.com/cedar-policy/cedar-go"

	"github.com/iff-run/iff/capability"
	"github.com/iff-run/iff/internal/canonical"
	"github.com/iff-run/iff/record"
)

// FuzzPolicy: reading never panics and refuses with an [Error]; a policy that is
// read decides the same twice, denies where Cedar has an error, approves nothing
// that is guarded, and no two targets drawn from elsewhere.
func FuzzPolicy(f *testing.F) {
	f.Add(reportsPolicy)
	for _, text := range wildcards {
		if len(text) < 1000 {
			f.Add(text)
		}
	}
	for _, text := range ties {
		f.Add(text)
	}
	f.Add(`forbid (principal, action, resource) when { context.size * 9223372036854775807 > 5 };`)
	f.Add(`permit (principal, action, resource) when { {"a": resource}.a.path == "x" && context == context };`)
	questions := map[string]string{
		"fs.write.irrev": "reports/old/a.md", "net.egress": "10.0.0.1:8443", "fs.read": "other:a:b", "tool.invoke": "plain", "spawn.proc": "git",
		"pay": "usd,3", "publish": "slack:#releases", "mutate.schema": "orders", "fs.write.rev": ".",
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := ParsePolicy([]PolicyFile{{"p.cedar", []byte(text)}}, PolicyOptions{Profile: "dev"})
		if err != nil {
			var e *Error
			if !errors.As(err, &e) || e.Detail == "" || strings.ContainsAny(err.Error(), "\n\x1b") {
				t.Fatalf("%q", err)
			}
			return
		}
		for token, target := range questions {
			q := ask(t, token, target, `{"op":"delete","method":"GET"}`)
			got := p.Decide(q)
			if again := p.Decide(q); again.Choice != got.Choice || again.Rule != got.Rule {
				t.Fatalf("%+v, then %+v", got, again)
			}
			if len(got.Diagnostics) > 0 && got.Choice != record.Deny {
				t.Fatalf("%+v", got)
			}
			q.Guarded = "AGENTS.md"
			if got := p.Decide(q); got.Choice == record.Approve {
				t.Fatalf("guarded: %+v", got)
			}
		}
		for _, row := range capability.Vocabulary() {
			if row.Effect != capability.Irreversible {
				continue
			}
			d, approved := newDrawer([32]byte{7}, row.Token), 0
			for i := range 8 {
				if p.Decide(ask(t, row.Token, d.target(row.Capability, i).String(), `{}`)).Choice == record.Approve {
					approved++
				}
			}
			if approved > 2 {
				t.Fatalf("%s for arbitrary targets", row.Token)
			}
		}
	})
}

// FuzzHints: the scan finds in canonical arguments what a parser does.
func FuzzHints(f *testing.F) {
	for _, seed := range []string{
		`{}`, `{"op":"delete"}`, `{"a":{"op":"x"},"op":"y","via":"s/t"}`, `{"method":"GE\"T","op":["x"]}`, `{"a":"\\","op":"\u0000"}`, `{"a":[1,{"b":"]"}],"op":"x"}`, `{"op":null}`, `{"op\\":"x"}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		raw, err := canonical.NewRaw([]byte(text), canonical.Limits{Bytes: capability.MaxEnvelope})
		if err != nil || !strings.HasPrefix(raw.String(), "{") {
			return
		}
		got := hintsOf(raw.String())
		var members map[string]canonical.Raw
		if err := canonical.Parse([]byte(raw.String()), &members, canonical.Limits{Bytes: capability.MaxEnvelope}); err != nil {
			return
		}
		for name, have := range map[string]string{"op": got.op, "method": got.method, "via": got.via} {
			want := ""
			if m := members[name].String(); strings.HasPrefix(m, `"`) {
				if err := canonical.Parse([]byte(m), &want, canonical.Limits{Bytes: capability.MaxEnvelope}); err != nil {
					t.Fatal(err)
				}
			}
			if have != want {
				t.Fatalf("%s: %s is %q, want %q", raw, name, have, want)
			}
		}
	})
}

// TestSchema: what is printed is a schema that says the same, and every fact and
// attribute it has can be made.
func TestSchema(t *testing.T) {
	text := string(Schema())
	if n := len(contextType()); n > maxFacts {
		t.Errorf("%d attributes of the context; maxFacts is %d", n, maxFacts)
	}
	for _, row := range capability.Vocabulary() {
		if !strings.Contains(text, row.Token) {
			t.Errorf("the schema has no %s", row.Token)
		}
		target := newDrawer([32]byte{}, row.Token).target(row.Capability, 0)
		q := ask(t, row.Token, target.String(), `{}`)
		for name := range contextType() {
			if v, err := (&facts{Question: &q}).fact(name); err != nil || v == nil {
				t.Errorf("%s: context.%s: %v", row.Token, name, err)
			}
		}
		for name, a := range attributesOf(resourceType(row.Capability)) {
			if v, err := attribute(target, name); err != nil || v == nil && !a.Optional {
				t.Errorf("%s: resource.%s: %v", row.Token, name, err)
			}
		}
		// A rule about all of a call makes all of it ready, and it fits.
		p := read(t, `forbid (principal, action == Action::"`+row.Token+`", resource) when { context == context && resource == resource };`)
		if got := p.Decide(q); got.Choice != record.Deny || got.Rule != "p.cedar:1" {
			t.Errorf("%s: %+v", row.Token, got)
		}
	}
	if _, err := newValidator(nil); err != nil {
		t.Fatal(err)
	}
	if _, err := cedar.NewPolicySetFromBytes("", []byte(reportsPolicy)); err != nil {
		t.Fatal(err)
	}
}
