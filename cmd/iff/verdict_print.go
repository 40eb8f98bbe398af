package main

import (
	"fmt"
	"strings"

	"github.com/iff-run/iff/record"
	"github.com/iff-run/iff/verdict"
)

// recordsOf is the verb that shows what a verdict is over.
func recordsOf(out verdictJSON) string {
	switch {
	case out.Session != "":
		return "iff audit show --session " + out.Session
	case out.Opened != "":
		return "iff audit show --session " + out.Opened
	}
	return fmt.Sprintf("iff audit show --from %d --to %d", out.From, out.To-1)
}

// adviceOn says what to do about a finding of a verdict.
func adviceOn(f verdict.Finding, out verdictJSON) string {
	undo := recordsOf(out)
	if f.Call != "" {
		undo = "iff audit show --call " + f.Call
	}
	switch f.Class {
	case verdict.Bypass:
		return fmt.Sprintf("no call touched it. Who else writes there? If that is as it should be, add it to [corpus.%s].volatile in iff.toml; if not, put it back by hand", f.Object.Corpus())
	case verdict.Tamper:
		return "it tells agents what to do, and changed outside every call. Find out who did it, and restore it before an agent reads it"
	case verdict.Drift:
		return "somebody else changed it before the call did. See what the call went by: " + undo
	case verdict.Overlap:
		return "somebody else changed it between calls. Compare what is there now with what was approved: " + undo
	case verdict.Forgery:
		return "the log does not say what a gate writes. Check it: iff audit verify; see the call: " + undo
	case verdict.SilentFailure:
		return "the call was told that it was done, and nothing is there. See it, and ask for it again: " + undo
	case verdict.WrongTarget:
		return "put the other object back, and see the call: " + undo
	case verdict.WrongContent:
		return "what was written is not what was approved. Put it back, and see the call: " + undo
	case verdict.Partial:
		return "the call failed and left something behind. Put it right by hand, and see the call: " + undo
	case verdict.InDoubt:
		return "a runtime that starts looks by itself: iff serve. If that does not tell, look yourself and say: iff session settle " + f.Call + " --finding executed|not-executed|partial --evidence TEXT"
	case verdict.Unread:
		return "let iff read it, then ask for the verdict again"
	}
	return undo
}

// shownFindings is how many findings are printed for people.
const shownFindings = 50

func (a *app) printVerdict(out verdictJSON, verbose bool) error {
	colour := red
	switch record.Result(out.Result) {
	case record.Pass:
		colour = green
	case record.Open:
		colour = "33"
	}
	a.printf("%s  %s\n", a.paint(colour, out.Result), verdictHead(out))
	for _, c := range out.Corpora {
		a.printf("      corpus %s  %s  observer %s%s\n", said(c.Name), plural(int(c.Objects), "object"), said(c.Observer), unreadWords(c))
	}
	a.printf("      %s changed, %s explained, value for value  the paper's result: %s\n",
		plural(int(out.Counts.Changed), "object"), count(out.Counts.Explained), paperWords(out.Paper))
	a.printf("      not observed: %s\n", unobserved(out))
	a.printf("      log: %s%s\n", anchoredWords(out.Anchors, out.Anchored, out.Records), recordedWords(out))
	if out.Session != "" && out.Whole != out.Result {
		a.printf("      of all sessions of the time: %s; see iff verdict --from %d\n", out.Whole, max(out.From, 1))
	}
	for i, f := range out.Findings {
		if i == shownFindings {
			a.printf("  and %s: --json has them\n", plural(len(out.Findings)-i, "more finding"))
			break
		}
		a.printFinding(f)
	}
	if out.Omitted > 0 {
		a.printf("  and %s, in the report that was recorded: iff audit show --kind verdict\n", plural(out.Omitted, "more finding"))
	}
	if verbose {
		a.printf("  no verdict sees\n")
		for _, u := range out.Unseen {
			a.printf("    %s\n", u)
		}
	}
	return nil
}

func verdictHead(out verdictJSON) string {
	var w words
	switch {
	case out.Session != "":
		w.add("session %s", said(out.Session))
	case out.Opened != "":
		w.add("everybody since session %s", said(out.Opened))
	default:
		w.add("%s", span(out.From, out.To-1))
	}
	if out.Agent != "" {
		w.add("%s", said(out.Agent))
	}
	w.add("%s to %s UTC", short19(out.Since), clockOf(out.Until, out.Since))
	c := out.Counts
	text := fmt.Sprintf("%s: %s, %d reversible, %d irreversible", plural(int(c.Calls), "call"), plural(int(c.Reads), "read"), c.Reversible, c.Irreversible)
	var more []string
	for _, n := range []struct {
		n    int64
		what string
	}{
		{c.Asked, "asked"}, {c.ByGrant, "by grant"}, {c.Denied, "denied"}, {c.Failed, "failed"}, {c.NotTried, "not tried"}, {c.Dropped, "dropped"},
		{c.RolledBack, "put back"}, {c.Resolved, "settled"},
	} {
		if n.n > 0 {
			more = append(more, fmt.Sprintf("%d %s", n.n, n.what))
		}
	}
	if len(more) > 0 {
		text += " (" + strings.Join(more, ", ") + ")"
	}
	w.add("%s", text)
	return w.String()
}

// clockOf is a time, without its day if that is the same as of another, and with
// milliseconds if the second is.
func clockOf(stamp, other string) string {
	switch {
	case len(stamp) >= 23 && len(other) >= 19 && stamp[:19] == other[:19]:
		return stamp[11:23]
	case len(stamp) >= 19 && len(other) >= 10 && stamp[:10] == other[:10]:
		return stamp[11:19]
	}
	return short19(stamp)
}

func unreadWords(c verdictCorpusJSON) string {
	if c.Unread == 0 {
		return ""
	}
	return fmt.Sprintf("  %s not read", plural(int(c.Unread), "object"))
}

func paperWords(p verdictPaperJSON) string {
	if p.Equal {
		return fmt.Sprintf("equal, %d observed and audited", p.Observed)
	}
	return fmt.Sprintf("not equal, %d observed, %d audited", p.Observed, p.Audited)
}

func unobserved(out verdictJSON) string {
	var parts []string
	if n := out.Counts.Opaque; n > 0 {
		parts = append(parts, plural(int(n), "opaque call"))
	}
	if n := out.Counts.Bounded; n > 0 {
		parts = append(parts, fmt.Sprintf("the values of %s", plural(int(n), "bounded call")))
	}
	for _, c := range out.Corpora {
		if n := len(c.Volatile); n > 0 {
			parts = append(parts, fmt.Sprintf("%s of %s", plural(n, "volatile pattern"), said(c.Name)))
		}
	}
	if len(parts) == 0 {
		return "what lies in no corpus"
	}
	return strings.Join(parts, ", ") + ", and what lies in no corpus"
}

func recordedWords(out verdictJSON) string {
	if out.Recorded {
		return ""
	}
	return "; this verdict is not recorded"
}

func (a *app) printFinding(f verdictFindingJSON) {
	var w words
	if f.Object != "" {
		w.add("%s", said(f.Object))
	}
	w.add("%s", undouble(oneLine(f.Detail)))
	w.named("landed on", f.Landed)
	if f.From != "" && f.To != "" {
		w.add("between %s and %s", clockOf(f.From, f.To), clockOf(f.To, f.From))
	}
	if f.Before != "" || f.After != "" {
		w.add("%s -> %s", orDash(abbreviatedState(f.Before)), orDash(abbreviatedState(f.After)))
	}
	if f.Planned != "" && f.Planned != f.After {
		w.add("approved: %s", abbreviatedState(f.Planned))
	}
	w.named("call", f.Call)
	colour := red
	if !f.Fails {
		colour = "33"
	}
	a.printf("  %s  %s\n", a.paint(colour, fmt.Sprintf("%-14s", f.Class)), w)
	a.printf("  %14s  %s\n", "", f.Advice)
}

func abbreviatedState(s string) string {
	if s == "" {
		return ""
	}
	return abbreviated(s)
}
