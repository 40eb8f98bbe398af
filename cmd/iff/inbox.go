package main

import (
	"slices"
	"time"

	"github.com/iff-run/iff/internal/home"
	"github.com/iff-run/iff/internal/serve"
	"github.com/iff-run/iff/internal/visible"
)

type inboxCmd struct{ approverFlags }

type inboxJSON struct {
	Running   bool                `json:"running" doc:"a runtime runs; without one nothing waits"`
	Cursor    int64               `json:"cursor" doc:"grows with each change of the inbox"`
	Questions []inboxQuestionJSON `json:"questions" doc:"those that wait first, each part oldest first"`
}

type inboxQuestionJSON struct {
	Request    string `json:"request" doc:"id, which iff approve and iff deny take"`
	Session    string `json:"session" doc:"id"`
	Agent      string `json:"agent" doc:"who asks"`
	Capability string `json:"capability" doc:"class"`
	Target     string `json:"target" doc:"what it acts on"`
	Level      string `json:"level" doc:"of the session"`
	Asked      string `json:"asked" doc:"RFC 3339 time"`
	Deadline   string `json:"deadline" doc:"RFC 3339 time from which on it is denied"`
	Answered   string `json:"answered" doc:"approve, deny, timed-out or cancelled; empty while it waits"`
}

// Run shows the questions for a person to decide on, and lists them where there
// is nobody who could.
func (c inboxCmd) Run(a *app) error {
	return a.withHome(home.Read, func(h *home.Home) error {
		d := newDesk(a.ctx, h)
		if a.json || !a.screen || !isTerminal(a.stdin) {
			return closing(d, a.listInbox(d))
		}
		who, err := findApprover(h, c.Key, a.now())
		if err != nil {
			return closing(d, err)
		}
		s := newScreen(d, who, a.now)
		if c.unattended() {
			s.pass = c.source(a)
		}
		return closing(d, s.run(a))
	})
}

// closing closes a desk after what was done there.
func closing(d *desk, err error) error {
	if e := d.Close(); err == nil {
		err = e
	}
	if notRunning(err) {
		return &serve.Error{Reason: serve.NotRunning, Detail: "nothing waits: no runtime is running"}
	}
	return err
}

func (a *app) listInbox(d *desk) error {
	in, err := d.list()
	if err != nil && !notRunning(err) {
		return err
	}
	out := inboxJSON{Running: err == nil, Cursor: in.Cursor, Questions: []inboxQuestionJSON{}}
	items := waitingFirst(in.Items)
	for _, i := range items {
		out.Questions = append(out.Questions, inboxQuestionJSON{
			Request: i.Request, Session: i.Session, Agent: i.Agent, Capability: i.Capability, Target: i.Target, Level: i.Level,
			Asked: stamp(i.Asked), Deadline: stamp(i.Deadline), Answered: i.Answered,
		})
	}
	return a.print(out, func() error {
		switch {
		case !out.Running:
			a.printf("nothing waits: no runtime is running\n")
			return nil
		case len(items) == 0:
			a.printf("nothing waits\n")
			return nil
		}
		return a.table(inboxRows(items, a.now()))
	})
}

// waitingFirst orders questions: those that wait, then those that ended.
func waitingFirst(items []serve.InboxItem) []serve.InboxItem {
	out := slices.Clone(items)
	slices.SortStableFunc(out, func(x, y serve.InboxItem) int {
		if ended := x.Answered != ""; ended == (y.Answered != "") {
			return x.Asked.Compare(y.Asked)
		} else if ended {
			return 1
		}
		return -1
	})
	return out
}

func inboxRows(items []serve.InboxItem, now time.Time) [][]string {
	rows := [][]string{{"REQUEST", "STATE", "CLASS", "TARGET", "AGENT", "LEVEL", "SESSION"}}
	for _, i := range items {
		state := i.Answered
		if state == "" {
			state = "waits " + waited(i.Asked, i.Deadline, now)
		}
		row := []string{i.Request, state, i.Capability, i.Target, i.Agent, i.Level, i.Session}
		for n, text := range row {
			row[n] = visible.Truncate(visible.Escape(text), 60)
		}
		rows = append(rows, row)
	}
	return rows
}

// waited is such as 00:12 of 02:00.
func waited(asked, deadline, now time.Time) string {
	return minutes(now.Sub(asked)) + " of " + minutes(deadline.Sub(asked).Round(time.Second))
}
