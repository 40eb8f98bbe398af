package broker

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/iff-run/iff/approval"
	"github.com/iff-run/iff/record"
)

// TestExamples holds examples/policies to what their comments say.
func TestExamples(t *testing.T) {
	paths, err := filepath.Glob("../examples/policies/*.cedar")
	if err != nil || len(paths) < 3 {
		t.Fatal(paths, err)
	}
	var files []PolicyFile
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		f := PolicyFile{filepath.Base(path), text}
		if _, err := ParsePolicy([]PolicyFile{f}, PolicyOptions{Profile: "strict"}); err != nil {
			t.Errorf("%s alone: %v", path, err)
		}
		files = append(files, f)
	}
	p, err := ParsePolicy(files, PolicyOptions{Profile: "dev"})
	if err != nil {
		t.Fatal(err)
	}
	tidy := func(q *approval.Question) { q.Skill.Name = "tidy-reports" }
	tested := func(q *approval.Question) { q.Level = "tested" }
	for _, c := range []struct {
		token, target, arguments string
		change                   func(*approval.Question)
		choice                   record.Choice
		rule                     string
	}{
		{"fs.write.irrev", "reports/old/2019.md", `{"op":"delete"}`, tidy, record.Approve, "reports.cedar:4 delete-old-reports"},
		{"fs.write.irrev", "reports/old/2019.md", `{"op":"delete"}`, nil, "", ""},
		{"fs.write.irrev", "reports/old/2019.md", `{"op":"write","content":"x"}`, tidy, "", ""},
		{"fs.write.irrev", "reports/archive/2019.md", `{"op":"delete"}`, tidy, record.Deny, "reports.cedar:16 archive-is-final"},
		{"fs.write.rev", "reports/archive/2019.md", `{"op":"append"}`, nil, record.Deny, "reports.cedar:16 archive-is-final"},
		{"net.egress", "go.dev", `{"method":"GET"}`, nil, record.Approve, "web.cedar:3 read-documentation"},
		{"net.egress", "pkg.go.dev", `{"method":"HEAD"}`, nil, record.Approve, "web.cedar:3 read-documentation"},
		{"net.egress", "go.dev", `{"method":"POST"}`, nil, "", ""},
		{"net.egress", "go.dev:8443", `{"method":"GET"}`, nil, "", ""},
		{"net.egress", "go.dev.example.com", `{"method":"GET"}`, nil, "", ""},
		{"net.egress", "192.0.2.1", `{"method":"GET"}`, nil, record.Deny, "web.cedar:15 no-bare-addresses"},
		{"pay", "usd,20", `{}`, tested, record.Approve, "limits.cedar:3 small-change"},
		{"pay", "usd,20", `{}`, nil, "", ""},
		{"pay", "usd,20.01", `{}`, tested, "", ""},
		{"spawn.proc", "git log --oneline -20", `{}`, nil, record.Approve, "limits.cedar:15 look-at-history"},
		{"spawn.proc", "git log --oneline -20 --output=x", `{}`, nil, "", ""},
		{"spawn.proc", "git push", `{}`, nil, "", ""},
		{"tool.invoke", "github/get_issue", `{}`, nil, record.Approve, "limits.cedar:24 read-issues"},
		{"tool.invoke", "gitlab/get_issue", `{}`, nil, "", ""},
		{"fs.read", "keys/id", `{}`, nil, record.Deny, "limits.cedar:31 keys-stay"},
		{"mutate.schema", "orders.public", `{}`, nil, record.Deny, "limits.cedar:38 no-schema-changes"},
	} {
		q := ask(t, c.token, c.target, c.arguments)
		if c.change != nil {
			c.change(&q)
		}
		if got := p.Decide(q); got.Choice != c.choice || got.Rule != c.rule {
			t.Errorf("%s %s %s: %+v, want %q by %q", c.token, c.target, c.arguments, got, c.choice, c.rule)
		}
	}
}
