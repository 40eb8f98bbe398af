package main

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/iff-run/iff/internal/mcpgate"
	"github.com/iff-run/iff/internal/serve"
)

type mcpCmd struct {
	Socket string `help:"Speak to a runtime of another user at this socket." placeholder:"FILE"`
}

// Run relays between an agent and the runtime, which it starts if none runs. The home is looked at only if nobody answers: an agent
// starts this each time that it starts itself.
func (c mcpCmd) Run(a *app) error {
	path := c.Socket
	if path == "" {
		path = filepath.Join(a.dir, "run", serve.MCPSocket)
	}
	conn, err := serve.Connect(a.ctx, path)
	if err != nil && c.Socket == "" {
		if err = a.startForMCP(); err == nil {
			conn, err = serve.Connect(a.ctx, path)
			err = olderRuntime(err)
		}
	}
	if err != nil {
		return a.refuseMCP(err)
	}
	err = mcpgate.Relay(a.ctx, conn, a.stdin, a.out)
	var lost *serve.Error
	if errors.As(err, &lost) && lost.Reason == serve.ConnectionLost {
		fmt.Fprintf(a.err, "iff: %s\n", shown(err))
		return &outcomeError{exitOpen}
	}
	return err
}

func (a *app) startForMCP() error {
	dir, err := a.ownAgents(serve.MCPSocket)
	if err != nil {
		return err
	}
	return a.start(dir)
}

// olderRuntime says what it means that a runtime runs and has no socket for MCP.
func olderRuntime(err error) error {
	if !notRunning(err) {
		return err
	}
	return &advisedError{err, "the runtime that runs is of a version without MCP; end it, and it is started anew: iff serve --stop"}
}

// refuseMCP tells the client why there is no runtime, in its own protocol, and returns the error to be told on standard error.
func (a *app) refuseMCP(err error) error {
	reason := reasonOf(err)
	f := &serve.Fault{Reason: reason, Message: "iff: " + shown(err), Remedy: remedyFor(reason)}
	var advised *advisedError
	if errors.As(err, &advised) {
		f.Remedy = advised.remedy
	}
	if f.Remedy != "" {
		f.Message += "; " + f.Remedy
	}
	if told := mcpgate.Refuse(a.stdin, a.out, f); told != nil {
		return errors.Join(err, told)
	}
	return err
}
