package main

import (
	"fmt"
	"strings"

	"github.com/iff-run/iff/internal/canonical"
)

func grantVectors() []vector {
	var out []vector
	for _, r := range append(grantsAccepted(), grantsRefused()...) {
		out = append(out, r.vector("grant"))
	}
	for _, r := range targetRows() {
		out = append(out, r.vector("target"))
	}
	return append(append(out, coverVectors()...), listVectors()...)
}

// textRow is one text that is parsed. With a spelling it is refused for not
// being that spelling.
type textRow struct{ expect, name, comment, text, spelling string }

func (r textRow) vector(kind string) vector {
	v := vector{name: kind + "-" + r.name, comment: r.comment, expect: r.expect, payload: []byte(r.text)}.with("kind", kind)
	if r.spelling != "" {
		v = v.with("canonical", r.spelling)
	}
	return v
}

func grantsAccepted() []textRow {
	return []textRow{
		{"ok", "bare", "a bare token declares the class and covers nothing", `net.egress`, ""},
		{"ok", "path", "a path in the corpus work", `fs.read(reports/**)`, ""},
		{"ok", "path-corpus", "a path in another corpus", `fs.write.rev(notes-2:a/*.md)`, ""},
		{"ok", "path-colon", "work is written where the first segment holds a colon", `fs.read(work:a:b)`, ""},
		{"ok", "path-escape", "a literal star and backslash", `fs.write.irrev(a\*b/c\\d)`, ""},
		{"ok", "path-wildcards", "each * goes before the **", `fs.read(a/*/**/b)`, ""},
		{"ok", "path-parentheses", "only the last parenthesis closes", `fs.read(a(1)(2))`, ""},
		{"ok", "host-wildcard", "names below a host, at one port", `net.egress(*.example.com:8443)`, ""},
		{"ok", "host-ipv6", "an IPv6 address", `net.egress([2001:db8::1])`, ""},
		{"ok", "name", "a prefix of names", `tool.invoke(github/*)`, ""},
		{"ok", "argv", "a program, an argument with a wildcard, any further ones", `spawn.proc(git log --format=* **)`, ""},
		{"ok", "argv-escapes", "a space, nothing, and a line end within arguments", `spawn.proc(sh -c a\ b \u{} \u{a})`, ""},
		{"ok", "amount", "at most that much", `pay(usd,100.5)`, ""},
	}
}

func grantsRefused() []textRow {
	const bad, other = "pattern-invalid", "grant-not-canonical"
	return []textRow{
		{"capability-unknown", "unknown", "a token outside the vocabulary", `fs.write(a)`, ""},
		{"capability-unknown", "case", "tokens are exact in case", `FS.read(a)`, ""},
		{"capability-unknown", "empty", "no text", ``, ""},
		{bad, "argument-empty", "nothing between the parentheses", `fs.read()`, ""},
		{bad, "unclosed", "no closing parenthesis", `fs.read(ab`, ""},
		{bad, "utf8", "not UTF-8", "fs.read(a\xff)", ""},
		{bad, "bidi", "a character that turns the direction of reading", "fs.read(a\u202eb)", ""},
		{bad, "path-absolute", "a path is relative to the root of its corpus", `fs.read(/etc/passwd)`, ""},
		{bad, "path-parent", "no way up", `fs.read(a/../b)`, ""},
		{bad, "path-segments", "129 segments, at most 128", `fs.read(` + strings.Repeat("a/", 128) + `a)`, ""},
		{bad, "path-segment-end", "a segment that ends in a dot", `fs.read(a./b)`, ""},
		{bad, "path-corpus-case", "a corpus name with an upper-case letter", `fs.read(Work:a)`, ""},
		{bad, "path-backslash", "a backslash before a letter", `fs.read(a\b)`, ""},
		{bad, "host-url", "a URL", `net.egress(https://example.com)`, ""},
		{bad, "host-dot-end", "a dot at the end", `net.egress(example.com.)`, ""},
		{bad, "host-unicode", "a name that is not in its ASCII form", `net.egress(bücher.example)`, ""},
		{bad, "host-star-alone", "every host", `net.egress(*)`, ""},
		{bad, "host-port-zero", "port 0", `net.egress(example.com:0)`, ""},
		{bad, "host-ipv4-short", "an address with two parts", `net.egress(127.1)`, ""},
		{bad, "host-ipv4-hex", "an address in hexadecimal", `net.egress(0x7f.0.0.0x1)`, ""},
		{bad, "host-ipv4-number", "an address as one number", `net.egress(2130706433)`, ""},
		{bad, "host-ipv4-zero", "a leading zero, which some read as octal", `net.egress(127.0.0.010)`, ""},
		{bad, "host-ipv6-bare", "an IPv6 address without brackets", `net.egress(::1)`, ""},
		{bad, "host-ipv6-short", "three groups", `net.egress([1:2:3])`, ""},
		{bad, "host-ipv6-gaps", "two gaps", `net.egress([1::2::3])`, ""},
		{bad, "host-ipv6-group", "a group of five digits", `net.egress([::12345])`, ""},
		{bad, "host-ipv6-tail", "an IPv4 part that is no address", `net.egress([::1.2.3.256])`, ""},
		{bad, "host-ipv6-ipv4", "IPv4 inside IPv6", `net.egress([::ffff:127.0.0.1])`, ""},
		{bad, "name-star-inner", "a star within a name", `tool.invoke(git*/x)`, ""},
		{bad, "argv-space", "two spaces: an argument without a spelling", `spawn.proc(git  log)`, ""},
		{bad, "argv-more-inner", "** before the last argument", `spawn.proc(git ** log)`, ""},
		{bad, "argv-code-point", "an escape without its code point", `spawn.proc(a \u)`, ""},
		{bad, "argv-program", "any program", `spawn.proc(* a)`, ""},
		{bad, "argv-nul", "no argument holds a NUL", `spawn.proc(a \u{0})`, ""},
		{bad, "amount-unit", "no unit", `pay(100)`, ""},
		{bad, "amount-sign", "a sign", `pay(usd,-1)`, ""},
		{bad, "amount-digits", "79 digits, at most 78", `pay(usd,` + strings.Repeat("1", 79) + `)`, ""},
		{other, "path-work", "work is not written where it is not needed", `fs.read(work:a)`, `fs.read(a)`},
		{other, "path-wildcards-order", "a ** before a *", `fs.read(a/**/*/b)`, `fs.read(a/*/**/b)`},
		{other, "path-wildcards-end", "at the end ** is one segment or more already", `fs.read(a/**/*)`, `fs.read(a/**)`},
		{other, "host-case", "a host in upper case", `net.egress(API.example.com)`, `net.egress(api.example.com)`},
		{other, "host-443", "443 is not written", `net.egress(example.com:443)`, `net.egress(example.com)`},
		{other, "host-ipv6-long", "an IPv6 address written longer", `net.egress([2001:DB8:0:0::1])`, `net.egress([2001:db8::1])`},
		{other, "argv-escape-needless", "an escape that is not needed", `spawn.proc(a \u{62})`, `spawn.proc(a b)`},
		{other, "argv-escape-nothing", "two wildcards with nothing between", `spawn.proc(a *\u{}*)`, `spawn.proc(a *)`},
		{other, "amount-zeros", "zeros at both ends", `pay(usd,0100.50)`, `pay(usd,100.5)`},
		{"pattern-too-long", "too-long", "1025 bytes, at most 1024", `tool.invoke(` + strings.Repeat("a", 1012) + `)`, ""},
	}
}

// targetRows: the text of a target in the notation token(target).
func targetRows() []textRow {
	return []textRow{
		{"ok", "path", "a file", `fs.read(reports/a.md)`, ""},
		{"ok", "argv", "a call of a program", `spawn.proc(git commit -m a\ b)`, ""},
		{"capability-unknown", "unknown", "a token outside the vocabulary", `fs.list(a)`, ""},
		{"target-invalid", "wildcard", "a target names one thing", `fs.read(reports/*)`, ""},
		{"target-invalid", "port-any", "a target has one port", `net.egress(example.com:*)`, ""},
		{"target-not-canonical", "port", "443 is not written", `net.egress(example.com:443)`, `example.com`},
	}
}

func coverVectors() []vector {
	const yes, no = "covers", "outside"
	var out []vector
	for _, r := range []struct{ expect, name, comment, grant, target string }{
		{no, "bare", "a bare token covers nothing", `fs.read`, `fs.read(a)`},
		{no, "class", "another class", `fs.read(a)`, `fs.write.rev(a)`},
		{yes, "path-exact", "the path itself", `fs.read(a/b)`, `fs.read(a/b)`},
		{yes, "path-star", "* within a segment, a leading dot too", `fs.read(a/*.md)`, `fs.read(a/.x.md)`},
		{no, "path-star-slash", "* does not go across segments", `fs.read(a/*)`, `fs.read(a/b/c)`},
		{no, "path-star-overlap", "what stands around a * does not overlap", `fs.read(aba*aba)`, `fs.read(ababa)`},
		{yes, "path-more", "** goes across segments", `fs.read(reports/**)`, `fs.read(reports/2026/a.md)`},
		{no, "path-more-itself", "** at the end is at least one segment", `fs.read(reports/**)`, `fs.read(reports)`},
		{yes, "path-more-none", "** in the middle may be none", `fs.read(a/**/b)`, `fs.read(a/b)`},
		{yes, "path-more-again", "the first place where a segment matches need not be the right one", `fs.read(**/a/b)`, `fs.read(a/a/x/a/b)`},
		{no, "path-more-root", "** is below the root, not the root", `fs.read(**)`, `fs.read(.)`},
		{no, "path-escape-other", "a literal star is no wildcard", `fs.read(a\*)`, `fs.read(ab)`},
		{no, "host-port", "no port is 443", `net.egress(example.com)`, `net.egress(example.com:80)`},
		{yes, "host-below", "several labels below", `net.egress(*.example.com)`, `net.egress(a.b.example.com)`},
		{no, "host-apex", "not the host itself", `net.egress(*.example.com)`, `net.egress(example.com)`},
		{no, "host-suffix", "nor one that ends alike", `net.egress(*.example.com)`, `net.egress(badexample.com)`},
		{yes, "name-prefix", "names with the prefix, slashes too", `tool.invoke(github/*)`, `tool.invoke(github/issues/create)`},
		{yes, "argv-more", "** is any further arguments, none too", `spawn.proc(git log **)`, `spawn.proc(git log)`},
		{no, "argv-further", "without ** no further argument", `spawn.proc(git status)`, `spawn.proc(git status -s)`},
		{no, "argv-split", "one argument is not two", `spawn.proc(sh -c a\ b)`, `spawn.proc(sh -c a b)`},
		{yes, "amount-digits", "decimals are compared as numbers", `pay(usd,100)`, `pay(usd,99.99)`},
		{no, "amount-above", "just above", `pay(usd,100.5)`, `pay(usd,100.50000000000000000000000001)`},
	} {
		out = append(out, vector{name: "covers-" + r.name, comment: r.comment, expect: r.expect, payload: []byte(r.grant + "\n" + r.target)}.
			with("kind", "covers"))
	}
	return out
}

// listVectors: the grants of a manifest.
func listVectors() []vector {
	many := make([]string, 257)
	for i := range many {
		many[i] = fmt.Sprintf("fs.read(%03d)", i)
	}
	var out []vector
	for _, r := range []struct {
		expect, name, comment string
		grants                []string
	}{
		{"ok", "sorted", "sorted by bytes, bare before its grants", []string{"fs.read", "fs.read(Z)", "fs.read(a)", "net.egress"}},
		{"ok", "empty", "no grants", []string{}},
		{"grants-unsorted", "unsorted", "out of order", []string{"fs.read(a)", "fs.read(Z)"}},
		{"grant-duplicate", "duplicate", "a grant twice", []string{"fs.read(a)", "fs.read(a)"}},
		{"grants-too-many", "too-many", "257 grants, at most 256", many},
	} {
		out = append(out, vector{name: "list-" + r.name, comment: r.comment, expect: r.expect, payload: must(canonical.Marshal(r.grants))}.
			with("kind", "list"))
	}
	return out
}
