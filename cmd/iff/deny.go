package main

import (
	"slices"

	"github.com/iff-run/iff/approval"
	"github.com/iff-run/iff/internal/home"
)

type denyCmd struct {
	Requests []string `arg:"" name:"id" help:"Requests to deny, as iff inbox lists them."`
}

// Run denies without a key: whoever may open the operator's socket could as well
// stop the runtime.
func (c denyCmd) Run(a *app) error {
	if err := distinct(c.Requests); err != nil {
		return err
	}
	return a.withHome(home.Read, func(h *home.Home) error {
		d := newDesk(a.ctx, h)
		return closing(d, c.deny(a, d))
	})
}

func (c denyCmd) deny(a *app, d *desk) error {
	got, err := d.answer(c.Requests, slices.Repeat([]approval.Answer{denial()}, len(c.Requests)))
	if err != nil {
		return err
	}
	out := make([]answerJSON, len(got))
	for i, g := range got {
		out[i] = became(g, denial())
	}
	return a.printAnswers(out)
}
