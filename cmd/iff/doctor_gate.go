package main

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/gate"
	"github.com/iff-run/iff/internal/home"
	"github.com/iff-run/iff/internal/observe/rehash"
	"github.com/iff-run/iff/internal/runtime"
	"github.com/iff-run/iff/internal/serve"
)

// readable reads each corpus whole, as a verdict does: what cannot be read
// leaves every verdict open, and what is too much keeps the runtime from starting.
func (d *doctor) readable(a *app, h *home.Home) {
	for _, c := range h.Config().Corpora {
		s, err := readCorpus(a, c)
		var large *gate.Refusal
		var bound *rehash.Error
		switch {
		case errors.As(err, &large), errors.As(err, &bound) && bound.Reason != rehash.RootUnreadable:
			d.no("read "+c.Name, shown(err))
		case err != nil: // corpora has said that it is not there
		case s.Unread() > 0:
			d.no("read "+c.Name, fmt.Sprintf("%s of %s cannot be read, so no verdict is PASS; grant read permission to the user that iff runs as", count(int64(s.Unread())), plural(s.Len(), "object")))
		default:
			d.ok("read "+c.Name, plural(s.Len(), "object")+", each can be read")
		}
	}
}

func readCorpus(a *app, c home.CorpusConfig) (*corpus.Snapshot, error) {
	root, err := filepath.EvalSymlinks(c.Root)
	if err != nil {
		return nil, err
	}
	o, err := rehash.New(root, c.Name, c.Volatile, rehash.Options{})
	if err != nil {
		return nil, err
	}
	s, err := o.Snapshot(a.ctx)
	if err := errors.Join(err, o.Close()); err != nil {
		return nil, err
	}
	return s, runtime.Listable(c.Name, s)
}

// gate says what is enforced for the calls that come through iff.
func (d *doctor) gate(a *app, h *home.Home) {
	if serve.Running(a.ctx, h.SocketDir()) {
		d.ok("runtime", "runs: iff status")
	} else if h.Config().Profile == home.Strict {
		d.ok("runtime", "does not run; agents cannot start it: iff serve --detach")
	} else {
		d.ok("runtime", "does not run; it starts when it is needed")
	}
	c := h.Config()
	d.ok("gate", "enforced for calls through iff: each is decided and recorded before it is done; processes, publishing and paying have no host yet and are denied")
	d.network(c)
	d.upstreams(c)
	d.ok("levels", "enforced: what an unverified skill changes asks; declared and higher ones do what they declare, and ask for the rest")
	d.ok("guarded", fmt.Sprintf("enforced: %s of files that tell agents what to do, and the files of every loaded skill: each change of one asks", plural(c.Guarded.Len(), "pattern")))
	d.ok("labels", fmt.Sprintf("enforced: nothing above %s is read, and nothing flows below what a session has read", h.Clearance()))
	if len(c.Corpora) > 0 {
		d.ok("verdict", "found afterwards: every change in a corpus that no call made, by whoever made it: iff verdict")
	}
}

// unenforced says what no version yet, or this one not, keeps anybody from.
func (d *doctor) unenforced() {
	d.users()
	d.open("processes", "not enforced: iff keeps no program that an agent starts by itself from files or from the network, and starts none for it yet")
}

// network says which hosts calls may reach.
func (d *doctor) network(c home.Config) {
	if len(c.Net) == 0 {
		d.ok("network", "enforced for calls through iff: no host has a label, so none is reached; [[net.host]] in iff.toml names one")
		return
	}
	d.ok("network", fmt.Sprintf("enforced for calls through iff: %s, never this machine's own services but where private = true says so; each needs a grant or a person", plural(len(c.Net), "pattern")+" of hosts"))
}

// upstreams says whose tools agents are offered.
func (d *doctor) upstreams(c home.Config) {
	for _, u := range c.Upstreams {
		what := "mapped by iff.toml"
		if u.Mapping != "" {
			what = "mapping " + u.Mapping
		} else if len(u.Tools) == 0 {
			what = "nothing mapped: each call asks"
		}
		d.open("upstream "+u.Name, what+"; each call is decided, and what its program does beside that is not: it runs as you (iff upstream list "+u.Name+")")
	}
}
