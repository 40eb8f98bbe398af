package serve

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/iff-run/iff"
	"github.com/iff-run/iff/approval"
	"github.com/iff-run/iff/gate"
	"github.com/iff-run/iff/internal/ask/inbox"
	"github.com/iff-run/iff/internal/canonical"
	"github.com/iff-run/iff/internal/home"
	"github.com/iff-run/iff/internal/observe/rehash"
	"github.com/iff-run/iff/internal/runtime"
	"github.com/iff-run/iff/record"
	"github.com/iff-run/iff/trust"
	"github.com/iff-run/iff/verdict"
)

// told gives an error that has a reason the form in which it is sent.
func told(err error) error {
	var session *gate.SessionError
	var answer *inbox.Error
	var doc *trust.Error
	var dir *home.Error
	var read *rehash.Error
	switch {
	case errors.As(err, &session):
		return sessionFault(session)
	case errors.As(err, &answer):
		return &Fault{Reason: string(answer.Reason), Message: answer.Error()}
	case errors.As(err, &doc):
		return &Fault{Reason: string(doc.Reason), Message: doc.Error()}
	case errors.As(err, &dir):
		return &Fault{Reason: string(dir.Reason), Message: dir.Error()}
	case errors.As(err, &read):
		return &Fault{Reason: string(read.Reason), Message: read.Error()}
	case errors.Is(err, runtime.ErrNoSession):
		message := strings.TrimSuffix(err.Error(), ": "+runtime.ErrNoSession.Error())
		return refused(Reason(gate.SessionUnknown), message, "see which there were: iff audit stat")
	case errors.Is(err, runtime.ErrNoSnapshot):
		return &Fault{Code: CodeParams, Reason: string(canonical.InvalidValue), Message: err.Error(), Remedy: "see where snapshots are: iff audit show --kind barrier"}
	case errors.Is(err, gate.ErrClosed):
		return refused(NotRunning, "the runtime is ending", "connect again")
	}
	return err
}

func sessionFault(e *gate.SessionError) *Fault {
	switch e.Reason {
	case gate.SessionUnknown:
		return refused(Reason(e.Reason), "no session "+e.Session+" is open", "see which are: iff session list; what one did that has ended stays: iff audit show --session ID")
	case gate.SessionPaused:
		return refused(Reason(e.Reason), "session "+e.Session+" is paused", "an operator resumes it: iff session resume "+e.Session)
	}
	return &Fault{Reason: string(e.Reason), Message: "session " + e.Session + " cannot do this now"}
}

// Status implements [Operator].
func (a *Attachment) Status(context.Context) (Status, error) {
	state := a.runtime.State()
	origin, _, _ := state.Log()
	a.mu.Lock()
	defer a.mu.Unlock()
	out := Status{
		Version: iff.Version, Profile: a.runtime.Profile(), Log: origin, Records: state.Size(), Fence: a.runtime.Fence(), PID: os.Getpid(),
		Started: a.started, Sessions: len(a.runtime.Sessions()), Doubts: a.doubts(), Verdict: a.verdict,
	}
	if in := a.runtime.Inbox(); in != nil {
		out.Pending = int(in.Counts().Pending)
	}
	if a.runtime.Gate().Dead() {
		out.Stopped = "the log takes no more records, so nothing is done any more; check the disk, then end this runtime: iff serve --stop"
	}
	return out, nil
}

func (a *Attachment) doubts() []string {
	out := []string{}
	for _, objects := range a.runtime.Gate().Doubts() {
		for _, o := range objects {
			out = append(out, string(o))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Inbox implements [Operator].
func (a *Attachment) Inbox(ctx context.Context) (Inbox, error) {
	out := Inbox{Items: []InboxItem{}}
	in := a.runtime.Inbox()
	if in == nil {
		return out, nil
	}
	var err error
	if out.Cursor, err = in.Wait(ctx, -1); err != nil {
		return out, err
	}
	for _, i := range in.List() {
		out.Items = append(out.Items, InboxItem{
			Request: i.Request, Session: i.Session, Agent: i.Agent, Capability: i.Class, Target: i.Target, Level: i.Level,
			Asked: i.Asked, Deadline: i.Deadline, Answered: answered(i.State),
		})
	}
	return out, nil
}

func answered(s inbox.State) string {
	switch s {
	case inbox.Pending:
		return ""
	case inbox.Approved:
		return string(record.Approve)
	case inbox.Denied:
		return string(record.Deny)
	}
	return string(s)
}

// WaitInbox implements [Operator].
func (a *Attachment) WaitInbox(ctx context.Context, since int64) (Inbox, error) {
	if in := a.runtime.Inbox(); in != nil {
		_, _ = in.Wait(ctx, since) // that the time is up is no error
	} else {
		<-ctx.Done()
	}
	return a.Inbox(context.WithoutCancel(ctx))
}

// Question implements [Operator].
func (a *Attachment) Question(_ context.Context, request string) (canonical.Raw, error) {
	in := a.runtime.Inbox()
	if in == nil {
		return canonical.Raw{}, unasked(request)
	}
	q, err := in.Question(request)
	if err != nil {
		return canonical.Raw{}, told(err)
	}
	data, err := q.MarshalJSON()
	if err != nil {
		return canonical.Raw{}, err
	}
	return canonical.NewRaw(data, canonical.Limits{Bytes: approval.MaxQuestion})
}

func unasked(request string) *Fault {
	return refused(Reason(inbox.AnswerUnknown), "no question about "+request+" waits", "list what does: iff inbox")
}

// Answer implements [Operator].
func (a *Attachment) Answer(ctx context.Context, _ Peer, answers []Answer) ([]Answered, error) {
	out := []Answered{}
	for _, one := range answers {
		result := Answered{Request: one.Request}
		var f *Fault
		switch err := a.answer(ctx, one); {
		case errors.As(told(err), &f):
			result.Reason, result.Message = f.Reason, f.Message
		case err != nil:
			return out, err
		}
		out = append(out, result)
	}
	return out, nil
}

func (a *Attachment) answer(ctx context.Context, one Answer) error {
	in := a.runtime.Inbox()
	if in == nil {
		return unasked(one.Request)
	}
	answer, err := approval.ParseAnswer([]byte(one.Answer.String()))
	if err != nil {
		return &inbox.Error{Reason: inbox.AnswerVoid, Request: one.Request, Detail: err.Error(), Err: err}
	}
	// Who brings it is the runtime's user or root. Whether agents are too, the gate knows: in profile strict they are not.
	answer.SameUID = false
	return in.Answer(ctx, map[string]approval.Answer{one.Request: answer})
}

// Sessions implements [Operator]. Those that a crash interrupted come last.
func (a *Attachment) Sessions(context.Context) ([]Session, error) {
	out := []Session{}
	for _, s := range a.runtime.Sessions() {
		out = append(out, a.session(s))
	}
	for _, s := range a.runtime.Interrupted() {
		out = append(out, Session{Session: s.ID, Principal: s.Agent, State: Interrupted})
	}
	return out, nil
}

// Interrupted is the state of a session that an earlier runtime left open.
const Interrupted = "interrupted"

func (a *Attachment) session(s gate.Standing) Session {
	out := Session{
		Session: s.ID, Principal: s.Agent, State: s.State, Skill: s.Skill, Level: s.Level, Mark: s.Mark, Staged: s.Staged, Committed: s.Undo,
	}
	out.Agent, out.Opened, out.Calls = a.about(s.ID)
	return out
}

// Session implements [Operator].
func (a *Attachment) Session(_ context.Context, id string) (SessionDetail, error) {
	s, err := a.runtime.Standing(id)
	if err != nil {
		return SessionDetail{}, told(err)
	}
	staged, done := a.runtime.Gate().Resting(id)
	return SessionDetail{Session: a.session(s), Staged: calls(staged), Committed: calls(done)}, nil
}

func calls(lines []gate.CallLine) []SessionCall {
	out := []SessionCall{}
	for _, l := range lines {
		out = append(out, SessionCall{Request: l.Request, Capability: l.Call.Capability, Target: l.Call.Target, Objects: l.Objects})
	}
	return out
}

// Pause implements [Operator].
func (a *Attachment) Pause(ctx context.Context, id string) error {
	return told(a.runtime.Pause(ctx, id))
}

// Resume implements [Operator].
func (a *Attachment) Resume(ctx context.Context, id string) error {
	return told(a.runtime.Resume(ctx, id))
}

// Stop implements [Operator].
func (a *Attachment) Stop(ctx context.Context, id string) error { return told(a.runtime.Stop(ctx, id)) }

// Rollback implements [Operator].
func (a *Attachment) Rollback(ctx context.Context, id string) ([]gate.Reply, error) {
	return a.with(id, func(s *iff.Session) ([]gate.Reply, error) { return s.Rollback(ctx) })
}

// Commit implements [Operator].
func (a *Attachment) Commit(ctx context.Context, id string) ([]gate.Reply, error) {
	return a.with(id, func(s *iff.Session) ([]gate.Reply, error) { return s.Commit(ctx) })
}

func (a *Attachment) with(id string, do func(*iff.Session) ([]gate.Reply, error)) ([]gate.Reply, error) {
	s, err := a.runtime.Session(id)
	if err != nil {
		return nil, told(err)
	}
	replies, err := do(s)
	return replies, told(err)
}

// Reset implements [Operator].
func (a *Attachment) Reset(_ context.Context, agent string) error {
	return told(a.runtime.Forgive(agent, a.runtime.Operator()))
}

// Barrier implements [Operator].
func (a *Attachment) Barrier(ctx context.Context) (Barrier, error) {
	if err := a.runtime.Barrier(ctx); err != nil {
		return Barrier{}, told(err)
	}
	out := Barrier{Seq: a.runtime.State().Size() - 1, Findings: []string{}}
	report, err := a.judge(ctx, Asked{})
	if errors.Is(err, runtime.ErrNoSession) {
		return out, nil // nothing was done yet
	}
	if err != nil {
		return out, told(err)
	}
	out.Seq, out.Verdict = report.To-1, string(report.Result)
	for _, f := range report.Findings {
		out.Findings = append(out.Findings, fmt.Sprintf("%s %s", f.Class, f.Object))
	}
	return out, nil
}

func (a *Attachment) judge(ctx context.Context, asked Asked) (verdict.Report, error) {
	var report verdict.Report
	var err error
	switch {
	case asked.From == 0 && asked.To == 0:
		report, err = a.runtime.Verdict(ctx, asked.Session)
	case asked.Session != "" || asked.From < 1 || asked.To != 0 && asked.To <= asked.From:
		return report, &Fault{Code: CodeParams, Reason: string(canonical.InvalidValue), Message: "a verdict is of one session, or of records from 1 on up to a later one", Remedy: "name either"}
	default:
		report, err = a.runtime.VerdictBetween(ctx, asked.From, asked.To)
	}
	if err == nil {
		a.mu.Lock()
		a.verdict = string(report.Result)
		a.mu.Unlock()
	}
	return report, err
}

// Verdict implements [Operator].
func (a *Attachment) Verdict(ctx context.Context, asked Asked) (Verdict, error) {
	report, err := a.judge(ctx, asked)
	if err != nil {
		return Verdict{}, told(err)
	}
	all := len(report.Findings)
	for {
		form, err := report.Form()
		if err != nil {
			return Verdict{}, err
		}
		if len(form) <= roomForResults || len(report.Findings) == 0 {
			raw, err := canonical.NewRaw(form, canonical.Limits{Bytes: maxResult})
			return Verdict{Report: raw, Omitted: all - len(report.Findings)}, err
		}
		report.Findings = worst(report.Findings, len(report.Findings)/2)
	}
}

// worst is so many of the findings, those that fail first, so that they come to the same result.
func worst(findings []verdict.Finding, n int) []verdict.Finding {
	out := slices.Clone(findings)
	slices.SortStableFunc(out, func(a, b verdict.Finding) int {
		switch {
		case a.Class.Fails() == b.Class.Fails():
			return 0
		case a.Class.Fails():
			return -1
		}
		return 1
	})
	return out[:n]
}

// Settle implements [Operator].
func (a *Attachment) Settle(ctx context.Context, s Settled) error {
	finding := record.Finding(s.Finding)
	if !slices.Contains([]record.Finding{record.FoundExecuted, record.FoundNotExecuted, record.FoundPartial}, finding) || s.Evidence == "" {
		return &Fault{Code: CodeParams, Reason: string(canonical.InvalidValue), Message: "a call is settled as executed, not-executed or partial, with evidence", Remedy: "say which, and how you know"}
	}
	return told(a.runtime.Settle(ctx, s.Request, a.runtime.Operator(), s.Evidence, finding))
}

// Narrow implements [Operator].
func (a *Attachment) Narrow(ctx context.Context, document []byte) (Narrowed, error) {
	if err := a.runtime.NarrowTo(ctx, document); err != nil {
		return Narrowed{}, told(err)
	}
	return Narrowed{Version: a.runtime.Trust().Version()}, nil
}

var (
	_ Agents   = (*Attachment)(nil)
	_ Operator = (*Attachment)(nil)
)
