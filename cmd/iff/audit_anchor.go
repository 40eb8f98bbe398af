package main

import (
	"context"
	"fmt"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/iff-run/iff/audit"
	"github.com/iff-run/iff/internal/home"
)

type auditAnchorCmd struct {
	Print bool `help:"Print the newest checkpoint, a signed note, to be kept elsewhere; ask no anchor."`
	Key   bool `help:"Print the key that the log signs with, for a witness or for audit check; ask no anchor."`
	New   bool `help:"Make a checkpoint of all records first."`
}

type auditAnchorJSON struct {
	Key        string       `json:"key" doc:"verifier key that the log signs with"`
	Size       int64        `json:"size" doc:"records under the newest checkpoint"`
	Records    int64        `json:"records" doc:"records in the log"`
	Checkpoint string       `json:"checkpoint" doc:"the newest checkpoint, a C2SP signed note"`
	Anchors    []anchorJSON `json:"anchors" doc:"what each holds now"`
}

// Run takes no lock, so that it works beside whoever writes; with --new it
// writes itself.
func (c auditAnchorCmd) Run(a *app) error {
	if c.New {
		if err := a.withHome(home.Write, func(h *home.Home) error { _, err := h.Log().Checkpoint(a.ctx); return err }); err != nil {
			return err
		}
	}
	return a.withHome(home.Read, func(h *home.Home) error { return c.publish(a, h) })
}

func (c auditAnchorCmd) publish(a *app, h *home.Home) error {
	v := h.View()
	text, size := v.Newest()
	if size == 0 {
		return &advisedError{&audit.Error{Reason: audit.NoRecord, Detail: "the log has no checkpoint yet"}, "make one: iff audit anchor --new"}
	}
	origin, present, _ := h.State().Log()
	key, err := verifierKey(origin, present)
	if err != nil {
		return err
	}
	out := auditAnchorJSON{Key: key, Size: size, Records: v.Size(), Checkpoint: string(text), Anchors: []anchorJSON{}}
	if c.Key {
		return a.print(out, func() error { a.printf("%s\n", key); return nil })
	}
	if c.Print {
		return a.print(out, func() error { a.printf("%s", text); return nil })
	}
	if len(h.Anchors()) == 0 && c.New {
		return a.print(out, func() error {
			a.printf("the newest checkpoint covers %s of %s records; iff.toml names no anchor to hold it\n", count(size), count(out.Records))
			return nil
		})
	}
	if len(h.Anchors()) == 0 {
		return &usageError{reason: "usage", detail: "iff.toml names no anchor", remedy: `add to iff.toml: [[log.anchor]] and in the next line place = "/mnt/disk/iff.checkpoint", on another disk; or keep what --print prints`}
	}
	all := true
	for _, n := range h.Anchors() {
		err := n.Put(a.ctx, text, func(ctx context.Context, old int64) ([]tlog.Hash, error) { return v.Consistency(ctx, old, size) })
		if a.ctx.Err() != nil {
			return a.ctx.Err()
		}
		k := anchorJSON{Name: n.Name(), Status: "holds", Size: size}
		if err != nil {
			all = false
			k = ask(a.ctx, n).anchorJSON
			k.Status, k.Detail = reasonOf(err), shown(err)
		}
		out.Anchors = append(out.Anchors, k)
	}
	if err := a.print(out, func() error { return a.printAnchored(out) }); err != nil {
		return err
	}
	if !all {
		return &outcomeError{code: exitDoesNot}
	}
	return nil
}

func (a *app) printAnchored(out auditAnchorJSON) error {
	rows := [][]string{}
	for _, k := range out.Anchors {
		status := a.paint(green, "ok")
		if k.Status != "holds" {
			status = a.paint(red, "NO")
		}
		rows = append(rows, []string{status, said(k.Name), fmt.Sprintf("holds %s of %s records", count(k.Size), count(out.Records))})
	}
	if err := a.table(rows); err != nil {
		return err
	}
	for _, k := range out.Anchors {
		if k.Detail != "" {
			a.printf("%s\n  %s\n", k.Detail, remedyFor(k.Status))
		}
	}
	return nil
}

// anchorsOf says what the anchors of a home held when it last heard of them,
// without waiting for a network.
func (a *app) anchorsOf(h *home.Home) ([]anchorJSON, int64) {
	offline, cancel := context.WithCancel(a.ctx)
	cancel()
	out, most := []anchorJSON{}, int64(0)
	for _, n := range h.Anchors() {
		k := ask(offline, n)
		if k.vouches() {
			most = max(most, k.Anchored.Size)
		}
		out = append(out, k.anchorJSON)
	}
	return out, most
}
