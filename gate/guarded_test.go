package gate_test

import (
	"context"
	"testing"

	"github.com/iff-run/iff/approval"
	"github.com/iff-run/iff/gate"
	"github.com/iff-run/iff/gate/gatetest"
)

// A guarded object: every route asks, is recorded, and what the host or the
// spelling forbids is never done, whatever the answer.
func TestGuarded(t *testing.T) {
	ok := func(b *gatetest.Bench) {}
	for what, c := range map[string]struct {
		subject string
		prepare func(*gatetest.Bench)
		call    gate.Call
		script  gatetest.Script
		status  gate.Status
		why     gate.Reason
		records string
	}{
		"reversible, approved": {gatetest.Declared, ok, gatetest.Write("skills/x/SKILL.md", "new"), gatetest.Approves, gate.Done, "", `
			reversible.request fs.write.rev skills/x/SKILL.md guarded="x" skills/x/SKILL.md:old>new
			decision approve human by scriptalice
			staged skills/x/SKILL.md:old>new
			commit.intent skills/x/SKILL.md:old>new
			committed skills/x/SKILL.md:old>new
			mutation work/skills/x/SKILL.md path approved=true old -> new, now new`},
		"reversible, denied": {gatetest.Declared, ok, gatetest.Write("skills/x/SKILL.md", "new"), gatetest.Denies, gate.Denied, gate.DeniedByBroker, `
			reversible.request fs.write.rev skills/x/SKILL.md guarded="x" skills/x/SKILL.md:old>new
			decision deny human by scriptalice denied
			mutation work/skills/x/SKILL.md path approved=false old -> new, now old`},
		"class not declared": {gatetest.Reader, ok, gatetest.Irreversibly("delete", "skills/x/SKILL.md", ""), gatetest.Denies, gate.Denied, gate.DeniedByBroker, `
			request fs.write.irrev skills/x/SKILL.md guarded="x" skills/x/SKILL.md:old>absent
			decision deny human by scriptalice denied
			mutation work/skills/x/SKILL.md path approved=false old -> absent, now old`},
		"renamed onto": {gatetest.Declared, ok, gatetest.Rename("out/a", "skills/x/SKILL.md"), gatetest.Denies, gate.Denied, gate.DeniedByBroker, `
			request fs.write.irrev out/a guarded="x" out/a:old>absent skills/x/SKILL.md:old>old
			decision deny human by scriptalice denied
			mutation work/skills/x/SKILL.md path approved=false old -> old, now old`},
		"misspelled, approved": {gatetest.Declared, ok, gatetest.Write("./skills//x/SKILL.md", "new"), gatetest.Approves, gate.Failed, gate.SpellingHides, `
			reversible.request fs.write.rev ./skills//x/SKILL.md guarded="x"
			decision approve human by scriptalice
			error spelling-hides
			mutation work/skills/x/SKILL.md spelling approved=true old -> unreadable, now old`},
		"misspelled, denied": {gatetest.Declared, ok, gatetest.Write("./skills//x/SKILL.md", "new"), gatetest.Denies, gate.Denied, gate.DeniedByBroker, `
			reversible.request fs.write.rev ./skills//x/SKILL.md guarded="x"
			decision deny human by scriptalice denied
			mutation work/skills/x/SKILL.md spelling approved=false old -> unreadable, now old`},
		"refused by the host, approved": {gatetest.Declared, func(b *gatetest.Bench) { b.World.Refuse("skills/x/SKILL.md", gate.HardLinked) },
			gatetest.Write("skills/x/SKILL.md", "new"), gatetest.Approves, gate.Failed, gate.HardLinked, `
			reversible.request fs.write.rev skills/x/SKILL.md guarded="x"
			decision approve human by scriptalice
			error file-hardlink
			mutation work/skills/x/SKILL.md path approved=true old -> unreadable, now old`},
		"not a call of the host's": {gatetest.Declared, ok, gate.Call{Capability: "fs.write.rev", Target: "skills/x/SKILL.md", Arguments: []byte(`{"op":"burn"}`)},
			gatetest.Denies, gate.Denied, gate.DeniedByBroker, `
			reversible.request fs.write.rev skills/x/SKILL.md guarded="x"
			decision deny human by scriptalice denied
			mutation work/skills/x/SKILL.md path approved=false old -> unreadable, now old`},
		"a policy approves": {gatetest.Declared, ok, gatetest.Write("skills/x/SKILL.md", "new"), policy, gate.Denied, gate.ApprovalVoid, `
			reversible.request fs.write.rev skills/x/SKILL.md guarded="x" skills/x/SKILL.md:old>new
			decision deny broker by script approval-void
			mutation work/skills/x/SKILL.md path approved=false old -> new, now old`},
	} {
		t.Run(what, func(t *testing.T) {
			b := bench(t, map[string]string{"skills/x/SKILL.md": "old", "out/a": "old"})
			b.Guard.Add("skills/x/SKILL.md", "x", "./skills//x/SKILL.md")
			c.prepare(b)
			b.Broker.Script(c.script)
			r := b.Open("agent", c.subject).Call(t.Context(), c.call)
			want(t, r, c.status, c.why)
			if len(b.Broker.Asked()) != 1 {
				t.Errorf("asked %d times", len(b.Broker.Asked()))
			}
			matches(t, b, r.Request, c.records)
			if c.status != gate.Done && b.World.Effects() > 0 {
				t.Error("it was done")
			}
		})
	}
}

// One that is refused at once is recorded too.
func TestGuardedWhilePaused(t *testing.T) {
	b := bench(t, map[string]string{"skills/x/SKILL.md": "old"})
	b.Guard.Add("skills/x/SKILL.md", "x")
	s := b.Open("agent", gatetest.Declared)
	if err := s.Pause(t.Context()); err != nil {
		t.Fatal(err)
	}
	r := s.Call(t.Context(), gatetest.Write("skills/x/SKILL.md", "new"))
	want(t, r, gate.Denied, gate.SessionPaused)
	matches(t, b, r.Request, `
		reversible.request fs.write.rev skills/x/SKILL.md guarded="x"
		decision deny session by gate session-paused
		mutation work/skills/x/SKILL.md path approved=false old -> unreadable, now old`)
}

// What became guarded while a human thought is not done.
func TestGuardedMeanwhile(t *testing.T) {
	b := bench(t, map[string]string{"out/a": "old"})
	b.Broker.Script(func(ctx context.Context, qs []approval.Question) ([]approval.Answer, error) {
		b.Guard.Add("out/a", "x")
		return gatetest.Approves(ctx, qs)
	})
	r := b.Open("agent", gatetest.Unverified).Call(t.Context(), gatetest.Irreversibly("write", "out/a", "new"))
	want(t, r, gate.Failed, gate.Conflict)
	content(t, b.World, "out/a", "old")
}
