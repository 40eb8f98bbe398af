package home_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/iff-run/iff/internal/home"
)

// A control file in a corpus is observed there and nowhere else, by way of a link
// too: a call that a person approved would else be found to be tampering.
func TestControlObserverLeavesCorporaAlone(t *testing.T) {
	user, dir := t.TempDir(), newHome(t)
	t.Setenv("HOME", user)
	must(t, os.MkdirAll(filepath.Join(user, "corpus/.claude"), 0o755))
	must(t, os.Symlink("corpus", filepath.Join(user, "way")))
	config := filepath.Join(dir, "iff.toml")
	text, err := os.ReadFile(config)
	must(t, err)
	for files, want := range map[string]string{
		``: "", `"~/corpus/.claude"`: "", `"~/way/.claude/settings.json"`: "", `"~/corpus/new/x"`: "",
		`"~/.claude.json#mcpServers"`: "all of ~/.claude.json but mcpServers", `"~/corpus/.claude", "~/.qwen#a"`: "all of ~/.qwen but a", `"~/corpuses#a"`: "all of ~/corpuses but a",
	} {
		more := "[corpus.work]\nroot = \"~/corpus\"\nlabel = \"PUBLIC\"\n[guard]\nhome = [" + files + "]\n"
		must(t, os.WriteFile(config, append([]byte(nil), string(text)+more...), 0o600))
		h := open(t, dir, home.Read)
		o, err := h.ControlObserver()
		must(t, err)
		must(t, h.Close())
		if (o != nil) != (want != "") || o != nil && !strings.Contains(strings.Join(o.Blind(), "\n"), want) {
			t.Errorf("%s: %v", files, o)
		}
	}
}
