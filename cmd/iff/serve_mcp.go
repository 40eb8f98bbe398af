package main

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"path/filepath"
	"sync"

	"github.com/iff-run/iff"
	"github.com/iff-run/iff/internal/home"
	"github.com/iff-run/iff/internal/host/tool"
	"github.com/iff-run/iff/internal/mcpgate"
	"github.com/iff-run/iff/internal/serve"
)

const (
	// tokenFile lies beside the sockets.
	tokenFile = "mcp.token"
	// tokenName is whose sessions over HTTP are: http-local.
	tokenName = "local"
)

// configured is where the runtime of the home has its sockets, also for agents of other users, and how the home is configured; see
// [app.sockets].
func (a *app) configured() (dir string, config home.Config, shared serve.Shared, err error) {
	err = a.withHome(home.Read, func(h *home.Home) error {
		dir, config = h.SocketDir(), h.Config()
		if shared.Dir = config.Serve.AgentDir; shared.Dir == "" {
			return nil
		}
		uids, err := h.AgentUIDs()
		for _, uid := range uids {
			shared.UIDs = append(shared.UIDs, uid)
		}
		shared.Alone = config.Profile == home.Strict
		return errors.Join(err, h.MakeAgentDir())
	})
	return dir, config, shared, err
}

// gatewayOptions are how agents are served that speak MCP.
func (a *app) gatewayOptions(agents serve.Agents, tools *tool.Host, config home.Config) mcpgate.Options {
	out := mcpgate.Options{
		Agents: agents, Version: iff.Version, Net: len(config.Net) > 0, Wait: config.MCP.Wait, Idle: config.MCP.Idle, Report: a.reporter(),
	}
	if len(config.Upstreams) > 0 {
		out.Tools = upstreams{tools}
	}
	for _, c := range config.Corpora {
		out.Roots = append(out.Roots, mcpgate.Root{Corpus: c.Name, Dir: c.Root})
		if real, err := filepath.EvalSymlinks(c.Root); err == nil && real != c.Root {
			out.Roots = append(out.Roots, mcpgate.Root{Corpus: c.Name, Dir: real})
		}
	}
	return out
}

// webServer is MCP over HTTP; the zero value is none.
type webServer struct {
	listener net.Listener
	token    string
	report   func(error)
}

func (a *app) listenHTTP(dir string, config home.Config) (webServer, error) {
	if config.MCP.Listen == "" {
		return webServer{}, nil
	}
	token, err := mcpgate.ReadToken(filepath.Join(dir, tokenFile))
	if err != nil {
		return webServer{}, err
	}
	l, err := mcpgate.Listen(a.ctx, config.MCP.Listen)
	return webServer{l, token, a.reporter()}, err
}

func (w webServer) address() string {
	if w.listener == nil {
		return ""
	}
	return "http://" + w.listener.Addr().String()
}

// addresses is where calls of net.egress must not lead.
func (w webServer) addresses() []netip.AddrPort {
	if w.listener == nil {
		return nil
	}
	at, err := netip.ParseAddrPort(w.listener.Addr().String())
	if err != nil {
		return nil
	}
	return []netip.AddrPort{at}
}

func (w webServer) close() error {
	if w.listener == nil {
		return nil
	}
	return w.listener.Close()
}

// during serves while f runs.
func (w webServer) during(ctx context.Context, g *mcpgate.Gateway, f func() error) error {
	if w.listener == nil {
		return f()
	}
	ctx, cancel := context.WithCancel(ctx)
	var serving sync.WaitGroup
	serving.Go(func() {
		if err := g.Serve(ctx, w.listener, []mcpgate.Token{{Name: tokenName, Secret: w.token}}); err != nil {
			w.report(err)
		}
	})
	defer serving.Wait()
	defer cancel()
	return f()
}
