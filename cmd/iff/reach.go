package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/iff-run/iff/internal/home"
	"github.com/iff-run/iff/internal/serve"
	"github.com/iff-run/iff/internal/visible"
)

const (
	// idleAfter is how long a runtime goes on that was started on demand and has
	// nothing to do.
	idleAfter = 5 * time.Minute
	// startPatience is how long a verb waits for a runtime to start.
	startPatience = time.Minute
)

// sockets is where the runtime of the home has its sockets. The home is looked
// at first: what is wrong with it is said here, and not by a runtime that does
// not start.
func (a *app) sockets() (string, error) {
	var dir string
	err := a.withHome(home.Read, func(h *home.Home) error {
		dir = h.SocketDir()
		return nil
	})
	return dir, err
}

// agentSocket is where agents of the user of this home connect, to a runtime that
// runs from now on.
func (a *app) agentSocket() (string, error) {
	dir, err := a.ownAgents(serve.AgentSocket)
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, serve.AgentSocket), a.start(dir)
}

// ownAgents is where the runtime of the home has its sockets, if agents of its user
// may connect. In profile strict none may.
func (a *app) ownAgents(name string) (dir string, err error) {
	err = a.withHome(home.Read, func(h *home.Home) error {
		dir = h.SocketDir()
		if config := h.Config(); config.Profile == home.Strict {
			return &advisedError{
				&serve.Error{Reason: serve.NotAgent, Path: a.dir, Detail: "in profile strict agents run as other users than the runtime's, and connect elsewhere"},
				"run this as one of serve.agents, with --socket " + visible.Escape(filepath.Join(config.Serve.AgentDir, name)),
			}
		}
		return nil
	})
	return dir, err
}

// start sees to it that a runtime serves the home, which is no descendant of this
// process.
func (a *app) start(dir string) error {
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(a.ctx, startPatience)
	defer cancel()
	return serve.Detach(ctx, exe, []string{"--home", a.dir, "serve", "--idle", idleAfter.String(), "--detach"}, dir)
}

// startChild starts a runtime as a child of this process, which is about to end.
func (a *app) startChild(dir string, idle time.Duration) error {
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(a.ctx, startPatience)
	defer cancel()
	return serve.Start(ctx, exe, []string{"--home", a.dir, "serve", "--idle", idle.String()}, dir)
}

// demand says whether a verb starts the runtime that it needs.
type demand bool

const (
	ifRunning demand = false // what it asks for is gone if none runs
	onDemand  demand = true
)

// operate asks the runtime of the home one thing, as its operator.
func (a *app) operate(d demand, method string, params, result any) error {
	dir, err := a.sockets()
	if err != nil {
		return err
	}
	if d == onDemand {
		if err := a.start(dir); err != nil {
			return err
		}
	}
	return a.tellOperator(dir, method, params, result)
}

// tellOperator makes one call on operator.sock.
func (a *app) tellOperator(dir, method string, params, result any) error {
	c, err := serve.Dial(a.ctx, filepath.Join(dir, serve.OperatorSocket))
	if err != nil {
		return err
	}
	return errors.Join(c.Call(a.ctx, method, params, result), c.Close())
}

// notTaken refuses to write to a home whose runtime is running: that has its log.
func (a *app) notTaken() error {
	dir := filepath.Join(a.dir, "run")
	if !serve.Running(a.ctx, dir) {
		return nil
	}
	return &advisedError{
		&serve.Error{Reason: serve.Busy, Path: a.dir, Detail: "the runtime of this home is running and has its log, so nothing else writes to it"},
		"end it: iff serve --stop; then run the command again. The runtime starts again when it is needed",
	}
}
