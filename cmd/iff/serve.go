package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync"
	"time"

	"github.com/iff-run/iff"
	"github.com/iff-run/iff/internal/home"
	"github.com/iff-run/iff/internal/mcpgate"
	"github.com/iff-run/iff/internal/serve"
)

type serveCmd struct {
	Stop   bool          `help:"End the runtime of this home, and wait until it has." xor:"how"`
	Detach bool          `help:"Start it in the background, and return when it answers." xor:"how"`
	Idle   time.Duration `help:"End when no agent is connected and no question waits for this long; 0 is never." default:"0s" placeholder:"TIME"`
}

type serveJSON struct {
	Home     string             `json:"home" doc:"directory of the home"`
	Running  bool               `json:"running" doc:"a runtime runs from now on; with --stop none does"`
	PID      int                `json:"pid" doc:"its process, 0 if none runs"`
	Agents   string             `json:"agents" doc:"socket for agents, see docs/agent-api.md"`
	Operator string             `json:"operator" doc:"socket for the operator's commands"`
	MCP      string             `json:"mcp" doc:"socket for agents that speak MCP, see docs/mcp.md"`
	HTTP     string             `json:"http" doc:"address for MCP over HTTP, empty if there is none"`
	Refused  []refusedSkillJSON `json:"refused" doc:"skills that are not loaded"`
}

type refusedSkillJSON struct {
	Directory string `json:"directory" doc:"of the skill"`
	Reason    string `json:"reason" doc:"closed token"`
	Message   string `json:"message" doc:"what is wrong"`
}

const (
	// closeGrace is how long calls that are under way may take when the runtime
	// ends; what takes longer is left in doubt.
	closeGrace = 35 * time.Second
	// stopPatience is how long iff serve --stop waits for that.
	stopPatience = closeGrace + 10*time.Second
)

// Run serves until a signal, an operator or idleness ends it. The directory of
// the sockets is taken first, so that of two runtimes one says at once that the
// other is there.
func (c serveCmd) Run(a *app) error {
	dir, config, shared, err := a.configured()
	if err != nil {
		return err
	}
	out := serveJSON{
		Home: a.dir, Agents: filepath.Join(dir, serve.AgentSocket), Operator: filepath.Join(dir, serve.OperatorSocket),
		MCP: filepath.Join(dir, serve.MCPSocket), Refused: []refusedSkillJSON{},
	}
	if shared.Alone && shared.Dir != "" {
		out.Agents, out.MCP = filepath.Join(shared.Dir, serve.AgentSocket), filepath.Join(shared.Dir, serve.MCPSocket)
	}
	if c.Stop {
		return a.stopServing(dir, out)
	}
	if c.Detach {
		return a.detached(dir, c.Idle, out)
	}
	debug.SetGCPercent(300) // this one stays, and each message makes garbage many times its size
	var at serve.Attachment
	var gateway *mcpgate.Gateway // there is one before anything is served
	s, err := serve.Listen(dir, serve.Options{
		Agents: &at, Operator: &at, Busy: func() bool { return gateway.Busy() },
		MCP:  func(ctx context.Context, c net.Conn, p serve.Peer) { gateway.ServeConn(ctx, c, p) },
		Idle: c.Idle, Connections: config.Serve.Connections, Shared: shared, Report: a.reporter(),
	})
	if err != nil {
		return err
	}
	web, err := a.listenHTTP(dir, config)
	if err != nil {
		return errors.Join(err, s.Close())
	}
	r, err := a.bootstrap(web.addresses)
	if err != nil {
		return errors.Join(err, web.close(), s.Close())
	}
	at.Attach(r, a.now())
	out.HTTP = web.address()
	if gateway, err = mcpgate.New(a.ctx, a.gatewayOptions(&at, r.Tools(), config)); err == nil {
		r.Tools().Attach(gateway.Clients())
		defer gateway.Close()
		err = a.printServing(out, r)
	}
	if err == nil {
		err = web.during(a.ctx, gateway, func() error { return s.Serve(a.ctx) })
		gateway.Close()
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(a.ctx), closeGrace)
	defer cancel()
	if err := errors.Join(err, r.Close(ctx), s.Close()); err != nil {
		return err
	}
	if !a.json {
		a.printf("ended: sessions closed, the corpora read once more, the log closed\n")
	}
	return a.unanchored(r.Unanchored(), home.Write)
}

// detached starts the runtime beside this process.
func (a *app) detached(dir string, idle time.Duration, out serveJSON) error {
	if err := a.startChild(dir, idle); err != nil {
		return err
	}
	out.Running = true
	return a.print(out, func() error {
		a.printf("serves %s; to end it: iff serve --stop\n", short(out.Home))
		return nil
	})
}

// bootstrap makes the runtime of the home; listening are the addresses that the
// program listens on.
func (a *app) bootstrap(listening func() []netip.AddrPort) (*iff.Runtime, error) {
	m := a.meter("opening the log", logBytes(filepath.Join(a.dir, "log")))
	b, err := iff.Bootstrap(a.ctx, a.dir, iff.Options{Now: a.now, Progress: m.at, Listening: listening})
	m.done()
	if err != nil {
		return nil, err
	}
	l, err := b.Lock()
	if err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return l.Start(a.ctx)
}

// reporter prints what happens to nobody's request.
func (a *app) reporter() func(error) {
	var mu sync.Mutex // guards a.err
	return func(err error) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Fprintf(a.err, "%s  %s\n", a.now().UTC().Format(timeWide), shown(err))
	}
}

func (a *app) printServing(out serveJSON, r *iff.Runtime) error {
	out.Running, out.PID = true, os.Getpid()
	for _, k := range r.Refused() {
		out.Refused = append(out.Refused, refusedSkillJSON{k.Directory, reasonOf(k.Err), shown(k.Err)})
	}
	return a.print(out, func() error {
		rows := [][]string{
			{"home", fmt.Sprintf("%s, process %d, runtime %d of this home", short(out.Home), out.PID, r.Fence())},
			{"agents", short(out.Agents)},
			{"operator", short(out.Operator)},
			{"mcp", short(out.MCP)},
			{"skills", plural(len(r.Skills()), "skill") + " loaded"},
		}
		if out.HTTP != "" {
			rows = append(rows, []string{"http", out.HTTP + ", token in " + short(filepath.Join(filepath.Dir(out.MCP), tokenFile))})
		}
		for _, k := range out.Refused {
			rows = append(rows, []string{"not loaded", short(k.Directory) + ": " + k.Message})
		}
		if err := a.table(rows); err != nil {
			return err
		}
		a.printf("serving; to end it: ctrl-C, or iff serve --stop\n")
		return nil
	})
}

// stopServing ends what runs. That nothing does is no error.
func (a *app) stopServing(dir string, out serveJSON) error {
	ctx, cancel := context.WithTimeout(a.ctx, stopPatience)
	defer cancel()
	err := serve.Stop(ctx, dir)
	if err != nil && !notRunning(err) {
		return err
	}
	return a.print(out, func() error {
		if err != nil {
			a.printf("no runtime was running\n")
			return nil
		}
		a.printf("ended: sessions closed, the corpora read once more, the log closed\n")
		return nil
	})
}
