package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// models is an endpoint that speaks chat, and says one thing after the other.
type models struct {
	mu     sync.Mutex
	script []string
	asked  int
	deed   func() // done at every request; nil for nothing
}

// ServeHTTP answers with the next of the script, and at its end that nothing is to be
// done.
func (m *models) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.deed != nil {
		m.deed()
	}
	w.Header().Set("Content-Type", "application/json")
	text := `{"id": "x", "object": "chat.completion", "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "Done."}}]}`
	if m.asked++; len(m.script) > 0 {
		text, m.script = m.script[0], m.script[1:]
	}
	if text == "html" {
		w.Header().Set("Content-Type", "text/html")
	}
	fmt.Fprint(w, text)
}

// wants is an answer that calls a tool.
func wants(t *testing.T, tool string, arguments map[string]any) string {
	t.Helper()
	args, err := json.Marshal(arguments)
	if err != nil {
		t.Fatal(err)
	}
	said, err := json.Marshal(map[string]any{"id": "x", "object": "chat.completion", "choices": []any{map[string]any{"index": 0, "finish_reason": "tool_calls", "message": map[string]any{
		"role": "assistant", "content": nil, "tool_calls": []any{map[string]any{"id": "c1", "type": "function", "function": map[string]any{"name": tool, "arguments": string(args)}}},
	}}}})
	if err != nil {
		t.Fatal(err)
	}
	return string(said)
}

// modelHome is a home over notes, whose base manifest grants the way to a host if
// granted says so.
func modelHome(t *testing.T, host string, granted bool) (home, notes string) {
	t.Helper()
	home, err := makeHome(t)
	if err != nil {
		t.Fatal(err)
	}
	notes = filepath.Join(t.TempDir(), "notes")
	pass := filepath.Join(t.TempDir(), "pass")
	base := filepath.Join(home, "base", "skill.iff.json")
	text, err := os.ReadFile(base)
	if granted {
		text = []byte(strings.Replace(string(text), `"net.egress"`, fmt.Sprintf("%q", "net.egress("+host+")"), 1))
	}
	more := fmt.Sprintf("\n[corpus.work]\nroot = %q\nlabel = \"PUBLIC\"\n\n[gate]\nask = \"inbox\"\n\n[[net.host]]\nhost = %q\nlabel = \"PUBLIC\"\nprivate = true\n", notes, host)
	f, e := os.OpenFile(filepath.Join(home, "iff.toml"), os.O_APPEND|os.O_WRONLY, 0)
	if e == nil {
		_, e = f.WriteString(more)
		e = errors.Join(e, f.Close())
	}
	err = errors.Join(err, e, os.WriteFile(base, text, 0o600), os.WriteFile(pass, []byte("correct horse\n"), 0o600), os.MkdirAll(notes, 0o755))
	for i := range 3 {
		err = errors.Join(err, os.WriteFile(filepath.Join(notes, fmt.Sprintf("n%d.md", i)), []byte("n\n"), 0o644))
	}
	if err != nil {
		t.Fatal(err)
	}
	if granted {
		var out strings.Builder
		if code := run(t.Context(), []string{"skill", "sign", "--home", home, "--edited", "--passphrase-file", pass, filepath.Join(home, "base")}, nil, &out, &out); code != exitHolds {
			t.Fatalf("sign the base manifest: exit %d: %s", code, out.String())
		}
	}
	return home, notes
}

// TestEnsembleModel has a model act that says nonsense, and what would do harm to who
// reads it.
func TestEnsembleModel(t *testing.T) {
	m := &models{script: []string{
		wants(t, "delete_file", map[string]any{"path": "n0.md"}),
		wants(t, "write_file", map[string]any{"path": "\x1b]0;owned\a\u202e.md", "content": "\x1b[2J"}),
		"html", "{", wants(t, "launch", nil), wants(t, "delete_file", map[string]any{"path": "../../etc/passwd"}),
	}}
	server := httptest.NewServer(m)
	defer server.Close()
	host := strings.TrimPrefix(server.URL, "http://")
	home, notes := modelHome(t, host, true)
	room := t.TempDir()
	play := func(more ...string) (code int, stdout, stderr string) {
		var out, err strings.Builder
		args := append([]string{"ensemble", "run", "--home", home, "--agents", "2", "--rounds", "4", "--model", "chat", "--endpoint", server.URL + "/v1", "--name", "tiny", "--dir", room}, more...)
		code = run(t.Context(), args, nil, &out, &err)
		return code, out.String(), err.String()
	}
	code, text, problem := play()
	if code != exitHolds || problem != "" {
		t.Fatalf("exit %d: %s%s", code, text, problem)
	}
	for _, want := range []string{"driven by the model tiny", "fs.write.irrev delete n0.md", "person: approve", "round 4  PASS", "--model chat --endpoint " + server.URL + "/v1 --name tiny"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not said:\n%s", want, text)
		}
	}
	if i := strings.IndexFunc(text, func(r rune) bool { return r < ' ' && r != '\n' || r == '\u202e' || r == 0x9b }); i >= 0 {
		t.Errorf("byte %d acts on a terminal: %q", i, text)
	}
	if _, err := os.Stat(filepath.Join(notes, "n0.md")); err != nil {
		t.Errorf("the corpus: %v", err)
	}
	m.script = []string{"html", wants(t, "delete_file", map[string]any{"path": "n1.md"})}
	code, text, _ = play("--json")
	var got ensembleRunJSON
	if err := json.Unmarshal([]byte(text), &got); err != nil || code != exitHolds {
		t.Fatalf("exit %d: %v: %s", code, err, text)
	}
	if a, b := got.Agents[0], got.Agents[1]; a.Malformed != 1 || a.Nothing != 3 || b.Calls != 1 || b.Nothing != 3 || len(got.Rounds) != 4 {
		t.Errorf("%+v", got.Agents)
	}
	m.deed = func() { // beside iff, while the agents act
		there, _ := filepath.Glob(filepath.Join(room, "iff-trial-*", "corpus", "n2.md"))
		for _, name := range there {
			if err := os.WriteFile(name, []byte("beside\n"), 0o644); err != nil {
				t.Error(err)
			}
		}
	}
	code, text, _ = play()
	if code != exitDoesNot || !strings.Contains(text, "round 1  FAIL") || !strings.Contains(text, "bypass  work/n2.md") || !strings.Contains(text, "\nFAIL  4 rounds") {
		t.Errorf("exit %d: %s", code, text)
	}
}

// TestEnsembleModelGranted asks only an endpoint that the base manifest grants, with a
// key that nobody else reads.
func TestEnsembleModelGranted(t *testing.T) {
	m := new(models)
	server := httptest.NewServer(m)
	defer server.Close()
	host := strings.TrimPrefix(server.URL, "http://")
	home, _ := modelHome(t, host, false)
	open := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(open, []byte("sk-0123456789abcdef\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		args   []string
		reason string
	}{
		"not granted": {[]string{"--endpoint", server.URL + "/v1"}, "undeclared"}, "not a url": {[]string{"--endpoint", "ftp://x"}, "model-options"},
		"a slash": {[]string{"--endpoint", server.URL + "/v1/"}, "model-options"},
	} {
		var out, err strings.Builder
		code := run(t.Context(), slices.Concat([]string{"ensemble", "run", "--json", "--home", home, "--model", "chat", "--name", "tiny", "--key-file", open}, c.args), nil, &out, &err)
		if code == exitHolds || !strings.Contains(out.String(), `"reason": "`+c.reason+`"`) || strings.Contains(out.String()+err.String(), "sk-0123") {
			t.Errorf("%s: exit %d: %s%s", name, code, out.String(), err.String())
		}
	}
	if m.asked > 0 {
		t.Errorf("the endpoint was asked %d times", m.asked)
	}
}

func TestShellWord(t *testing.T) {
	for word, want := range map[string]string{"a/b-1.c": "a/b-1.c", "": "''", "a b": "'a b'", "it's": `'it'\''s'`, "\x1b[2J": `'\x{1b}[2J'`, "$(x)": "'$(x)'"} {
		if got := shellWord(word); got != want && !strings.Contains(word, "\x1b") || strings.ContainsRune(got, 0x1b) {
			t.Errorf("%q: %s and not %s", word, got, want)
		}
	}
}
