package capability

import (
	"fmt"
	"strings"
	"testing"
)

// benchGrants is a manifest with 50 grants of all classes.
func benchGrants(t testing.TB) Grants {
	var gs []Grant
	for i := range 10 {
		for _, format := range []string{
			"fs.read(docs/section%02d/**)", "fs.write.rev(**/build%02d/*.out)", "net.egress(*.host%02d.example.com)",
			"spawn.proc(git log%02d **)", "tool.invoke(server%02d/*)",
		} {
			gs = append(gs, mustGrant(t, fmt.Sprintf(format, i)))
		}
	}
	return NewGrants(gs...)
}

func benchTargets(t testing.TB) []Target {
	return []Target{
		mustTarget(t, FSRead, "docs/section09/part/page.md"),
		mustTarget(t, FSWriteRev, "src/pkg/build77/main.out"),
		mustTarget(t, NetEgress, "api.host09.example.com"),
		mustTarget(t, SpawnProc, "git log09 --oneline -n 20"),
		mustTarget(t, ToolInvoke, "server11/tool"),
		mustTarget(t, Pay, "usd,1"),
	}
}

func BenchmarkCovers(b *testing.B) {
	grants := benchGrants(b)
	for _, target := range benchTargets(b) {
		b.Run(target.Capability().String(), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				grants.Covers(target)
			}
		})
	}
}

// 50 grants of the target's own class, none of which covers it.
func BenchmarkCoversOneClass(b *testing.B) {
	for name, format := range map[string]string{"prefix": "fs.read(docs/section%02d/**)", "deep": "fs.read(**/build%02d/*.out)"} {
		var gs []Grant
		for i := range 50 {
			gs = append(gs, mustGrant(b, fmt.Sprintf(format, i)))
		}
		grants, target := NewGrants(gs...), mustTarget(b, FSRead, "docs/section99/part/page.out")
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if grants.Covers(target) {
					b.Fatal("covered")
				}
			}
		})
	}
}

// hostileCases are the dearest pairs that we know of.
func hostileCases(t testing.TB) map[string]struct {
	grant  Grant
	target Target
} {
	long := strings.Repeat("a", MaxPath)
	segments := strings.TrimSuffix(strings.Repeat(strings.Repeat("a", 31)+"/", MaxSegments), "/")
	type pair = struct {
		grant  Grant
		target Target
	}
	return map[string]pair{
		"stars": {
			mustGrant(t, "fs.read("+strings.Repeat("a*", 500)+"b)"), mustTarget(t, FSRead, long)},
		"long pieces": {
			mustGrant(t, "fs.read(*"+strings.Repeat("a", 900)+"b*)"), mustTarget(t, FSRead, long)},
		"two deep": {
			mustGrant(t, "fs.read(**/a*/**/a*/**/b)"), mustTarget(t, FSRead, segments)},
		"deep block": {
			mustGrant(t, "fs.read(**/"+strings.Repeat("*a*a*a/", 63)+"b)"), mustTarget(t, FSRead, segments)},
		"many deep": {
			mustGrant(t, "fs.read("+strings.Repeat("**/*a/", 60)+"b)"), mustTarget(t, FSRead, segments)},
		"argument": {
			mustGrant(t, "spawn.proc(sh "+strings.Repeat("a*", 500)+"b)"),
			mustTarget(t, SpawnProc, "sh "+strings.Repeat("a", MaxArgv-3))},
		"argument piece": {
			mustGrant(t, "spawn.proc(sh *"+strings.Repeat("a", 500)+"b*)"),
			mustTarget(t, SpawnProc, "sh "+strings.Repeat("a", MaxArgv-3))},
	}
}

func BenchmarkCoversHostile(b *testing.B) {
	for name, c := range hostileCases(b) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if c.grant.Covers(c.target) {
					b.Fatal("covered")
				}
			}
		})
	}
}

// An exponential matcher does not come back from these.
func TestCoversHostile(t *testing.T) {
	for name, c := range hostileCases(t) {
		if c.grant.Covers(c.target) {
			t.Errorf("%s: covered", name)
		}
	}
}

func BenchmarkParseGrant(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ParseGrant("fs.write.rev(reports/**/*.md)"); err != nil {
			b.Fatal(err)
		}
	}
}
