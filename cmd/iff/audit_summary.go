package main

import (
	"fmt"
	"strings"

	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/internal/visible"
	"github.com/iff-run/iff/record"
)

// said makes somebody's words safe to stand in a line of ours: on one line, with
// what a reader would not see written out, and in quotes if they could be taken
// for the words around them.
func said(s string) string {
	s = visible.Escape(s)
	if s != "" && !strings.ContainsAny(s, " \"\u3000") {
		return s
	}
	return `"` + strings.ReplaceAll(s, `"`, `\u{22}`) + `"`
}

func saidAll(list []string) string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = said(s)
	}
	return strings.Join(out, ", ")
}

// stated is a state as a person compares it.
func stated(s corpus.State) string { return abbreviated(string(s)) }

// abbreviated is what a person compares hashes by. Other states, such as
// absent, are words.
func abbreviated(state string) string {
	if len(state) == 64 && strings.Trim(state, "0123456789abcdef") == "" {
		return state[:12]
	}
	return said(state)
}

// words is a line in the making. Its parts are two blanks apart, as nothing
// that said writes is.
type words []string

func (w *words) add(format string, args ...any) { *w = append(*w, fmt.Sprintf(format, args...)) }

// named adds a value that may be missing.
func (w *words) named(name, value string) {
	if value != "" {
		w.add("%s %s", name, said(value))
	}
}

// list adds a list that may be empty.
func (w *words) list(name string, values []string) {
	if len(values) > 0 {
		w.add("%s %s", name, saidAll(values))
	}
}

func (w *words) change(c record.Change) {
	w.add("%s %s -> %s", said(string(c.Object)), stated(c.Before), stated(c.After))
}

// changes adds the first of several and how many more there are.
func (w *words) changes(all []record.Change, rest record.Payload) {
	if len(all) > 0 {
		w.change(all[0])
	}
	if len(all) > 1 {
		w.add("and %d more", len(all)-1)
	}
	if rest.Size > 0 {
		w.add("the rest in %.12s", rest.Digest)
	}
}

func (w words) String() string { return strings.Join(w, "  ") }

// summary says in one line what a record says. It is safe for a terminal.
func summary(b record.Body) string {
	var w words
	switch b := b.(type) {
	case record.Request:
		w.request(b)
	case record.ReversibleRequest:
		w.request(b.Request)
	case record.Decision:
		w.decision(b)
	case record.LateDecision:
		w.add("without effect")
		w.decision(b.Decision)
	case record.Intent:
		w.intent(b)
	case record.CommitIntent:
		w.intent(b.Intent)
	case record.RollbackIntent:
		w.intent(b.Intent)
	case record.Executed:
		w.outcome(b.Outcome)
	case record.Error:
		w.outcome(b.Outcome)
	case record.Committed:
		w.outcome(b.Outcome)
	case record.RolledBack:
		w.outcome(b.Outcome)
	case record.Staged:
		w.add("%s in memory", size(b.Bytes))
		w.changes(b.Plan, b.Rest)
	case record.Resolved:
		w.add("%s", b.Finding)
		w.named("by", b.By)
		w.changes(b.Readings, b.Rest)
		w.named("evidence", b.Evidence)
	case record.Mutation:
		w.mutation(b)
	default:
		w.homeSummary(b)
	}
	return w.String()
}

func (w *words) request(b record.Request) {
	w.add("%s %s", said(b.Capability), said(b.Target))
	w.add("%s", said(b.Effect))
	w.add("by %s, %s", said(b.Agent), said(b.Level))
	w.named("guarded", b.Guarded)
}

func (w *words) decision(b record.Decision) {
	w.add("%s", b.Choice)
	w.add("%s by %s", b.Cause, said(b.Broker))
	w.named("reason", b.Reason)
	w.named("signed by", b.Approver)
	if len(b.Batch) > 0 {
		w.add("one of %d", len(b.Batch))
	}
	w.named("rule", b.Rule)
	if b.SameUID {
		w.add("same user as the agent")
	}
}

func (w *words) intent(b record.Intent) {
	if b.Attempt > 1 {
		w.add("attempt %d", b.Attempt)
	}
	w.changes(b.Plan, b.Rest)
}

func (w *words) outcome(b record.Outcome) {
	if b.Reason != "" {
		w.add("%s", said(b.Reason))
	}
	w.changes(b.Readings, b.Rest)
	w.named("detail", b.Detail)
	if len(*w) == 0 {
		w.add("no object changed")
	}
}

func (w *words) mutation(b record.Mutation) {
	approved := "not approved"
	if b.Approved {
		approved = "approved"
	}
	w.add("%s %s -> %s", said(b.Object), abbreviated(b.Before), abbreviated(b.Proposed))
	w.add("%s", approved)
	w.add("of skill %s by %s", said(b.Skill), said(b.Route))
}

func (w *words) skill(k record.Skill) {
	w.add("%s version %d", said(k.Name), k.Version)
	w.add("%s by %s", said(k.Level), said(k.Signer))
}

// homeSummary is for what happens to a home, its runtime and its sessions.
func (w *words) homeSummary(b record.Body) {
	switch b := b.(type) {
	case record.Init:
		w.add("log %s begins", said(b.Origin))
		w.add("operator %s, profile %s, scheme %s", said(b.Operator), said(b.Profile), said(b.Scheme))
	case record.KeyCreated:
		protected := "no passphrase"
		if b.Protected {
			protected = "protected"
		}
		w.add("%s %s", said(b.Name), said(b.Fingerprint))
		w.add("%s", protected)
	case record.KeyRotated:
		w.add("the log signs with its key %d from here on", b.Epoch)
	case record.TrustChanged:
		w.add("document %d", b.Version)
		w.list("added", b.Added)
		w.list("revoked", b.Revoked)
	case record.Revocation:
		w.add("%s by document %d", said(b.Signer), b.Version)
		w.list("evicted", b.Evicted)
		w.add("%s cancelled", plural(len(b.Cancelled), "request"))
	case record.SkillAdopted:
		w.skill(b.Skill)
		w.add("%s", said(b.Directory))
		if b.Replaced {
			w.add("in place of a manifest that somebody else had signed")
		}
	case record.SkillSigned:
		w.skill(b.Skill)
		w.add("%s", said(b.Directory))
	case record.SkillLoaded:
		w.skill(b.Skill)
		w.add("%s", said(b.Directory))
	case record.SkillRefused:
		w.add("step %d: %s", b.Step, said(b.Reason))
		w.named("in", b.Where)
		w.add("%s", said(b.Directory))
	case record.SkillEvicted:
		w.add("%s", said(b.Reason))
		w.skill(b.Skill)
	default:
		w.runSummary(b)
	}
}

func (w *words) runSummary(b record.Body) {
	switch b := b.(type) {
	case record.Boot:
		w.add("iff %s, process %d, fence %d", said(b.Version), b.PID, b.Fence)
		w.add("profile %s, trust document %d", said(b.Profile), b.TrustVersion)
		if b.SameUID {
			w.add("agents run as the approver")
		}
	case record.Lock:
		w.add("%s frozen, trust document %d", plural(len(b.Skills), "skill"), b.TrustVersion)
	case record.Session:
		w.add("%s", b.Transition)
		w.add("%s", said(b.Agent))
		w.named("level", b.Level)
		w.named("mark", b.Mark)
		w.named("detail", b.Detail)
	case record.Barrier:
		w.add("round %d", b.Round)
		for _, c := range b.Corpora {
			w.add("%s: %s, %d unread, root %.12s", said(c.Corpus), plural(int(c.Objects), "object"), c.Unread, c.Root)
		}
	case record.Verdict:
		w.add("%s", b.Result)
		w.add("%s, %s", span(b.From, b.To-1), plural(int(b.Findings), "finding"))
		w.list("of", b.Corpora)
	case record.Recovery:
		w.recovery(b)
	case record.Checkpoint:
		w.add("%s", checkpointWords(b.Note))
	case record.Tool:
		w.add("%s/%s %s, schema %.12s", said(b.Server), said(b.Tool), b.Event, b.Schema)
	case record.Hook:
		w.add("%s, %s: %s", said(b.Client), said(b.Tool), b.Choice)
		w.named("because", b.Reason)
	case record.Refused:
		w.refused(b)
	}
}

func (w *words) refused(b record.Refused) {
	from := "nobody who is known"
	if b.Agent != "" {
		from = said(b.Agent)
	}
	w.add("%s from %s over %s", plural(int(b.Count), "message"), from, b.Channel)
	w.named("because", b.Reason)
}

func (w *words) recovery(b record.Recovery) {
	if b.Torn.Size > 0 {
		w.add("%s of a torn batch cut off", size(b.Torn.Size))
	}
	for _, f := range []struct {
		what string
		ids  []string
	}{{"denied", b.Denied}, {"expired", b.Expired}, {"rolled back", b.RolledBack}, {"in doubt", b.InDoubt}} {
		if len(f.ids) > 0 {
			w.add("%s: %s", f.what, saidAll(f.ids))
		}
	}
}

// checkpointWords gives size and root of a checkpoint that is in a log.
func checkpointWords(text string) string {
	lines := strings.SplitN(text, "\n", 4)
	if len(lines) < 4 {
		return ""
	}
	return fmt.Sprintf("%s records, root %.12s", said(lines[1]), said(lines[2]))
}
