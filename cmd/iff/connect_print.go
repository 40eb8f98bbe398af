package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/iff-run/iff/internal/connect"
	"github.com/iff-run/iff/internal/serve"
	"github.com/iff-run/iff/internal/visible"
)

// show prints what will change, before anything does.
func (r *connecting) show() {
	for _, c := range r.plan.Changed() {
		r.out.Changes = append(r.out.Changes, connectChangeJSON{
			Path: c.Path, Real: c.Real, Was: c.Existed, Diff: list(connect.Diff(c.Path, c.Before, c.After)), Kept: []string{},
		})
	}
	if r.json {
		return
	}
	managed := slices.Contains(r.levels, connect.Managed)
	if managed {
		r.printf("level    managed: %s closes %s for every user of this machine; --level user,project closes it for you alone\n", visible.Escape(r.agent.ManagedDir(r.place)), r.agent.Title)
	}
	for _, c := range r.out.Changes {
		r.printChange(c)
	}
	if r.fresh {
		r.printf("home     %s is made, with %s as corpus %s\n", visible.Escape(r.dir), visible.Escape(r.place.Dir), r.out.Corpus)
	}
	if r.ground.New {
		r.printf("corpus   %s: %s is put under iff\n", r.ground.Corpus, visible.Escape(r.ground.Root))
	}
	if r.ground.Inbox {
		r.printf("ask      the inbox is asked: gate.ask\n")
	}
	for _, g := range r.ground.Grants {
		r.printf("base     calls outside any skill may ask for %s\n", visible.Escape(g))
	}
	if n := len(r.skills()); n > 0 {
		r.printf("skills   %s where %s looks for them; those not known here are adopted\n", plural(n, "skill"), r.agent.Title)
	}
	if slices.Contains(r.levels, connect.User) && !managed {
		r.printf("note     %s is closed wherever you start it as this user; --level project closes it here alone\n", r.agent.Title)
	}
	if !managed {
		r.printf("note     as root, iff connect --level managed writes %s too: what a project or a user writes then opens nothing\n", visible.Escape(r.agent.ManagedDir(r.place)))
	}
}

func (a *app) printChange(c connectChangeJSON) {
	if c.Real != c.Path {
		a.printf("link     %s leads to %s, which is written\n", visible.Escape(c.Path), visible.Escape(c.Real))
	}
	for _, line := range c.Diff {
		text := visible.Escape(line)
		switch line[0] {
		case '+':
			text = a.paint(green, text)
		case '-':
			text = a.paint(red, text)
		}
		a.printf("%s\n", text)
	}
}

func (r *connecting) printDry() error {
	if !r.needed() {
		r.printf("nothing would change\n")
	} else {
		r.printf("nothing was changed\n")
	}
	return nil
}

// report says what was done and what holds.
func (r *connecting) report() error {
	holds := !strings.HasPrefix(r.out.Proof, connect.Open.String()+":")
	for _, f := range r.out.Checks {
		holds = holds && f.Status != "no"
	}
	if err := r.print(r.out, r.printReport); err != nil {
		return err
	}
	if !holds {
		return &outcomeError{exitDoesNot}
	}
	return nil
}

func (r *connecting) printReport() error {
	var rows [][]string
	for _, s := range r.out.Skills {
		rows = append(rows, adoptRow(r.app, s))
	}
	rows = append(rows, r.checkRows()...)
	if err := r.table(rows); err != nil {
		return err
	}
	if len(r.out.Changes) == 0 {
		r.printf("%s was connected already: nothing was changed\n", r.agent.Title)
	} else {
		r.printf("%s is connected in %s: %s changed, taken back by iff connect %s %s --undo\n", r.agent.Title, short(r.place.Dir), plural(len(r.out.Changes), "file"), r.agent.Name, short(r.place.Dir))
	}
	if len(r.out.Changes) > 0 && !r.fresh && serve.Running(r.ctx, filepath.Join(r.dir, "run")) {
		r.printf("note: the runtime that runs reads iff.toml when it starts the next time: iff serve --stop\n")
	}
	colour := red
	if isProved(r.out.Proof) {
		colour = green
	}
	r.printf("%s\n", r.paint(colour, visible.Escape(r.out.Proof)))
	r.printf("next: restart %s if it runs; then iff inbox when it asks, and iff verdict\n", r.agent.Title)
	return nil
}

func (r *connecting) checkRows() [][]string {
	colours := map[string]string{"ok": green, "no": red, "open": faint}
	var rows [][]string
	for _, f := range r.out.Checks {
		detail := visible.Escape(f.What)
		if f.Remedy != "" {
			detail += "; " + visible.Escape(f.Remedy)
		}
		rows = append(rows, []string{r.paint(colours[f.Status], fmt.Sprintf("%-2s", f.Status)), r.agent.Name, detail})
	}
	return rows
}

// prove checks what is in force by the agent's own precedence, and by running it.
func (r *connecting) prove() error {
	for _, f := range connect.Check(r.agent, r.place, r.levels) {
		r.out.Checks = append(r.out.Checks, connectFindingJSON(f))
	}
	if r.NoRun {
		return r.recall()
	}
	over, err := connect.Look(r.agent, r.place, r.environ())
	if err != nil {
		return r.unproved("what configures it cannot be looked through: " + err.Error())
	}
	proof, err := connect.Live(r.ctx, connect.LiveOptions{Agent: r.agent, Place: r.place, Program: r.binary(), Env: r.environ()})
	if err != nil {
		return err
	}
	r.out.Proof = proof.String()
	return r.store.Note(r.agent.Name, r.place, r.out.Proof, over)
}

// recall says what running the agent has shown before, if that still holds.
func (r *connecting) recall() error {
	known, err := r.store.Find(r.agent.Name, r.place)
	if err != nil {
		return err
	}
	const why = "it was not run: --no-run"
	switch {
	case known == nil || known.Proof == "" || len(r.out.Changes) > 0:
		return r.unproved(why)
	case isProved(known.Proof) && len(known.Stale()) > 0:
		return r.unproved(why + ", and what was proved before is void: " + shortLines(known.Stale()))
	}
	r.out.Proof = known.Proof
	return nil
}

func (r *connecting) unproved(why string) error {
	r.out.Proof = connect.NotProved.String() + ": " + r.agent.Name + ": " + why
	return r.store.Note(r.agent.Name, r.place, r.out.Proof, nil)
}

func isProved(proof string) bool { return strings.HasPrefix(proof, connect.Proved.String()+":") }

func (r *connecting) binary() string {
	if r.AgentBinary == "" {
		return ""
	}
	path, err := filepath.Abs(r.AgentBinary)
	if err != nil {
		return r.AgentBinary
	}
	return path
}
