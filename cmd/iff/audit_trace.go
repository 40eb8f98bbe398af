package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/iff-run/iff/audit"
	"github.com/iff-run/iff/capability"
	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/internal/home"
	"github.com/iff-run/iff/internal/visible"
	"github.com/iff-run/iff/record"
)

// maxTrace is far more records than a call makes.
const maxTrace = 1000

// trace lays out what happened to one call.
func (a *app) trace(h *home.Home, f *filter) error {
	var steps []audit.Stored
	var ids []string
	err := a.each(h, f, func(s audit.Stored) error {
		if s.Request != "" && !slices.Contains(ids, s.Request) {
			ids = append(ids, s.Request)
		}
		if len(steps) < maxTrace {
			s.Line = nil
			steps = append(steps, s)
		}
		return nil
	})
	switch {
	case err != nil:
		return err
	case len(ids) == 0:
		return &usageError{reason: "no-record", detail: fmt.Sprintf("no record is of a call %s", visible.Escape(f.call)), remedy: "see which calls there are: iff audit show --kind request"}
	case len(ids) > 1:
		return &usageError{reason: "usage", detail: fmt.Sprintf("--call %s: the ids of %d calls end so: %s", visible.Escape(f.call), len(ids), firstFew(ids)), remedy: "give more of the id"}
	}
	t := tracer{app: a, store: h.LogStore(), id: ids[0], room: 120}
	if w := a.width(); w > 0 {
		t.room = max(w, 60)
	}
	t.print(steps, h.State())
	return nil
}

func firstFew(ids []string) string {
	if len(ids) > 5 {
		return strings.Join(ids[:5], ", ") + ", ..."
	}
	return strings.Join(ids, ", ")
}

// tracer prints the records of one call.
type tracer struct {
	*app
	store audit.Store
	id    string
	room  int // columns

	plan    []record.Change // of the newest intent
	planned bool            // there is one, and all of it is in the line
	intends record.Kind     // the newest intent; empty before the first
	said    string          // by the agent
	whole   string          // where the envelope can be read whole
	ended   string          // what became of it
	off     bool            // something was read that was not planned
}

// The left part of a trace: number, time since the step before, kind or label.
const (
	traceSeq    = 8
	traceTime   = 11
	traceKind   = 20
	traceIndent = traceSeq + traceTime + traceKind
)

func (t *tracer) print(steps []audit.Stored, state *record.State) {
	t.printf("call %s", t.id)
	if first := steps[0]; first.Session != "" {
		t.printf("   session %s", first.Session)
	}
	t.printf("   %s UTC\n\n", steps[0].Time.Format(timeWide))
	before := steps[0].Time
	for _, s := range steps {
		took := ""
		if s.Seq != steps[0].Seq {
			took = "+" + lasted(s.Time.Sub(before))
		}
		before = s.Time
		t.step(s, took)
	}
	t.printf("\n%s\n", t.outcome(steps, state))
	if t.said != "" {
		t.printf("\nthe agent said (untrusted)\n")
		for _, line := range t.wrapped(visible.Escape(t.said), t.room-2, 12) {
			t.printf("  %s\n", line)
		}
	}
}

// lasted writes a duration for people.
func lasted(d time.Duration) string {
	for _, u := range []struct {
		unit time.Duration
		name string
	}{{time.Hour, "h"}, {time.Minute, "min"}, {time.Second, "s"}, {time.Millisecond, "ms"}, {time.Microsecond, "us"}} {
		if d >= u.unit {
			return fmt.Sprintf("%.4g %s", float64(d)/float64(u.unit), u.name)
		}
	}
	return fmt.Sprintf("%d ns", d.Nanoseconds())
}

// step prints one record: what it says in a line, then its parts.
func (t *tracer) step(s audit.Stored, took string) {
	kind := fmt.Sprintf("%-*s", traceKind, s.Body.Kind())
	if colour := tone(s.Body); colour != "" {
		kind = t.paint(colour, kind)
	}
	left := fmt.Sprintf("%-*d%-*s%s", traceSeq, s.Seq, traceTime, took, kind)
	for _, line := range t.wrapped(essence(s.Body), t.room-traceIndent, 12) {
		t.printf("%s%s\n", left, line)
		left = strings.Repeat(" ", traceIndent)
	}
	t.parts(s.Body)
}

// essence is the one thing that matters about a record.
func essence(b record.Body) string {
	switch b := b.(type) {
	case record.Request:
		return said(b.Capability) + " " + said(b.Target)
	case record.ReversibleRequest:
		return said(b.Capability) + " " + said(b.Target)
	case record.Intent, record.CommitIntent, record.RollbackIntent:
		return "about to be done"
	case record.Executed, record.Committed:
		return "done"
	case record.RolledBack:
		return "not in the world, or no longer"
	case record.Error:
		return said(b.Reason)
	case record.Staged:
		return size(b.Bytes) + " in memory"
	case record.Resolved:
		return string(b.Finding) + ", by " + said(b.By)
	}
	return summary(b)
}

func (t *tracer) parts(b record.Body) {
	switch b := b.(type) {
	case record.Request:
		t.request(b)
	case record.ReversibleRequest:
		t.request(b.Request)
	case record.Decision:
		t.decision(b)
		if b.Choice != record.Approve {
			t.ended = fmt.Sprintf("denied (%s): nothing was done", because(b))
		}
	case record.LateDecision:
		t.decision(b.Decision)
	case record.Intent:
		t.intent(b.Kind(), b)
	case record.CommitIntent:
		t.intent(b.Kind(), b.Intent)
	case record.RollbackIntent:
		t.intent(b.Kind(), b.Intent)
	case record.Staged:
		t.changes("plan", b.Plan, b.Rest)
	case record.Executed:
		t.outcomeOf(b.Outcome, "executed")
	case record.Committed:
		t.outcomeOf(b.Outcome, "committed")
	case record.RolledBack:
		t.outcomeOf(b.Outcome, t.rolledBack())
	case record.Error:
		t.outcomeOf(b.Outcome, t.failed()+said(b.Reason))
	case record.Resolved:
		t.changes("found", b.Readings, b.Rest)
		t.part("evidence", said(b.Evidence))
		t.ended = fmt.Sprintf("resolved by %s: %s", said(b.By), b.Finding)
	}
}

// because is why somebody said no.
func because(b record.Decision) string {
	if b.Reason == "" {
		return string(b.Cause)
	}
	return string(b.Cause) + ", " + said(b.Reason)
}

// rolledBack says what it is that is not in the world.
func (t *tracer) rolledBack() string {
	if t.intends == record.KindRollbackIntent {
		return "rolled back"
	}
	return "dropped: it never was in the world"
}

// failed says how far the call came.
func (t *tracer) failed() string {
	if t.intends == "" {
		return "approved, not attempted: "
	}
	return "failed: "
}

// part prints one labelled text; nothing for nothing.
func (t *tracer) part(label, text string) { t.partIn("", label, text) }

// warn prints what a person must not overlook.
func (t *tracer) warn(text string) { t.partIn(red, "!", text) }

func (t *tracer) partIn(colour, label, text string) {
	for _, line := range t.wrapped(text, t.room-traceIndent, 12) {
		line = fmt.Sprintf("  %-*s%s", traceKind-2, label, line)
		if colour != "" {
			line = t.paint(colour, line)
		}
		t.printf("%s%s\n", strings.Repeat(" ", traceSeq+traceTime), strings.TrimRight(line, " "))
		label = ""
	}
}

func (t *tracer) request(b record.Request) {
	var w words
	w.add("%s", said(b.Effect))
	w.add("level %s", said(b.Level))
	w.named("mark", b.Mark)
	w.named("sink", b.Sink)
	t.part("effect", w.String())
	if b.Guarded != "" {
		t.warn("reaches for what is guarded: " + said(b.Guarded))
	}
	t.part("agent", said(b.Agent))
	if b.Skill != "" {
		t.part("skill", abbreviated(b.Skill))
	}
	t.changes("plan", b.Plan, b.Rest)
	if b.Key != "" {
		t.part("key", said(b.Key)+", the agent's")
	}
	kept := size(b.Payload.Size)
	if b.Payload == (record.Payload{}) {
		kept = "its hash alone is kept"
	}
	t.part("envelope", fmt.Sprintf("%.12s, %s", b.Envelope, kept))
	t.envelope(b)
}

// envelope prints what of the approved bytes is not in the record itself.
func (t *tracer) envelope(b record.Request) {
	if b.Payload.Size == 0 {
		return
	}
	data, err := audit.Fetch(t.ctx, t.store, b.Payload)
	if err != nil {
		t.warn(shown(err))
		return
	}
	if b.Payload.Digest != b.Envelope {
		t.warn("what was kept with the request is not its envelope")
	}
	t.whole = "; all of it: iff audit show --json --call " + t.id
	if b.Payload.Text == "" {
		t.whole = "; all of it in the log's directory: blob-" + b.Payload.Digest.String()
	}
	e, err := capability.ParseEnvelope(data)
	if err != nil {
		t.part("text", visible.Escape(string(data)))
		return
	}
	if e.Arguments() != "{}" {
		t.part("arguments", visible.Escape(e.Arguments()))
	}
	t.said = e.Reasoning()
}

func (t *tracer) decision(b record.Decision) {
	if !b.Expires.IsZero() {
		t.part("expires", b.Expires.UTC().Format(timeWide))
	}
	t.part("profile", said(b.Profile))
	if n := len(b.Batch); n > 0 {
		t.part("batch", plural(n, "call")+" under one signature")
	}
}

func (t *tracer) intent(kind record.Kind, b record.Intent) {
	t.plan, t.planned, t.intends, t.ended = b.Plan, b.Rest.Size == 0, kind, ""
	t.changes("plan", b.Plan, b.Rest)
	var w words
	w.add("%s", said(b.Key))
	w.add("attempt %d", b.Attempt)
	w.add("fence %d", b.Fence)
	w.named("staging", b.Staging)
	t.part("key", w.String())
}

func (t *tracer) changes(label string, all []record.Change, rest record.Payload) {
	for _, c := range all {
		t.part(label, changed(c))
		label = " "
	}
	t.rest(label, rest)
}

func (t *tracer) rest(label string, rest record.Payload) {
	if rest.Size > 0 {
		t.part(label, fmt.Sprintf("more in blob %s, %s", rest.Digest, size(rest.Size)))
	}
}

func changed(c record.Change) string {
	return fmt.Sprintf("%s  %s -> %s", said(string(c.Object)), stated(c.Before), stated(c.After))
}

// readings prints what was read and how it differs from what was planned.
func (t *tracer) readings(all []record.Change) {
	label := "read"
	for _, c := range all {
		i := slices.IndexFunc(t.plan, func(p record.Change) bool { return p.Object == c.Object })
		switch {
		case !t.planned:
			t.part(label, changed(c))
		case i < 0:
			t.part(label, changed(c))
			t.off = true
			t.warn("not in the plan")
		case fits(t.plan[i].Before, c.Before) && fits(t.plan[i].After, c.After):
			t.part(label, changed(c)+"  as planned")
		default:
			t.part(label, changed(c))
			t.off = true
			t.warn(fmt.Sprintf("planned was %s -> %s", stated(t.plan[i].Before), stated(t.plan[i].After)))
		}
		label = " "
	}
}

func fits(planned, read corpus.State) bool { return planned == corpus.Any || planned == read }

func (t *tracer) outcomeOf(b record.Outcome, ended string) {
	t.readings(b.Readings)
	t.rest(" ", b.Rest)
	if b.Detail != "" {
		t.part("detail", said(b.Detail))
	}
	if b.Result.Size > 0 {
		text := fmt.Sprintf("%.12s, %s", b.Result.Digest, size(b.Result.Size))
		if b.Result.Text != "" {
			text += ": " + said(b.Result.Text)
		}
		t.part("reply", text)
	}
	t.ended = ended
}

// outcome says in a line where the call stands.
func (t *tracer) outcome(steps []audit.Stored, state *record.State) string {
	for _, c := range state.Calls() {
		switch {
		case c.ID != t.id:
		case c.InDoubt:
			return t.paint(red, "in doubt: it has an intent and no outcome, and nobody knows whether it happened")
		case c.Intent >= 0:
			return "under way: it has an intent and no outcome yet"
		case c.Staged >= 0:
			return "staged: it waits in memory for the barrier"
		case c.Decision >= 0:
			return "approved, and not begun"
		default:
			return "waiting for a decision"
		}
	}
	last := steps[len(steps)-1]
	if r, ok := last.Body.(record.Recovery); ok {
		return "ended by a crash: nothing was done  (" + summary(r) + ")"
	}
	if t.off {
		t.ended += t.paint(red, ", other than planned")
	}
	return fmt.Sprintf("%s, %s after it was asked for", t.ended, lasted(last.Time.Sub(steps[0].Time)))
}

// wrapped breaks a text into lines of so many columns, at most so many lines.
func (t *tracer) wrapped(s string, room, most int) []string {
	var out []string
	for rest := s; rest != ""; {
		if len(out) == most {
			return append(out, fmt.Sprintf("... %s more%s", size(int64(len(rest))), t.whole))
		}
		n := prefix(rest, max(room, 20))
		out, rest = append(out, rest[:n]), rest[n:]
	}
	return out
}

// prefix is how many bytes of s fit in so many columns; an escape stays whole.
func prefix(s string, room int) int {
	used, blank := 0, 0
	for i, r := range s {
		if used += runeColumns(r); used > room {
			if blank > i/2 {
				return blank
			}
			if open := strings.LastIndexByte(s[:i], '\\'); open > i-len(`\u{10ffff}`) && open > 0 && !strings.Contains(s[open:i], "}") {
				return open
			}
			return i
		}
		if r == ' ' {
			blank = i + 1
		}
	}
	return len(s)
}
