package shellread

import (
	"strings"
	"testing"
)

func FuzzScript(f *testing.F) {
	for _, source := range evasions() {
		f.Add("x.sh", source)
	}
	f.Add("x.sh", "env $'BASH_FUNC_\\x01=' x")
	f.Add("0", "\\\x00")
	f.Add("0", "0\\\r")
	f.Add("d/x.zsh", "#!/bin/zsh\nprint ${(f)a}")
	f.Fuzz(func(t *testing.T, name, source string) {
		lines := 1 + strings.Count(source, "\n")
		ps := Script(name, []byte(source))
		if err := first(lawful(ps, name, lines), bareIsNotStatic(ps)); err != nil {
			t.Fatal(err)
		}
		if len(ps) == 0 {
			t.Fatal("not even the script itself")
		}
		// A command at the end, outside of everything, is never lost: either
		// it is read, or the script is said not to parse.
		const last = "\nzz-last-command\n"
		found := strings.Contains(ps[0].Why, "does not parse")
		for _, p := range Script(name, []byte(source+last)) {
			found = found || strings.HasPrefix(p.Grant, "spawn.proc(zz-last-command") || !p.Static
		}
		if !found && !hides(source) {
			t.Fatalf("the last command is lost: %q", list(Script(name, []byte(source+last))))
		}
	})
}

// hides reports whether a source may end inside of something that takes the
// next line in, or may have made a function of the name.
func hides(source string) bool {
	return strings.Contains(source, "<<") || strings.Contains(source, "zz-") || strings.HasSuffix(source, `\`)
}

func FuzzMarkdown(f *testing.F) {
	for _, source := range evasions() {
		f.Add("text\n```bash\n"+source+"\n```\n", 1)
	}
	f.Add("```console\n$ a <b> \\\n> c\n```", 5)
	f.Fuzz(func(t *testing.T, body string, firstLine int) {
		firstLine = min(max(firstLine, 1), 1000)
		ps := Markdown("S", body, firstLine)
		if err := first(lawful(ps, "S", firstLine+strings.Count(body, "\n")), instruction(ps), bareIsNotStatic(ps)); err != nil {
			t.Fatal(err)
		}
	})
}

func FuzzTools(f *testing.F) {
	for _, text := range []string{"Read", "Bash(git:*)", "Bash(a\\ b *)", "Read(a/**)", "WebFetch(domain:a.io)", "mcp__a__b", "(", "Bash(*", "Edit(:*)"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		ps := Tools("S", []Tool{{text, 1}})
		if err := lawful(ps, "S", 1); err != nil {
			t.Fatal(err)
		}
		if len(ps) != 1 && strings.TrimSpace(text) != "" || len(ps) > 1 {
			t.Fatalf("%d proposals for one entry", len(ps))
		}
	})
}

func FuzzKind(f *testing.F) {
	f.Add("a.sh", "#!/bin/sh\n", true)
	f.Add("a", "#!/usr/bin/env -S A=1 python3\n", false)
	f.Fuzz(func(t *testing.T, name, head string, executable bool) {
		kind := Kind(name, []byte(head), executable)
		if kind == "shell" && (strings.HasPrefix(head, "\x7fELF") || strings.HasSuffix(name, ".py")) {
			t.Fatal("what is not shell would be read as shell")
		}
		if kind == "data" {
			t.Fatal("an inner word")
		}
	})
}
