package main

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/iff-run/iff/internal/home"
	"github.com/iff-run/iff/internal/observe/rehash"
	"github.com/iff-run/iff/internal/serve"
)

// readable reads each corpus whole, as a verdict does: what cannot be read
// leaves every verdict open.
func (d *doctor) readable(a *app, h *home.Home) {
	for _, c := range h.Config().Corpora {
		unread, objects, err := readCorpus(a, c)
		switch {
		case err != nil: // corpora has said that it is not there
		case unread > 0:
			d.no("read "+c.Name, fmt.Sprintf("%s of %s cannot be read, so no verdict is PASS; grant read permission to the user that iff runs as", count(int64(unread)), plural(objects, "object")))
		default:
			d.ok("read "+c.Name, plural(objects, "object")+", each can be read")
		}
	}
}

func readCorpus(a *app, c home.CorpusConfig) (unread, objects int, err error) {
	root, err := filepath.EvalSymlinks(c.Root)
	if err != nil {
		return 0, 0, err
	}
	o, err := rehash.New(root, c.Name, c.Volatile, rehash.Options{})
	if err != nil {
		return 0, 0, err
	}
	s, err := o.Snapshot(a.ctx)
	if err := errors.Join(err, o.Close()); err != nil {
		return 0, 0, err
	}
	return s.Unread(), s.Len(), nil
}

// gate says what is enforced for the calls that come through iff.
func (d *doctor) gate(a *app, h *home.Home) {
	if serve.Running(a.ctx, h.SocketDir()) {
		d.ok("runtime", "runs: iff status")
	} else {
		d.ok("runtime", "does not run; it starts when it is needed")
	}
	d.ok("gate", "enforced for calls through iff: each is decided and recorded before it is done; only file calls are done yet, others are denied")
	d.ok("levels", "enforced: what an unverified skill changes asks; declared and higher ones do what they declare, and ask for the rest")
	d.ok("guarded", fmt.Sprintf("enforced: %s of files that tell agents what to do, and the files of every loaded skill: each change of one asks", plural(h.Config().Guarded.Len(), "pattern")))
	d.ok("labels", fmt.Sprintf("enforced: nothing above %s is read, and nothing flows below what a session has read", h.Clearance()))
	if len(h.Config().Corpora) > 0 {
		d.ok("verdict", "found afterwards: every change in a corpus that no call made, by whoever made it: iff verdict")
	}
}

// unenforced says what no version yet, or this one not, keeps anybody from.
func (d *doctor) unenforced() {
	d.open("user", "not enforced: an agent that runs as you reaches what you reach without iff, corpora included, and can use the adopter key, "+
		"which grants nothing above unverified; what it changes in a corpus a verdict finds, what it reads nothing does")
	d.open("approver", "not told apart: an agent that runs as you could answer questions if it had the passphrase of your approver key; "+
		"without it, it can approve nothing, but it can deny, pause and stop sessions, put back what they did, settle calls in doubt, and clear what an agent was given and has read")
	d.open("network", "not enforced: iff sends nothing for agents and keeps no program from the network")
	d.open("tools", "not covered: calls of tool servers (MCP) and commands do not come through iff yet")
}
