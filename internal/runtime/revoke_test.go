package runtime_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/iff-run/iff/gate"
	"github.com/iff-run/iff/internal/home"
	"github.com/iff-run/iff/internal/runtime"
	"github.com/iff-run/iff/internal/trusttest"
	"github.com/iff-run/iff/level"
	"github.com/iff-run/iff/record"
	"github.com/iff-run/iff/trust"
)

// draft is the home's trust chain, to be extended.
func (w *world) draft() *trust.Draft {
	w.Helper()
	var chain [][]byte
	for n := 1; ; n++ {
		doc, err := os.ReadFile(filepath.Join(w.home, "trust", fmt.Sprintf("%d.json", n)))
		if errors.Is(err, os.ErrNotExist) {
			break
		}
		w.must(err)
		chain = append(chain, doc)
	}
	d, err := trust.Open(chain, trust.PublicKey{})
	w.must(err)
	return d
}

// revoke narrows trust under the runtime.
func (w *world) revoke(id string) {
	w.Helper()
	d := w.draft()
	w.must(d.Revoke(id, time.Now(), "it leaked"))
	doc, err := d.Sign(template.root)
	w.must(err)
	root, err := w.h.Narrow(doc)
	w.must(err)
	w.must(w.rt.Narrow(w.Context(), root, root.Key().Fingerprint()))
}

// nothingAfter checks that no intent of a skill stands behind the revocation.
func (w *world) nothingAfter(subject string) record.Revocation {
	w.Helper()
	var out record.Revocation
	of := map[string]string{}
	revoked := false
	for _, r := range w.records(0) {
		switch b := r.Body.(type) {
		case record.Request:
			of[r.Request] = b.Skill
		case record.ReversibleRequest:
			of[r.Request] = b.Skill
		case record.Revocation:
			out, revoked = b, true
		case record.Intent, record.CommitIntent:
			if revoked && of[r.Request] == subject {
				w.Errorf("an intent of %s behind the revocation", r.Request)
			}
		}
	}
	if !revoked {
		w.Error("there is no revocation record")
	}
	return out
}

func (w *world) subject(name string) string {
	k, _ := w.parts.Skills.Skill(name)
	if name == "base" {
		return ""
	}
	return k.Subject.String()
}

// later makes a call beside the test.
func later(w *world, s *runtime.Session, c gate.Call) <-chan gate.Reply {
	out := make(chan gate.Reply, 1)
	go func() { out <- s.Call(w.Context(), c) }()
	return out
}

func use(w *world, name string) *runtime.Session {
	s := w.session("agent of " + name)
	if name != "base" {
		_, err := s.Use(w.Context(), name)
		w.must(err)
	}
	return s
}

func TestRevoked(t *testing.T) {
	const outsideGrant = "AGENTS.md" // guarded, so it is asked about
	for _, k := range []struct{ skill, signer string }{{"helper", "author"}, {"base", "me"}, {"remote", "me"}, {"wild", home.AdopterKey}} {
		t.Run(k.skill, func(t *testing.T) {
			t.Run("before the call", func(t *testing.T) {
				w := newEnv(t).start()
				s := use(w, k.skill)
				w.revoke(k.signer)
				if r := s.Call(t.Context(), call(rev, "a.md", write)); r.Status != gate.Denied || r.Reason != gate.SkillRevoked {
					t.Errorf("%+v", r)
				}
				if r := s.Call(t.Context(), call("fs.read", "a.md", `{}`)); r.Status != gate.Denied || r.Reason != gate.SkillRevoked {
					t.Errorf("a read: %+v", r)
				}
				if _, err := s.Use(t.Context(), k.skill); k.skill != "base" && err == nil {
					t.Error("its content is delivered")
				}
				if _, err := s.ReadSkill(t.Context(), k.skill, "run.sh"); err == nil {
					t.Error("its content is delivered")
				}
				if slices.ContainsFunc(w.rt.Skills(), func(l runtime.SkillListing) bool { return l.Name == k.skill }) {
					t.Error("it is listed")
				}
				if b := w.nothingAfter(w.subject(k.skill)); !slices.Contains(b.Evicted, k.skill) {
					t.Errorf("%+v", b)
				}
				again(w, k.skill)
			})
			t.Run("while somebody is asked", func(t *testing.T) {
				w := newEnv(t).start()
				s := use(w, k.skill)
				w.ask.says(record.Approve)
				busy, free := w.ask.hang()
				reply := later(w, s, call(irrev, outsideGrant, remove))
				<-busy
				w.revoke(k.signer)
				free()
				if r := <-reply; r.Status != gate.Denied || r.Reason != gate.SkillRevoked {
					t.Errorf("%+v", r)
				}
				if b := w.nothingAfter(w.subject(k.skill)); len(b.Cancelled) != 1 {
					t.Errorf("%+v", b)
				}
				again(w, k.skill)
			})
			t.Run("while it is done", func(t *testing.T) {
				w := newEnv(t).start()
				s := use(w, k.skill)
				w.ask.says(record.Approve)
				busy, free := w.files.hang()
				reply, waits := later(w, s, call(irrev, "notes/b.md", remove)), (<-chan gate.Reply)(nil)
				<-busy
				waits = later(w, s, call(irrev, "notes/b.md", write)) // waits for the lease
				w.revoke(k.signer)
				free()
				if r := <-reply; r.Status != gate.Done {
					t.Errorf("past its intent: %+v", r)
				}
				if r := <-waits; r.Status == gate.Done {
					t.Errorf("waiting for a lease: %+v", r)
				}
				w.nothingAfter(w.subject(k.skill))
				again(w, k.skill)
			})
		})
	}
}

// again judges, stops, and starts again: what was revoked stays so.
func again(w *world, name string) {
	w.Helper()
	if w.verdict("") != record.Pass {
		w.Error("not PASS")
	}
	w.stop()
	next, err := w.env.tryStart()
	if name == "base" || name == "remote" {
		if err == nil {
			w.Error("it starts with the base manifest of a revoked signer")
			next.stop()
		}
		return
	}
	w.must(err)
	if slices.ContainsFunc(next.rt.Skills(), func(l runtime.SkillListing) bool { return l.Name == name }) || len(next.refused) == 0 {
		w.Errorf("%s is loaded again", name)
	}
	next.stop()
}

// What an unverified skill has staged is dropped with it.
func TestRevokedWhileStaged(t *testing.T) {
	w := newEnv(t).start()
	s := use(w, "wild")
	before := w.tree()
	if r := s.Call(t.Context(), call(rev, "a.md", write)); r.Status != gate.StagedStatus {
		t.Errorf("%+v", r)
	}
	w.ask.says(record.Approve)
	w.revoke(home.AdopterKey)
	if replies, err := s.Commit(t.Context()); err != nil || len(replies) > 0 {
		t.Errorf("%+v %v", replies, err)
	}
	if b := w.nothingAfter(w.subject("wild")); len(b.Cancelled) != 1 || w.tree() != before {
		t.Errorf("%+v", b)
	}
	again(w, "wild")
}

// An approval counts at the effect too: not tried, if its approver was revoked
// in between.
func TestApproverRevoked(t *testing.T) {
	w := newEnv(t).start()
	s, other := w.session("agent"), w.session("other")
	w.ask.says(record.Approve)
	busy, free := w.files.hang()
	first := later(w, other, call(irrev, "deep/er/x.md", write))
	<-busy
	asking, answer := w.ask.hang()
	second := later(w, s, call(irrev, "deep/er", chmod)) // guarded: asked, then waits for the lease
	<-asking
	answer()
	for len(of[record.Decision](w.records(0), "r"+fmt.Sprint(w.rt.Fence())+".2")) == 0 {
		time.Sleep(time.Millisecond)
	}
	w.revoke(home.ApproverKey)
	free()
	if r := <-first; r.Status != gate.Done {
		t.Errorf("%+v", r)
	}
	if r := <-second; r.Status != gate.Failed || r.Reason != gate.ApprovalVoid {
		t.Errorf("%+v", r)
	}
	if n := len(of[record.Intent](w.records(0), "")); n != 1 {
		t.Errorf("%d intents", n)
	}
	// From now on nobody can approve.
	if r := s.Call(t.Context(), call(irrev, "AGENTS.md", remove)); r.Status != gate.Denied {
		t.Errorf("%+v", r)
	}
	if w.verdict("") != record.Pass {
		t.Error("not PASS")
	}
	w.stop()
}

// No document that widens anything is taken, nor an older one.
func TestNothingWidens(t *testing.T) {
	w := newEnv(t).start()
	before := w.rt.Trust().Digest()
	entry := trust.Entry{ID: "mallory", PublicKey: trusttest.NewKey(66).Public(), Clearance: template.scheme.Top().Parts(), Level: level.Tested, NotAfter: trust.Never}
	add := w.draft()
	w.must(add.Add(entry))
	both := w.draft()
	w.must(both.Revoke("author", time.Now(), "x"))
	w.must(both.Add(entry))
	approver := w.draft()
	entry.Approver = true
	w.must(approver.Add(entry))
	for name, d := range map[string]*trust.Draft{"a signer": add, "a revocation and a signer": both, "an approver": approver} {
		doc, err := d.Sign(template.root)
		w.must(err)
		if _, err := w.h.Narrow(doc); err == nil {
			t.Errorf("%s was taken", name)
		}
		wide, err := d.Lock()
		w.must(err)
		if err := w.rt.Narrow(t.Context(), wide, "x"); !errors.Is(err, trust.ErrLocked) {
			t.Errorf("%s, locked: %v", name, err)
		}
	}
	forged := w.draft()
	w.must(forged.Revoke("author", time.Now(), "x"))
	if doc, err := forged.Sign(trusttest.NewKey(66)); err == nil {
		if _, err := w.h.Narrow(doc); err == nil {
			t.Error("a document that another key signed was taken")
		}
	}
	for name, root := range map[string]*trust.Root{"none": nil, "the zero one": {}, "the same": w.rt.Trust()} {
		if err := w.rt.Narrow(t.Context(), root, "x"); !errors.Is(err, trust.ErrLocked) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if w.rt.Trust().Digest() != before {
		t.Error("trust is another one")
	}
	if len(of[record.Revocation](w.records(0), "")) > 0 {
		t.Error("something was recorded")
	}
	w.stop()
}
