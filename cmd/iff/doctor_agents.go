package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/iff-run/iff/internal/connect"
	"github.com/iff-run/iff/internal/home"
	"github.com/iff-run/iff/internal/visible"
)

// agents says of each connected agent whether its tools are still closed, and what
// stays open.
func (d *doctor) agents(h *home.Home) {
	records, err := connect.NewStore(h.Dir(), nil).Records()
	if err != nil {
		d.no("agents", shown(err)+"; "+remedyFor(reasonOf(err)))
		return
	}
	if len(records) == 0 {
		d.open("agents", "none is connected: iff connect AGENT DIR")
	}
	for _, r := range records {
		agent, ok := connect.Find(r.Agent)
		if !ok {
			d.open("agent "+r.Agent, "this version does not know it")
			continue
		}
		for _, f := range connect.Check(agent, r.Place(), r.Levels) {
			d.agent("agent "+r.Agent, f)
		}
		d.proof(r)
	}
}

// control says which names of guard.home may be a slip.
func (d *doctor) control(h *home.Home) {
	if names := unknownControl(h); len(names) > 0 {
		d.open("guarded", "guard.home names "+shortList(names)+", where nothing is: look at the spelling; what appears there is watched")
	}
}

// unknownControl are the names of guard.home at which nothing is, and that neither an
// agent known here has nor connecting has put there.
func unknownControl(h *home.Home) []string {
	known := map[string]bool{}
	if user, err := os.UserHomeDir(); err == nil {
		for _, f := range connect.ControlFiles("", connect.Place{Home: user}) {
			known[f.Path] = true
		}
	}
	records, _ := connect.NewStore(h.Dir(), nil).Records() // doctor says what is wrong with them
	for _, r := range records {
		for _, text := range r.Guard {
			name, _, _ := strings.Cut(text, "#")
			known[name] = true
		}
	}
	var out []string
	for _, f := range h.ControlAbsent() {
		if !known[f.Path] && !known[f.Name] {
			out = append(out, f.Name)
		}
	}
	return out
}

// proof says what running the agent has shown. It was shown over files, and holds
// while those are as they were.
func (d *doctor) proof(r connect.Record) {
	name, again := "agent "+r.Agent, "iff connect "+r.Agent+" "+visible.Escape(r.Dir)
	switch {
	case isProved(r.Proof):
		if stale := r.Stale(); len(stale) > 0 {
			d.no(name, "what running it has proved is void: "+shortLines(stale)+"; look at that, then: "+again)
			return
		}
		d.ok(name, "when it was connected: "+visible.Escape(r.Proof))
	case strings.HasPrefix(r.Proof, connect.Open.String()+":"):
		d.no(name, visible.Escape(r.Proof)+"; "+again)
	default:
		d.open(name, "not proved by running it: "+again)
	}
}

// shortLines are the first few, fit to be printed.
func shortLines(lines []string) string {
	const most = 3
	out := visible.Escape(strings.Join(lines[:min(most, len(lines))], "; "))
	if more := len(lines) - most; more > 0 {
		out += fmt.Sprintf("; %d more", more)
	}
	return out
}

func (d *doctor) agent(name string, f connect.Finding) {
	text := visible.Escape(f.What)
	if f.Remedy != "" {
		text += "; " + visible.Escape(f.Remedy)
	}
	switch f.Status {
	case "ok":
		d.ok(name, text)
	case "open":
		d.open(name, text)
	default:
		d.no(name, text)
	}
}
