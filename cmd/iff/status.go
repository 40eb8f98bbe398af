package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/iff-run/iff/internal/home"
	"github.com/iff-run/iff/internal/serve"
	"github.com/iff-run/iff/internal/visible"
	"github.com/iff-run/iff/record"
)

type statusCmd struct{}

type statusJSON struct {
	Home     string             `json:"home" doc:"directory of the home"`
	Profile  string             `json:"profile" doc:"strict or dev"`
	Runtime  statusRuntimeJSON  `json:"runtime" doc:"what runs"`
	Sessions []sessionJSON      `json:"sessions" doc:"that are open; those that a crash interrupted last"`
	Inbox    statusInboxJSON    `json:"inbox" doc:"what waits for a person"`
	Corpora  []statusCorpusJSON `json:"corpora" doc:"the directories under iff"`
	Doubts   []openCallJSON     `json:"doubts" doc:"calls of which nobody knows whether they happened"`
	Log      statusLogJSON      `json:"log" doc:"how far it is"`
	Verdict  statusVerdictJSON  `json:"verdict" doc:"the newest"`
}

type statusRuntimeJSON struct {
	Running bool   `json:"running" doc:"a runtime runs"`
	PID     int    `json:"pid" doc:"its process, 0 if none runs"`
	Since   string `json:"since" doc:"RFC 3339 time of its start"`
	Fence   int64  `json:"fence" doc:"the how-manieth runtime of this home it is"`
	Version string `json:"version" doc:"of iff"`
	Stopped string `json:"stopped" doc:"why it does nothing any more, and what to do; empty while it works"`
}

type statusInboxJSON struct {
	Ask     string `json:"ask" doc:"whom the gate asks: inbox or nobody"`
	Waiting int    `json:"waiting" doc:"questions"`
	Oldest  string `json:"oldest" doc:"RFC 3339 time at which the oldest was asked; empty if none waits"`
}

type statusCorpusJSON struct {
	Name  string `json:"name" doc:"of the corpus"`
	Root  string `json:"root" doc:"its directory"`
	Label string `json:"label" doc:"of its objects, unless a path raises it"`
}

type statusLogJSON struct {
	Origin   string `json:"origin" doc:"name of the log"`
	Records  int64  `json:"records" doc:"how many"`
	Anchored int64  `json:"anchored" doc:"of them, that somebody outside vouches for"`
}

type statusVerdictJSON struct {
	Result   string `json:"result" doc:"PASS, FAIL or OPEN; empty if there is none"`
	Record   int64  `json:"record" doc:"number of its record; -1 if there is none"`
	Time     string `json:"time" doc:"RFC 3339"`
	Session  string `json:"session" doc:"whose it is; empty: everybody's"`
	Findings int64  `json:"findings" doc:"how many"`
}

// Run looks at the log, and asks the runtime if one runs.
func (statusCmd) Run(a *app) error {
	return a.withHome(home.Read, func(h *home.Home) error {
		out, err := a.status(h)
		if err != nil {
			return err
		}
		return a.print(out, func() error { return a.printStatus(h, out) })
	})
}

func (a *app) status(h *home.Home) (statusJSON, error) {
	state := h.State()
	out := statusJSON{
		Home: h.Dir(), Profile: string(h.Config().Profile), Inbox: statusInboxJSON{Ask: h.Config().Gate.Asked()}, Corpora: []statusCorpusJSON{},
		Doubts: []openCallJSON{},
	}
	out.Log.Origin, _, _ = state.Log()
	out.Log.Records = state.Size()
	_, out.Log.Anchored = a.anchorsOf(h)
	for _, c := range h.Config().Corpora {
		out.Corpora = append(out.Corpora, statusCorpusJSON{c.Name, c.Root, c.Label.String()})
	}
	var err error
	if out.Verdict, err = a.lastVerdict(h); err != nil {
		return out, err
	}
	if out.Sessions, out.Runtime.Running, err = a.openSessions(h); err != nil {
		return out, err
	}
	for _, c := range openCalls(state.Calls()) {
		// With a runtime an intent without an outcome is a call under way.
		if c.Status == "in-doubt" || c.Status == "intended" && !out.Runtime.Running {
			out.Doubts = append(out.Doubts, c)
		}
	}
	if !out.Runtime.Running {
		return out, nil
	}
	return out, a.askStatus(h.SocketDir(), &out)
}

// askStatus adds what only the runtime knows.
func (a *app) askStatus(dir string, out *statusJSON) error {
	var now serve.Status
	var in serve.Inbox
	if err := a.tellOperator(dir, "status", nil, &now); err != nil {
		return err
	}
	if err := a.tellOperator(dir, "inbox.list", nil, &in); err != nil {
		return err
	}
	out.Runtime = statusRuntimeJSON{Running: true, PID: now.PID, Since: now.Started.UTC().Format(time.RFC3339), Fence: now.Fence, Version: now.Version, Stopped: now.Stopped}
	for _, q := range in.Items {
		if q.Answered != "" {
			continue
		}
		if out.Inbox.Waiting++; out.Inbox.Oldest == "" {
			out.Inbox.Oldest = q.Asked.UTC().Format(time.RFC3339)
		}
	}
	return nil
}

func (a *app) lastVerdict(h *home.Home) (statusVerdictJSON, error) {
	out := statusVerdictJSON{Record: -1}
	seq, ok := h.State().LastVerdict()
	if !ok {
		return out, nil
	}
	r, err := h.View().Find(a.ctx, seq)
	if err != nil {
		return out, damaged(err)
	}
	if b, ok := r.Body.(record.Verdict); ok {
		out = statusVerdictJSON{string(b.Result), seq, stamp(r.Time), r.Session, b.Findings}
	}
	return out, nil
}

func (a *app) printStatus(h *home.Home, out statusJSON) error {
	runs := "nothing; it starts when it is needed"
	if r := out.Runtime; r.Running {
		runs = fmt.Sprintf("process %d since %s UTC, iff %s, runtime %d of this home", r.PID, short19(r.Since), said(r.Version), r.Fence)
	}
	rows := [][]string{{"home", short(out.Home) + ", profile " + out.Profile}, {"runs", runs}}
	if out.Runtime.Stopped != "" {
		rows = append(rows, []string{"stopped", a.paint(red, visible.Escape(out.Runtime.Stopped))})
	}
	rows = append(rows, []string{"sessions", statusSessions(out.Sessions)}, []string{"waits", statusWaits(out.Inbox, a.now())})
	for _, c := range out.Corpora {
		rows = append(rows, []string{"corpus " + c.Name, short(c.Root) + ", label " + c.Label})
	}
	if len(out.Corpora) == 0 {
		rows = append(rows, []string{"corpora", "none; iff doctor says how to put a directory under iff"})
	}
	for _, c := range out.Doubts {
		rows = append(rows, []string{"in doubt", fmt.Sprintf("call %s of session %s: iff audit show --call %s; then iff session settle", said(c.Call), said(c.Session), said(c.Call))})
	}
	anchors, to := a.anchorsOf(h)
	verdict := "none: iff verdict"
	if v := out.Verdict; v.Record >= 0 {
		colour := red
		if v.Result == string(record.Pass) {
			colour = green
		}
		verdict = fmt.Sprintf("%s, %s, %s UTC, record %s", a.paint(colour, v.Result), plural(int(v.Findings), "finding"), short19(v.Time), count(v.Record))
	}
	rows = append(rows, []string{"log", count(out.Log.Records) + " records, " + anchoredWords(anchors, to, out.Log.Records)}, []string{"verdict", verdict})
	return a.table(rows)
}

func statusSessions(all []sessionJSON) string {
	open, gone := 0, 0
	for _, s := range all {
		if s.State == serve.Interrupted {
			gone++
		} else {
			open++
		}
	}
	out := "none open"
	if open > 0 {
		out = fmt.Sprintf("%d open: iff session list", open)
	}
	if gone > 0 {
		out += fmt.Sprintf(", %d interrupted by a crash", gone)
	}
	return out
}

func statusWaits(in statusInboxJSON, now time.Time) string {
	switch {
	case !strings.Contains(in.Ask, string(home.AskInbox)):
		return "nothing: nobody is asked, and what needs a person is denied; gate.ask in iff.toml"
	case in.Waiting == 0:
		return "nothing"
	}
	out := plural(in.Waiting, "question")
	if asked, err := time.Parse(time.RFC3339, in.Oldest); err == nil {
		out += ", the oldest for " + lasted(now.Sub(asked))
	}
	return out + ": iff inbox"
}
