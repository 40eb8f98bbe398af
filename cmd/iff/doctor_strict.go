package main

import (
	"fmt"
	"strings"

	"github.com/iff-run/iff/internal/home"
	"github.com/iff-run/iff/internal/visible"
)

// strict says of each condition of profile strict whether it holds. In profile dev
// only a configuration that was signed and then changed keeps iff from running.
func (d *doctor) strict(a *app, h *home.Home) {
	inForce := h.Config().Profile == home.Strict
	d.apart = inForce
	var missing []string
	for _, c := range h.Strict(a.ctx) {
		d.apart = d.apart && c.Err == nil
		switch {
		case c.Err != nil && inForce:
			d.no("strict "+c.Name, shown(c.Err))
		case c.Err != nil:
			missing = append(missing, c.Name)
		case inForce:
			d.ok("strict "+c.Name, c.Detail)
		}
	}
	if inForce {
		d.reach(h)
	}
	if _, err := h.Signed(); err != nil && !inForce {
		d.no("signature", shown(err))
	}
	if !inForce && len(missing) > 0 {
		d.open("strict", "not in force, in profile dev; it lacks "+strings.Join(missing, ", ")+": iff config check --json says what to do")
	}
}

// reach says what the modes of directories let agents do, as far as they and the
// groups of this machine tell. No mode there keeps iff from running.
func (d *doctor) reach(h *home.Home) {
	cfg := h.Config()
	for _, name := range cfg.Serve.Agents {
		if enters, sure := h.AgentEnters(name, cfg.Serve.AgentDir); sure && !enters {
			d.open("strict agents", fmt.Sprintf("%s cannot enter %s: chgrp it to a group of that user, and chmod 2750", visible.Escape(name), visible.Escape(cfg.Serve.AgentDir)))
		}
		for _, c := range cfg.Corpora {
			if enters, _ := h.AgentEnters(name, c.Root); enters {
				d.open("corpus "+c.Name, fmt.Sprintf("%s gets into it without iff: what it reads there is in no log; chmod 700 %s", visible.Escape(name), short(c.Root)))
			}
		}
	}
}

// users says whether agents can do what the user can that iff runs as.
func (d *doctor) users() {
	if d.apart {
		d.ok("user", "apart: iff serves no agent that runs as you; one that you start as yourself reaches what you reach, without iff")
		d.ok("approver", "apart: agents are other users than whoever answers questions, and have no way to the operator's socket")
		return
	}
	d.open("user", "not enforced: an agent that runs as you reaches what you reach without iff, corpora included, and can use the adopter key, "+
		"which grants nothing above unverified; what it changes in a corpus a verdict finds, what it reads nothing does")
	d.open("approver", "not told apart: an agent that runs as you could answer questions if it had the passphrase of your approver key; "+
		"without it, it can approve nothing, but it can deny, pause and stop sessions, put back what they did, settle calls in doubt, and clear what an agent was given and has read")
}
