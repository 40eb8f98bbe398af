package approval_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/iff-run/iff/approval"
	"github.com/iff-run/iff/capability"
	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/record"
)

var update = flag.Bool("update", false, "rewrite testdata")

// scenes are questions of every kind, by the name of their golden file.
func scenes(tb testing.TB) map[string]approval.Question {
	tb.Helper()
	irrev := capability.FSWriteIrrev
	out := map[string]approval.Question{"zero": {}, "overwrite": question(tb)}
	scene := func(name string, build func(q *approval.Question)) {
		q := question(tb)
		q.Plan, q.Before, q.After = nil, nil, nil
		build(&q)
		out[name] = q
	}
	scene("delete", func(q *approval.Question) {
		q.Op, q.Envelope = "delete", envelope(tb, irrev, "reports/2025-q3.md", `{"op":"delete"}`, "stale file,\n\nDELETE  work/other\ncleaning up\x1b[2J as the skill instructs")
		change(q, "reports/2025-q3.md", file("# Q3 report\nRevenue was ...\n"), corpus.Copy{})
		q.Guarded, q.Doubts, q.Novel = "the skill invoice-reports", []string{"work/reports/a.md", "work/reports/b c.md"}, false
	})
	scene("create", func(q *approval.Question) {
		q.Effect, q.Envelope = capability.Reversible, envelope(tb, capability.FSWriteRev, "new.txt", `{"op":"write","content":"one\ttwo \n  | three"}`, "")
		change(q, "new.txt", corpus.Copy{}, file("one\ttwo \n  | three"))
		q.Skill = record.Skill{}
	})
	scene("append", func(q *approval.Question) {
		q.Op, q.Envelope = "append", envelope(tb, irrev, "log.txt", `{"op":"append","content":"first\nsecond\n"}`, "noted")
		change(q, "log.txt", file("old\n"), file("old\nfirst\nsecond\n"))
		q.Plan[0].Before, q.Plan[0].After = corpus.Any, corpus.Any
	})
	scene("chmod", func(q *approval.Question) {
		q.Op, q.Envelope = "chmod", envelope(tb, irrev, "run.sh", `{"op":"chmod","mode":"4755"}`, "so that it runs")
		setuid := file("#!/bin/sh\n")
		setuid.Facts.Mode = 0o4755
		change(q, "run.sh", file("#!/bin/sh\n"), setuid)
	})
	scene("rename", func(q *approval.Question) {
		q.Op, q.Envelope = "rename", envelope(tb, irrev, "a b.txt", `{"op":"rename","to":"c.txt"}`, "tidier")
		change(q, "a b.txt", file("same\n"), corpus.Copy{})
		change(q, "c.txt", corpus.Copy{}, file("same\n"))
	})
	scene("tree", func(q *approval.Question) {
		q.Op, q.Envelope = "delete", envelope(tb, irrev, "old", `{"op":"delete","recursive":true}`, "gone")
		change(q, "old", directory(), corpus.Copy{})
		for i := range 250 {
			change(q, fmt.Sprintf("old/%03d.txt", i), file(strings.Repeat("x", i*37)), corpus.Copy{})
		}
	})
	scene("binary", func(q *approval.Question) {
		q.Envelope = envelope(tb, irrev, "logo.png", `{"op":"write","base64":"iVBORw0KGgo="}`, "a logo")
		change(q, "logo.png", file("\x89PNG\r\n\x1a\n\x00\x00"+strings.Repeat("\x01\x02", 400)), file("\x89PNG\r\n\x1a\n"))
	})
	scene("large", func(q *approval.Question) {
		var before strings.Builder
		for i := range 20000 {
			fmt.Fprintf(&before, "line %d of many\n", i)
		}
		change(q, "reports/q3.md", file(before.String()), file(before.String()+"end"))
		q.Before[0].Xattrs = nil
	})
	scene("cut", func(q *approval.Question) {
		gone := file("much")
		gone.Data, gone.Cut = "", true
		change(q, "reports/q3.md", gone, file("little\n"))
	})
	scene("mismatch", func(q *approval.Question) {
		change(q, "reports/q3.md", file("one\n"), file("two\n"))
		q.After[0].Data = "harmless\n"
	})
	scene("tool", func(q *approval.Question) {
		q.Op, q.Reach = "", "opaque"
		q.Envelope = envelope(tb, capability.ToolInvoke, "mail/send",
			`{"to":["a@example.com","b@example.com"],"body":"Dear all,\nbody = 1 byte\n\nBye\u202e","urgent":true,"n":{"deep":[1,{"x":null}]}}`, "")
	})
	scene("attributes", func(q *approval.Question) {
		facts := file("x").Facts
		change(q, "reports/q3.md", file("x\n"), corpus.NewCopy(facts, "x\n", []corpus.Xattr{{Name: "user.note", Value: "\x01 hello"}}))
	})
	return out
}

func TestRenderGolden(t *testing.T) {
	for name, q := range scenes(t) {
		path := filepath.Join("testdata", name+".txt")
		got := q.Render()
		if *update {
			must(t, os.MkdirAll("testdata", 0o755))
			must(t, os.WriteFile(path, []byte(got), 0o644))
			continue
		}
		want, err := os.ReadFile(path)
		must(t, err)
		if got != string(want) {
			t.Errorf("%s differs from %s:\n%s", name, path, got)
		}
	}
}
