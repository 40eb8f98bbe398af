package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/iff-run/iff/internal/durable"
	"github.com/iff-run/iff/internal/visible"
	"github.com/iff-run/iff/internal/witness"
)

type auditWitnessCmd struct {
	Dir    string   `help:"Directory of the witness: its key and what it has cosigned. Never set it back." required:"" placeholder:"DIR"`
	Log    []string `help:"Verifier key of a log to cosign, as iff audit anchor --key prints it there. Can be given again." required:"" sep:"none" placeholder:"VKEY"`
	Listen string   `help:"Address to answer on." default:"127.0.0.1:7391" placeholder:"ADDRESS"`
	Name   string   `help:"Name of the witness's key, such as witness.example/w1; needed when it is new." placeholder:"NAME"`
}

type auditWitnessJSON struct {
	Name      string   `json:"name" doc:"name of its key"`
	Key       string   `json:"key" doc:"its verifier key, for whoever checks its cosignatures"`
	URL       string   `json:"url" doc:"where it answers"`
	Directory string   `json:"directory" doc:"where it keeps its state"`
	Logs      []string `json:"logs" doc:"verifier keys of the logs that it cosigns"`
}

// witnessGrace is how long requests under way may take after an interrupt.
const witnessGrace = 3 * time.Second

// Run answers until it is interrupted, which is no error.
func (c auditWitnessCmd) Run(a *app) error {
	log := &witnessLog{out: a.err, now: a.now}
	w, err := witness.Open(durable.OS(), c.Dir, witness.Options{Name: c.Name, Logs: c.Log, Event: log.event})
	if err != nil {
		return err
	}
	var listening net.ListenConfig
	l, err := listening.Listen(a.ctx, "tcp", c.Listen)
	if err != nil {
		err = &usageError{reason: "usage", detail: "--listen " + visible.Escape(c.Listen) + ": " + err.Error(), remedy: "give a free address of this machine, such as --listen 127.0.0.1:7392"}
		return errors.Join(err, w.Close())
	}
	s := witness.Serve(w, l)
	out := auditWitnessJSON{Name: w.Name(), Key: w.VerifierKey(), URL: "http://" + l.Addr().String(), Directory: c.Dir, Logs: c.Log}
	if err := a.print(out, func() error { return a.printWitness(out) }); err != nil {
		return errors.Join(err, w.Close())
	}
	select {
	case <-a.ctx.Done():
	case <-s.Done():
	}
	grace, cancel := context.WithTimeout(context.WithoutCancel(a.ctx), witnessGrace)
	defer cancel()
	return errors.Join(s.Close(grace), w.Close())
}

func (a *app) printWitness(out auditWitnessJSON) error {
	rows := [][]string{{"witness", said(out.Name)}, {"key", out.Key}, {"url", out.URL}, {"state", short(out.Directory)}}
	rows = append(rows, labelled("logs", out.Logs)...)
	if err := a.table(rows); err != nil {
		return err
	}
	a.printf("\nin iff.toml of a home whose log is among them:\n\n  [[log.anchor]]\n  place = \"%s\"\n  key = \"%s\"\n\n", out.URL, out.Key)
	return nil
}

// witnessLog prints what the witness does, a line for each request.
type witnessLog struct {
	mu  sync.Mutex // guards out
	out io.Writer
	now func() time.Time
}

func (l *witnessLog) event(e witness.Event) {
	parts := []string{l.now().UTC().Format(timeWide), string(e.Outcome)}
	if e.Outcome == "" {
		parts[1] = "error"
	}
	if e.Origin != "" {
		parts = append(parts, said(e.Origin), fmt.Sprintf("size %d, before %d", e.Size, e.Held))
	}
	if e.Evidence != "" {
		parts = append(parts, "evidence in "+said(e.Evidence))
	}
	if e.Err != nil {
		parts = append(parts, shown(e.Err))
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	fmt.Fprintln(l.out, strings.Join(parts, "  "))
}
