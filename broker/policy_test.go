package broker

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cedar-policy/cedar-go"

	"github.com/iff-run/iff/approval"
	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/record"
)

const reportsPolicy = `// What the reports need.
@id("old-reports")
permit (principal, action == Action::"fs.write.irrev", resource in Path::"reports/old")
when { context.op == "delete" && context.changes == 1 };

permit (principal, action == Action::"net.egress", resource in Domain::"example.com")
when { resource.port == 443 && context.method == "GET" };

permit (principal, action == Action::"pay", resource)
when { resource.unit == "usd" && resource.value.lessThanOrEqual(decimal("20.0")) };

permit (principal, action == Action::"spawn.proc", resource)
when { resource.program == "git" && resource.line like "git log*" }
unless { resource.args.contains("--output") };

forbid (principal, action in Action::"irreversible", resource)
when { context.skill == "untrusted" };

forbid (principal, action, resource in Path::"secrets");
forbid (principal, action == Action::"net.egress", resource) when { resource has address };
`

func TestDecide(t *testing.T) {
	p := read(t, reportsPolicy)
	untrusted := func(q *approval.Question) { q.Skill.Name = "untrusted" }
	for _, c := range []struct {
		token, target, arguments string
		change                   func(*approval.Question)
		choice                   record.Choice
		rule                     string
	}{
		{"fs.write.irrev", "reports/old/a.md", `{"op":"delete"}`, nil, record.Approve, "p.cedar:2 old-reports"},
		{"fs.write.irrev", "reports/old", `{"op":"delete"}`, nil, record.Approve, "p.cedar:2 old-reports"},
		{"fs.write.irrev", "reports/older/a.md", `{"op":"delete"}`, nil, "", ""},
		{"fs.write.irrev", "other:reports/old/a.md", `{"op":"delete"}`, nil, "", ""},
		{"fs.write.irrev", "reports/old/a.md", `{"op":"write"}`, nil, "", ""},
		{"fs.write.irrev", "reports/old/a.md", `{"op":["delete"]}`, nil, "", ""},
		{"fs.write.irrev", "reports/old/a.md", `{"op":"delete"}`, untrusted, record.Deny, "p.cedar:16"},
		{"fs.write.rev", "reports/old/a.md", `{"op":"delete"}`, untrusted, "", ""},
		{"fs.read", "secrets/a", `{}`, nil, record.Deny, "p.cedar:19"},
		{"fs.read", "secret/a", `{}`, nil, "", ""},
		{"net.egress", "example.com", `{"method":"GET"}`, nil, record.Approve, "p.cedar:6"},
		{"net.egress", "api.example.com", `{"method":"GET"}`, nil, record.Approve, "p.cedar:6"},
		{"net.egress", "evilexample.com", `{"method":"GET"}`, nil, "", ""},
		{"net.egress", "api.example.com:8443", `{"method":"GET"}`, nil, "", ""},
		{"net.egress", "api.example.com", `{"method":"POST"}`, nil, "", ""},
		{"net.egress", "[::1]", `{"method":"GET"}`, nil, record.Deny, "p.cedar:20"},
		{"pay", "usd,20", `{}`, nil, record.Approve, "p.cedar:9"},
		{"pay", "usd,20.0001", `{}`, nil, "", ""},
		{"pay", "btc,1", `{}`, nil, "", ""},
		{"pay", "usd,0.00001", `{}`, nil, record.Deny, "error"},
		{"pay", "usd,922337203685478", `{}`, nil, record.Deny, "error"},
		{"spawn.proc", "git log -3", `{}`, nil, record.Approve, "p.cedar:12"},
		{"spawn.proc", "git log --output", `{}`, nil, "", ""},
		{"spawn.proc", "bash -c git\\ log", `{}`, nil, "", ""},
		{"tool.invoke", "github/create_issue", `{}`, nil, "", ""},
		{"fs.write.irrev", "reports/old/a.md", `{"op":"delete"}`, func(q *approval.Question) { q.Level = "trusted" }, record.Deny, "error"},
		{"fs.write.irrev", "reports/old/a.md", `{"op":"delete"}`, func(q *approval.Question) { q.Profile = "test" }, record.Deny, "error"},
	} {
		q := ask(t, c.token, c.target, c.arguments)
		if c.change != nil {
			c.change(&q)
		}
		got := p.Decide(q)
		if got.Choice != c.choice || got.Rule != c.rule {
			t.Errorf("%s %s %s: %q by %q, want %q by %q (%v)", c.token, c.target, c.arguments, got.Choice, got.Rule, c.choice, c.rule, got.Diagnostics)
		}
	}
}

// TestEveryObject: what a call changes beside its target counts as well.
func TestEveryObject(t *testing.T) {
	p := read(t, `permit (principal, action == Action::"fs.write.irrev", resource in Path::"tmp");
		forbid (principal, action, resource in Path::"secrets");`)
	rename := func(to corpus.Object) approval.Question {
		q := ask(t, "fs.write.irrev", "tmp/a", `{"op":"rename"}`)
		q.Plan = append(q.Plan, corpus.Change{Object: to, Before: corpus.Absent, After: state('a')})
		return q
	}
	for to, want := range map[corpus.Object]record.Choice{
		"work/tmp/b": record.Approve, "work/src/b": "", "work/secrets/b": record.Deny, "other/tmp/b": "", "work/tmp/x.": record.Deny,
	} {
		if got := p.Decide(rename(to)); got.Choice != want {
			t.Errorf("to %s: %+v, want %q", to, got, want)
		}
	}
}

// TestLimits is DESIGN section 2: whatever the policy says.
func TestLimits(t *testing.T) {
	text := []PolicyFile{{"p.cedar", []byte(reportsPolicy)}}
	for _, c := range []struct {
		home, asked, level, skill, guarded string
		want                               record.Choice
	}{
		{"dev", "dev", "declared", "declared", "", record.Approve},
		{"dev", "dev", "unverified", "unverified", "", record.Approve},
		{"dev", "dev", "declared", "declared", "reports", ""},
		{"dev", "dev", "unverified", "unverified", "reports", ""},
		{"strict", "strict", "declared", "declared", "", record.Approve},
		{"strict", "strict", "unverified", "declared", "", ""},
		{"strict", "strict", "declared", "unverified", "", ""},
		{"strict", "strict", "declared", "declared", "reports", ""},
		{"strict", "dev", "unverified", "unverified", "", ""},
		{"dev", "strict", "unverified", "unverified", "", ""},
		{"", "dev", "unverified", "unverified", "", ""},
	} {
		p, err := ParsePolicy(text, PolicyOptions{Profile: c.home})
		if err != nil {
			t.Fatal(err)
		}
		q := ask(t, "fs.write.irrev", "reports/old/a.md", `{"op":"delete"}`)
		q.Profile, q.Level, q.Skill.Level, q.Guarded = c.asked, c.level, c.skill, c.guarded
		got := p.Decide(q)
		if got.Choice != c.want || (c.want == "") != (got.Limit != "") {
			t.Errorf("%+v: %+v", c, got)
		}
		q.Skill.Name = "untrusted"
		if got := p.Decide(q); got.Choice != record.Deny {
			t.Errorf("%+v: a denial is never limited: %+v", c, got)
		}
	}
}

// TestCedarTrap: Cedar alone skips a rule that cannot be evaluated.
func TestCedarTrap(t *testing.T) {
	p := read(t, `permit (principal, action == Action::"fs.write.irrev", resource in Path::"tmp");
forbid (principal, action, resource) when { context.size * 9223372036854775807 > 5 };`)
	q := ask(t, "fs.write.irrev", "tmp/a", `{"op":"delete"}`)
	got := p.Decide(q)
	if got.Choice != record.Deny || got.Rule != "error p.cedar:2" || len(got.Diagnostics) == 0 {
		t.Errorf("a forbid that overflows: %+v", got)
	}
	// The attribute that is not there is caught before: the policy is not read.
	_, err := ParsePolicy([]PolicyFile{{"p.cedar", []byte(`forbid (principal, action == Action::"pay", resource) when { context.amount > 100 };`)}}, PolicyOptions{})
	if !errors.Is(err, &Error{Reason: PolicySchema}) {
		t.Errorf("a missing attribute: %v", err)
	}
	// And the trap is there: without our schema and our rule Cedar allows.
	set, err := cedar.NewPolicySetFromBytes("", []byte(`permit (principal, action, resource); forbid (principal, action, resource) when { context.amount > 100 };`))
	if err != nil {
		t.Fatal(err)
	}
	decision, diagnostic := cedar.Authorize(set, cedar.EntityMap{}, cedar.Request{})
	if decision != cedar.Allow || len(diagnostic.Errors) != 1 {
		t.Errorf("Cedar changed: %v %+v; look at decideOn again", decision, diagnostic)
	}
}

// TestCanonical: a path is what it is before Cedar sees it.
func TestCanonical(t *testing.T) {
	p := read(t, `permit (principal, action == Action::"fs.write.irrev", resource) when { resource.path like "tmp/*" };`)
	if got := p.Decide(ask(t, "fs.write.irrev", "tmp/a", `{}`)); got.Choice != record.Approve {
		t.Errorf("%+v", got)
	}
	_, err := ParsePolicy([]PolicyFile{{"p.cedar", []byte(`permit (principal, action == Action::"fs.write.irrev", resource) when { resource.path like "/work/*" };`)}}, PolicyOptions{})
	if !errors.Is(err, &Error{Reason: PolicyLiteral}) {
		t.Errorf("a pattern that no path matches: %v", err)
	}
}

func TestAsk(t *testing.T) {
	p := read(t, reportsPolicy)
	qs := []approval.Question{
		ask(t, "fs.read", "secrets/a", `{}`), ask(t, "fs.read", "a", `{}`), ask(t, "pay", "usd,1", `{}`),
	}
	answers, err := p.Ask(t.Context(), qs)
	if err != nil || len(answers) != 3 {
		t.Fatal(answers, err)
	}
	if !passes(answers[1]) {
		t.Errorf("%+v", answers[1])
	}
	for i, want := range map[int]record.Choice{0: record.Deny, 2: record.Approve} {
		a := answers[i]
		if a.Choice != want || a.Cause != record.CausePolicy || a.Broker != "policy" || a.Rule == "" {
			t.Errorf("%+v", a)
		}
		if err := qs[i].Check(a, nil, time.Now()); err != nil {
			t.Errorf("the gate would not take it: %v", err)
		}
	}
}

func TestOrderDoesNotMatter(t *testing.T) {
	a := PolicyFile{"a.cedar", []byte("permit (principal, action == Action::\"fs.read\", resource);\npermit (principal, action == Action::\"fs.read\", resource in Path::\"x\");")}
	b := PolicyFile{"b.cedar", []byte(`permit (principal, action == Action::"fs.read", resource is Path);`)}
	var digests []record.Hash
	for _, files := range [][]PolicyFile{{a, b}, {b, a}} {
		p, err := ParsePolicy(files, PolicyOptions{Profile: "dev"})
		if err != nil {
			t.Fatal(err)
		}
		digests = append(digests, p.Digest())
		for range 20 {
			got := p.Decide(ask(t, "fs.read", "x/y", `{}`))
			if got.Rule != "a.cedar:1" || !slices.Equal(got.Matched, []string{"a.cedar:1", "a.cedar:2", "b.cedar:1"}) {
				t.Fatalf("%+v", got)
			}
		}
	}
	if digests[0] != digests[1] {
		t.Error("the digest depends on the order of files")
	}
	b.Text = append(b.Text, ' ')
	if p, err := ParsePolicy([]PolicyFile{a, b}, PolicyOptions{}); err != nil || p.Digest() == digests[0] {
		t.Error("the digest does not depend on the text", err)
	}
}

func TestRefused(t *testing.T) {
	const head, tail = `permit (principal, action == Action::"fs.write.irrev", resource in Path::"tmp") when { `, ` };`
	for text, want := range map[string]Reason{
		"permit (": PolicySyntax,
		"permit (principal, action, resource) when { ?principal };": PolicySyntax,
		"\xff": PolicySyntax,
		`forbid (principal, action == Action::"fs.wirte", resource);`:                                                                         PolicySchema,
		`forbid (principal == User::"me", action, resource);`:                                                                                 PolicySchema,
		`forbid (principal, action == Action::"pay", resource in Path::"a");`:                                                                 PolicySchema,
		head + `context.levle == Level::"tested"` + tail:                                                                                      PolicySchema,
		head + `context.level == "tested"` + tail:                                                                                             PolicySchema,
		head + `resource.size > 3` + tail:                                                                                                     PolicySchema,
		head + `resource.pth == "a"` + tail:                                                                                                   PolicySchema,
		head + `context.size > "3"` + tail:                                                                                                    PolicySchema,
		head + `context.skil == "x"` + tail:                                                                                                   PolicySchema,
		`forbid (principal, action == Action::"net.egress", resource) when { resource.address.isLoopback() };`:                                PolicySchema,
		`forbid (principal, action == Action::"pay", resource) when { resource.value > 3 };`:                                                  PolicySchema,
		head + `context.level == Level::"trusted"` + tail:                                                                                     PolicyLiteral,
		head + `context.profile == Profile::"prod"` + tail:                                                                                    PolicyLiteral,
		`forbid (principal, action, resource in Path::"/etc");`:                                                                               PolicyLiteral,
		`forbid (principal, action, resource in Path::"a/");`:                                                                                 PolicyLiteral,
		`forbid (principal, action, resource in Path::"work:a");`:                                                                             PolicyLiteral,
		`forbid (principal, action, resource == Host::"Example.com");`:                                                                        PolicyLiteral,
		`forbid (principal, action, resource in Domain::"*.example.com");`:                                                                    PolicyLiteral,
		`forbid (principal, action, resource in Domain::"127.0.0.1");`:                                                                        PolicyLiteral,
		`forbid (principal == Agent::"", action, resource);`:                                                                                  PolicyLiteral,
		`forbid (principal, action == Action::"fs.read", resource) when { resource.path == "/a" };`:                                           PolicyLiteral,
		`forbid (principal, action == Action::"fs.read", resource) when { ["a", "b"].contains(resource.path) && resource.path like "../*" };`: PolicyLiteral,
		`@id("a b") permit (principal, action == Action::"fs.read", resource);`:                                                               PolicyID,
		strings.Repeat(`@id("a") permit (principal, action == Action::"fs.read", resource);`, 2):                                              PolicyID,
		head + strings.Repeat("(", 60) + "true" + strings.Repeat(")", 60) + tail:                                                              PolicyTooLarge,
		head + strings.Repeat("!", 5000) + "true" + tail:                                                                                      PolicyTooLarge,
		head + strings.Repeat("if true then true else ", 5000) + "true" + tail:                                                                PolicyTooLarge,
		strings.Repeat(" ", MaxPolicyFile+1):                                                                                                  PolicyTooLarge,
		strings.Repeat(`forbid (principal, action, resource);`, 1001):                                                                         PolicyTooLarge,
	} {
		_, err := ParsePolicy([]PolicyFile{{"p.cedar", []byte(text)}}, PolicyOptions{Profile: "dev"})
		if !errors.Is(err, &Error{Reason: want}) {
			t.Errorf("%.120s: %v, want %s", text, err, want)
			continue
		}
		var e *Error
		if errors.As(err, &e); e.File != "p.cedar" || e.Detail == "" || e.Remedy == "" || strings.Contains(e.Error(), "\n") {
			t.Errorf("%.120s: %#v", text, e)
		}
	}
	for _, name := range []string{"", "a\nb", "a:b", strings.Repeat("a", 200), "a\u202eb"} {
		if _, err := ParsePolicy([]PolicyFile{{Name: name}}, PolicyOptions{}); !errors.Is(err, &Error{Reason: PolicyFileName}) {
			t.Errorf("%q: %v", name, err)
		}
	}
	if _, err := ParsePolicy([]PolicyFile{{Name: "a"}, {Name: "a"}}, PolicyOptions{}); !errors.Is(err, &Error{Reason: PolicyFileName}) {
		t.Error(err)
	}
}

func TestErrorsNameTheLine(t *testing.T) {
	for text, line := range map[string]int{
		"// one\n\nforbid (principal, action == Action::\"nope\", resource);":                                          3,
		"\nforbid (principal,\n action, resurce);":                                                                     3,
		"\n\nforbid (principal, action, resource in Path::\"/a\");":                                                    3,
		"\npermit (principal, action, resource);":                                                                      2,
		"forbid (principal, action, resource);\n\n  @id(\"x\")\n forbid (principal == Agent::\"\", action, resource);": 3,
	} {
		_, err := ParsePolicy([]PolicyFile{{"p.cedar", []byte(text)}}, PolicyOptions{Profile: "dev"})
		var e *Error
		if !errors.As(err, &e) || e.Line != line {
			t.Errorf("%q: %v", text, err)
		}
	}
}
