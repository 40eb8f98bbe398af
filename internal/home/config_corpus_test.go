package home

import (
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/internal/trusttest"
)

// configWith is a valid configuration with text behind it, and the number of the
// text's first line.
func configWith(t *testing.T, text string) ([]byte, int) {
	t.Helper()
	head, err := validConfig().format("PUBLIC")
	if err != nil {
		t.Fatal(err)
	}
	return append(head, text...), strings.Count(string(head), "\n") + 1
}

func TestCorpusErrorsNameLineAndField(t *testing.T) {
	const good = "[corpus.work]\nroot = \"/a\"\nlabel = \"PUBLIC\"\n"
	for name, c := range map[string]struct {
		text   string
		line   int // from the first of text
		says   string
		reason Reason
	}{
		"no root":            {"[corpus.work]\nlabel = \"PUBLIC\"\n", 0, "corpus.work.root: it is missing", ConfigInvalid},
		"relative root":      {"[corpus.work]\nlabel = \"PUBLIC\"\nroot = \"a\"\n", 2, "corpus.work.root", ConfigInvalid},
		"other user's root":  {"[corpus.work]\nlabel = \"PUBLIC\"\nroot = \"~me/a\"\n", 2, "corpus.work.root", ConfigInvalid},
		"root type":          {"[corpus.work]\nroot = 7\n", 1, "corpus.work.root", ConfigInvalid},
		"no label":           {"[corpus.work]\nroot = \"/a\"\n", 0, "corpus.work.label: there is none", CorpusLabel},
		"empty label":        {"[corpus.work]\nroot = \"/a\"\nlabel = \"\"\n", 2, "corpus.work.label: there is none", CorpusLabel},
		"name":               {good + "[corpus.My_Notes]\nroot = \"/b\"\nlabel = \"PUBLIC\"\n", 3, "small letters", ConfigInvalid},
		"name form":          {good + "[corpus.my_notes]\nroot = \"/b\"\nlabel = \"PUBLIC\"\n", 3, "corpus.my_notes", ConfigInvalid},
		"long name":          {"[corpus." + strings.Repeat("a", 33) + "]\nroot = \"/b\"\nlabel = \"PUBLIC\"\n", 0, "a-z, 0-9 and -", ConfigInvalid},
		"unknown setting":    {good + "owner = \"me\"\n", 3, "corpus.work.owner is not a setting", ConfigInvalid},
		"capitals":           {good + "Label = \"RESTRICTED\"\n", 3, "small letters", ConfigInvalid},
		"volatile":           {good + "volatile = [\"a\", \"/b\"]\n", 3, "corpus.work.volatile", ConfigInvalid},
		"volatile empty":     {good + "volatile = [\"\"]\n", 3, "corpus.work.volatile", ConfigInvalid},
		"volatile elsewhere": {good + "volatile = [\"other:a\"]\n", 3, "would be another corpus", ConfigInvalid},
		"path pattern":       {good + "[[corpus.work.path]]\npattern = \"a\"\nlabel = \"PUBLIC\"\n[[corpus.work.path]]\nlabel = \"PUBLIC\"\npattern = \"a//b\"\n", 8, "corpus.work.path.pattern", ConfigInvalid},
		"path without label": {good + "[[corpus.work.path]]\npattern = \"a\"\nlabel = \"PUBLIC\"\n[[corpus.work.path]]\npattern = \"b\"\n", 6, "corpus.work.path.label", CorpusLabel},
		"ask":                {"[gate]\nask = \"everybody\"\n", 1, "gate.ask", ConfigInvalid},
		"empty ask":          {"[gate]\nask = \"\"\n", 1, "gate.ask", ConfigInvalid},
		"timeout":            {"[gate]\ntimeout = \"500ms\"\n", 1, "gate.timeout", ConfigInvalid},
		"long timeout":       {"[gate]\ntimeout = \"24h1s\"\n", 1, "gate.timeout", ConfigInvalid},
		"call timeout":       {"[gate]\nask = \"inbox\"\ncall_timeout = \"-1m\"\n", 2, "gate.call_timeout", ConfigInvalid},
		"buffer":             {"[gate]\nbuffer = \"64MB\"\n", 1, "gate.buffer", ConfigInvalid},
		"small buffer":       {"[gate]\nbuffer = \"1023KiB\"\n", 1, "gate.buffer", ConfigInvalid},
		"large buffer":       {"[gate]\nbuffer = \"17GiB\"\n", 1, "gate.buffer", ConfigInvalid},
		"buffer number":      {"[gate]\nbuffer = 64\n", 1, "gate.buffer", ConfigInvalid},
		"guard":              {"[guard]\nfiles = [\"a\", \"../b\"]\n", 1, "guard.files", ConfigInvalid},
		"guard removed":      {"[guard]\nnone = true\n", 1, "guard.none is not a setting", ConfigInvalid},
		"long line":          {"# " + strings.Repeat("x", maxLine) + "\n", 0, "bytes, at most", ConfigInvalid},
	} {
		data, first := configWith(t, c.text)
		_, err := parseConfig(data)
		var e *Error
		if line := fmt.Sprintf("line %d", first+c.line); !errors.As(err, &e) || e.Reason != c.reason || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), line) {
			t.Errorf("%s: want %s, %s in: %v", name, line, c.says, err)
		}
	}
}

func TestCorpusLabelsAreOfTheScheme(t *testing.T) {
	data, first := configWith(t, "[corpus.work]\nroot = \"/a\"\nlabel = \"PUBLIC\"\n[[corpus.work.path]]\npattern = \"b\"\nlabel = \"COSMIC\"\n")
	c, err := parseConfig(data)
	if err != nil {
		t.Fatal(err)
	}
	err = c.resolve(trusttest.Scheme("default"))
	var e *Error
	if !errors.As(err, &e) || e.Reason != CorpusLabel || !strings.Contains(err.Error(), fmt.Sprintf("line %d: corpus.work.path.label: ", first+5)) {
		t.Error(err)
	}
	if got := c.Corpora[0].LabelOf("b"); !got.IsAbsent() {
		t.Errorf("the label of what has an unknown one is %v", got)
	}
}

func TestLabelOf(t *testing.T) {
	scheme := trusttest.Scheme("default")
	ranks := scheme.Data().Ranks
	low, mid, high := ranks[0], ranks[1], ranks[2]
	data, _ := configWith(t, fmt.Sprintf("[corpus.work]\nroot = \"/a\"\nlabel = %q\n[[corpus.work.path]]\npattern = \"secret\"\nlabel = %q\n"+
		"[[corpus.work.path]]\npattern = \"**/*.key\"\nlabel = %q\n[[corpus.work.path]]\npattern = \"secret/open\"\nlabel = %q\n", low, high, mid, low))
	c, err := parseConfig(data)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.resolve(scheme); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		".": low, "a": low, "secret": high, "secret/a/b": high, "secretly": low, "a.key": mid, "x/y/a.key": mid,
		"secret/a.key": high, "secret/open": high, "secret/open/x": high, "x/secret": low,
		"\xff": high, "a\xff/b": high, "dot.": high,
	} {
		if got := c.Corpora[0].LabelOf(path); got.Rank() != want {
			t.Errorf("%q: %s, want %s", path, got, want)
		}
	}
	if (CorpusConfig{}).LabelOf("a") != (CorpusConfig{}).Label {
		t.Error("the zero value has a label")
	}
}

func TestGateDefaultsAndSettings(t *testing.T) {
	data, _ := configWith(t, "")
	c, err := parseConfig(data)
	if want := (GateConfig{nil, 2 * time.Minute, 30 * time.Second, 64 << 20}); err != nil || !reflect.DeepEqual(c.Gate, want) || len(c.Corpora) != 0 {
		t.Errorf("%+v, %v", c.Gate, err)
	}
	data, _ = configWith(t, "[gate]\nask = \"inbox\"\ntimeout = \"24h\"\ncall_timeout = \"1s\"\nbuffer = \"16GiB\"\n")
	c, err = parseConfig(data)
	if want := (GateConfig{[]Ask{AskInbox}, 24 * time.Hour, time.Second, 16 << 30}); err != nil || !reflect.DeepEqual(c.Gate, want) {
		t.Errorf("%+v, %v", c.Gate, err)
	}
}

// What tells agents what to do is guarded wherever it lies, and no setting
// takes it out.
func TestGuarded(t *testing.T) {
	for _, text := range []string{"", "[guard]\nfiles = []\n", "[guard]\nfiles = [\"Makefile\", \"**/AGENTS.md\"]\n"} {
		data, _ := configWith(t, text)
		c, err := parseConfig(data)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{
			"AGENTS.md", "a/b/AGENTS.md", "CLAUDE.md", ".claude", ".claude/settings.json", "a/.claude/x", ".mcp.json", ".codex/config.toml",
			".qwen/settings.json", ".gemini/x", ".agents/skills/a/SKILL.md", ".opencode/x", "opencode.json", "a/opencode.jsonc", ".env", ".env.local",
			"skills/a/SKILL.md", "skills/a/skill.iff.json", ".git/hooks/pre-commit",
		} {
			if problem := unsafe(c); problem != "" {
				t.Fatalf("%q: %s", text, problem)
			}
			if !c.Guarded.Match(name) {
				t.Errorf("%q: %s is not guarded", text, name)
			}
		}
		for _, name := range []string{"a", "AGENTS.md.txt", "agents/x", "environment", "src/main.go"} {
			if c.Guarded.Match(name) {
				t.Errorf("%q: %s is guarded", text, name)
			}
		}
		if c.Guarded.Match("Makefile") != strings.Contains(text, "Makefile") {
			t.Errorf("%q: what the setting adds", text)
		}
	}
}

func TestDefaultVolatile(t *testing.T) {
	p, err := patterns(DefaultVolatile())
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{
		".git": true, ".git/index": true, "sub/.git/x": true, ".a.swp": true, "x/a~": true, "#a#": true, ".DS_Store": true, "~$a.docx": true, ".~lock.a.odt#": true,
		".gitignore": false, "a": false, "git": false, ".github/x": false, "a.swap": false,
	} {
		if p.Match(name) != want {
			t.Errorf("%s: %v", name, !want)
		}
	}
}

func TestExpandRoot(t *testing.T) {
	t.Setenv("HOME", "/home/somebody")
	for text, want := range map[string]string{
		"/a/b/": "/a/b", "/a/../b": "/b", "~/notes": "/home/somebody/notes", "/": "/", "~": "", "a": "", "./a": "", "": "", "/a\x00b": "",
	} {
		if got, err := expandRoot(text); got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
	t.Setenv("HOME", "")
	if got, err := expandRoot("~/notes"); err == nil {
		t.Errorf("without a home directory ~/ is %q", got)
	}
}

// Whatever is a root can be written into iff.toml and comes back.
func TestRootsSurviveBeingWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		root := "/" + rapid.StringMatching(`[a-z"'\\ \t\n#=\[\]é\x7f]{0,30}`).Draw(t, "root")
		plan, err := CorpusPlan{"work", root}.config()
		if err != nil {
			t.Fatal(err)
		}
		c := validConfig()
		c.Corpora = []CorpusConfig{plan}
		text, err := c.format("PUBLIC")
		if err != nil {
			t.Fatal(err)
		}
		got, err := parseConfig(text)
		if err != nil || len(got.Corpora) != 1 || got.Corpora[0].Root != plan.Root || !slices.Equal(got.Corpora[0].Volatile.Strings(), DefaultVolatile()) {
			t.Fatalf("%q became %+v, %v", root, got.Corpora, err)
		}
	})
}

func FuzzCorpusConfig(f *testing.F) {
	head, err := validConfig().format("PUBLIC")
	if err != nil {
		f.Fatal(err)
	}
	scheme := trusttest.Scheme("default")
	f.Add("[corpus.work]\nroot = \"/a\"\nlabel = \"PUBLIC\"\nvolatile = [\".git\"]\n[[corpus.work.path]]\npattern = \"b\"\nlabel = \"PUBLIC\"\n", "b/c")
	f.Add("[gate]\nask = \"inbox\"\nbuffer = \"1GiB\"\n[guard]\nfiles = [\"a\"]\n", ".")
	f.Add("corpus.work.root = '~/a'\n", "\xff")
	for _, c := range cases() {
		f.Add(c.text, "a")
	}
	f.Fuzz(func(t *testing.T, text, path string) {
		c, err := parseConfig(append(slices.Clip(head), text...))
		if err != nil || c.resolve(scheme) != nil {
			return
		}
		for _, o := range c.Corpora {
			got := o.LabelOf(path)
			if !o.Label.LessEq(got) || !scheme.Has(got) || !strings.HasPrefix(o.Root, "/") {
				t.Fatalf("%q: %s lies below the label of its corpus, or the root is not absolute: %+v", path, got, o)
			}
		}
		if !c.Guarded.Match("x/AGENTS.md") || c.Gate.Timeout < time.Second || c.Gate.Buffer < 1<<20 {
			t.Fatalf("%q is taken as %+v", text, c.Gate)
		}
	})
}

// unsafe says what no configuration may have, however it is written.
func unsafe(c Config) string {
	for _, u := range c.Upstreams {
		if (len(u.Command) > 0) == (u.URL != "") || u.Label.IsAbsent() || u.Timeout < time.Second {
			return fmt.Sprintf("an upstream is %+v", u)
		}
		for _, t := range u.Tools {
			if t.Capability == "fs.write.rev" || t.Label.IsAbsent() || t.Reach == "" || (t.Target == "") != (t.Capability == "tool.invoke") {
				return fmt.Sprintf("a tool is %+v", t)
			}
		}
	}
	for i, a := range c.Gate.Chain {
		if a == AskInbox && i < len(c.Gate.Chain)-1 || a == AskWebhook && c.Webhook == nil || a == AskPolicy && len(c.Policy.Files) == 0 {
			return fmt.Sprintf("who is asked is %v", c.Gate.Chain)
		}
	}
	for _, f := range c.Control {
		if !filepath.IsAbs(f.Path) || f.Path == "/" || !corpus.Name("iff-control", f.Name).Valid() {
			return fmt.Sprintf("a control file is %+v", f)
		}
	}
	if w := c.Webhook; w != nil && strings.HasPrefix(w.URL, "https") && w.Pin == "" && w.CA == "" {
		return "a webhook that nothing is known of"
	}
	if (c.Serve.AgentDir == "") != (len(c.Serve.Agents) == 0) || c.Serve.Connections < 1 {
		return fmt.Sprintf("sockets are %+v", c.Serve)
	}
	return ""
}
