package main

import (
	"cmp"
	"fmt"

	"github.com/iff-run/iff/broker"
	"github.com/iff-run/iff/internal/home"
	"github.com/iff-run/iff/internal/visible"
	"github.com/iff-run/iff/record"
)

type policyReplayCmd struct {
	Policy  []string `help:"Cedar file; can be given again. By default those of the home." placeholder:"FILE"`
	Session string   `help:"Only of this session; the end of its id will do." placeholder:"ID"`
	From    int64    `help:"Only from this record on." default:"0" placeholder:"SEQ"`
	To      *int64   `help:"Only up to this record." placeholder:"SEQ"`
}

type policyReplayJSON struct {
	Policy  string             `json:"policy" doc:"digest of the policy, hex SHA-256"`
	Asked   int                `json:"asked" doc:"requests that somebody was asked about"`
	Same    int                `json:"same" doc:"of them, that the policy decides as it was decided"`
	Passed  int                `json:"passed" doc:"of them, that the policy leaves to others, as it did or as if it had not been there"`
	Differ  int                `json:"differ" doc:"of them, that it decides otherwise"`
	Differs []policyDifferJSON `json:"differs" doc:"those, in the order of the log"`
}

type policyDifferJSON struct {
	Seq        int64  `json:"seq" doc:"number of the request record"`
	Call       string `json:"call" doc:"id of the call"`
	Session    string `json:"session" doc:"id of its session"`
	Capability string `json:"capability" doc:"token"`
	Target     string `json:"target" doc:"what it acts on"`
	Recorded   string `json:"recorded" doc:"approve or deny; empty: it was not decided"`
	By         string `json:"by" doc:"cause and broker of the recorded decision"`
	WasRule    string `json:"wasRule" doc:"rule of the recorded decision"`
	Decides    string `json:"decides" doc:"approve, deny, or pass"`
	Rule       string `json:"rule" doc:"rule that decides"`
	Why        string `json:"why" doc:"what could not be evaluated, or why an approval became a pass"`
}

// Run compares. What it prints depends on the log and the policy alone.
func (c policyReplayCmd) Run(a *app) error {
	span, err := filterFlags{Session: c.Session, From: c.From, To: c.To}.compile(a.now())
	if err != nil {
		return err
	}
	out := policyReplayJSON{Differs: []policyDifferJSON{}}
	err = a.withHome(home.Read, func(h *home.Home) error {
		p, err := a.policyOf(h, c.Policy)
		if err != nil {
			return err
		}
		out.Policy = p.Digest().String()
		asked := a.askedRequests(h)
		return asked.each(func(l logged) error {
			if !span.match(l.Stored) {
				return nil
			}
			q, err := asked.question(l)
			if err != nil {
				return err
			}
			out.count(l, p.Decide(q))
			return nil
		})
	})
	if err != nil {
		return err
	}
	if err := a.print(out, func() error { return a.printReplay(out) }); err != nil {
		return err
	}
	if out.Differ > 0 {
		return &outcomeError{exitDoesNot}
	}
	return nil
}

// policyOf reads the named policy, or that of the home, to decide as in the home.
func (a *app) policyOf(h *home.Home, named []string) (*broker.Policy, error) {
	files := homePolicy(h)
	if len(named) > 0 {
		var err error
		if files, err = readPolicyFiles(named); err != nil {
			return nil, err
		}
	}
	if len(files) == 0 {
		return nil, noPolicy()
	}
	return parsePolicy(files, broker.PolicyOptions{Profile: string(h.Config().Profile)})
}

// count holds one ruling against what was recorded. A policy that passes what
// others decided decides nothing otherwise.
func (out *policyReplayJSON) count(l logged, r broker.Ruling) {
	out.Asked++
	var was record.Decision
	if l.decision != nil {
		was = *l.decision
	}
	switch {
	case r.Choice == was.Choice:
		out.Same++
	case r.Choice == "" && was.Cause != record.CausePolicy:
		out.Passed++
	default:
		out.Differ++
		d := policyDifferJSON{
			Seq: l.Seq, Call: l.Request, Session: l.Session, Capability: l.request.Capability, Target: l.request.Target,
			Recorded: string(was.Choice), By: string(was.Cause), WasRule: was.Rule, Decides: cmp.Or(string(r.Choice), "pass"), Rule: r.Rule, Why: rulingWhy(r),
		}
		if was.Broker != "" && was.Broker != string(was.Cause) {
			d.By += " by " + was.Broker
		}
		out.Differs = append(out.Differs, d)
	}
}

// rulingWhy is what there is to say of a ruling beside its rule.
func rulingWhy(r broker.Ruling) string {
	if len(r.Diagnostics) > 0 {
		return r.Diagnostics[0]
	}
	return r.Limit
}

// The most runes that a table shows; --json has all.
const (
	replayWhat = 60
	replayWhy  = 120
)

// plainly is a text that may have escapes in it already, for a terminal.
func plainly(s string) string { return undouble(visible.Escape(s)) }

func (a *app) printReplay(out policyReplayJSON) error {
	if len(out.Differs) > 0 {
		rows := [][]string{{"RECORD", "CALL", "WHAT", "RECORDED", "POLICY", "RULE"}}
		for _, d := range out.Differs {
			recorded := "undecided"
			if d.Recorded != "" {
				recorded = fmt.Sprintf("%s  %s", d.Recorded, visible.Escape(d.By))
			}
			rule := cmp.Or(d.Rule, "-")
			if d.Why != "" {
				rule += ": " + d.Why
			}
			what := said(d.Capability) + " " + visible.Truncate(said(d.Target), replayWhat)
			rows = append(rows, []string{fmt.Sprint(d.Seq), lastOf(d.Call), what, recorded, d.Decides, visible.Truncate(plainly(rule), replayWhy)})
		}
		if err := a.table(rows); err != nil {
			return err
		}
		a.printf("\n")
	}
	a.printf("%s asked about: %d decided alike, %d left to others, %d decided otherwise  (policy %.12s)\n",
		plural(out.Asked, "request"), out.Same, out.Passed, out.Differ, out.Policy)
	return nil
}

// lastOf is enough of an id to name it.
func lastOf(id string) string { return said(id[max(0, len(id)-8):]) }
