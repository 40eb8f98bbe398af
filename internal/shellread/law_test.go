package shellread

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"
	"pgregory.net/rapid"

	"github.com/iff-run/iff/capability"
	"github.com/iff-run/iff/internal/visible"
)

// lawful says what is wrong with a list of proposals, whatever was read.
func lawful(ps []Proposal, file string, lines int) error {
	seen := map[string]bool{}
	for i, p := range ps {
		g, err := capability.ParseGrant(p.Grant)
		switch {
		case err != nil:
			return fmt.Errorf("%q: %w", p.Grant, err)
		case g.String() != p.Grant || seen[p.Grant]:
			return fmt.Errorf("%q is not canonical, or there twice", p.Grant)
		case p.File != file || p.Line < 0 || p.Line > lines:
			return fmt.Errorf("%+v is not in the file", p)
		case p.Why == "" || hidden(p.Why):
			return fmt.Errorf("%q is not one printable line", p.Why)
		case i > 0 && (ps[i-1].Line > p.Line || ps[i-1].Line == p.Line && ps[i-1].Grant >= p.Grant):
			return fmt.Errorf("%+v is out of order", p)
		}
		seen[p.Grant] = true
	}
	if len(ps) > MaxProposals {
		return fmt.Errorf("%d proposals", len(ps))
	}
	return nil
}

// hidden reports whether some of s would not be seen.
func hidden(s string) bool {
	for range visible.Spots(s) {
		return true
	}
	return false
}

// instruction says what is wrong with proposals from instructions.
func instruction(ps []Proposal) error {
	for _, p := range ps {
		if class, _, _ := strings.Cut(p.Grant, "("); class != "spawn.proc" && class != "net.egress" {
			return fmt.Errorf("%q from instructions", p.Grant)
		}
	}
	return nil
}

func bareIsNotStatic(ps []Proposal) error {
	for _, p := range ps {
		if !strings.Contains(p.Grant, "(") && p.Static {
			return fmt.Errorf("%+v covers nothing and is said to be static", p)
		}
	}
	return nil
}

func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// soup is text that is nearly shell.
func soup() *rapid.Generator[string] {
	atoms := []string{
		"git", "rm", "curl", " https://a.io/x", " ", " ", "\n", "\n", ";", "&&", "||", "|", "&", "(", ")", "{ ", "; }", "$(", "`", "\"", "'", "\\", "\\\n", "# x \\\n",
		"f() ", "f", "V=rm\n", "$V", "\"$V\"", "${V:-x}", "eval ", "sh -c ", "sudo ", "xargs ", "env A=1 ", "if ", "then ", "fi\n", "for i in ", "do ", "done\n", "case x in x) ", ";; esac\n",
		">", ">>", "<", "<<E\n", "\nE\n", "2>&1", "x", "a/b", "../c", "/etc", "~", "*", "[a]", "{a,b}", "$'\\x41'", "é", "\u202e", "\x00", "\xff", "<id>", "```sh\n", "```\n", "$ ", "-", "--", "-c", "=",
	}
	return rapid.Map(rapid.SliceOfN(rapid.SampledFrom(atoms), 0, 40), func(a []string) string { return strings.Join(a, "") })
}

func TestLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		source := soup().Draw(t, "source")
		lines := 1 + strings.Count(source, "\n")
		ps := Script("d/x.sh", []byte(source))
		if err := first(lawful(ps, "d/x.sh", lines), bareIsNotStatic(ps)); err != nil {
			t.Fatal(err)
		}
		if len(ps) == 0 || !slices.Equal(ps, Script("d/x.sh", []byte(source))) {
			t.Fatal("not the same twice")
		}
		md := Markdown("S", "```sh\n"+source, 3)
		if err := first(lawful(md, "S", lines+3), instruction(md), bareIsNotStatic(md)); err != nil {
			t.Fatal(err)
		}
		tools := Tools("S", []Tool{{source, 7}, {"Bash(" + source + ")", 8}, {"Read(" + source + ")", 9}, {"WebFetch(domain:" + source + ")", 1}})
		if err := lawful(tools, "S", 9); err != nil {
			t.Fatal(err)
		}
	})
}

// TestLinesShift: so many lines above move every proposal down so many lines.
func TestLinesShift(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		source := rapid.SampledFrom(evasions()).Draw(t, "source")
		n := rapid.IntRange(1, 5).Draw(t, "n")
		want := body(source)
		for i := range want {
			want[i].Line += n
		}
		if got := body(strings.Repeat("\n", n) + source); strings.Join(list(got), " ") != strings.Join(list(want), " ") {
			t.Fatalf("got %q, want %q", list(got), list(want))
		}
	})
}

// TestDisguises: however a command is wrapped, its reading says so.
func TestDisguises(t *testing.T) {
	quoted := func(t *rapid.T, s string) string {
		q, err := syntax.Quote(s, syntax.LangBash)
		if err != nil {
			t.Fatal(err)
		}
		return q
	}
	wraps := map[string]func(*rapid.T, string) string{
		"if":       func(_ *rapid.T, s string) string { return "if false; then " + s + "\nfi" },
		"else":     func(_ *rapid.T, s string) string { return "if true; then :; else " + s + "\nfi" },
		"subshell": func(_ *rapid.T, s string) string { return "(" + s + "\n)" },
		"subst":    func(_ *rapid.T, s string) string { return "x=$(" + s + "\n)" },
		"quoted":   func(_ *rapid.T, s string) string { return "echo \"a $(" + s + "\n) b\"" },
		"function": func(_ *rapid.T, s string) string { return "f() {\n" + s + "\n}\nf" },
		"later":    func(_ *rapid.T, s string) string { return "g() {\n" + s + "\n}\nh() { g; }\nh" },
		"loop":     func(_ *rapid.T, s string) string { return "for i in 1 2; do " + s + "\ndone" },
		"case":     func(_ *rapid.T, s string) string { return "case x in\nx) " + s + "\n;;\nesac" },
		"pipe":     func(_ *rapid.T, s string) string { return "{\n" + s + "\n} | cat" },
		"process":  func(_ *rapid.T, s string) string { return "cat <(" + s + "\n)" },
		"heredoc":  func(_ *rapid.T, s string) string { return "cat <<E9\n$(" + s + "\n)\nE9" },
		"array":    func(_ *rapid.T, s string) string { return "a=($(" + s + "\n))" },
		"test":     func(_ *rapid.T, s string) string { return "[[ -n $(" + s + "\n) ]]" },
		"eval":     func(t *rapid.T, s string) string { return "eval " + quoted(t, s) },
		"sh":       func(t *rapid.T, s string) string { return "sh -c " + quoted(t, s) },
		"bash":     func(t *rapid.T, s string) string { return "env A=1 bash -ec " + quoted(t, s) },
		"here":     func(t *rapid.T, s string) string { return "bash <<< " + quoted(t, s) },
		"trap":     func(t *rapid.T, s string) string { return "trap " + quoted(t, s) + " EXIT" },
		"alias":    func(t *rapid.T, s string) string { return "alias ls=" + quoted(t, s) },
		"variable": func(t *rapid.T, s string) string { return "X=" + quoted(t, s) + "\neval \"$X\"" },
		"xargs":    func(t *rapid.T, s string) string { return "echo | xargs sh -c " + quoted(t, s) },
		"comment":  func(_ *rapid.T, s string) string { return "echo # \\\n" + s },
	}
	names := make([]string, 0, len(wraps))
	for name := range wraps {
		names = append(names, name)
	}
	slices.Sort(names)
	rapid.Check(t, func(t *rapid.T) {
		source := rapid.SampledFrom([]string{"rm -rf x", `\rm x`, "r''m x", "command rm x", "sudo rm x", "$'r\\x6d' x", "{rm,x}"}).Draw(t, "command")
		for _, name := range rapid.SliceOfN(rapid.SampledFrom(names), 0, 5).Draw(t, "wraps") {
			source = wraps[name](t, source)
		}
		if ps := body(source); !catches(ps) {
			t.Fatalf("missed: %q", list(ps))
		}
	})
}
