package shellread

import (
	"fmt"
	"math/rand"
	"os/exec"
	"strings"
	"testing"
)

func TestZZDiff(t *testing.T) {
	r := rand.New(rand.NewSource(7))
	atoms := []string{"a", "b", "rm", "'", "\"", "\\", "$'", "$\"", "{", "}", ",", "..", "\\x41", "\\n", "\\t", "\\101", "\\cA", "$A", "${A}", "\"$A\"", "$B", "\"$B\"", "$E", "\"$E\"", " ", "=", "-", "1", "3", "~x", "#", "\\u41", "\\U41", "\\e", "\\\n", "`", "é"}
	n, bad := 0, 0
	for i := 0; i < 60000 && n < 4000; i++ {
		var b strings.Builder
		for j := 0; j < 1+r.Intn(9); j++ {
			b.WriteString(atoms[r.Intn(len(atoms))])
		}
		w := b.String()
		src := "A=foo\nB='x y'\nE=\nQ " + w + "\n"
		file, _, f := parse(src, anyShell()[:1])
		if f != nil || len(file.Stmts) != 4 {
			continue
		}
		wd := words{src: src}
		fa := newFacts(file, wd, &library{known: map[string]*facts{}}, 0)
		wd.facts = fa
		args := fa.words.arguments(file.Stmts[3])
		if args == nil { continue }
		var got []string
		ok := true
		for _, a := range args[1:] {
			s, lit := a.literal()
			ok = ok && lit
			got = append(got, s)
		}
		if !ok {
			continue
		}
		n++
		out, err := exec.Command("bash", "-f", "-c", "Q() { for x in \"$@\"; do printf '[%s]' \"$x\"; done; }\n"+src).Output()
		want := string(out)
		g := ""
		for _, s := range got {
			g += "[" + s + "]"
		}
		if err != nil || g != want {
			bad++
			if bad < 25 {
				fmt.Printf("%q got %q want %q err %v\n", w, g, want, err)
			}
		}
	}
	fmt.Println(n, bad)
}
