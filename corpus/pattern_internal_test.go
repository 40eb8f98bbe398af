package corpus

import (
	"strings"
	"testing"
)

// No pattern names what fits none of its edges.
func TestEdges(t *testing.T) {
	names := []string{""}
	for from := 0; len(names) < 20_000; {
		longer := names[from:]
		from = len(names)
		for _, name := range longer {
			for _, more := range []string{"a", "b", "/b", ":", "*", `\`, ".", " ", "\xff", "\u00e9", "\u200b", "\ufffd"} {
				names = append(names, name+more)
			}
		}
	}
	mutants := map[string]func(string) edges{
		"a slash after **": func(s string) edges { return edges{"", s[strings.LastIndexByte(s, '*')+1:]} },
		"an escape":        func(s string) edges { return edges{s[:max(0, strings.IndexByte(s, '*'))], ""} },
		"the corpus":       func(s string) edges { return edges{strings.TrimRight(s, "*/ab"), ""} },
	}
	noticed, named := map[string]bool{}, 0
	for _, text := range []string{
		"a", "a/b", "a*", "*b", "a*b", "*", "**", "**/b", "**/a/b", "a/**", "a/**/b", "a/*/**/b", "*/*", "work:a:b", "work:a:*/b", `a\*b`, `*\\b`, "\u00e9*", "**/*.b",
	} {
		p, err := ParsePatterns([]string{text})
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names[1:] {
			if !p.covers(name) {
				continue
			}
			named++
			if !p.edges[0].fit(name) {
				t.Errorf("%q is named by %q and does not fit %q", name, text, p.edges)
			}
			for mutant, of := range mutants {
				noticed[mutant] = noticed[mutant] || !of(text).fit(name)
			}
		}
	}
	for mutant := range mutants {
		if !noticed[mutant] {
			t.Errorf("edges that are too narrow for %s are not noticed", mutant)
		}
	}
	if named < 1000 {
		t.Errorf("only %d names are named", named)
	}
}

func BenchmarkNames(b *testing.B) {
	p, err := ParsePatterns([]string{".git/**", "**/*.swp", "**/.DS_Store", "build/**"})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if p.Names("reports/2024/summary-of-the-quarter.md") {
			b.Fatal("it is named")
		}
	}
}
