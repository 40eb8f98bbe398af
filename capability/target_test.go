package capability

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestRefusedTargets(t *testing.T) {
	cases := []struct {
		c         Capability
		text      string
		reason    Reason
		offset    int
		canonical string
	}{
		{0, "a", CapabilityUnknown, -1, ""},
		{MutateSchema + 1, "a", CapabilityUnknown, -1, ""},
		{FSRead, "", TargetInvalid, 0, ""},
		{FSRead, "*", TargetInvalid, 0, ""},
		{FSRead, "a/**", TargetInvalid, 2, ""},
		{FSRead, "/a", TargetInvalid, 0, ""},
		{FSRead, "a/../b", TargetInvalid, 2, ""},
		{FSRead, "a\u202eb", TargetInvalid, 1, ""},
		{FSRead, "a\xff", TargetInvalid, 1, ""},
		{FSRead, "a\xfe", TargetInvalid, 1, ""},
		{FSRead, "work:a", TargetNotCanonical, 0, "a"},
		{FSRead, strings.Repeat("a", MaxPath+1), TargetInvalid, 0, ""},
		{FSRead, strings.Repeat("a", maxTarget+1), TargetTooLong, -1, ""},
		{FSRead, strings.Repeat("a/", MaxSegments) + "a", TargetInvalid, 0, ""},
		{NetEgress, "*.example.com", TargetInvalid, 0, ""},
		{NetEgress, "example.com:*", TargetInvalid, 12, ""},
		{NetEgress, "example.com:443", TargetNotCanonical, 11, "example.com"},
		{NetEgress, "127.1", TargetInvalid, 0, ""},
		{ToolInvoke, "a*", TargetInvalid, 1, ""},
		{SpawnProc, "git **", TargetInvalid, 4, ""},
		{SpawnProc, "git *", TargetInvalid, 4, ""},
		{SpawnProc, "a " + strings.Repeat("a", MaxArgv), TargetInvalid, 0, ""},
		{Pay, "usd,1.50", TargetNotCanonical, 7, "usd,1.5"},
		{Pay, "usd,-1", TargetInvalid, 4, ""},
	}
	for _, c := range cases {
		to, err := ParseTarget(c.c, c.text)
		e := asError(err)
		if e.Reason != c.reason || e.Offset != c.offset || e.Canonical != c.canonical || !to.IsZero() {
			t.Errorf("ParseTarget(%s, %.40q): %v (%s at %d, canonical %q)", c.c, c.text, err, e.Reason, e.Offset, e.Canonical)
		}
	}
}

func TestConstructors(t *testing.T) {
	target := func(to Target, err error) string {
		if err != nil {
			return string(asError(err).Reason)
		}
		return to.String()
	}
	cases := []struct{ name, got, want string }{
		{"path", target(Path(FSRead, "work", "a/b")), "a/b"},
		{"path in a corpus", target(Path(FSWriteRev, "mail", "a")), "mail:a"},
		{"path root", target(Path(FSRead, "work", ".")), "."},
		{"path with wildcards", target(Path(FSRead, "work", `a*/**/\`)), `a\*/\*\*/\\`},
		{"path with a colon", target(Path(FSRead, "work", "mail:a")), "work:mail:a"},
		{"path with the wildcard's byte", target(Path(FSRead, "work", "a\xff")), "target-invalid"},
		{"path bad corpus", target(Path(FSRead, "Work", "a")), "target-invalid"},
		{"path corpus with a colon", target(Path(FSRead, "mail:x", "a")), "target-invalid"},
		{"path no corpus", target(Path(FSRead, "", "a")), "target-invalid"},
		{"path empty", target(Path(FSRead, "work", "")), "target-invalid"},
		{"path of another class", target(Path(Pay, "work", "a")), "target-invalid"},
		{"path of no class", target(Path(0, "work", "a")), "target-invalid"},
		{"host", target(Host("example.com", 443)), "example.com"},
		{"host port", target(Host("example.com", 80)), "example.com:80"},
		{"host v6", target(Host("::1", 80)), "[::1]:80"},
		{"host v6 default port", target(Host("::1", 443)), "[::1]"},
		{"host v4", target(Host("10.0.0.1", 443)), "10.0.0.1"},
		{"host port zero", target(Host("example.com", 0)), "target-invalid"},
		{"host wildcard", target(Host("*.example.com", 443)), "target-invalid"},
		{"host upper case", target(Host("EXAMPLE.com", 443)), "target-not-canonical"},
		{"host with a port", target(Host("example.com:80", 443)), "target-invalid"},
		{"host in brackets", target(Host("[::1]", 443)), "target-invalid"},
		{"host empty", target(Host("", 443)), "target-invalid"},
		{"name", target(Name(Publish, "#general")), "#general"},
		{"name with a star", target(Name(ToolInvoke, "a*")), `a\*`},
		{"name of another class", target(Name(FSRead, "a")), "target-invalid"},
		{"argv", target(Argv("git", "commit", "-m", "two words\nand\u202e*")), `git commit -m two\ words\u{a}and\u{202e}\*`},
		{"argv empty argument", target(Argv("git", "")), `git \u{}`},
		{"argv escapes of its own", target(Argv("git", `\u{}`)), `git \\u{}`},
		{"argv no program", target(Argv()), "target-invalid"},
		{"argv empty program", target(Argv("", "a")), "target-invalid"},
		{"argv NUL", target(Argv("a", "b\x00c")), "target-invalid"},
		{"argv not UTF-8", target(Argv("a", "b\xff")), "target-invalid"},
		{"argv as large as can be", target(Argv("a", strings.Repeat("\x01", MaxArgv-2)))[:8], `a \u{1}\`},
		{"argv too large", target(Argv("a", strings.Repeat("\x01", MaxArgv-1))), "target-invalid"},
		{"amount", target(Amount("usd", "1.5")), "usd,1.5"},
		{"amount not canonical", target(Amount("usd", "1.50")), "target-not-canonical"},
		{"amount unit with a comma", target(Amount("usd,1", "2")), "target-invalid"},
	}
	for _, c := range cases {
		if c.got != c.want {
			t.Errorf("%s: %q, want %q", c.name, c.got, c.want)
		}
	}
}

// A byte that stands for a wildcard in codes is not taken for one.
func TestConstructorsNameTheBadByte(t *testing.T) {
	for _, s := range []string{"a\xff", "a\xfe", "a\x80*"} {
		_, err := Path(FSRead, "work", s)
		if e := asError(err); e.Offset != 1 || !strings.Contains(e.Detail, "UTF-8") {
			t.Errorf("%q: %v", s, err)
		}
	}
}

func TestTargetRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		to := drawTarget(t)
		if again, err := ParseTarget(to.Capability(), to.String()); err != nil || again != to {
			t.Fatalf("%q reads back as %q, %v", to, again, err)
		}
		if again, err := rebuild(to); err != nil || again != to {
			t.Fatalf("%q is rebuilt as %q, %v", to, again, err)
		}
	})
}

// rebuild makes a target again from what its accessors say.
func rebuild(to Target) (Target, error) {
	if corpus, path, ok := to.Path(); ok {
		return Path(to.Capability(), corpus, path)
	}
	if host, port, ok := to.Host(); ok {
		return Host(host, port)
	}
	if name, ok := to.Name(); ok {
		return Name(to.Capability(), name)
	}
	if args, ok := to.Argv(); ok {
		return Argv(args...)
	}
	unit, amount, _ := to.Amount()
	return Amount(unit, amount)
}

func TestAccessors(t *testing.T) {
	if args, ok := mustTarget(t, SpawnProc, `git \u{} a\ b\u{a}`).Argv(); !ok || !slices.Equal(args, []string{"git", "", "a b\n"}) {
		t.Errorf("argv %q", args)
	}
	if host, port, ok := mustTarget(t, NetEgress, "[::1]:80").Host(); !ok || host != "::1" || port != 80 {
		t.Errorf("host %q %d", host, port)
	}
	if corpus, path, ok := mustTarget(t, FSRead, `work:a:\*`).Path(); !ok || corpus != "work" || path != "a:*" {
		t.Errorf("path %q %q", corpus, path)
	}
}

func TestZeroTarget(t *testing.T) {
	var to Target
	_, _, path := to.Path()
	_, _, host := to.Host()
	_, name := to.Name()
	_, argv := to.Argv()
	_, _, amount := to.Amount()
	if path || host || name || argv || amount || to.String() != "" || to.Capability() != 0 || !to.IsZero() {
		t.Error("the zero target is something")
	}
}
