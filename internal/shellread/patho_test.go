package shellread

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestPathoTime(t *testing.T) {
	n := MaxSource - 1000
	rep := func(s string) string { return strings.Repeat(s, n/len(s)) }
	for name, src := range map[string]string{
		"parens": rep("("), "subst": rep("$("), "dq": rep("\"$("), "brace": rep("{ "), "bracelit": "a " + rep("{"), "bracecomma": "a {" + rep("a,") + "}", "brnest": "a " + rep("{a,"),
		"arith": "$((" + rep("("), "neg": "$((" + rep("-") + "1))", "not": rep("! "), "and": rep("a&&"), "pipe": rep("a|"), "if": rep("if "), "bq": rep("`"), "param": rep("${a:-"), "test": "[[ " + rep("! ") + "a ]]",
		"cmds": rep("a;"), "uniq": func() string {
			var b strings.Builder
			for i := 0; b.Len() < n-20; i++ {
				fmt.Fprintf(&b, "c%d x\n", i)
			}
			return b.String()
		}(),
		"consts": func() string {
			var b strings.Builder
			b.WriteString("A=" + strings.Repeat("x", 500) + "\n")
			for b.Len() < n-20 {
				b.WriteString("$A\n")
			}
			return b.String()
		}(),
		"constsplit": func() string {
			var b strings.Builder
			b.WriteString("A='" + strings.Repeat("x ", 250) + "'\n")
			for b.Len() < n-20 {
				b.WriteString("$A\n")
			}
			return b.String()
		}(),
		"constchain": func() string {
			var b strings.Builder
			b.WriteString("A0=x\n")
			for i := 1; b.Len() < n-40; i++ {
				fmt.Fprintf(&b, "A%d=$A%d$A%d\n", i, i-1, i-1)
			}
			return b.String()
		}(),
		"evals": rep("eval 'a b c d'\n"), "evalbig": "eval '" + rep("a b\n") + "'", "evalconst": func() string {
			var b strings.Builder
			b.WriteString("A='" + strings.Repeat("x;", 250) + "'\n")
			for b.Len() < n-20 {
				b.WriteString("eval $A\n")
			}
			return b.String()
		}(),
		"funcs": func() string {
			var b strings.Builder
			for i := 0; b.Len() < n-40; i++ {
				fmt.Fprintf(&b, "f%d() { f%d; }\n", i, i+1)
			}
			return b.String() + "f0\n"
		}(),
		"hdocs": rep("cat <<A\nx\nA\n"), "redirs": "a " + rep(">b "), "quotes": rep("a 'b' "), "dollar": rep("$a "), "comments": rep("#\n"), "brackets": rep("[a"), "backslash": rep("\\"), "spaces": rep(" "), "globs": rep("*"), "tilde": rep("~ "),
		"words": "git " + rep("x "), "sudos": rep("sudo "), "envs": rep("env A=1 "), "cmdsubst": rep("a $(b)\n"), "casepat": "case a in " + rep("b|") + "c) ;; esac", "elif": "if a; then b; " + rep("elif a; then b; ") + "fi",
		"xargs": rep("xargs "), "shc": strings.Repeat("sh -c \"", 100000), "arr": "a=(" + rep("b ") + ")", "arithplus": "$((" + rep("1+") + "1))", "loops": rep("for a in b; do c; done\n"), "cd": rep("cd a\n"), "paths": "cat " + rep("a/"), "dots": "cat " + rep("../"),
	} {
		fmt.Println("START", name)
		start := time.Now()
		p := Script("x.sh", []byte(src))
		d := time.Since(start)
		start = time.Now()
		q := Markdown("x.md", "```sh\n"+src[:len(src)-10], 1)
		d2 := time.Since(start)
		if d > 300*time.Millisecond || d2 > 300*time.Millisecond {
			fmt.Printf("%-12s %8v %d | md %8v %d  %.100s\n", name, d.Round(time.Millisecond), len(p), d2.Round(time.Millisecond), len(q), p[0].Why)
		}
	}
}
