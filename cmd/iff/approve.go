package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/iff-run/iff/approval"
	"github.com/iff-run/iff/internal/home"
	"github.com/iff-run/iff/internal/serve"
	"github.com/iff-run/iff/internal/visible"
	"github.com/iff-run/iff/record"
)

type approveCmd struct {
	Requests []string `arg:"" name:"id" help:"Requests to approve, as iff inbox lists them; at most 50."`
	Yes      bool     `help:"Do not ask: they were read elsewhere."`
	Name     []string `help:"Last part of the target of a guarded object or of a tree to delete, which a person would type. Can be repeated." placeholder:"NAME" sep:"none"`
	approverFlags
}

type answersJSON struct {
	Answers []answerJSON `json:"answers" doc:"in the order of the arguments"`
}

type answerJSON struct {
	Request  string `json:"request" doc:"id"`
	Choice   string `json:"choice" doc:"approve or deny, empty if no answer was given"`
	Counts   bool   `json:"counts" doc:"the answer was taken"`
	Approver string `json:"approver" doc:"signer id, empty if it is not signed"`
	View     string `json:"view" doc:"SHA-256 of the rendering that was signed, in hex; empty if it is not signed"`
	Reason   string `json:"reason" doc:"why it does not count, see docs/reasons.md; empty if it does"`
	Message  string `json:"message" doc:"the same in words"`
}

func (c approveCmd) Run(a *app) error {
	if err := distinct(c.Requests); err != nil {
		return err
	}
	if !c.Yes && (a.json || !isTerminal(a.stdin)) {
		return &usageError{reason: "usage", detail: "there is nobody to ask whether to approve", remedy: "read them: iff inbox, or say --yes"}
	}
	return a.withHome(home.Read, func(h *home.Home) error {
		who, err := findApprover(h, c.Key, a.now())
		if err != nil {
			return err
		}
		d := newDesk(a.ctx, h)
		return closing(d, c.approve(a, d, who))
	})
}

// approve asks for all, then signs those that were approved in one signature.
func (c approveCmd) approve(a *app, d *desk, who *approver) error {
	out := make([]answerJSON, len(c.Requests))
	var places []int // of what is approved, in out
	var qs []approval.Question
	for i, id := range c.Requests {
		out[i].Request = id
		q, err := d.question(id)
		var f *serve.Fault
		if err != nil && !errors.As(err, &f) {
			return err
		}
		if err == nil {
			err = c.ask(a, q)
		}
		if a.ctx.Err() != nil {
			return a.ctx.Err()
		}
		if err != nil {
			out[i].Reason, out[i].Message = reasonOf(err), shown(err)
			continue
		}
		places, qs = append(places, i), append(qs, q)
	}
	if len(qs) > 0 {
		if err := c.send(a, d, who, qs, places, out); err != nil {
			return err
		}
	}
	return a.printAnswers(out)
}

func (c approveCmd) send(a *app, d *desk, who *approver, qs []approval.Question, places []int, out []answerJSON) error {
	if err := who.unlock(c.source(a)); err != nil {
		return err
	}
	answers, err := who.sign(qs, record.Approve, a.now())
	if err != nil {
		return err
	}
	got, err := d.answer(idsOf(qs), answers)
	if err != nil {
		return err
	}
	for i, at := range places {
		out[at] = became(got[i], answers[i])
	}
	return nil
}

// ask shows a question and lets a person approve it, unless --yes did.
func (c approveCmd) ask(a *app, q approval.Question) error {
	if !a.json {
		a.printf("%s", q.Render())
	}
	word, why := wordFor(q)
	switch {
	case word != "" && slices.Contains(c.Name, word):
		return nil
	case word != "" && c.Yes:
		return &approval.Error{Reason: nameNeeded, Detail: fmt.Sprintf("%s, and --yes is not enough for that; name the last part of its target with --name", why)}
	case c.Yes:
		return nil
	case word != "":
		a.printf("%s: type %q to approve request %s: ", why, visible.Escape(word), visible.Escape(q.Request))
	default:
		a.printf("approve request %s? y/N ", visible.Escape(q.Request))
		word = "y"
	}
	said, err := a.line()
	if err != nil {
		return err
	}
	if said != word {
		return &approval.Error{Reason: notSaid, Detail: "it was not approved here; it still waits"}
	}
	return nil
}

// Why an approval is not even made.
const (
	nameNeeded approval.Reason = "approval-name"     // the target's name was not given
	notSaid    approval.Reason = "approval-not-said" // a person did not say yes
)

// line reads what a person types, byte by byte: what is behind it is for
// others. After an interrupt the read that it leaves behind ends with the
// process.
func (a *app) line() (string, error) {
	type result struct {
		text string
		err  error
	}
	read := make(chan result, 1)
	go func() {
		text, err := bufio.NewReaderSize(oneByte{a.stdin}, 16).ReadString('\n')
		read <- result{text, err}
	}()
	select {
	case r := <-read:
		if r.err != nil && r.err != io.EOF {
			return "", r.err
		}
		return strings.TrimRight(r.text, "\r\n"), nil
	case <-a.ctx.Done():
		return "", a.ctx.Err()
	}
}

type oneByte struct{ io.Reader }

func (r oneByte) Read(p []byte) (int, error) { return r.Reader.Read(p[:min(1, len(p))]) }

// became says what became of an answer.
func became(got serve.Answered, sent approval.Answer) answerJSON {
	out := answerJSON{Request: got.Request, Choice: string(sent.Choice), Counts: got.Reason == "", Approver: sent.Approver, Reason: got.Reason, Message: visible.Escape(got.Message)}
	if sent.Signature != "" {
		out.View = sent.View.String()
	}
	return out
}

func (a *app) printAnswers(out []answerJSON) error {
	err := a.print(answersJSON{out}, func() error {
		for _, r := range out {
			switch {
			case !r.Counts:
				a.printf("%s  %s  %s\n", visible.Escape(r.Request), a.paint(red, "does not count"), r.Message)
			case r.Approver != "":
				a.printf("%s  %s  signed by %s\n", visible.Escape(r.Request), r.done(), r.Approver)
			default:
				a.printf("%s  %s\n", visible.Escape(r.Request), r.done())
			}
		}
		return nil
	})
	if err == nil && slices.ContainsFunc(out, func(r answerJSON) bool { return !r.Counts }) {
		return &outcomeError{exitRefused}
	}
	return err
}

func (r answerJSON) done() string {
	if r.Choice == string(record.Approve) {
		return "approved"
	}
	return "denied"
}

func idsOf(qs []approval.Question) []string {
	out := make([]string, len(qs))
	for i, q := range qs {
		out[i] = q.Request
	}
	return out
}

func distinct(ids []string) error {
	for i, id := range ids {
		if slices.Contains(ids[:i], id) {
			return &usageError{reason: "usage", detail: fmt.Sprintf("request %s is there twice", id), remedy: "name each once"}
		}
	}
	return nil
}
