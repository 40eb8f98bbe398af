package capability

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

var accepted = []string{
	"net.egress", "fs.read", "fs.write.rev", "fs.write.irrev", "tool.invoke", "spawn.proc", "publish", "pay", "mutate.schema",
	"fs.read(.)", "fs.read(*)", "fs.read(**)", "fs.read(**/*.md)", "fs.read(a/*/**)", "fs.read(a/**/b/**/c)", "fs.read(other:**)",
	"fs.read(other:.)", "fs.read(work:a:b)", "fs.read(work:*:b)", "fs.read(a/b:c)", `fs.read(a\*b\\c)`, "fs.read(a(b).txt)", "fs.read(a b.txt)",
	"fs.read(.hidden/...x)", "fs.read(日本語/**)", "fs.read(work/a)", "fs.read(~/a)", "fs.read(a.*)", "fs.read(\ufffd)",
	"net.egress(example.com)", "net.egress(example.com:1)", "net.egress(example.com:65535)", "net.egress(*.com:*)", "net.egress(localhost:80)",
	"net.egress(xn--bcher-kva.example)", "net.egress(r3---sn-4g5e.example.com)", "net.egress(1.2.3.4)", "net.egress([2001:db8::1]:80)", "net.egress([::]:*)",
	"net.egress(" + strings.Repeat("a.", 126) + "a)", "net.egress(*." + strings.Repeat("a.", 125) + "a)",
	"net.egress(1.2.3.4.example.com)", "net.egress(3com)", "net.egress(0xg)",
	"tool.invoke(*)", "tool.invoke(a b)", `publish(\*)`, "publish(https://example.com/hook)", "mutate.schema(db.public.*)",
	"spawn.proc(git)", "spawn.proc(git **)", "spawn.proc(g* * **)", `spawn.proc(printf \u{} a\ b \*\* \\n \u{1b} \u{a0})`, "spawn.proc(/bin/sh -c *)", "spawn.proc(\ufffd)",
	"pay(usd,0)", "pay(usd,0.01)", "pay(usd,100.5)", "pay(eip155:1/erc20:0xa0b8,1)",
}

func TestAcceptedGrants(t *testing.T) {
	for _, text := range accepted {
		g := mustGrant(t, text)
		if g.String() != text {
			t.Errorf("%q becomes %q", text, g)
		}
		if g.Bare() != !strings.Contains(text, "(") {
			t.Errorf("%q: bare is %v", text, g.Bare())
		}
		if token, _, _ := strings.Cut(text, "("); g.Capability().String() != token {
			t.Errorf("%q: capability %s", text, g.Capability())
		}
	}
}

type refusedGrant struct {
	text      string
	reason    Reason
	offset    int
	canonical string
}

var refusedGrants = []refusedGrant{
	{"", CapabilityUnknown, 0, ""},
	{"fs", CapabilityUnknown, 0, ""},
	{"FS.READ(a)", CapabilityUnknown, 0, ""},
	{"fs.read (a)", CapabilityUnknown, 0, ""},
	{" fs.read(a)", CapabilityUnknown, 0, ""},
	{"fs.write(a)", CapabilityUnknown, 0, ""},
	{"enclave.attest", CapabilityUnknown, 0, ""},
	{"fs.read()", PatternInvalid, 8, ""},
	{"fs.read(a", PatternInvalid, 9, ""},
	{"fs.read(a) ", PatternInvalid, 11, ""},
	{"fs.read(" + strings.Repeat("a", MaxGrant) + ")", PatternTooLong, -1, ""},
	// text
	{"fs.read(a\x00b)", PatternInvalid, 9, ""},
	{"fs.read(a\nb)", PatternInvalid, 9, ""},
	{"fs.read(a\x7fb)", PatternInvalid, 9, ""},
	{"fs.read(a\u0085b)", PatternInvalid, 9, ""},
	{"fs.read(a\u202eb)", PatternInvalid, 9, ""},
	{"fs.read(a\u2066b)", PatternInvalid, 9, ""},
	{"fs.read(a\u200bb)", PatternInvalid, 9, ""},
	{"fs.read(a\u00adb)", PatternInvalid, 9, ""},
	{"fs.read(a\ufeffb)", PatternInvalid, 9, ""},
	{"fs.read(a\ufe0fb)", PatternInvalid, 9, ""},
	{"fs.read(a\u2028b)", PatternInvalid, 9, ""},
	{"fs.read(a\u3164b)", PatternInvalid, 9, ""},
	{"fs.read(a\U000e0041b)", PatternInvalid, 9, ""},
	{"fs.read(a\ufdd0b)", PatternInvalid, 9, ""},
	{"fs.read(a\U0010ffffb)", PatternInvalid, 9, ""},
	{"fs.read(a\xffb)", PatternInvalid, 9, ""},
	{"fs.read(a\xfe)", PatternInvalid, 9, ""},
	{"fs.read(a\xed\xa0\x80)", PatternInvalid, 9, ""},
	{"fs.read(a\xc0\xaf)", PatternInvalid, 9, ""},
	{"spawn.proc(a\nb)", PatternInvalid, 12, ""},
	// paths
	{"fs.read(/etc)", PatternInvalid, 8, ""},
	{"fs.read(a/)", PatternInvalid, 10, ""},
	{"fs.read(a//b)", PatternInvalid, 10, ""},
	{"fs.read(..)", PatternInvalid, 8, ""},
	{"fs.read(a/../b)", PatternInvalid, 10, ""},
	{"fs.read(./a)", PatternInvalid, 8, ""},
	{"fs.read(a/.)", PatternInvalid, 10, ""},
	{"fs.read(a./b)", PatternInvalid, 9, ""},
	{"fs.read(*.)", PatternInvalid, 9, ""},
	{"fs.read(a /b)", PatternInvalid, 9, ""},
	{"fs.read(...)", PatternInvalid, 10, ""},
	{`fs.read(a\b)`, PatternInvalid, 9, ""},
	{`fs.read(a\)`, PatternInvalid, 9, ""},
	{`fs.read(a\ b)`, PatternInvalid, 9, ""},
	{`fs.read(a\u{62})`, PatternInvalid, 9, ""},
	{`fs.read(a\/b)`, PatternInvalid, 9, ""},
	{"fs.read(C:/a)", PatternInvalid, 8, ""},
	{"fs.read(:a)", PatternInvalid, 8, ""},
	{"fs.read(*:a)", PatternInvalid, 8, ""},
	{"fs.read(other:)", PatternInvalid, 14, ""},
	{"fs.read(other:/a)", PatternInvalid, 14, ""},
	{"fs.read(https://example.com)", PatternInvalid, 14, ""},
	{"fs.read(" + strings.Repeat("c", 33) + ":a)", PatternInvalid, 8, ""},
	{"fs.read(" + strings.Repeat("a/", MaxSegments) + "a)", PatternInvalid, 8, ""},
	{"fs.read(work:a)", GrantNotCanonical, 8, "fs.read(a)"},
	{"fs.read(work:.)", GrantNotCanonical, 8, "fs.read(.)"},
	{"fs.read(a***b)", GrantNotCanonical, 10, "fs.read(a*b)"},
	{"fs.read(a**)", GrantNotCanonical, 10, "fs.read(a*)"},
	{"fs.read(a/**/*)", GrantNotCanonical, 12, "fs.read(a/**)"},
	{"fs.read(a/**/**)", GrantNotCanonical, 12, "fs.read(a/**)"},
	{"fs.read(a/**/*/*)", GrantNotCanonical, 11, "fs.read(a/*/**)"},
	{"fs.read(**/*/b)", GrantNotCanonical, 9, "fs.read(*/**/b)"},
	{"fs.read(**/**/b)", GrantNotCanonical, 11, "fs.read(**/b)"},
	// hosts
	{"net.egress(example.com:443)", GrantNotCanonical, 22, "net.egress(example.com)"},
	{"net.egress(Example.com)", GrantNotCanonical, 11, "net.egress(example.com)"},
	{"net.egress(example.com:080)", GrantNotCanonical, 23, "net.egress(example.com:80)"},
	{"net.egress([::0:1])", GrantNotCanonical, 14, "net.egress([::1])"},
	{"net.egress([2001:DB8::1]:443)", GrantNotCanonical, 17, "net.egress([2001:db8::1])"},
	{"net.egress(example.com.)", PatternInvalid, 23, ""},
	{"net.egress(.example.com)", PatternInvalid, 11, ""},
	{"net.egress(a..b)", PatternInvalid, 13, ""},
	{"net.egress(*)", PatternInvalid, 11, ""},
	{"net.egress(*:80)", PatternInvalid, 11, ""},
	{"net.egress(*.)", PatternInvalid, 13, ""},
	{"net.egress(*.*.example.com)", PatternInvalid, 13, ""},
	{"net.egress(a.*.com)", PatternInvalid, 13, ""},
	{"net.egress(a*.com)", PatternInvalid, 12, ""},
	{"net.egress(**.com)", PatternInvalid, 11, ""},
	{"net.egress(user@example.com)", PatternInvalid, 15, ""},
	{"net.egress(https://example.com)", PatternInvalid, 17, ""},
	{"net.egress(example.com/a)", PatternInvalid, 22, ""},
	{"net.egress(example.com:)", PatternInvalid, 23, ""},
	{"net.egress(example.com:0)", PatternInvalid, 23, ""},
	{"net.egress(example.com:65536)", PatternInvalid, 23, ""},
	{"net.egress(example.com:+80)", PatternInvalid, 23, ""},
	{"net.egress(example.com:80-90)", PatternInvalid, 23, ""},
	{"net.egress(-a.com)", PatternInvalid, 11, ""},
	{"net.egress(a-.com)", PatternInvalid, 12, ""},
	{"net.egress(a_b.com)", PatternInvalid, 12, ""},
	{"net.egress(a b)", PatternInvalid, 12, ""},
	{"net.egress(bücher.example)", PatternInvalid, 12, ""},
	{"net.egress(\u212aelvin.example)", PatternInvalid, 11, ""},
	{"net.egress(" + strings.Repeat("a", 64) + ".com)", PatternInvalid, 11, ""},
	{"net.egress(" + strings.Repeat("a.", 127) + "com)", PatternInvalid, 11, ""},
	{"net.egress(*." + strings.Repeat("a.", 125) + "aa)", PatternInvalid, 11, ""},
	{"net.egress(127.1)", PatternInvalid, 11, ""},
	{"net.egress(0x7f.1)", PatternInvalid, 11, ""},
	{"net.egress(2130706433)", PatternInvalid, 11, ""},
	{"net.egress(0x7f000001)", PatternInvalid, 11, ""},
	{"net.egress(0x)", PatternInvalid, 11, ""},
	{"net.egress(0177.0.0.1)", PatternInvalid, 11, ""},
	{"net.egress(127.0.0.01)", PatternInvalid, 11, ""},
	{"net.egress(256.0.0.1)", PatternInvalid, 11, ""},
	{"net.egress(1.2.3.4.5)", PatternInvalid, 11, ""},
	{"net.egress(example.1)", PatternInvalid, 11, ""},
	{"net.egress(*.0.0.1)", PatternInvalid, 13, ""},
	{"net.egress(::1)", PatternInvalid, 11, ""},
	{"net.egress([::1)", PatternInvalid, 11, ""},
	{"net.egress([::1]80)", PatternInvalid, 16, ""},
	{"net.egress([::1%eth0])", PatternInvalid, 12, ""},
	{"net.egress([1.2.3.4])", PatternInvalid, 12, ""},
	{"net.egress([::ffff:1.2.3.4])", PatternInvalid, 12, ""},
	{"net.egress([])", PatternInvalid, 12, ""},
	// names
	{"tool.invoke(a*b)", PatternInvalid, 13, ""},
	{`tool.invoke(a\*b*c)`, PatternInvalid, 16, ""},
	{"tool.invoke(*a)", PatternInvalid, 12, ""},
	{"tool.invoke( a)", PatternInvalid, 12, ""},
	{"tool.invoke(a )", PatternInvalid, 12, ""},
	{"tool.invoke(" + strings.Repeat("a", MaxName+1) + ")", PatternInvalid, 12, ""},
	{"tool.invoke(a**)", GrantNotCanonical, 14, "tool.invoke(a*)"},
	// arguments
	{"spawn.proc(*)", PatternInvalid, 11, ""},
	{"spawn.proc(**)", PatternInvalid, 11, ""},
	{"spawn.proc(* **)", PatternInvalid, 11, ""},
	{`spawn.proc(\u{} a)`, PatternInvalid, 11, ""},
	{"spawn.proc(git  status)", PatternInvalid, 15, ""},
	{"spawn.proc(git )", PatternInvalid, 15, ""},
	{"spawn.proc( git)", PatternInvalid, 11, ""},
	{"spawn.proc(git ** a)", PatternInvalid, 15, ""},
	{`spawn.proc(a \n)`, PatternInvalid, 13, ""},
	{`spawn.proc(a \u{0})`, PatternInvalid, 13, ""},
	{`spawn.proc(a \u{d800})`, PatternInvalid, 13, ""},
	{`spawn.proc(a \u{110000})`, PatternInvalid, 13, ""},
	{`spawn.proc(a \u{0000001b})`, PatternInvalid, 13, ""},
	{`spawn.proc(a \u{xy})`, PatternInvalid, 13, ""},
	{`spawn.proc(a \u{1b)`, PatternInvalid, 13, ""},
	{`spawn.proc(a \u)`, PatternInvalid, 13, ""},
	{`spawn.proc(a \u1b})`, PatternInvalid, 13, ""},
	{`spawn.proc(a b\)`, PatternInvalid, 14, ""},
	{"spawn.proc(a " + strings.Repeat("\u00a0", 400) + ")", PatternTooLong, -1, ""},
	{`spawn.proc(a \u{61})`, GrantNotCanonical, 13, "spawn.proc(a a)"},
	{`spawn.proc(a \u{1B})`, GrantNotCanonical, 17, `spawn.proc(a \u{1b})`},
	{`spawn.proc(a \u{01b})`, GrantNotCanonical, 16, `spawn.proc(a \u{1b})`},
	{`spawn.proc(a b\u{})`, GrantNotCanonical, 14, "spawn.proc(a b)"},
	{"spawn.proc(a \u00a0)", GrantNotCanonical, 13, `spawn.proc(a \u{a0})`},
	{"spawn.proc(a b**)", GrantNotCanonical, 15, "spawn.proc(a b*)"},
	// amounts
	{"pay(usd)", PatternInvalid, 7, ""},
	{"pay(usd,)", PatternInvalid, 8, ""},
	{"pay(,1)", PatternInvalid, 4, ""},
	{"pay(u$d,1)", PatternInvalid, 4, ""},
	{"pay(usd,*)", PatternInvalid, 8, ""},
	{"pay(*,1)", PatternInvalid, 4, ""},
	{"pay(usd,-1)", PatternInvalid, 8, ""},
	{"pay(usd,+1)", PatternInvalid, 8, ""},
	{"pay(usd,1e3)", PatternInvalid, 8, ""},
	{"pay(usd,1_000)", PatternInvalid, 8, ""},
	{"pay(usd,1,000)", PatternInvalid, 8, ""},
	{"pay(usd,.5)", PatternInvalid, 8, ""},
	{"pay(usd,1.)", PatternInvalid, 8, ""},
	{"pay(usd,0x10)", PatternInvalid, 8, ""},
	{"pay(usd,inf)", PatternInvalid, 8, ""},
	{"pay(usd,١)", PatternInvalid, 8, ""},
	{"pay(usd," + strings.Repeat("9", maxDigits+1) + ")", PatternInvalid, 8, ""},
	{"pay(usd,0." + strings.Repeat("9", maxDigits+1) + ")", PatternInvalid, 8, ""},
	{"pay(usd, 100.50)", GrantNotCanonical, 8, "pay(usd,100.5)"},
	{"pay(USD,1)", GrantNotCanonical, 4, "pay(usd,1)"},
	{"pay(usd,01)", GrantNotCanonical, 8, "pay(usd,1)"},
	{"pay(usd,1.0)", GrantNotCanonical, 9, "pay(usd,1)"},
	{"pay(usd,00)", GrantNotCanonical, 9, "pay(usd,0)"},
}

func TestRefusedGrants(t *testing.T) {
	for _, c := range refusedGrants {
		g, err := ParseGrant(c.text)
		e := asError(err)
		if e.Reason != c.reason || e.Offset != c.offset || e.Canonical != c.canonical || g != (Grant{}) {
			t.Errorf("ParseGrant(%q) = %q, %v (%s at %d, canonical %q); want %s at %d, canonical %q",
				c.text, g, err, e.Reason, e.Offset, e.Canonical, c.reason, c.offset, c.canonical)
		}
	}
}

// asError returns the *Error that every refusal is, or one without a reason.
func asError(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return &Error{}
}

func TestErrorsAreOneVisibleLine(t *testing.T) {
	for _, text := range []string{"a\u202eb\n", "fs.read(a\x1b)", strings.Repeat("x", 500)} {
		_, err := ParseGrants([]string{text})
		if s := err.Error(); strings.ContainsAny(s, "\u202e\n\x1b") || len(s) > 400 {
			t.Errorf("error text %q", s)
		}
	}
}

func TestGrantRoundTripAndOneSpelling(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := drawGrant(t, drawTarget(t))
		again, err := ParseGrant(g.String())
		if err != nil || again != g {
			t.Fatalf("%q reads back as %q, %v", g, again, err)
		}
		// The code is what a grant means; one code has one text.
		if text := grantText(g.capability, g.capability.Shape().form().render(g.code)); text != g.String() {
			t.Fatalf("%q is spelled %q too", g, text)
		}
	})
}

func TestLiteralCoversJustItsTarget(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		to, other := drawTarget(t), drawTarget(t)
		g, err := Literal(to)
		if err != nil {
			t.Fatal(err)
		}
		if !g.Covers(to) {
			t.Fatalf("%s does not cover %q", g, to)
		}
		if to.Capability() != Pay && g.Covers(other) != (to == other) {
			t.Fatalf("%s covers %q: %v", g, other, g.Covers(other))
		}
	})
}

func TestLiteralRefuses(t *testing.T) {
	if _, err := Literal(Target{}); asError(err).Reason != TargetInvalid {
		t.Errorf("zero target: %v", err)
	}
	long := mustTarget(t, FSRead, strings.Repeat("a", MaxPath))
	if _, err := Literal(long); asError(err).Reason != PatternTooLong {
		t.Errorf("long target: %v", err)
	}
}

func TestParseGrants(t *testing.T) {
	many := make([]string, MaxGrants+1)
	for i := range many {
		many[i] = "fs.read"
	}
	cases := []struct {
		name   string
		texts  []string
		reason Reason
		item   int
	}{
		{"none", nil, "", 0},
		{"sorted", []string{"fs.read", "fs.read(a)", "fs.read(b)", "net.egress"}, "", 0},
		{"unsorted", []string{"fs.read(b)", "fs.read(a)"}, GrantsUnsorted, 2},
		{"duplicate", []string{"fs.read(a)", "fs.read(b)", "fs.read(b)"}, GrantDuplicate, 3},
		{"not canonical", []string{"fs.read(a)", "fs.read(work:b)"}, GrantNotCanonical, 2},
		{"unknown", []string{"fs.read(a)", "gs.read"}, CapabilityUnknown, 2},
		{"too many", many, GrantsTooMany, 0},
	}
	for _, c := range cases {
		gs, err := ParseGrants(c.texts)
		e := asError(err)
		if e.Reason != c.reason || e.Item != c.item || (err == nil) != (c.reason == "") {
			t.Errorf("%s: %v", c.name, err)
		}
		if err == nil && !slices.Equal(gs.Strings(), c.texts) {
			t.Errorf("%s: strings %q", c.name, gs.Strings())
		}
		if err != nil && gs.Len() != 0 {
			t.Errorf("%s: grants beside an error", c.name)
		}
	}
	if s := (Grants{}).Strings(); s == nil {
		t.Error("no grants are nil, want an empty list")
	}
}

func TestNewGrants(t *testing.T) {
	a, b, bare := mustGrant(t, "fs.read(a)"), mustGrant(t, "fs.read(b)"), mustGrant(t, "net.egress")
	given := []Grant{bare, b, {}, a, b}
	gs := NewGrants(given...)
	if !slices.Equal(slices.Collect(gs.All()), []Grant{a, b, bare}) || gs.Len() != 3 {
		t.Errorf("grants %q", gs.Strings())
	}
	if given[0] != bare || given[2] != (Grant{}) {
		t.Error("the caller's slice changed")
	}
	if again, err := ParseGrants(gs.Strings()); err != nil || !slices.Equal(again.Strings(), gs.Strings()) {
		t.Errorf("reads back as %q, %v", again.Strings(), err)
	}
	if !gs.Declares(NetEgress) || !gs.Declares(FSRead) || gs.Declares(Pay) {
		t.Error("declares")
	}
	if gs.Covers(mustTarget(t, NetEgress, "example.com")) || !gs.Covers(mustTarget(t, FSRead, "b")) {
		t.Error("covers")
	}
}
