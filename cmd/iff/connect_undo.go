package main

import (
	"os"

	"github.com/iff-run/iff/internal/connect"
	"github.com/iff-run/iff/internal/home"
	"github.com/iff-run/iff/internal/visible"
)

func (r *connecting) environ() []string { return os.Environ() }

// undo takes back what connecting added, and sees that it is gone.
func (c connectCmd) undo(a *app, agent connect.Agent, place connect.Place) error {
	store := connect.NewStore(a.dir, nil)
	out := connectJSON{
		Agent: agent.Name, Dir: place.Dir, Home: a.dir, Levels: []string{}, Skills: []adoptedJSON{}, Changes: []connectChangeJSON{}, Checks: []connectFindingJSON{},
	}
	known, err := store.Find(agent.Name, place)
	if err != nil {
		return err
	}
	if known == nil {
		return a.print(out, func() error {
			a.printf("%s is not connected in %s by this home: there is nothing to undo\n", agent.Title, visible.Escape(place.Dir))
			return nil
		})
	}
	for _, l := range known.Levels {
		out.Levels = append(out.Levels, string(l))
	}
	signed := c.signed(a)
	undone, err := store.Undo(agent.Name, place, func(u []connect.Undone) error {
		for _, f := range u {
			out.Changes = append(out.Changes, disconnectedJSON(f))
			if !a.json {
				a.printDisconnected(disconnectedJSON(f))
			}
		}
		return c.confirm(a, "take this back?")
	})
	if err != nil {
		return err
	}
	if signed {
		if err := connect.Resign(a.ctx, a.dir, home.Options{Now: a.now}, true, c.source(a)); err != nil {
			return err
		}
	}
	out.Undone = true
	for _, f := range connect.Gone(undone) {
		out.Checks = append(out.Checks, connectFindingJSON(f))
	}
	return a.print(out, func() error { return a.printGone(agent, out) })
}

// signed says whether iff.toml is signed; a home that does not open is not.
func (c connectCmd) signed(a *app) bool {
	h, err := home.Open(a.ctx, a.dir, home.Read, home.Options{Now: a.now})
	if err != nil {
		return false
	}
	signed, err := h.Signed()
	return h.Close() == nil && err == nil && signed
}

func disconnectedJSON(u connect.Undone) connectChangeJSON {
	return connectChangeJSON{
		Path: u.Path, Real: u.Path, Was: u.Before != nil, Gone: u.Gone, Shared: u.Shared, Diff: list(connect.Diff(u.Path, u.Before, u.After)), Kept: list(u.Kept),
	}
}

func (a *app) printDisconnected(c connectChangeJSON) {
	a.printChange(c)
	if c.Shared {
		a.printf("kept     %s: another connection needs it\n", visible.Escape(c.Path))
	}
	for _, k := range c.Kept {
		a.printf("kept     %s: %s was changed since, and is left alone\n", visible.Escape(c.Path), visible.Escape(k))
	}
}

func (a *app) printGone(agent connect.Agent, out connectJSON) error {
	for _, f := range out.Checks {
		a.printf("%s  %s\n", f.Status, visible.Escape(f.What))
	}
	a.printf("%s is disconnected: restart it. The home, the corpus and adopted skills stay as they are\n", agent.Title)
	return nil
}
