package broker

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/iff-run/iff/capability"
)

const (
	irrev = `permit (principal, action == Action::"fs.write.irrev", resource) when { `
	net   = `permit (principal, action == Action::"net.egress", resource) when { `
	proc  = `permit (principal, action == Action::"spawn.proc", resource) when { `
	pay   = `permit (principal, action == Action::"pay", resource) when { `
	end   = ` };`
)

// letters is one permit for each first letter: together they are everything.
func letters() string {
	var b strings.Builder
	for a := 'a'; a <= 'z'; a++ {
		for c := range "abcdefghijklmnopqrstuvwxyz0123456789" {
			fmt.Fprintf(&b, `permit (principal, action == Action::"tool.invoke", resource) when { resource.name like "%c%c*" };`+"\n", a, "abcdefghijklmnopqrstuvwxyz0123456789"[c])
		}
	}
	return b.String()
}

var wildcards = map[string]string{
	"everything":            `permit (principal, action, resource);`,
	"a token":               `permit (principal, action == Action::"net.egress", resource);`,
	"a group":               `permit (principal, action in Action::"irreversible", resource is Tool);`,
	"in a set":              `permit (principal, action in [Action::"fs.read", Action::"publish"], resource);`,
	"action in when":        `permit (principal, action, resource) when { action == Action::"publish" };`,
	"for one agent":         `permit (principal == Agent::"ci", action == Action::"net.egress", resource);`,
	"for one skill":         irrev + `context.skill == "x"` + end,
	"by level":              irrev + `context.level == Level::"declared"` + end,
	"unless context":        `permit (principal, action == Action::"pay", resource) unless { context.skill == "x" };`,
	"all but probes":        irrev + `resource.path != "probe" && !(resource.path like "probe*")` + end,
	"unless probes":         `permit (principal, action == Action::"fs.write.irrev", resource) unless { resource.path like "probe*" };`,
	"like all":              irrev + `resource.path like "*"` + end,
	"like slashes":          irrev + `resource.path like "*/*/*/*" || resource.path like "*.*"` + end,
	"one letter":            irrev + `resource.path like "*e*" || resource.path like "*a*"` + end,
	"a beginning of paths":  irrev + `resource.path like "ab*"` + end,
	"a middle of paths":     irrev + `resource.path like "*src*"` + end,
	"a beginning of hosts":  net + `resource.name like "api.*"` + end,
	"a middle of hosts":     net + `resource.name like "*.com.*"` + end,
	"an end of hosts":       net + `resource.name like "*e.com"` + end,
	"addresses as names":    net + `resource.name like "1*.*.*.*"` + end,
	"a word of a line":      proc + `resource.line like "*git*"` + end,
	"a program alone":       proc + `resource.line like "git *"` + end,
	"one first letter":      irrev + `resource.path like "e*"` + end,
	"letters":               letters(),
	"the root":              `permit (principal, action == Action::"fs.write.irrev", resource in Path::".");`,
	"another root":          irrev + `resource in [Path::"a", Path::"other:."]` + end,
	"corpus":                irrev + `resource.corpus == "work"` + end,
	"or":                    irrev + `resource in Path::"tmp" || context.size < 10` + end,
	"or the rest":           irrev + `resource in Path::"tmp" || !(resource in Path::"tmp")` + end,
	"if":                    irrev + `if context.size < 10 then resource in Path::"tmp" else context.size > 20` + end,
	"if the rest":           irrev + `if resource in Path::"tmp" then true else true` + end,
	"hidden in a record":    irrev + `{"a": resource.path}.a != ""` + end,
	"same":                  irrev + `resource.path == resource.path` + end,
	"as the agent says":     irrev + `resource.path == context.op` + end,
	"listed by itself":      irrev + `[resource.path].contains(resource.path)` + end,
	"listed by the agent":   irrev + `[context.op].contains(resource.path)` + end,
	"greater":               net + `resource.port > 0` + end,
	"port":                  net + `resource.port == 443` + end,
	"top-level domain":      `permit (principal, action == Action::"net.egress", resource in Domain::"com");`,
	"top-level like":        net + `resource.name like "*.com"` + end,
	"top-level likes":       net + `resource.name like "*.com" || resource.name like "*.org"` + end,
	"all addresses":         net + `resource has address && resource.address.isInRange(ip("0.0.0.0/0"))` + end,
	"not one address":       net + `resource has address && !resource.address.isInRange(ip("10.0.0.0/8"))` + end,
	"has no address":        net + `!(resource has address)` + end,
	"argument":              proc + `resource.args.contains("-v") || resource.count < 3` + end,
	"line of blanks":        proc + `resource.line like "* *"` + end,
	"amount without limit":  pay + `resource.unit == "usd"` + end,
	"limit without unit":    pay + `resource.value.lessThan(decimal("5.0"))` + end,
	"at least":              pay + `resource.unit == "usd" && resource.value.greaterThan(decimal("5.0"))` + end,
	"limit by another way":  pay + `resource.unit == "usd" && (resource.value.lessThan(decimal("5.0")) || context.size > 3)` + end,
	"forbid does not help":  `permit (principal, action == Action::"publish", resource); forbid (principal, action == Action::"publish", resource) unless { resource.name == "x" };`,
	"server of any name":    `permit (principal, action == Action::"tool.invoke", resource) when { resource.server != "github" };`,
	"second of two":         irrev + `resource in Path::"tmp"` + end + "\n" + irrev + `context.changes == 1` + end,
	"first when is not all": `permit (principal, action, resource) when { true } when { resource is Name || resource in Path::"a" };`,
}

var ties = map[string]string{
	"in":            irrev + `resource in Path::"tmp"` + end,
	"scope":         `permit (principal, action == Action::"fs.write.irrev", resource in Path::"tmp");`,
	"exact":         `permit (principal, action == Action::"fs.write.irrev", resource == Path::"tmp/a");`,
	"is in":         `permit (principal, action, resource is Path in Path::"tmp");`,
	"other is in":   `permit (principal, action, resource) when { resource is Path && resource.path like "tmp/*" };`,
	"not not":       irrev + `!(resource.path != "tmp/a")` + end,
	"unless":        `permit (principal, action == Action::"fs.write.irrev", resource) unless { !(resource in Path::"tmp") || context.size > 10 };`,
	"list":          irrev + `["a", "b"].contains(resource.path)` + end,
	"places":        irrev + `resource in [Path::"a", Path::"b/c"]` + end,
	"both ways":     irrev + `if context.size < 10 then resource in Path::"tmp" else resource.path like "old/*"` + end,
	"one directory": irrev + `resource.path like "a/*"` + end,
	"extension":     irrev + `resource.path like "*.tmp"` + end,
	"domain":        `permit (principal, action == Action::"net.egress", resource in Domain::"example.com");`,
	"host":          `permit (principal, action == Action::"net.egress", resource == Host::"example.com:8443");`,
	"network":       net + `resource has address && resource.address.isInRange(ip("10.0.0.0/8"))` + end,
	"program":       proc + `resource.program == "git"` + end,
	"line":          proc + `resource.line like "git log *"` + end,
	"amount":        pay + `"usd" == resource.unit && !resource.value.greaterThan(decimal("5.0"))` + end,
	"server":        `permit (principal, action == Action::"tool.invoke", resource) when { resource.server == "github" };`,
	"channel":       `permit (principal, action == Action::"publish", resource == Name::"slack:#releases");`,
	"reads":         `permit (principal, action == Action::"fs.read", resource);`,
	"can be undone": `permit (principal, action in [Action::"none", Action::"reversible"], resource);`,
	"forbids":       `forbid (principal, action, resource);`,
	"never":         irrev + `false` + end,
	"other type":    `permit (principal, action in Action::"irreversible", resource is Path in Path::"x");`,
}

func checkWildcard(text string) error {
	_, err := ParsePolicy([]PolicyFile{{"p.cedar", []byte(text)}}, PolicyOptions{Profile: "dev"})
	return err
}

func TestWildcards(t *testing.T) {
	for name, text := range wildcards {
		err := checkWildcard(text)
		var e *Error
		if !errors.As(err, &e) || e.Reason != PolicyWildcard {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if e.File != "p.cedar" || e.Line == 0 || !strings.Contains(e.Detail, "it permits ") || e.Remedy == "" {
			t.Errorf("%s: %#v", name, e)
		}
	}
	if err := checkWildcard(wildcards["second of two"]); !strings.HasPrefix(err.Error(), "p.cedar:2: it permits fs.write.irrev") {
		t.Error(err)
	}
	for name, text := range ties {
		if err := checkWildcard(text); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestProbing: what no single rule shows is found by drawing.
func TestProbing(t *testing.T) {
	for _, name := range []string{"letters"} {
		p, err := parsePolicy([]PolicyFile{{"p.cedar", []byte(wildcards[name])}}, PolicyOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range capability.Vocabulary() {
			for _, r := range p.byClass[row.Capability] {
				if !p.ties(r, row.Capability).enough(row.Capability) {
					t.Errorf("%s: the shape tells already", name)
				}
			}
		}
		if err := p.checkWildcards(); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// TestDraws: every target that is drawn can be read, is another one, and depends
// on the policy.
func TestDraws(t *testing.T) {
	for _, row := range capability.Vocabulary() {
		seen := map[string]bool{}
		for digest := range 50 {
			d := newDrawer([32]byte{byte(digest)}, row.Token)
			for i := range probes {
				target := d.target(row.Capability, i)
				if target.IsZero() || seen[target.String()] {
					t.Fatalf("%s %d: %q", row.Token, i, target)
				}
				seen[target.String()] = true
			}
		}
	}
}

// TestTieLaw: a permit that is said to tie its target holds for none of many that
// were drawn, whatever is and-ed, or-ed and negated.
func TestTieLaw(t *testing.T) {
	atoms := []string{
		`resource in Path::"tmp"`, `resource.path like "tmp/*"`, `resource.path == "a"`, `["x", "y"].contains(resource.path)`,
		`context.size > 3`, `context.guarded`, `resource.corpus == "work"`, `resource.path != "b"`, `true`, `false`, `principal == Agent::"a"`,
		`resource is Path`, `resource.path like "*"`,
	}
	var expression func(depth int) *rapid.Generator[string]
	expression = func(depth int) *rapid.Generator[string] {
		return rapid.Custom(func(t *rapid.T) string {
			kind := rapid.IntRange(0, 4).Draw(t, "kind")
			sub := func() string { return expression(depth-1).Draw(t, "part") }
			switch {
			case depth == 0 || kind == 0:
				return rapid.SampledFrom(atoms).Draw(t, "atom")
			case kind == 1:
				return "(" + sub() + " && " + sub() + ")"
			case kind == 2:
				return "(" + sub() + " || " + sub() + ")"
			case kind == 3:
				return "!(" + sub() + ")"
			}
			return "(if " + sub() + " then " + sub() + " else " + sub() + ")"
		})
	}
	accepted := 0
	rapid.Check(t, func(t *rapid.T) {
		text := irrev + expression(3).Draw(t, "condition") + end
		p, err := parsePolicy([]PolicyFile{{"p.cedar", []byte(text)}}, PolicyOptions{Profile: "dev"})
		if err != nil {
			return // such as a condition that Cedar finds impossible
		}
		for _, r := range p.byClass[capability.FSWriteIrrev] {
			if !p.ties(r, capability.FSWriteIrrev).enough(capability.FSWriteIrrev) {
				return
			}
		}
		accepted++
		d := newDrawer([32]byte{1}, "law")
		for i := range 20 {
			target := d.target(capability.FSWriteIrrev, i)
			q := ask(t, "fs.write.irrev", target.String(), `{"a":"`+strings.Repeat("x", i)+`"}`)
			if i%2 == 0 {
				q.Agent = "a"
			}
			if got := p.Decide(q); got.Choice != "" {
				t.Fatalf("%s: %s for %s", text, got.Choice, target)
			}
		}
	})
	if accepted == 0 {
		t.Error("no condition was accepted: the law says nothing")
	}
}
