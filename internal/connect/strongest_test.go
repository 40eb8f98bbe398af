package connect

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// TestStrongest: managed where its files can be written, and the others with it only
// where they would open the agent all the same; what is chosen closes it.
func TestStrongest(t *testing.T) {
	weak, all := []Level{User, Project}, []Level{Managed, User, Project}
	for _, c := range []struct {
		agent, path, text string
		want              []Level
	}{
		{"", "", "", []Level{Managed}},
		{"", "etc", "no directory", weak},
		{"opencode", "project/opencode.json", `{"permission": "allow"}`, []Level{Managed}},
		{"opencode", "project/opencode.json", `{"agent": {"mine": {"permission": "allow"}}}`, all},
		{"codex", "home/.codex/config.toml", "web_search = \"live\"\n", all},
		{"gemini", "etc/gemini-cli/policies", "no directory", weak},
	} {
		for _, a := range Agents() {
			if c.agent != "" && a.Name != c.agent {
				continue
			}
			w := newWorld(t)
			if c.path == "etc" {
				w.must(os.Remove(w.Etc))
			}
			if c.path != "" {
				w.put(c.path, c.text)
			}
			got := a.Strongest(w.Place)
			if !slices.Equal(got, c.want) {
				t.Errorf("%s with %s %s: %v, want %v", a.Name, c.path, c.text, got, c.want)
			}
			w.must(w.connect(a, nil, got...))
			for _, f := range Check(a, w.Place, got) {
				if f.Status == "no" {
					t.Errorf("%s with %s, closed at %v: %s", a.Name, c.path, got, f.What)
				}
			}
		}
	}
}

// TestStrongestAsOther: a directory that is not ours to write is left alone. Root may
// write all, so there it is a path that nobody can make.
func TestStrongestAsOther(t *testing.T) {
	w := newWorld(t)
	w.must(os.Chmod(w.Etc, 0o500))
	want := []Level{User, Project}
	if os.Geteuid() == 0 {
		want = []Level{Managed}
	}
	for _, a := range Agents() {
		if got := a.Strongest(w.Place); !slices.Equal(got, want) {
			t.Errorf("%s, as user %d: %v, want %v", a.Name, os.Geteuid(), got, want)
		}
		w := newWorld(t)
		w.Etc = w.iff() + "/iff.toml/etc"
		if got := a.Strongest(w.Place); !slices.Equal(got, []Level{User, Project}) {
			t.Errorf("%s below a file: %v", a.Name, got)
		}
		if !strings.HasPrefix(a.ManagedDir(w.Place), w.Etc+"/") {
			t.Errorf("%s is managed in %s", a.Name, a.ManagedDir(w.Place))
		}
	}
}
