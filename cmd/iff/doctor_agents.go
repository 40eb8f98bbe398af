package main

import (
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
		switch name := "agent " + r.Agent; {
		case strings.HasPrefix(r.Proof, connect.Proved.String()+":"):
			d.ok(name, "when it was connected: "+visible.Escape(r.Proof))
		case strings.HasPrefix(r.Proof, connect.Open.String()+":"):
			d.no(name, visible.Escape(r.Proof)+"; iff connect "+r.Agent+" "+visible.Escape(r.Dir))
		default:
			d.open(name, "not proved by running it: iff connect "+r.Agent+" "+visible.Escape(r.Dir))
		}
	}
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
