package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/iff-run/iff/gate"
	"github.com/iff-run/iff/internal/serve"
	"github.com/iff-run/iff/internal/visible"
)

type sessionRunCmd struct {
	File   string `arg:"" help:"File with a JSON object on each line, or - for standard input, which is played as it comes."`
	Agent  string `help:"What the agent calls itself." default:"iff session run" placeholder:"NAME"`
	Resume string `help:"Take up a session that a crash interrupted." placeholder:"ID"`
	Socket string `help:"Speak to a runtime of another user at this socket." placeholder:"FILE"`
}

// sessionRunJSON is one line of what is printed with --json, for each answer.
type sessionRunJSON struct {
	Session    string   `json:"session" doc:"id"`
	Line       int      `json:"line" doc:"of the script; 0 for the commit at its end"`
	Do         string   `json:"do" doc:"call, use, commit, or committed: how a staged call ended"`
	Request    string   `json:"request" doc:"id of the call, empty for none"`
	Capability string   `json:"capability" doc:"of a call"`
	Target     string   `json:"target" doc:"of a call; of use, the skill"`
	Status     string   `json:"status" doc:"done, staged, denied, refused, failed or in-doubt"`
	Reason     string   `json:"reason" doc:"closed token, empty if it was done"`
	Message    string   `json:"message" doc:"in words"`
	Result     any      `json:"result" doc:"what the call gave; {} if nothing"`
	Allowed    []string `json:"allowed" doc:"of a denial: what the active manifest declares"`
}

// verbatim is JSON that is printed as it came.
type verbatim string

// MarshalJSON gives what it holds.
func (v verbatim) MarshalJSON() ([]byte, error) {
	if v == "" {
		return []byte("{}"), nil
	}
	return []byte(v), nil
}

// player plays a script on a connection of its own.
type player struct {
	*app
	client  *serve.Client
	session string
	staged  map[string]serve.CallParams // calls that wait for a commit, by request id
	ended   map[gate.Status]int         // how many calls ended how
	calls   int
}

// Run plays a script in one session, in order, one call after the other. What a
// file says is read to its end first, so that a mistake in it is found before
// anything is done.
func (c sessionRunCmd) Run(a *app) error {
	in, err := c.open(a)
	if err != nil {
		return err
	}
	if f, ok := in.(io.Closer); ok && c.File != "-" {
		defer f.Close()
	}
	path := c.Socket
	if path == "" {
		if path, err = a.agentSocket(); err != nil {
			return err
		}
	}
	client, err := serve.Dial(a.ctx, path)
	if err != nil {
		return err
	}
	p := &player{app: a, client: client, staged: map[string]serve.CallParams{}, ended: map[gate.Status]int{}}
	if err := errors.Join(p.play(c, newSteps(in, c.File)), client.Close()); err != nil {
		return err
	}
	return p.outcome()
}

// open gives what is to be played.
func (c sessionRunCmd) open(a *app) (io.Reader, error) {
	if c.File == "-" {
		return a.stdin, nil
	}
	f, err := os.Open(c.File)
	if err != nil {
		return nil, &usageError{reason: "usage", detail: err.Error(), remedy: "name a file, or - for standard input"}
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return f, nil // played as it comes
	}
	for s := newSteps(f, c.File); ; {
		if _, err := s.next(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, errors.Join(err, f.Close())
		}
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// play plays all steps, commits what is staged and closes the session. After a
// mistake nothing is committed.
func (p *player) play(c sessionRunCmd, s *steps) error {
	var opened serve.Opened
	if err := p.client.Call(p.ctx, "session.open", serve.OpenRequest{Agent: c.Agent, Resume: c.Resume}, &opened); err != nil {
		return err
	}
	p.session = opened.Session
	if !p.json {
		p.printf("session %s  %s  %s\n", p.session, said(opened.Principal), opened.Level)
	}
	for {
		next, err := s.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = p.step(next)
		}
		if err != nil {
			return err
		}
	}
	if len(p.staged) > 0 {
		if err := p.commit(0); err != nil {
			return err
		}
	}
	if err := p.client.Call(p.ctx, "session.close", nil, nil); err != nil {
		return err
	}
	if !p.json {
		p.printf("session %s closed: %s\n", p.session, p.tally())
	}
	return nil
}

func (p *player) step(s step) error {
	switch {
	case s.call != nil:
		return p.call(s.line, *s.call)
	case s.use != nil:
		return p.use(s.line, *s.use)
	}
	return p.commit(s.line)
}

func (p *player) call(line int, c serve.CallParams) error {
	var r serve.Reply
	err := p.client.Call(p.ctx, "call", c, &r)
	if err := asReply(err, &r); err != nil {
		return err
	}
	p.calls++
	if gate.Status(r.Status) == gate.StagedStatus {
		p.staged[r.Request] = c
	} else {
		p.ended[gate.Status(r.Status)]++
	}
	return p.show(line, "call", c, r)
}

func (p *player) use(line int, name string) error {
	params := struct {
		Name string `json:"name"`
	}{name}
	r := serve.Reply{Status: string(gate.Done)}
	var got serve.SkillContent
	if err := asReply(p.client.Call(p.ctx, "skill.use", params, &got), &r); err != nil {
		return err
	}
	if r.Status == string(gate.Done) {
		r.Message = "level " + got.Level
	} else {
		p.ended[gate.Status(r.Status)]++
	}
	return p.show(line, "use", serve.CallParams{Target: name}, r)
}

// commit shows how each staged call ended.
func (p *player) commit(line int) error {
	var got serve.Replies
	r := serve.Reply{Status: string(gate.Done)}
	if err := asReply(p.client.Call(p.ctx, "commit", nil, &got), &r); err != nil {
		return err
	}
	if r.Status != string(gate.Done) {
		p.ended[gate.Status(r.Status)]++
	}
	if err := p.show(line, "commit", serve.CallParams{}, r); err != nil {
		return err
	}
	for _, r := range got.Replies {
		p.ended[gate.Status(r.Status)]++
		if err := p.show(line, "committed", p.staged[r.Request], r); err != nil {
			return err
		}
		delete(p.staged, r.Request)
	}
	return nil
}

// asReply turns a fault that is about the request alone into a reply. What ends
// the session stays an error.
func asReply(err error, r *serve.Reply) error {
	var f *serve.Fault
	if !errors.As(err, &f) || f.Code == serve.CodeInternal {
		return err
	}
	switch f.Reason {
	case string(gate.SessionEnded), string(gate.SessionUnknown), string(serve.NotRunning):
		return err
	}
	*r = serve.Reply{Status: string(gate.Refused), Reason: f.Reason, Message: f.Message}
	return nil
}

func (p *player) show(line int, do string, c serve.CallParams, r serve.Reply) error {
	if p.json {
		enc := json.NewEncoder(p.out)
		enc.SetEscapeHTML(false)
		return enc.Encode(sessionRunJSON{
			Session: p.session, Line: line, Do: do, Request: r.Request, Capability: c.Capability, Target: c.Target, Status: r.Status, Reason: r.Reason,
			Message: r.Message, Result: verbatim(r.Result.String()), Allowed: list(r.Allowed),
		})
	}
	at, what := "", do
	if line > 0 {
		at = fmt.Sprint(line)
	}
	if do == "call" || do == "committed" {
		what = visible.Escape(c.Capability)
	}
	colour := red
	switch gate.Status(r.Status) {
	case gate.Done:
		colour = green
	case gate.StagedStatus:
		colour = faint
	}
	p.printf("%5s  %-8s  %-15s %-32s %s  %s\n", at, r.Request, what, targetOf(c), p.paint(colour, fmt.Sprintf("%-8s", r.Status)), whyNot(r.Reason, r.Message))
	return nil
}

func targetOf(c serve.CallParams) string {
	if c.Target == "" {
		return ""
	}
	return visible.Truncate(said(c.Target), 64)
}

// whyNot is why something was not done, on one line.
func whyNot(reason, message string) string {
	switch {
	case message == "" || reason == message:
		return reason
	case reason == "":
		return undouble(visible.Escape(oneLine(message)))
	}
	return reason + ": " + undouble(visible.Escape(oneLine(message)))
}

func (p *player) tally() string {
	out := plural(p.calls, "call")
	for i, s := range []gate.Status{gate.Done, gate.Denied, gate.Refused, gate.Failed, gate.Doubtful} {
		if n := p.ended[s]; n > 0 {
			sep := ", "
			if i == 0 {
				sep = ": "
			}
			out += fmt.Sprintf("%s%d %s", sep, n, s)
		}
	}
	return out
}

// outcome is 0 if all was done, 4 if nobody knows of some, else 3.
func (p *player) outcome() error {
	switch {
	case p.ended[gate.Doubtful] > 0:
		return &outcomeError{exitOpen}
	case p.ended[gate.Denied]+p.ended[gate.Refused]+p.ended[gate.Failed] > 0:
		return &outcomeError{exitRefused}
	}
	return nil
}

// oneLine is a text without its line ends.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
