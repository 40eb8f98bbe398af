package runtime_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/gate"
	"github.com/iff-run/iff/internal/runtime"
)

func guardOf(t testing.TB, patterns ...string) gate.Guard {
	t.Helper()
	p, err := corpus.ParsePatterns(patterns)
	if err != nil {
		t.Fatal(err)
	}
	work, docs := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(work, "AGENTS.md"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	g, err := runtime.GuardAlone([]runtime.Corpus{{Name: "work", Dir: work}, {Name: "docs", Dir: docs}}, p)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// A name in which nothing shows stays a name, and a text with one is read to its end.
func TestNamesInWhichNothingShows(t *testing.T) {
	g := guardOf(t, "AGENTS.md", "**/NOTES.md", "*/deep.md")
	for name, guarded := range map[string]bool{
		"\u200b/x": false, "\u200b": false, "\u00ad/\u200b/x": false, "\uff0f/x": false, "\uff0fx": false, "\ufe0f/x/\u200b": false,
		"\u200b/NOTES.md": true, "a/\u200b/notes.md": true, "\uff0fNOTES.md": true, "a\uff0fNOTES.md": true, "NOTES.md/\u200b": true,
		"\u200b/deep.md": true, "\u200b\u200c/DEEP.md": true, "AGENTS.md\u200b": true,
	} {
		if _, ok := g.Find([]corpus.Object{corpus.Name("work", name)}); ok != guarded {
			t.Errorf("%q is guarded: %v", name, ok)
		}
	}
	for text, guarded := range map[string]bool{
		"\u200b/x": false, "\u00ad/x": false, "%E2%80%8B/x": false, "docs:\u200b/x": false, "/\u200b": false, "\u200b": false,
		"\u200b/AGENTS.md": true, "%E2%80%8B/AGENTS.md": true, "docs:\u200b/AGENTS.md": true, "\uff0fAGENTS.md": true, "./\u00ad/x/../agents.md": true,
	} {
		if _, ok := g.FindSpelling(0, text); ok != guarded {
			t.Errorf("%q is read as something guarded: %v", text, ok)
		}
	}
}

// Whatever an agent writes as a target is read to its end, and what is guarded when it
// is spelled as it should be is guarded then.
func FuzzSpelling(f *testing.F) {
	g := guardOf(f, "AGENTS.md", "**/NOTES.md")
	for _, s := range []string{"\u200b/x", "%E2%80%8B/x", "docs:\u00ad/x", "\uff0f/x", "a/../AGENTS.md", `a\NOTES.md`, "%%%", "file:///x", "\xff/\x00", "//"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		g.FindSpelling(0, text)
		if o := corpus.Name("work", text); o.Valid() {
			at, found := g.Find([]corpus.Object{o})
			found = found && at.Route != "parent" // that a directory holds something no spelling tells
			if _, spelled := g.FindSpelling(0, text); found && !spelled {
				t.Errorf("%q is guarded as a name and not as a text", text)
			}
		}
	})
}
