package main

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/iff-run/iff"
	"github.com/iff-run/iff/gate"
	"github.com/iff-run/iff/internal/home"
	"github.com/iff-run/iff/internal/runtime"
	"github.com/iff-run/iff/internal/serve"
	"github.com/iff-run/iff/record"
	"github.com/iff-run/iff/verdict"
)

type verdictCmd struct {
	Session  string `arg:"" optional:"" help:"Id of a session, to its end. Without one: everybody, since the newest session began."`
	From     int64  `help:"Instead of a session: begin at the last snapshot before record N, 1 or more." placeholder:"N"`
	To       int64  `help:"With --from: end at the first snapshot behind record N-1, not now." placeholder:"N"`
	NoRecord bool   `help:"Only read: write no verdict into the log, and need no right to."`
	Verbose  bool   `short:"v" help:"Say too what no verdict can see."`
}

type verdictJSON struct {
	Result   string               `json:"result" doc:"PASS, FAIL or OPEN"`
	Whole    string               `json:"whole" doc:"the same for all sessions of the time"`
	Session  string               `json:"session" doc:"whose it is; empty: everybody's"`
	Since    string               `json:"since" doc:"time of the snapshot that it begins with"`
	Until    string               `json:"until" doc:"time of the reading that it ends with"`
	Opened   string               `json:"opened" doc:"the session that it begins with; empty for an interval"`
	Agent    string               `json:"agent" doc:"whose session that is"`
	From     int64                `json:"from" doc:"first record"`
	To       int64                `json:"to" doc:"record behind the last"`
	Counts   verdictCountsJSON    `json:"counts" doc:"numbers of calls, and of objects"`
	Corpora  []verdictCorpusJSON  `json:"corpora" doc:"what was read"`
	Paper    verdictPaperJSON     `json:"paper" doc:"the result over operations and targets alone, values aside"`
	Findings []verdictFindingJSON `json:"findings" doc:"what does not hold, or is not known"`
	Omitted  int                  `json:"omitted" doc:"findings that were too many to send; the record has them"`
	Unseen   []string             `json:"unseen" doc:"what no verdict can see"`
	Records  int64                `json:"records" doc:"in the log"`
	Anchored int64                `json:"anchored" doc:"of them, that somebody outside vouches for; nobody does for those behind"`
	Anchors  []anchorJSON         `json:"anchors" doc:"who does, as far as was last heard"`
	Recorded bool                 `json:"recorded" doc:"the verdict is in the log"`
}

type verdictCountsJSON struct {
	Calls        int64 `json:"calls" doc:"asked for"`
	Reads        int64 `json:"reads" doc:"done, without effect"`
	Reversible   int64 `json:"reversible" doc:"committed"`
	Irreversible int64 `json:"irreversible" doc:"done"`
	Asked        int64 `json:"asked" doc:"decided by somebody who was asked, or not in time"`
	ByGrant      int64 `json:"byGrant" doc:"changes that a level approved"`
	Denied       int64 `json:"denied" doc:"refused or denied"`
	Failed       int64 `json:"failed" doc:"tried, and failed"`
	NotTried     int64 `json:"notTried" doc:"approved, and not tried"`
	Dropped      int64 `json:"dropped" doc:"staged, and never written"`
	RolledBack   int64 `json:"rolledBack" doc:"put back after they were committed"`
	Resolved     int64 `json:"resolved" doc:"that had been in doubt"`
	Opaque       int64 `json:"opaque" doc:"done, on nothing that is observed"`
	Bounded      int64 `json:"bounded" doc:"done, with values that are not checked"`
	Late         int64 `json:"late" doc:"answers that came too late"`
	Unchecked    int64 `json:"unchecked" doc:"signed approvals that nobody could check"`
	Changed      int64 `json:"changed" doc:"objects that changed, of all sessions"`
	Explained    int64 `json:"explained" doc:"those of them without a finding"`
}

type verdictCorpusJSON struct {
	Name     string   `json:"name" doc:"of the corpus"`
	Observer string   `json:"observer" doc:"who read it"`
	Objects  int64    `json:"objects" doc:"how many there are"`
	Unread   int64    `json:"unread" doc:"of them, that could not be read"`
	Blind    []string `json:"blind" doc:"what the observer cannot see"`
	Volatile []string `json:"volatile" doc:"patterns of what is not observed"`
}

type verdictPaperJSON struct {
	Equal    bool  `json:"equal" doc:"what was observed is what was audited"`
	Observed int64 `json:"observed" doc:"changes"`
	Audited  int64 `json:"audited" doc:"changes"`
}

type verdictFindingJSON struct {
	Class   string `json:"class" doc:"see docs/sessions.md"`
	Fails   bool   `json:"fails" doc:"it makes the verdict FAIL; otherwise OPEN"`
	Object  string `json:"object" doc:"what it is about"`
	Landed  string `json:"landed" doc:"of wrong-target: what was changed instead"`
	Call    string `json:"call" doc:"id; empty: outside every call"`
	Session string `json:"session" doc:"of the call"`
	Before  string `json:"before" doc:"state as read"`
	After   string `json:"after" doc:"state as read"`
	Planned string `json:"planned" doc:"state after, as approved"`
	From    string `json:"from" doc:"it happened after this"`
	To      string `json:"to" doc:"and before this"`
	Detail  string `json:"detail" doc:"in words"`
	Advice  string `json:"advice" doc:"what to do"`
}

// Run asks the runtime that is running, for it knows which calls are under way;
// without one the log and the corpora say it.
func (c verdictCmd) Run(a *app) error {
	if err := c.check(); err != nil {
		return err
	}
	dir, err := a.sockets()
	if err != nil {
		return err
	}
	var out verdictJSON
	if serve.Running(a.ctx, dir) {
		out, err = c.ask(a, dir)
	} else {
		out, err = c.judge(a)
	}
	if err != nil {
		return noSuchSession(err)
	}
	if err := a.print(out, func() error { return a.printVerdict(out, c.Verbose) }); err != nil {
		return err
	}
	switch record.Result(out.Result) {
	case record.Pass:
		return nil
	case record.Fail:
		return &outcomeError{exitDoesNot}
	}
	return &outcomeError{exitOpen}
}

func (c verdictCmd) check() error {
	switch {
	case c.Session != "" && c.From+c.To != 0:
		return &usageError{reason: "usage", detail: "a session and an interval are two things", remedy: "name one of them"}
	case c.From < 0 || c.To < 0 || c.To > 0 && c.To <= c.From || c.To > 0 && c.From == 0:
		return &usageError{reason: "usage", detail: fmt.Sprintf("--from %d --to %d is no interval", c.From, c.To), remedy: "say --from N, 1 or more, and perhaps --to a later one"}
	}
	return nil
}

// ask has the runtime judge.
func (c verdictCmd) ask(a *app, dir string) (verdictJSON, error) {
	if c.NoRecord {
		return verdictJSON{}, &usageError{
			reason: "usage", detail: "--no-record: the runtime is running, and only it knows which calls are under way", remedy: "leave it out, or end the runtime first: iff serve --stop",
		}
	}
	var got serve.Verdict
	if err := a.tellOperator(dir, "verdict", serve.Asked{Session: c.Session, From: c.From, To: c.To}, &got); err != nil {
		return verdictJSON{}, err
	}
	report, err := verdict.ParseReport([]byte(got.Report.String()))
	if err != nil {
		return verdictJSON{}, err
	}
	var out verdictJSON
	err = a.withHome(home.Read, func(h *home.Home) error {
		out, err = c.form(a, h, report)
		return err
	})
	out.Omitted, out.Recorded = got.Omitted, true
	return out, err
}

// judge judges without a runtime. The verdict is recorded, unless the home may
// only be read.
func (c verdictCmd) judge(a *app) (out verdictJSON, err error) {
	mode := home.Write
	if c.NoRecord {
		mode = home.Read
	}
	err = a.withHome(mode, func(h *home.Home) error {
		out, err = c.judgeIn(a, h)
		return err
	})
	if mode == home.Write && errors.Is(err, fs.ErrPermission) {
		err = a.withHome(home.Read, func(h *home.Home) error {
			out, err = c.judgeIn(a, h)
			return err
		})
	}
	return out, err
}

func (c verdictCmd) judgeIn(a *app, h *home.Home) (verdictJSON, error) {
	if err := h.CheckCorpora(); err != nil {
		return verdictJSON{}, err
	}
	m := a.meter("judging", logBytes(h.Dir()))
	report, err := iff.Judge(a.ctx, h, iff.Asked{Session: c.Session, From: c.From, To: c.To}, a.now())
	m.done()
	if err != nil {
		return verdictJSON{}, err
	}
	out, err := c.form(a, h, report)
	if err != nil || h.Log() == nil {
		return out, err
	}
	out.Recorded = true
	return out, runtime.Record(a.ctx, h.Log(), report)
}

// noSuchSession says what to do where there is nothing to judge.
func noSuchSession(err error) error {
	if errors.Is(err, runtime.ErrNoSnapshot) {
		return &usageError{reason: "usage", detail: err.Error(), remedy: "see where snapshots are: iff audit show --kind barrier"}
	}
	if !errors.Is(err, runtime.ErrNoSession) {
		return err
	}
	message := strings.TrimSuffix(err.Error(), ": "+runtime.ErrNoSession.Error())
	return &serve.Fault{Code: serve.CodeRefused, Reason: string(gate.SessionUnknown), Message: message, Remedy: "see which there were: iff audit stat"}
}

// form is a report as it is printed, with what the log says of its session.
func (c verdictCmd) form(a *app, h *home.Home, r verdict.Report) (verdictJSON, error) {
	out := verdictJSON{
		Result: string(r.Result), Whole: string(r.Whole), Session: r.Session, Since: string(r.Since), Until: string(r.Until), From: r.From, To: r.To,
		Counts: verdictCountsJSON(r.Counts), Corpora: []verdictCorpusJSON{}, Paper: verdictPaperJSON(r.Paper), Findings: []verdictFindingJSON{},
		Unseen: list(r.Unseen), Records: h.State().Size(),
	}
	out.Anchors, out.Anchored = a.anchorsOf(h)
	if c.From == 0 {
		opened, err := runtime.Opening(a.ctx, h.View(), h.LogStore(), c.Session)
		if c.Session == "" {
			opened, err = runtime.FirstOpening(a.ctx, h.View(), h.LogStore(), r.From)
		}
		if err != nil {
			return out, err
		}
		out.Opened = opened.Session
		if b, ok := opened.Body.(record.Session); ok {
			out.Agent = b.Agent
		}
	}
	for _, k := range r.Corpora {
		out.Corpora = append(out.Corpora, verdictCorpusJSON{k.Name, k.Observer, k.Objects, k.Unread, list(k.Blind), list(k.Volatile)})
	}
	for _, f := range r.Findings {
		out.Findings = append(out.Findings, verdictFindingJSON{
			Class: string(f.Class), Fails: f.Class.Fails(), Object: string(f.Object), Landed: string(f.Landed), Call: f.Call, Session: f.Session,
			Before: string(f.Before), After: string(f.After), Planned: string(f.Planned), From: string(f.From), To: string(f.To), Detail: f.Detail,
			Advice: adviceOn(f, out),
		})
	}
	return out, nil
}
