package capability

import (
	"math/big"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// referenceCovers is the package documentation read once more, slowly: by
// recursion over the texts, exponential, sharing nothing with the package. It
// takes accepted texts only.
func referenceCovers(grant, target string) bool {
	token, pattern, found := strings.Cut(strings.TrimSuffix(grant, ")"), "(")
	switch {
	case !found:
		return false
	case strings.HasPrefix(token, "fs."):
		return referencePath(pattern, target)
	case token == "net.egress":
		return referenceHost(pattern, target)
	case token == "spawn.proc":
		return referenceArgs(referenceSplit(pattern), referenceSplit(target))
	case token == "pay":
		return referenceAmount(pattern, target)
	}
	return referenceGlob(pattern, referenceLiteral(target))
}

func referencePath(pattern, target string) bool {
	corpus := func(s string) (string, string) {
		first, _, _ := strings.Cut(s, "/")
		if !strings.Contains(first, ":") {
			return "work", s
		}
		name, path, _ := strings.Cut(s, ":")
		return name, path
	}
	patternCorpus, pattern := corpus(pattern)
	targetCorpus, target := corpus(target)
	if patternCorpus != targetCorpus {
		return false
	}
	if pattern == "." || target == "." {
		return pattern == target
	}
	return referenceSegments(strings.Split(pattern, "/"), strings.Split(target, "/"))
}

func referenceSegments(pattern, path []string) bool {
	if len(pattern) == 0 {
		return len(path) == 0
	}
	if pattern[0] == "**" {
		if len(pattern) == 1 {
			return len(path) > 0
		}
		for i := range len(path) + 1 {
			if referenceSegments(pattern[1:], path[i:]) {
				return true
			}
		}
		return false
	}
	return len(path) > 0 && referenceGlob(pattern[0], referenceLiteral(path[0])) &&
		referenceSegments(pattern[1:], path[1:])
}

// referenceGlob matches a pattern with escapes against plain text.
func referenceGlob(pattern, s string) bool {
	if pattern == "" {
		return s == ""
	}
	if pattern[0] == '*' {
		for i := range len(s) + 1 {
			if referenceGlob(pattern[1:], s[i:]) {
				return true
			}
		}
		return false
	}
	literal, rest := referenceStep(pattern)
	return strings.HasPrefix(s, literal) && referenceGlob(rest, s[len(literal):])
}

// referenceStep takes one literal off a pattern.
func referenceStep(p string) (literal, rest string) {
	switch {
	case p[0] != '\\':
		return p[:1], p[1:]
	case p[1] != 'u':
		return p[1:2], p[2:]
	}
	hex, rest, _ := strings.Cut(p[3:], "}")
	if hex == "" {
		return "", rest
	}
	n, err := strconv.ParseUint(hex, 16, 32)
	if err != nil {
		panic(err)
	}
	return string(rune(n)), rest
}

func referenceLiteral(text string) string {
	var b strings.Builder
	for text != "" {
		var literal string
		literal, text = referenceStep(text)
		b.WriteString(literal)
	}
	return b.String()
}

func referenceHost(pattern, target string) bool {
	split := func(s string) (string, string) {
		if i := strings.LastIndex(s, ":"); i > strings.LastIndex(s, "]") {
			return s[:i], s[i+1:]
		}
		return s, "443"
	}
	patternHost, patternPort := split(pattern)
	host, port := split(target)
	if patternPort != "*" && patternPort != port {
		return false
	}
	if !strings.HasPrefix(patternHost, "*.") {
		return patternHost == host
	}
	labels, want := strings.Split(host, "."), strings.Split(patternHost, ".")[1:]
	return len(labels) > len(want) && slices.Equal(labels[len(labels)-len(want):], want)
}

// referenceSplit splits at spaces that no backslash stands before.
func referenceSplit(text string) []string {
	args := []string{""}
	for i := 0; i < len(text); i++ {
		last := len(args) - 1
		switch text[i] {
		case ' ':
			args = append(args, "")
		case '\\':
			args[last] += text[i : i+2]
			i++
		default:
			args[last] += text[i : i+1]
		}
	}
	return args
}

func referenceArgs(pattern, args []string) bool {
	if len(pattern) == 0 {
		return len(args) == 0
	}
	if pattern[0] == "**" {
		return true
	}
	return len(args) > 0 && referenceGlob(pattern[0], referenceLiteral(args[0])) && referenceArgs(pattern[1:], args[1:])
}

func referenceAmount(grant, target string) bool {
	unit, most, _ := strings.Cut(grant, ",")
	targetUnit, amount, _ := strings.Cut(target, ",")
	a, _ := new(big.Rat).SetString(amount)
	b, _ := new(big.Rat).SetString(most)
	return unit == targetUnit && a.Cmp(b) <= 0
}

// The generators draw from few letters, so that patterns often match.

func drawSegment(t *rapid.T) string {
	return rapid.StringOfN(rapid.SampledFrom([]rune{'a', 'b', 'é', '*', '\\', ':'}), 1, 4, -1).Draw(t, "segment")
}

func drawTarget(t *rapid.T) Target {
	var to Target
	var err error
	c := rapid.SampledFrom(Vocabulary()).Draw(t, "row").Capability
	switch c.Shape() {
	case PathShape:
		path := strings.Join(rapid.SliceOfN(rapid.Custom(drawSegment), 1, 6).Draw(t, "path"), "/")
		to, err = Path(c, rapid.SampledFrom([]string{"work", "mail"}).Draw(t, "corpus"), path)
	case HostShape:
		host := strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "a-b"}), 1, 4).Draw(t, "host"), ".")
		host = rapid.SampledFrom([]string{host, "10.0.0.1", "::1"}).Draw(t, "which")
		to, err = Host(host, rapid.SampledFrom([]uint16{80, 443}).Draw(t, "port"))
	case ArgvShape:
		args := rapid.SliceOfN(rapid.StringOfN(rapid.SampledFrom([]rune("ab *\\u{}é\n\u200d\u00a0\ufffd")), 0, 4, -1), 0, 4).Draw(t, "args")
		to, err = Argv(append([]string{"run"}, args...)...)
	case AmountShape:
		to, err = Amount(rapid.SampledFrom([]string{"usd", "eur"}).Draw(t, "unit"), drawDecimal(t))
	default:
		to, err = Name(c, rapid.StringOfN(rapid.SampledFrom([]rune(`ab/*\`)), 1, 6, -1).Draw(t, "name"))
	}
	if err != nil {
		t.Fatal(err)
	}
	return to
}

func drawDecimal(t *rapid.T) string {
	return rapid.StringMatching(`(0|[1-9][0-9]{0,3})(\.[0-9]{0,2}[1-9])?`).Draw(t, "decimal")
}

// drawGrant widens the text of a target here and there, and returns whatever
// of that is a grant; text that is not canonical is made so.
func drawGrant(t *rapid.T, near Target) Grant {
	var text strings.Builder
	for _, r := range near.String() {
		switch rapid.IntRange(0, 11).Draw(t, "edit") {
		case 0:
			text.WriteString("*")
		case 1:
			text.WriteString("**")
		case 2:
			text.WriteRune(r)
			text.WriteString("/**/")
		case 3: // dropped
		case 4:
			text.WriteString("a")
		case 5:
			text.WriteRune(r)
			text.WriteString(" **")
		default:
			text.WriteRune(r)
		}
	}
	argument := text.String()
	if near.Capability() == Pay {
		argument = rapid.SampledFrom([]string{"usd,", "eur,"}).Draw(t, "unit") + drawDecimal(t)
	}
	if g, ok := nearestGrant(near.Capability(), argument); ok {
		return g
	}
	t.SkipNow()
	return Grant{}
}

// nearestGrant parses an argument, in the spelling that the error proposes if
// it is not the accepted one.
func nearestGrant(c Capability, argument string) (Grant, bool) {
	g, err := ParseGrant(grantText(c, argument))
	if err == nil {
		return g, true
	}
	if e := asError(err); e.Reason == GrantNotCanonical {
		g, err = ParseGrant(e.Canonical)
	}
	return g, err == nil
}

func TestCoversAgreesWithTheReference(t *testing.T) {
	matched, differed := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		near := drawTarget(t)
		g := drawGrant(t, near)
		to := near
		if rapid.Bool().Draw(t, "other") {
			if other := drawTarget(t); other.Capability() == near.Capability() {
				to = other
			}
		}
		want := referenceCovers(g.String(), to.String())
		if got := g.Covers(to); got != want {
			t.Fatalf("%s covers %q: %v, want %v", g, to, got, want)
		}
		if want {
			matched++
		} else {
			differed++
		}
	})
	if matched == 0 || differed == 0 {
		t.Errorf("%d pairs matched and %d did not: the generators see one side only", matched, differed)
	}
}

// Every short pattern of few letters against every short target.
func TestCoversAgreesWithTheReferenceExhaustively(t *testing.T) {
	words := sequences([]string{"a", "b", "*"}, 5, "")
	plain := sequences([]string{"a", "b"}, 6, "")
	digits := sequences([]string{"0", "1", "9", "."}, 4, "")
	cases := []struct {
		name, before, beforeTarget string // what stands before each pattern and each target
		patterns, targets          []string
	}{
		{"segments", "fs.read(", "", sequences([]string{"a", "*", "**", "*a"}, 4, "/"), sequences([]string{"a", "b", "ba"}, 4, "/")},
		{"one segment", "fs.read(", "", words, plain},
		{"one argument", "spawn.proc(x ", "x ", words, plain},
		{"arguments", "spawn.proc(", "", sequences([]string{"a", "*", "a*", "**"}, 4, " "), sequences([]string{"a", "ab", `\u{}`}, 4, " ")},
		{"labels", "net.egress(", "", sequences([]string{"a", "b", "*"}, 4, "."), sequences([]string{"a", "b", "ba"}, 4, ".")},
		{"digits", "pay(u,", "u,", digits, digits},
	}
	for _, c := range cases {
		covered, not := 0, 0
		for _, pattern := range c.patterns {
			yes, no := compareWithReference(t, c.before+pattern+")", c.beforeTarget, c.targets)
			covered, not = covered+yes, not+no
		}
		if covered < 100 || not < 100 {
			t.Errorf("%s: only %d covered and %d not", c.name, covered, not)
		}
	}
}

// compareWithReference counts the targets that grant covers and those that it
// does not. Texts that are not accepted count for neither.
func compareWithReference(t *testing.T, grant, before string, targets []string) (covered, not int) {
	g, err := ParseGrant(grant)
	if err != nil {
		return 0, 0
	}
	for _, text := range targets {
		to, err := ParseTarget(g.Capability(), before+text)
		switch {
		case err != nil:
		case g.Covers(to) != referenceCovers(grant, to.String()):
			t.Fatalf("%s covers %q: %v", g, to, g.Covers(to))
		case g.Covers(to):
			covered++
		default:
			not++
		}
	}
	return covered, not
}

// Within each set of short patterns, no two accepted texts mean the same.
func TestAcceptedPatternsDifferInMeaning(t *testing.T) {
	var patterns []Grant
	for _, p := range sequences([]string{"a", "*", "**", "a*", "*a"}, 4, "/") {
		if g, err := ParseGrant("fs.read(" + p + ")"); err == nil {
			patterns = append(patterns, g)
		}
	}
	var targets []Target
	for _, p := range sequences([]string{"a", "b", "ab", "ba"}, 5, "/") {
		targets = append(targets, mustTarget(t, FSRead, p))
	}
	seen := map[string]Grant{}
	for _, g := range patterns {
		meaning := make([]byte, len(targets))
		for i, to := range targets {
			if g.Covers(to) {
				meaning[i] = 1
			}
		}
		if other, ok := seen[string(meaning)]; ok {
			t.Errorf("%s and %s mean the same", other, g)
		}
		seen[string(meaning)] = g
	}
	if len(patterns) < 400 {
		t.Errorf("only %d patterns", len(patterns))
	}
}

// The spelling that an error proposes means what was written.
func TestProposedSpellingMeansTheSame(t *testing.T) {
	proposed := 0
	var targets []string
	targets = append(targets, sequences([]string{"a", "b", "ab"}, 5, "/")...)
	for _, p := range sequences([]string{"a", "*", "**"}, 5, "/") {
		_, err := ParseGrant("fs.read(" + p + ")")
		if err == nil {
			continue
		}
		proposed++
		for _, to := range targets {
			if referenceCovers("fs.read("+p+")", to) != referenceCovers(asError(err).Canonical, to) {
				t.Fatalf("%s and its proposed spelling %s differ on %s", p, asError(err).Canonical, to)
			}
		}
	}
	if proposed == 0 {
		t.Error("nothing was proposed")
	}
}

// sequences returns every sequence of 1 to n words, joined.
func sequences(words []string, n int, sep string) []string {
	all, last := slices.Clone(words), words
	for range n - 1 {
		var next []string
		for _, s := range last {
			for _, w := range words {
				next = append(next, s+sep+w)
			}
		}
		all, last = append(all, next...), next
	}
	return all
}
