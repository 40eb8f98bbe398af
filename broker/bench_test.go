package broker

import (
	"testing"

	"github.com/cedar-policy/cedar-go"

	"github.com/iff-run/iff/approval"
)

// BenchmarkDecide is one decision, and beside it Cedar alone with everything made
// ready.
func BenchmarkDecide(b *testing.B) {
	p := read(b, reportsPolicy)
	for name, q := range map[string]approval.Question{
		"pay": ask(b, "pay", "usd,20", `{}`), "net": ask(b, "net.egress", "api.example.com", `{"method":"GET"}`),
		"pass": ask(b, "tool.invoke", "github/create_issue", `{}`), "file": ask(b, "fs.write.irrev", "reports/old/a.md", `{"op":"delete"}`),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				p.Decide(q)
			}
		})
	}
	b.Run("bare", func(b *testing.B) {
		q := ask(b, "fs.write.irrev", "reports/old/a.md", `{"op":"delete"}`)
		t := q.Envelope.Target()
		request, err := p.request(&q, t)
		if err != nil {
			b.Fatal(err)
		}
		resource, err := p.uses.resourceOf(t)
		if err != nil {
			b.Fatal(err)
		}
		all := &entities{resource, p.uses.places, p.actions}
		b.ReportAllocs()
		for b.Loop() {
			cedar.Authorize(p.byClass[t.Capability()], all, request)
		}
	})
}

// BenchmarkParse is what a start pays: reading, typing, and looking for wildcards.
func BenchmarkParse(b *testing.B) {
	files := []PolicyFile{{"p.cedar", []byte(reportsPolicy)}}
	for b.Loop() {
		if _, err := ParsePolicy(files, PolicyOptions{}); err != nil {
			b.Fatal(err)
		}
	}
}
