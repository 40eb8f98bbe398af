package main

import (
	"errors"

	"github.com/iff-run/iff/audit"
	"github.com/iff-run/iff/internal/home"
)

type auditShowCmd struct {
	filterFlags
}

// recordJSON is a line of the log. It is not made by this program's encoder: a
// line is printed as it was written.
type recordJSON struct {
	Batch    int64  `json:"batch" doc:"first record of the batch that was made durable together"`
	Body     any    `json:"body" doc:"what happened; its fields depend on the kind, see docs/log-format.md"`
	Kind     string `json:"kind" doc:"what kind of record it is"`
	PrevHash string `json:"prevHash" doc:"leaf hash of the line before, hex"`
	Request  string `json:"request" doc:"id of the call it belongs to, or empty"`
	Seq      int64  `json:"seq" doc:"number of the record, from 0"`
	Session  string `json:"session" doc:"id of the session it belongs to, or empty"`
	Time     string `json:"time" doc:"UTC, RFC 3339"`
}

// Run prints records as they come. What one call did is laid out for reading.
func (c auditShowCmd) Run(a *app) error {
	f, err := c.compile(a.now())
	if err != nil {
		return err
	}
	return a.withHome(home.Read, func(h *home.Home) error {
		if c.Call != "" && !a.json {
			return a.trace(h, f)
		}
		out := a.lines(true)
		shown := 0
		if err := a.each(h, f, func(s audit.Stored) error { shown++; return out.add(s) }); err != nil {
			return errors.Join(out.flush(), err)
		}
		if err := out.flush(); err != nil || shown > 0 || a.json {
			return err
		}
		a.printf("no record matches; the log has %s\n", plural(int(h.View().Size()), "record"))
		return nil
	})
}
