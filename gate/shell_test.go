package gate_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/iff-run/iff/approval"
	"github.com/iff-run/iff/capability"
	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/gate"
	"github.com/iff-run/iff/gate/gatetest"
	"github.com/iff-run/iff/record"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// bench is a gate that is closed when the test ends.
func bench(t *testing.T, files map[string]string, change ...func(*gate.Parts)) *gatetest.Bench {
	t.Helper()
	b := gatetest.New(t, files, change...)
	t.Cleanup(func() {
		b.World.Release()
		if err := b.Gate.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return b
}

// want holds a reply to a status and a reason.
func want(t testing.TB, r gate.Reply, status gate.Status, why gate.Reason) {
	t.Helper()
	if r.Status != status || r.Reason != why {
		t.Errorf("request %s: %s (%s), want %s (%s): %s", r.Request, r.Status, r.Reason, status, why, r.Message)
	}
	if status != gate.Done && status != gate.StagedStatus && r.Message == "" {
		t.Errorf("request %s: %s (%s) without a word", r.Request, r.Status, r.Reason)
	}
	if status == gate.Denied && len(r.Allowed) == 0 {
		t.Errorf("request %s: denied, and nothing says what is allowed", r.Request)
	}
}

// content holds a file to a content; none means that there is no file.
func content(t testing.TB, w *gatetest.World, path string, content ...string) {
	t.Helper()
	got, ok := w.Get(path)
	if ok != (len(content) == 1) || ok && got != content[0] {
		t.Errorf("%s holds %q (%v), want %q", path, got, ok, content)
	}
}

// golden writes the records of a request, a line each: kind and key fields.
func golden(records []record.Record) string {
	var out []string
	for _, r := range records {
		out = append(out, strings.TrimSpace(line(r.Body)))
	}
	return strings.Join(out, "\n")
}

func line(b record.Body) string {
	kind := string(b.Kind())
	switch b := b.(type) {
	case record.Request:
		return fmt.Sprintf("%s %s %s guarded=%q %s", kind, b.Capability, b.Target, b.Guarded, changes(b.Plan))
	case record.ReversibleRequest:
		return fmt.Sprintf("%s %s %s guarded=%q %s", kind, b.Capability, b.Target, b.Guarded, changes(b.Plan))
	case record.Decision:
		return fmt.Sprintf("%s %s %s by %s %s", kind, b.Choice, b.Cause, b.Broker+b.Approver, b.Reason+b.Rule)
	case record.LateDecision:
		return fmt.Sprintf("%s %s %s", kind, b.Choice, b.Cause)
	case record.Intent:
		return kind + " " + changes(b.Plan)
	case record.CommitIntent:
		return kind + " " + changes(b.Plan)
	case record.RollbackIntent:
		return kind + " " + changes(b.Plan)
	case record.Executed:
		return kind + " " + b.Reason + changes(b.Readings)
	case record.Committed:
		return kind + " " + b.Reason + changes(b.Readings)
	case record.RolledBack:
		return strings.TrimSpace(kind + " " + b.Reason + " " + changes(b.Readings))
	case record.Error:
		return strings.TrimSpace(kind + " " + b.Reason + " " + changes(b.Readings))
	case record.Staged:
		return kind + " " + changes(b.Plan)
	case record.Mutation:
		return fmt.Sprintf("%s %s %s approved=%v %s -> %s, now %s", kind, b.Object, b.Route, b.Approved, name(b.Before), name(b.Proposed), name(b.After))
	case record.Session:
		return fmt.Sprintf("%s %s", kind, b.Transition)
	}
	return kind
}

// name is the content of a state of a world, where it is one of those that tests
// use.
func name(state string) string {
	for _, c := range []string{"old", "new", "newer", "oldnew", "theirs"} {
		if string(gatetest.File(c).State()) == state {
			return c
		}
	}
	return state
}

func changes(list []corpus.Change) string {
	var out []string
	for _, c := range list {
		out = append(out, fmt.Sprintf("%s:%s>%s", c.Object.Path(), name(string(c.Before)), name(string(c.After))))
	}
	return strings.Join(out, " ")
}

func matches(t testing.TB, b *gatetest.Bench, request, wanted string) {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(wanted), "\n")
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	if got := golden(b.Log.Of(request)); got != strings.Join(lines, "\n") {
		t.Errorf("request %s: the log says\n%s\nwant\n%s", request, got, strings.Join(lines, "\n"))
	}
}

// Every flow leaves exactly these records.
func TestFlows(t *testing.T) {
	for what, c := range map[string]struct {
		subject string
		call    gate.Call
		script  gatetest.Script
		status  gate.Status
		why     gate.Reason
		records string
	}{
		"read": {gatetest.Base, gatetest.Read("out/a"), nil, gate.Done, "", `
			request fs.read out/a guarded=""
			decision approve level by level fs.read(**)
			executed`},
		"read what is not there": {gatetest.Base, gatetest.Read("out/none"), nil, gate.Failed, gate.NotFound, `
			request fs.read out/none guarded=""
			decision approve level by level fs.read(**)
			error not-found`},
		"by level": {gatetest.Declared, gatetest.Irreversibly("write", "out/a", "new"), nil, gate.Done, "", `
			request fs.write.irrev out/a guarded="" out/a:old>new
			decision approve level by level fs.write.irrev(out/**)
			intent out/a:old>new
			executed out/a:old>new`},
		"append by level": {gatetest.Declared, gatetest.Irreversibly("append", "out/a", "new"), nil, gate.Done, "", `
			request fs.write.irrev out/a guarded="" out/a:any>any
			decision approve level by level fs.write.irrev(out/**)
			intent out/a:old>oldnew
			executed out/a:old>oldnew`},
		"rename by level": {gatetest.Declared, gatetest.Rename("out/a", "out/b"), nil, gate.Done, "", `
			request fs.write.irrev out/a guarded="" out/a:old>absent out/b:absent>old
			decision approve level by level fs.write.irrev(out/**)
			intent out/a:old>absent out/b:absent>old
			executed out/a:old>absent out/b:absent>old`},
		"asked, approved": {gatetest.Unverified, gatetest.Irreversibly("write", "out/a", "new"), gatetest.Approves, gate.Done, "", `
			request fs.write.irrev out/a guarded="" out/a:old>new
			decision approve human by scriptalice
			intent out/a:old>new
			executed out/a:old>new`},
		"asked append, approved": {gatetest.Unverified, gatetest.Irreversibly("append", "out/a", "new"), gatetest.Approves, gate.Done, "", `
			request fs.write.irrev out/a guarded="" out/a:any>any
			decision approve human by scriptalice
			intent out/a:old>oldnew
			executed out/a:old>oldnew`},
		"asked, denied": {gatetest.Unverified, gatetest.Irreversibly("write", "out/a", "new"), gatetest.Denies, gate.Denied, gate.DeniedByBroker, `
			request fs.write.irrev out/a guarded="" out/a:old>new
			decision deny human by scriptalice denied`},
		"asked because of its target": {gatetest.Declared, gatetest.Irreversibly("write", "a", "new"), gatetest.Approves, gate.Done, "", `
			request fs.write.irrev a guarded="" a:absent>new
			decision approve human by scriptalice
			intent a:absent>new
			executed a:absent>new`},
		"asked reversible": {gatetest.Declared, gatetest.Write("a", "new"), gatetest.Approves, gate.Done, "", `
			reversible.request fs.write.rev a guarded="" a:absent>new
			decision approve human by scriptalice
			staged a:absent>new
			commit.intent a:absent>new
			committed a:absent>new`},
		"reversible": {gatetest.Declared, gatetest.Write("out/a", "new"), nil, gate.Done, "", `
			reversible.request fs.write.rev out/a guarded="" out/a:old>new
			decision approve level by level fs.write.rev(out/**)
			staged out/a:old>new
			commit.intent out/a:old>new
			committed out/a:old>new`},
		"reversible, unverified": {gatetest.Unverified, gatetest.Write("out/a", "new"), nil, gate.StagedStatus, "", `
			reversible.request fs.write.rev out/a guarded="" out/a:old>new
			staged out/a:old>new`},
		"undeclared": {gatetest.Reader, gatetest.Write("out/a", "new"), nil, gate.Denied, gate.Undeclared, `
			reversible.request fs.write.rev out/a guarded=""
			decision deny undeclared by gate undeclared`},
		"no host": {gatetest.Declared, gate.Call{Capability: "net.egress", Target: "example.com"}, nil, gate.Denied, gate.Undeclared, `
			request net.egress example.com guarded=""
			decision deny undeclared by gate undeclared`},
		"delete under a reversible capability": {gatetest.Declared, gate.Call{Capability: "fs.write.rev", Target: "out/a", Arguments: []byte(`{"op":"delete"}`)}, nil, gate.Denied, gate.NotReversible, `
			reversible.request fs.write.rev out/a guarded=""
			decision deny host by gate not-reversible`},
		"bad arguments": {gatetest.Declared, gate.Call{Capability: "fs.write.rev", Target: "out/a", Arguments: []byte(`{"op":"burn"}`)}, nil, gate.Denied, gate.ArgumentsBad, `
			reversible.request fs.write.rev out/a guarded=""
			decision deny host by gate arguments-invalid`},
		"no capability": {gatetest.Declared, gate.Call{Capability: "fs.burn", Target: "out/a"}, nil, gate.Denied, gate.CallMalformed, `
			request fs.burn out/a guarded=""
			decision deny host by gate call-malformed`},
		"not a path": {gatetest.Declared, gate.Call{Capability: "fs.read", Target: "../a"}, nil, gate.Denied, gate.CallMalformed, `
			request fs.read ../a guarded=""
			decision deny host by gate call-malformed`},
		"not an object": {gatetest.Declared, gate.Call{Capability: "fs.read", Target: "out/a", Arguments: []byte(`[[[`)}, nil, gate.Denied, gate.CallMalformed, `
			request fs.read out/a guarded=""
			decision deny host by gate call-malformed`},
		"not a key": {gatetest.Declared, gate.Call{Capability: "fs.read", Target: "out/a", Key: "a key"}, nil, gate.Denied, gate.CallMalformed, `
			request fs.read out/a guarded=""
			decision deny host by gate call-malformed`},
	} {
		t.Run(what, func(t *testing.T) {
			b := bench(t, map[string]string{"out/a": "old"})
			b.Broker.Script(c.script)
			r := b.Open("agent", c.subject).Call(t.Context(), c.call)
			want(t, r, c.status, c.why)
			if r.Request == "" {
				t.Error("the call has no id")
			}
			matches(t, b, r.Request, c.records)
			if c.status == gate.Denied && b.World.Effects() > 0 {
				t.Error("it was denied, and the host was called")
			}
		})
	}
}

// What an unverified skill writes waits, and only its session sees it.
func TestUnverifiedSession(t *testing.T) {
	b := bench(t, map[string]string{"out/a": "old"})
	s, other := b.Open("agent", gatetest.Unverified), b.Open("other", gatetest.Declared)
	one := s.Call(t.Context(), gatetest.Write("out/a", "new"))
	two := s.Call(t.Context(), gatetest.Write("out/a", "newer"))
	three := s.Call(t.Context(), gatetest.Write("out/b", "new"))
	for _, r := range []gate.Reply{one, two, three} {
		want(t, r, gate.StagedStatus, "")
	}
	content(t, b.World, "out/a", "old")
	if r := s.Call(t.Context(), gatetest.Read("out/a")); string(r.Result) != `{"content":"newer"}` {
		t.Errorf("the session reads %s", r.Result)
	}
	if r := other.Call(t.Context(), gatetest.Read("out/a")); string(r.Result) != `{"content":"old"}` {
		t.Errorf("another session reads %s", r.Result)
	}
	staged, _ := b.Gate.Resting(s.ID())
	if len(staged) != 3 {
		t.Errorf("%d are staged", len(staged))
	}
	// The third is denied; the others are committed in their order.
	b.Broker.Script(func(ctx context.Context, qs []approval.Question) ([]approval.Answer, error) {
		if len(qs) != 3 {
			t.Errorf("%d questions at once", len(qs))
		}
		denied, err := gatetest.Denies(ctx, qs)
		if err != nil {
			return nil, err
		}
		out, err := gatetest.Approves(ctx, qs)
		out[slices.IndexFunc(qs, func(q approval.Question) bool { return q.Request == three.Request })] =
			denied[slices.IndexFunc(qs, func(q approval.Question) bool { return q.Request == three.Request })]
		return out, err
	})
	rs, err := s.Commit(t.Context())
	if err != nil || len(rs) != 3 {
		t.Fatalf("%v, %v", rs, err)
	}
	want(t, rs[0], gate.Done, "")
	want(t, rs[1], gate.Done, "")
	want(t, rs[2], gate.Denied, gate.DeniedByBroker)
	content(t, b.World, "out/a", "newer")
	content(t, b.World, "out/b")
	matches(t, b, two.Request, `
		reversible.request fs.write.rev out/a guarded="" out/a:new>newer
		staged out/a:new>newer
		decision approve human by scriptalice
		commit.intent out/a:new>newer
		committed out/a:new>newer`)
	matches(t, b, three.Request, `
		reversible.request fs.write.rev out/b guarded="" out/b:absent>new
		staged out/b:absent>new
		decision deny human by scriptalice denied`)
	for _, q := range b.Broker.Asked() {
		if r := b.Log.Records()[q.Seq]; r.Request != q.Request || r.Body.Kind() != record.KindReversibleRequest {
			t.Errorf("the question about %s names record %d, a %s of %s", q.Request, q.Seq, r.Body.Kind(), r.Request)
		}
	}
	if orders := b.World.Orders(); len(orders) < 2 {
		t.Errorf("%d orders", len(orders))
	}
	// All is put back, the newest first.
	rs, err = s.Rollback(t.Context())
	if err != nil || len(rs) != 2 || rs[0].Request != two.Request || rs[1].Request != one.Request {
		t.Fatalf("%v, %v", rs, err)
	}
	content(t, b.World, "out/a", "old")
	if kinds := b.Log.Kinds(one.Request); !strings.HasSuffix(kinds, "committed rollback.intent rolled-back") {
		t.Error(kinds)
	}
}

func TestRollbackReportsConflict(t *testing.T) {
	b := bench(t, map[string]string{"out/a": "old", "out/b": "old"})
	s := b.Open("agent", gatetest.Declared)
	first := s.Call(t.Context(), gatetest.Write("out/a", "new"))
	second := s.Call(t.Context(), gatetest.Write("out/b", "new"))
	b.World.Put("out/b", "theirs")
	rs, err := s.Rollback(t.Context())
	if err != nil || len(rs) != 2 {
		t.Fatalf("%v, %v", rs, err)
	}
	want(t, rs[0], gate.Failed, gate.Conflict)
	want(t, rs[1], gate.Done, "")
	content(t, b.World, "out/a", "old")
	content(t, b.World, "out/b", "theirs")
	if kinds := b.Log.Kinds(second.Request); strings.Contains(kinds, "rollback.intent") {
		t.Errorf("it was intended without a chance: %s", kinds)
	}
	if o := b.World.Orders(); o[0].Key == o[2].Key {
		t.Error("a commit and its rollback have the same key")
	}
	_ = first
}

// One effect and one reply for one key, while the first call is under way and
// afterwards, from any session of the agent; another call under it is refused.
func TestKeys(t *testing.T) {
	b := bench(t, map[string]string{"out/a": "old"})
	s, again, foreign := b.Open("agent", gatetest.Declared), b.Open("agent", gatetest.Declared), b.Open("other", gatetest.Declared)
	b.World.Script(func(gate.Order) gatetest.Fault { return gatetest.Hang })
	c := gatetest.Irreversibly("append", "out/a", "new")
	c.Key = "k1"
	got := make(chan gate.Reply)
	for _, from := range []*gate.Session{s, s, again} {
		go func() { got <- from.Call(t.Context(), c) }()
	}
	for len(b.World.Orders()) == 0 || b.Gate.Counts().Calls < 3 {
		pause()
	}
	b.World.Release()
	first := <-got
	for range 2 {
		if r := <-got; fmt.Sprint(r) != fmt.Sprint(first) {
			t.Errorf("%v and %v", r, first)
		}
	}
	want(t, first, gate.Done, "")
	for _, from := range []*gate.Session{s, again} {
		if r := from.Call(t.Context(), c); fmt.Sprint(r) != fmt.Sprint(first) {
			t.Errorf("afterwards %v, not %v", r, first)
		}
	}
	if err := s.End(t.Context(), gate.Closing, false); err != nil {
		t.Error(err)
	}
	if r := again.Call(t.Context(), c); fmt.Sprint(r) != fmt.Sprint(first) {
		t.Errorf("when its session is over: %v", r)
	}
	if n := b.World.Effects(); n != 1 {
		t.Errorf("%d effects", n)
	}
	content(t, b.World, "out/a", "oldnew")
	other := gatetest.Irreversibly("append", "out/a", "newer")
	other.Key = "k1"
	r := again.Call(t.Context(), other)
	want(t, r, gate.Denied, gate.KeyReused)
	matches(t, b, r.Request, `
		request fs.write.irrev out/a guarded=""
		decision deny session by gate key-reused`)
	want(t, foreign.Call(t.Context(), other), gate.Done, "")
	// What is no call takes no key.
	bad := gate.Call{Capability: "fs.read", Target: "/etc", Key: "k2"}
	want(t, again.Call(t.Context(), bad), gate.Denied, gate.CallMalformed)
	good := gatetest.Read("out/a")
	good.Key = "k2"
	want(t, again.Call(t.Context(), good), gate.Done, "")
}

func TestDenialsHelp(t *testing.T) {
	b := bench(t, nil)
	s := b.Open("agent", gatetest.Reader)
	r := s.Call(t.Context(), gatetest.Write("out/a", "new"))
	if !slices.Equal(r.Allowed, []string{"fs.read(**)"}) || !strings.Contains(r.Message, "reader") || !strings.Contains(r.Message, "fs.write.rev") {
		t.Errorf("%q, %v", r.Message, r.Allowed)
	}
	if r := b.Open("agent", gatetest.Base).Call(t.Context(), gate.Call{Capability: "pay", Target: "usd,1"}); !strings.Contains(r.Message, "no skill is active") {
		t.Errorf("%q", r.Message)
	}
	class := capability.NetEgress
	b = bench(t, nil, func(p *gate.Parts) { p.Skills[0].Grants = gatetest.Grants(t, "net.egress(example.com)") })
	r = b.Open("agent", gatetest.Base).Call(t.Context(), gate.Call{Capability: class.String(), Target: "example.com"})
	want(t, r, gate.Denied, gate.NoHost)
}
