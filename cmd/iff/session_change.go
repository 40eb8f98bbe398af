package main

import (
	"github.com/iff-run/iff/gate"
	"github.com/iff-run/iff/internal/serve"
)

type sessionPauseCmd struct {
	Session string `arg:"" help:"Id of the session."`
}

type sessionResumeCmd struct {
	Session string `arg:"" help:"Id of the session."`
}

type sessionStopCmd struct {
	Session string `arg:"" help:"Id of the session."`
}

type sessionRollbackCmd struct {
	Session string `arg:"" help:"Id of the session."`
}

type sessionResetCmd struct {
	Agent string `arg:"" help:"Principal, such as uid-1000, as iff session list says it."`
}

type sessionSettleCmd struct {
	Request  string `arg:"" help:"Id of the call, as iff status says it."`
	Finding  string `help:"What became of it." enum:"executed,not-executed,partial" required:"" placeholder:"FINDING"`
	Evidence string `help:"How you know; it is recorded." required:"" placeholder:"TEXT"`
}

type sessionDoneJSON struct {
	Done    string `json:"done" doc:"paused, resumed, stopped, reset or settled"`
	Subject string `json:"subject" doc:"id of the session or of the call, or the agent"`
}

// Run pauses.
func (c sessionPauseCmd) Run(a *app) error {
	if err := a.operate(ifRunning, "session.pause", sessionParams(c), nil); err != nil {
		return noRuntime(err)
	}
	return a.done(sessionDoneJSON{"paused", c.Session}, "session %s is paused; its calls are refused until: iff session resume %s", c.Session, c.Session)
}

// Run resumes.
func (c sessionResumeCmd) Run(a *app) error {
	if err := a.operate(ifRunning, "session.resume", sessionParams(c), nil); err != nil {
		return noRuntime(err)
	}
	return a.done(sessionDoneJSON{"resumed", c.Session}, "session %s goes on", c.Session)
}

// Run stops.
func (c sessionStopCmd) Run(a *app) error {
	if err := a.operate(ifRunning, "session.stop", sessionParams(c), nil); err != nil {
		return noRuntime(err)
	}
	return a.done(sessionDoneJSON{"stopped", c.Session}, "session %s is stopped; what it committed stays: iff verdict %s", c.Session, c.Session)
}

// Run clears what bounds an agent.
func (c sessionResetCmd) Run(a *app) error {
	params := struct {
		Agent string `json:"agent"`
	}{c.Agent}
	if err := a.operate(onDemand, "agent.reset", params, nil); err != nil {
		return err
	}
	return a.done(sessionDoneJSON{"reset", c.Agent}, "%s begins anew: its level and its mark are cleared, which is recorded", said(c.Agent))
}

// Run records an operator's word.
func (c sessionSettleCmd) Run(a *app) error {
	if err := a.operate(onDemand, "call.settle", serve.Settled{Request: c.Request, Finding: c.Finding, Evidence: c.Evidence}, nil); err != nil {
		return err
	}
	return a.done(sessionDoneJSON{"settled", c.Request}, "call %s is settled as %s; the verdict goes by that", said(c.Request), c.Finding)
}

type sessionRollbackJSON struct {
	Session string       `json:"session" doc:"id"`
	Calls   []undoneJSON `json:"calls" doc:"that were to be put back, the newest first"`
	Undone  bool         `json:"undone" doc:"all of them are"`
}

type undoneJSON struct {
	Request string `json:"request" doc:"id of the call"`
	Status  string `json:"status" doc:"done, failed or in-doubt"`
	Reason  string `json:"reason" doc:"closed token, empty if it was done"`
	Message string `json:"message" doc:"in words"`
}

// Run puts back. What somebody else has changed since is left as it is, and
// then it does not hold that all is undone.
func (c sessionRollbackCmd) Run(a *app) error {
	var got serve.Replies
	if err := a.operate(ifRunning, "session.rollback", sessionParams(c), &got); err != nil {
		return noRuntime(err)
	}
	out := sessionRollbackJSON{Session: c.Session, Calls: []undoneJSON{}, Undone: true}
	code := exitHolds
	for _, r := range got.Replies {
		out.Calls = append(out.Calls, undoneJSON{r.Request, r.Status, r.Reason, r.Message})
		switch gate.Status(r.Status) {
		case gate.Done:
		case gate.Doubtful:
			out.Undone, code = false, exitOpen
		default:
			out.Undone, code = false, max(code, exitDoesNot)
		}
	}
	if err := a.print(out, func() error { return a.printUndone(out) }); err != nil {
		return err
	}
	if code != exitHolds {
		return &outcomeError{code}
	}
	return nil
}

func (a *app) printUndone(out sessionRollbackJSON) error {
	if len(out.Calls) == 0 {
		a.printf("session %s has nothing that can be put back\n", out.Session)
		return nil
	}
	rows := [][]string{}
	for _, c := range out.Calls {
		rows = append(rows, []string{c.Request, c.Status, whyNot(c.Reason, c.Message)})
	}
	if err := a.table(rows); err != nil {
		return err
	}
	if out.Undone {
		a.printf("all is put back\n")
	} else {
		a.printf("not all is put back; what others have changed since stays as it is: iff verdict %s\n", out.Session)
	}
	return nil
}
