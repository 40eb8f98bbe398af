package main

import (
	"fmt"
	"slices"
	"time"

	"github.com/iff-run/iff/internal/home"
	"github.com/iff-run/iff/internal/serve"
)

type sessionCmd struct {
	Run      sessionRunCmd      `cmd:"" help:"Play calls from a file, as an agent would, and commit what they staged."`
	List     sessionListCmd     `cmd:"" help:"List the sessions that are open."`
	Show     sessionShowCmd     `cmd:"" help:"Show an open session: what it staged, and what it committed and can put back."`
	Pause    sessionPauseCmd    `cmd:"" help:"Refuse the calls of a session until it is resumed."`
	Resume   sessionResumeCmd   `cmd:"" help:"End a pause."`
	Stop     sessionStopCmd     `cmd:"" help:"End a session. What it committed stays, what it staged is dropped."`
	Rollback sessionRollbackCmd `cmd:"" help:"Put back what an open session committed, the newest first."`
	Reset    sessionResetCmd    `cmd:"" help:"Clear what an agent was given and has read, which bounds what it may do."`
	Settle   sessionSettleCmd   `cmd:"" help:"Say what became of a call that is in doubt."`
}

type sessionListCmd struct{}

type sessionListJSON struct {
	Running  bool          `json:"running" doc:"a runtime runs"`
	Sessions []sessionJSON `json:"sessions" doc:"that are open; those that a crash interrupted last"`
}

type sessionJSON struct {
	Session   string `json:"session" doc:"id"`
	Principal string `json:"principal" doc:"whose it is, by the word of the operating system, such as uid-1000"`
	Agent     string `json:"agent" doc:"what the agent calls itself; nobody vouches for it"`
	State     string `json:"state" doc:"opening, active, paused, ending, or interrupted: by a crash, its agent can take it up again"`
	Skill     string `json:"skill" doc:"the active one, empty for none"`
	Level     string `json:"level" doc:"the lowest of what it was given"`
	Mark      string `json:"mark" doc:"join of the labels of what it has read"`
	Opened    string `json:"opened" doc:"RFC 3339 time, empty if it is not known"`
	Calls     int64  `json:"calls" doc:"asked for over this connection"`
	Staged    int64  `json:"staged" doc:"calls that wait for a commit"`
	Committed int64  `json:"committed" doc:"calls that can be put back"`
}

func sessionOf(s serve.Session) sessionJSON {
	out := sessionJSON{
		Session: s.Session, Principal: s.Principal, Agent: s.Agent, State: s.State, Skill: s.Skill, Level: s.Level, Mark: s.Mark,
		Calls: s.Calls, Staged: int64(s.Staged), Committed: int64(s.Committed),
	}
	if !s.Opened.IsZero() {
		out.Opened = s.Opened.UTC().Format(time.RFC3339)
	}
	return out
}

// Run asks the runtime; without one it lists what the log says was interrupted.
func (sessionListCmd) Run(a *app) error {
	out := sessionListJSON{Running: true, Sessions: []sessionJSON{}}
	err := a.withHome(home.Read, func(h *home.Home) error {
		var err error
		out.Sessions, out.Running, err = a.openSessions(h)
		return err
	})
	if err != nil {
		return err
	}
	return a.print(out, func() error { return a.printSessions(out) })
}

// openSessions lists sessions, and says whether a runtime did.
func (a *app) openSessions(h *home.Home) ([]sessionJSON, bool, error) {
	out := []sessionJSON{}
	var list struct {
		Sessions []serve.Session `json:"sessions"`
	}
	err := a.tellOperator(h.SocketDir(), "session.list", nil, &list)
	switch {
	case notRunning(err):
		for _, s := range h.State().Sessions() {
			out = append(out, sessionJSON{Session: s.ID, Principal: s.Agent, State: serve.Interrupted})
		}
		return out, false, nil
	case err != nil:
		return out, true, err
	}
	for _, s := range list.Sessions {
		out = append(out, sessionOf(s))
	}
	return out, true, nil
}

func (a *app) printSessions(out sessionListJSON) error {
	if len(out.Sessions) == 0 {
		a.printf("no session is open; those that have ended: iff audit stat\n")
		return nil
	}
	rows := [][]string{{"SESSION", "AGENT", "STATE", "SKILL", "LEVEL", "CALLS", "STAGED", "COMMITTED", "OPENED (UTC)"}}
	for _, s := range out.Sessions {
		agent := s.Principal
		if s.Agent != "" {
			agent += " " + said(s.Agent)
		}
		row := []string{s.Session, agent, s.State, orDash(s.Skill), orDash(s.Level)}
		if s.State == serve.Interrupted {
			row = append(row, "-", "-", "-", "-")
		} else {
			row = append(row, count(s.Calls), count(s.Staged), count(s.Committed), short19(s.Opened))
		}
		rows = append(rows, row)
	}
	if err := a.table(rows); err != nil {
		return err
	}
	if slices.ContainsFunc(out.Sessions, func(s sessionJSON) bool { return s.State == serve.Interrupted }) {
		a.printf("an interrupted session is one that a crash ended; its agent can take it up again: iff session run --resume ID FILE\n")
	}
	return nil
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return said(s)
}

type sessionShowCmd struct {
	Session string `arg:"" help:"Id of the session."`
}

type sessionShowJSON struct {
	Session   sessionJSON       `json:"session" doc:"what it is"`
	Staged    []sessionCallJSON `json:"staged" doc:"calls that wait for a commit, in order"`
	Committed []sessionCallJSON `json:"committed" doc:"calls that can be put back, in order"`
}

type sessionCallJSON struct {
	Request    string   `json:"request" doc:"id of the call"`
	Capability string   `json:"capability" doc:"class"`
	Target     string   `json:"target" doc:"what it acts on"`
	Objects    []string `json:"objects" doc:"what it changes"`
}

// Run shows what only the runtime knows.
func (c sessionShowCmd) Run(a *app) error {
	var d serve.SessionDetail
	if err := a.operate(ifRunning, "session.show", sessionParams(c), &d); err != nil {
		return noRuntime(err)
	}
	out := sessionShowJSON{Session: sessionOf(d.Session), Staged: callLines(d.Staged), Committed: callLines(d.Committed)}
	return a.print(out, func() error {
		if err := a.printSessions(sessionListJSON{Running: true, Sessions: []sessionJSON{out.Session}}); err != nil {
			return err
		}
		a.printCalls("staged, waits for a commit", out.Staged)
		a.printCalls("committed, can be put back: iff session rollback "+out.Session.Session, out.Committed)
		a.printf("\nall its records: iff audit show --session %s\n", out.Session.Session)
		return nil
	})
}

func callLines(calls []serve.SessionCall) []sessionCallJSON {
	out := []sessionCallJSON{}
	for _, c := range calls {
		out = append(out, sessionCallJSON{c.Request, c.Capability, c.Target, list(c.Objects)})
	}
	return out
}

func (a *app) printCalls(title string, calls []sessionCallJSON) {
	if len(calls) == 0 {
		return
	}
	a.printf("\n%s\n", title)
	for _, c := range calls {
		a.printf("  %s  %s %s\n", c.Request, said(c.Capability), said(c.Target))
	}
}

type sessionParams struct {
	Session string `json:"session"`
}

// noRuntime is what it means to a verb about an open session that no runtime
// runs.
func noRuntime(err error) error {
	if !notRunning(err) {
		return err
	}
	return &advisedError{
		&serve.Error{Reason: serve.NotRunning, Detail: "no runtime runs, so no session is open"},
		"see what is left of sessions: iff session list; what one did: iff audit show --session ID",
	}
}

// done says that something was, as JSON or in words.
func (a *app) done(out sessionDoneJSON, format string, args ...any) error {
	return a.print(out, func() error {
		fmt.Fprintf(a.out, format+"\n", args...)
		return nil
	})
}
