package capability

import (
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// coverCase is one grant against one target, both as text: the grant with its
// token, the target without.
type coverCase struct {
	name, grant, target string
	want                bool
}

var coverCases = []coverCase{
	// paths
	{"path exact", "fs.read(reports/q1.md)", "reports/q1.md", true},
	{"path other", "fs.read(reports/q1.md)", "reports/q2.md", false},
	{"path prefix is not enough", "fs.read(reports)", "reports/q1.md", false},
	{"path longer name", "fs.read(report)", "reports", false},
	{"star in a segment", "fs.read(reports/*.md)", "reports/q1.md", true},
	{"star matches nothing", "fs.read(a*b)", "ab", true},
	{"star matches leading dot", "fs.read(*)", ".git", true},
	{"star does not cross a slash", "fs.read(reports/*)", "reports/a/b", false},
	{"star needs its segment", "fs.read(reports/*)", "reports", false},
	{"star in the middle takes the last suffix", "fs.read(a*b)", "axbxb", true},
	{"star overlap is not a match", "fs.read(ab*ba)", "aba", false},
	{"star ends where the suffix is last", "fs.read(a*b)", "axbx", false},
	{"two stars in order", "fs.read(a*b*c)", "acbc", true},
	{"two stars out of order", "fs.read(a*b*c)", "acb", false},
	{"question mark is literal", "fs.read(a?c)", "abc", false},
	{"bracket is literal", "fs.read(a[b]c)", "abc", false},
	{"bracket matches itself", "fs.read(a[b]c)", "a[b]c", true},
	{"dot is literal", "fs.read(a.c)", "abc", false},
	{"escaped star is literal", `fs.read(a\*)`, "abc", false},
	{"escaped star matches a star", `fs.read(a\*)`, `a\*`, true},
	{"escaped backslash", `fs.read(a\\b)`, `a\\b`, true},
	{"end: everything below", "fs.read(reports/**)", "reports/a/b/c", true},
	{"end: one below", "fs.read(reports/**)", "reports/a", true},
	{"end: not the directory itself", "fs.read(reports/**)", "reports", false},
	{"end: not a sibling", "fs.read(reports/**)", "reports2/a", false},
	{"root: everything below", "fs.read(**)", "a", true},
	{"root: not the root", "fs.read(**)", ".", false},
	{"root: star is not the root", "fs.read(*)", ".", false},
	{"root: itself", "fs.read(.)", ".", true},
	{"root: not what is below", "fs.read(.)", "a", false},
	{"root: other corpus", "fs.read(.)", "mail:.", false},
	{"middle: zero segments", "fs.read(a/**/b)", "a/b", true},
	{"middle: many segments", "fs.read(a/**/b)", "a/x/y/b", true},
	{"middle: wrong end", "fs.read(a/**/b)", "a/x/y/c", false},
	{"middle: two, in order", "fs.read(**/x/**/y)", "a/x/b/y", true},
	{"middle: two, out of order", "fs.read(**/x/**/y)", "a/y/b/x", false},
	{"middle: retry after a near miss", "fs.read(**/a/b)", "a/a/b", true},
	{"middle: retry with stars", "fs.read(**/a*/*b)", "a/c/ax/xb", true},
	{"middle: end below", "fs.read(**/x/**)", "a/x", false},
	{"front: zero segments", "fs.read(**/a.md)", "a.md", true},
	{"front: many segments", "fs.read(**/*.md)", "a/b/c.md", true},
	{"star before deep: one at least", "fs.read(*/**/b)", "b", false},
	{"case differs", "fs.read(README.md)", "readme.md", false},
	{"normal form differs", "fs.read(caf\u00e9)", "cafe\u0301", false},
	{"corpus differs", "fs.read(mail:inbox/**)", "inbox/1", false},
	{"corpus same", "fs.read(mail:inbox/**)", "mail:inbox/1", true},
	{"work is the default", "fs.read(**)", "mail:a", false},
	{"colon in a name", "fs.read(work:a:b)", "work:a:b", true},
	// hosts
	{"host exact", "net.egress(example.com)", "example.com", true},
	{"host port differs", "net.egress(example.com)", "example.com:80", false},
	{"host any port", "net.egress(example.com:*)", "example.com:8080", true},
	{"host any port is 443 too", "net.egress(example.com:*)", "example.com", true},
	{"wildcard one label", "net.egress(*.example.com)", "api.example.com", true},
	{"wildcard many labels", "net.egress(*.example.com)", "a.b.example.com", true},
	{"wildcard not the apex", "net.egress(*.example.com)", "example.com", false},
	{"wildcard needs the dot", "net.egress(*.example.com)", "evil-example.com", false},
	{"wildcard is a suffix", "net.egress(*.example.com)", "a.example.com.evil.net", false},
	{"wildcard port", "net.egress(*.example.com:8443)", "a.example.com:8443", true},
	{"wildcard default port", "net.egress(*.example.com)", "a.example.com:8443", false},
	{"prefix host", "net.egress(example.com)", "example.com.evil.net", false},
	{"address", "net.egress(127.0.0.1:80)", "127.0.0.1:80", true},
	{"address v6", "net.egress([::1]:80)", "[::1]:80", true},
	{"address v6 any port", "net.egress([::1]:*)", "[::1]", true},
	{"address v6 differs", "net.egress([::1])", "[::2]", false},
	// names
	{"name exact", "tool.invoke(github/create_issue)", "github/create_issue", true},
	{"name prefix", "tool.invoke(github/*)", "github/create_issue", true},
	{"name prefix alone", "tool.invoke(github/*)", "github/", true},
	{"name other", "tool.invoke(github/*)", "gitlab/create_issue", false},
	{"name any", "publish(*)", "slack:#general", true},
	{"name is not a path", "tool.invoke(github/*)", "github/a/b", true},
	{"name escaped star", `tool.invoke(a\*)`, "ab", false},
	// arguments
	{"argv exact", "spawn.proc(git status)", "git status", true},
	{"argv too many", "spawn.proc(git status)", "git status -s", false},
	{"argv too few", "spawn.proc(git status)", "git", false},
	{"argv further none", "spawn.proc(git **)", "git", true},
	{"argv further one", "spawn.proc(git **)", "git push", true},
	{"argv further many", "spawn.proc(git log **)", "git log --oneline -n 3", true},
	{"argv further does not begin early", "spawn.proc(git log **)", "git push", false},
	{"argv star is one argument", "spawn.proc(cat *)", "cat a b", false},
	{"argv star is not none", "spawn.proc(cat *)", "cat", false},
	{"argv star is an empty one", "spawn.proc(cat *)", `cat \u{}`, true},
	{"argv star spans a space", "spawn.proc(cat *)", `cat a\ b`, true},
	{"argv star spans a line", "spawn.proc(sh -c *)", `sh -c ls\u{a}rm`, true},
	{"argv boundaries", `spawn.proc(rm a\ b)`, "rm a b", false},
	{"argv no further wildcard when literal", `spawn.proc(ls \*\*)`, "ls a", false},
	{"argv star in argument", "spawn.proc(curl https://example.com/*)", "curl https://example.com/a/b", true},
	{"argv overlap is not a match", "spawn.proc(x ab*ba)", "x aba", false},
	{"argv pieces do not overlap", "spawn.proc(x *ab*ba*)", "x aba", false},
	// amounts
	{"amount below", "pay(usd,100.5)", "usd,99.99", true},
	{"amount equal", "pay(usd,100.5)", "usd,100.5", true},
	{"amount above", "pay(usd,100.5)", "usd,100.51", false},
	{"amount longer whole", "pay(usd,9)", "usd,10", false},
	{"amount shorter whole", "pay(usd,10)", "usd,9", true},
	{"amount fraction orders as text", "pay(usd,0.45)", "usd,0.5", false},
	{"amount zero", "pay(usd,0)", "usd,0", true},
	{"amount other unit", "pay(usd,100)", "eur,1", false},
	{"amount beyond float", "pay(wei,9007199254740992)", "wei,9007199254740993", false},
	// bare
	{"bare covers nothing", "net.egress", "example.com", false},
}

// failing names the cases that a way of covering gets wrong.
func failing(covers func(grant, target string) bool) []string {
	var names []string
	for _, c := range coverCases {
		if covers(c.grant, c.target) != c.want {
			names = append(names, c.name)
		}
	}
	return names
}

func realCovers(t *testing.T) func(grant, target string) bool {
	return func(grant, target string) bool {
		g, err := ParseGrant(grant)
		if err != nil {
			t.Fatalf("ParseGrant(%s): %v", grant, err)
		}
		to, err := ParseTarget(g.Capability(), target)
		if err != nil {
			t.Fatalf("ParseTarget(%s): %v", target, err)
		}
		return g.Covers(to)
	}
}

func TestCovers(t *testing.T) {
	for _, name := range failing(realCovers(t)) {
		t.Errorf("%s: wrong answer", name)
	}
}

func TestReferenceAgreesWithTheTable(t *testing.T) {
	for _, name := range failing(referenceCovers) {
		t.Errorf("%s: wrong answer", name)
	}
}

// Each mutant is a matcher that somebody might write instead, for the grants
// whose text has the given start and part; the named case must catch it.
func TestMutantsAreCaught(t *testing.T) {
	mutants := []struct {
		name, start, part string
		caught            string
		covers            func(pattern, target string) bool
	}{
		{"path.Match", "fs.", "", "end: everything below", pathMatch},
		{"path.Match has more wildcards", "fs.", "", "question mark is literal", pathMatch},
		{"prefix of a path", "fs.", "/**)", "end: not a sibling", stemMatch},
		{"regular expression", "fs.", "", "star does not cross a slash", regexpMatch},
		{"** at the end matches none", "fs.", "/**)", "end: not the directory itself", looseEnd},
		{"case folded", "fs.", "", "case differs", strings.EqualFold},
		{"host suffix without the dot", "net.egress(*", "", "wildcard needs the dot", bareSuffix},
		{"host suffix with the apex", "net.egress(*", "", "wildcard not the apex", apexSuffix},
		{"host by prefix", "net.egress(e", "", "prefix host", prefixMatch},
		{"port ignored", "net.egress(e", "", "host port differs", noPort},
		{"arguments as one string", "spawn.proc", "", "argv star is one argument", regexpMatch},
		{"arguments by prefix", "spawn.proc", "", "argv too many", prefixMatch},
		{"amounts as text", "pay", "", "amount longer whole", textAmount},
		{"amounts as float", "pay", "", "amount beyond float", floatAmount},
		{"unit ignored", "pay", "", "amount other unit", anyUnit},
	}
	for _, m := range mutants {
		wrong := failing(func(grant, target string) bool {
			_, pattern, found := strings.Cut(strings.TrimSuffix(grant, ")"), "(")
			if found && strings.HasPrefix(grant, m.start) && strings.Contains(grant, m.part) {
				return m.covers(pattern, target)
			}
			return referenceCovers(grant, target)
		})
		if !slices.Contains(wrong, m.caught) {
			t.Errorf("mutant %q: case %q does not catch it; caught by %q", m.name, m.caught, wrong)
		}
	}
}

func pathMatch(pattern, target string) bool {
	ok, err := path.Match(pattern, target)
	return ok && err == nil
}

func prefixMatch(pattern, target string) bool { return strings.HasPrefix(target, pattern) }

func stemMatch(pattern, target string) bool {
	return strings.HasPrefix(target, strings.TrimSuffix(pattern, "/**"))
}

func regexpMatch(pattern, target string) bool {
	expr := strings.ReplaceAll(regexp.QuoteMeta(pattern), `\*`, `.*`)
	return regexp.MustCompile("^" + expr + "$").MatchString(target)
}

func looseEnd(pattern, target string) bool {
	return target == strings.TrimSuffix(pattern, "/**") || referencePath(pattern, target)
}

func bareSuffix(pattern, target string) bool {
	suffix := strings.TrimPrefix(pattern, "*.")
	return strings.HasSuffix(target, suffix) && target != suffix
}

func apexSuffix(pattern, target string) bool {
	suffix := strings.TrimPrefix(pattern, "*.")
	return target == suffix || strings.HasSuffix(target, "."+suffix)
}

func noPort(pattern, target string) bool {
	p, _, _ := strings.Cut(pattern, ":")
	h, _, _ := strings.Cut(target, ":")
	return p == h
}

func textAmount(pattern, target string) bool {
	return strings.Split(target, ",")[1] <= strings.Split(pattern, ",")[1]
}

func floatAmount(pattern, target string) bool {
	most, _ := strconv.ParseFloat(strings.Split(pattern, ",")[1], 64)
	amount, _ := strconv.ParseFloat(strings.Split(target, ",")[1], 64)
	return amount <= most
}

func anyUnit(pattern, target string) bool {
	return compareDecimal(strings.Split(target, ",")[1], strings.Split(pattern, ",")[1]) <= 0
}

func TestZeroAndForeignValuesCoverNothing(t *testing.T) {
	target := mustTarget(t, FSRead, "a")
	wide := mustGrant(t, "fs.read(**)")
	for _, r := range Vocabulary() {
		if r.Capability == FSRead {
			continue
		}
		other := mustGrant(t, r.Example)
		if other.Covers(target) {
			t.Errorf("%s covers a target of fs.read", other)
		}
	}
	if wide.Covers(mustTarget(t, FSWriteRev, "a")) || wide.Covers(mustTarget(t, FSWriteIrrev, "a")) {
		t.Error("a grant to read covers a write")
	}
	if (Grant{}).Covers(target) || wide.Covers(Target{}) || (Grant{}).Covers(Target{}) {
		t.Error("a zero value covers or is covered")
	}
	if (Grants{}).Covers(target) || (Grants{}).Declares(FSRead) || NewGrants(wide).Declares(0) {
		t.Error("zero Grants cover or declare")
	}
	if !wide.Covers(target) {
		t.Error("the control does not cover")
	}
}

func TestCoversDoesNotAllocate(t *testing.T) {
	grants, targets := benchGrants(t), benchTargets(t)
	if n := testing.AllocsPerRun(100, func() {
		for _, target := range targets {
			grants.Covers(target)
		}
	}); n != 0 {
		t.Errorf("Covers allocates %v times", n)
	}
}

func mustGrant(t testing.TB, text string) Grant {
	t.Helper()
	g, err := ParseGrant(text)
	if err != nil {
		t.Fatalf("ParseGrant(%q): %v", text, err)
	}
	return g
}

func mustTarget(t testing.TB, c Capability, text string) Target {
	t.Helper()
	to, err := ParseTarget(c, text)
	if err != nil {
		t.Fatalf("ParseTarget(%s, %q): %v", c, text, err)
	}
	return to
}
