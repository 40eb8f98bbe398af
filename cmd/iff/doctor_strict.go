package main

import (
	"strings"

	"github.com/iff-run/iff/internal/home"
)

// strict says of each condition of profile strict whether it holds. In profile dev
// only a configuration that was signed and then changed keeps iff from running.
func (d *doctor) strict(a *app, h *home.Home) {
	inForce := h.Config().Profile == home.Strict
	var missing []string
	for _, c := range h.Strict(a.ctx) {
		switch {
		case c.Err != nil && inForce:
			d.no("strict "+c.Name, shown(c.Err))
		case c.Err != nil:
			missing = append(missing, c.Name)
		case inForce:
			d.ok("strict "+c.Name, c.Detail)
		}
	}
	if _, err := h.Signed(); err != nil && !inForce {
		d.no("signature", shown(err))
	}
	if !inForce && len(missing) > 0 {
		d.open("strict", "not in force, in profile dev; it lacks "+strings.Join(missing, ", ")+": iff config check --json says what to do")
	}
}
