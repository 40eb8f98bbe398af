package trial

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/iff-run/iff/gate"
	"github.com/iff-run/iff/record"
)

// TestNamed: what says no corpus is in that of the trial; all else is left alone, and
// so is what cannot be read.
func TestNamed(t *testing.T) {
	for _, c := range []struct{ corpus, class, target, args, wantTarget, wantArgs string }{
		{"notes", "fs.write.irrev", "a/b.md", `{"op":"rename","to":"c d.md"}`, "notes:a/b.md", `{"op":"rename","to":"notes:c d.md"}`},
		{"notes", "fs.write.irrev", "notes:a", `{"op":"rename","to":"other:c"}`, "notes:a", `{"op":"rename","to":"other:c"}`},
		{"notes", "fs.write.rev", ".", `{"op":"write","content":"to"}`, "notes:.", `{"op":"write","content":"to"}`},
		{"notes", "fs.write.irrev", "../x", `{"to":"/etc/passwd"}`, "notes:../x", `{"to":"notes:/etc/passwd"}`},
		{"notes", "fs.write.irrev", "a", `{"to":"b","to":"c"}`, "notes:a", `{"to":"b","to":"c"}`},
		{"notes", "fs.write.irrev", "a", `{"to":7}`, "notes:a", `{"to":7}`},
		{"notes", "fs.write.irrev", "a", `not json`, "notes:a", `not json`},
		{"notes", "net.egress", "https://example.com/a", `{"to":"b"}`, "https://example.com/a", `{"to":"b"}`},
		{"work", "fs.write.irrev", "a", `{"to":"b"}`, "a", `{"to":"b"}`},
	} {
		got := named(c.corpus, gate.Call{Capability: c.class, Target: c.target, Arguments: []byte(c.args)})
		if got.Target != c.wantTarget || string(got.Arguments) != c.wantArgs {
			t.Errorf("%s %s %s: %s %s", c.corpus, c.target, c.args, got.Target, got.Arguments)
		}
	}
}

// TestAnotherCorpus: agents act on a corpus whatever it is called. Where what they
// name stays in corpus work, they reach nothing and a trial passes for nothing.
func TestAnotherCorpus(t *testing.T) {
	o := newOffice(t, asked, "")
	path := filepath.Join(o.home, "iff.toml")
	text, err := os.ReadFile(path)
	need(t, err)
	need(t, os.WriteFile(path, []byte(strings.ReplaceAll(string(text), "corpus.work", "corpus.notes")), 0o600))
	out, err := o.trial(t, Options{Agents: 4, Rounds: 12, Seed: 5}).Play(t.Context(), Cast{}, nil)
	need(t, err)
	done, moved := 0, 0
	for _, c := range calls(out) {
		if c.Reason == gate.NoCorpus {
			t.Errorf("%+v", c)
		}
		if c.Status == gate.Done {
			done++
			if c.Op == "rename" {
				moved++
			}
			if !strings.HasPrefix(c.Target, "notes:") {
				t.Errorf("%+v", c)
			}
		}
	}
	if out.Corpus != "notes" || done == 0 || moved == 0 || out.Verdict() != record.Pass {
		t.Errorf("corpus %s: %d of %d calls done, %d renamed, %s", out.Corpus, done, len(calls(out)), moved, out.Verdict())
	}
}
