package shellread

import (
	"fmt"
	"strings"
	"testing"
)

// hostile are sources of about n bytes that are made to be costly: to nest, to
// multiply, to be read again and again.
func hostile(n int) map[string]string {
	rep := func(s string) string { return strings.Repeat(s, n/len(s)) }
	lines := func(head, format string, args func(i int) []any) string {
		var b strings.Builder
		b.WriteString(head)
		for i := 1; b.Len() < n-64; i++ {
			fmt.Fprintf(&b, format, args(i)...)
		}
		return b.String()
	}
	none := func(int) []any { return nil }
	return map[string]string{
		"parentheses": rep("("), "substitutions": rep("$("), "quoted": rep("\"$("), "blocks": rep("{ "), "arithmetic": "$((" + rep("("),
		"signs": "$((" + rep("-") + "1))", "sums": "$((" + rep("1+") + "1))", "not": rep("! "), "backquotes": rep("`"), "defaults": rep("${a:-"), "if": rep("if "),
		"tests": "[[ " + rep("! ") + "a ]]", "lists": rep("a&&") + "a", "pipes": rep("a|") + "a", "elif": "if a; then b; " + rep("elif a; then b; ") + "fi",
		"braces": "a " + rep("{"), "alternatives": "a {" + rep("a,") + "}", "products": "a " + rep("{a,b}"), "nested braces": "a " + rep("{a,"), "commas": "a {" + rep("a,"),
		"commands": rep("a;"), "evals": rep("eval 'a b'\n"), "eval": "eval '" + rep("a\n") + "'", "words": "git " + rep("x "), "sudos": rep("sudo ") + "x", "envs": rep("env A=1 ") + "x",
		"xargs": rep("xargs ") + "x", "find": "find . " + rep("-exec a ; "), "shells": rep("sh -c \""), "redirects": "a " + rep(">b "), "paths": "cat " + rep("a/"), "parents": "cat " + rep("../"),
		"cd": "set -e\n" + rep("cd a\n"), "comments": rep("# \\\n"), "globs": rep("*"), "brackets": "a " + rep("[a"), "tildes": rep("~ "), "here": rep("cat <<A\nx\nA\n"),
		"constants":  lines("A="+strings.Repeat("x", maxConstant)+"\n", "$A\n", none),
		"split":      lines("A='"+strings.Repeat("x ", maxConstant/2)+"'\n", "$A\n", none),
		"doubling":   lines("A0=x\n", "A%d=$A%d$A%d\n", func(i int) []any { return []any{i, i - 1, i - 1} }),
		"functions":  lines("", "f%d() { f%d; }\n", func(i int) []any { return []any{i, i + 1} }) + "f1\n",
		"evaluated":  lines("A='"+strings.Repeat("x;", maxConstant/2)+"'\n", "eval $A\n", none),
		"programs":   lines("", "c%d x\n", func(i int) []any { return []any{i} }),
		"fences":     rep("```sh\na\n```\n"),
		"unparsable": rep("a\n)\n"), "apostrophes": rep("a'\n"),
	}
}

// TestHostile: none of them is fatal, and each keeps to the laws. What nests too
// deeply is said to.
func TestHostile(t *testing.T) {
	for name, source := range hostile(MaxSource / 64) {
		ps := Script("x.sh", []byte(source))
		lines := 1 + strings.Count(source, "\n")
		md := Markdown("S", "```sh\n"+source, 1)
		if err := first(lawful(ps, "x.sh", lines), lawful(md, "S", lines+1)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, name := range []string{"parentheses", "arithmetic", "signs", "not", "if", "sums", "lists", "elif"} {
		for _, p := range Script("x.sh", []byte(hostile(MaxSource - 1000)[name])) {
			if p.Static || !strings.Contains(p.Why, "does not parse") {
				t.Errorf("%s: %+v", name, p)
			}
		}
	}
}

func TestTooLarge(t *testing.T) {
	for _, source := range []string{strings.Repeat("#", MaxSource+1), strings.Repeat("\n", MaxLines+1)} {
		if ps := Script("x.sh", []byte(source)); len(ps) != 1 || ps[0].Static || !strings.Contains(ps[0].Why, "at most") {
			t.Errorf("%+v", ps)
		}
	}
	if ps := Script("x.sh", []byte(strings.Repeat("#", MaxSource))); !ps[0].Static {
		t.Errorf("%+v", ps)
	}
}
