package iff

import (
	"context"
	"fmt"
	"net/netip"
	"path/filepath"
	"slices"

	"github.com/iff-run/iff/capability"
	"github.com/iff-run/iff/gate"
	"github.com/iff-run/iff/internal/home"
	hostfs "github.com/iff-run/iff/internal/host/fs"
	hostnet "github.com/iff-run/iff/internal/host/net"
	"github.com/iff-run/iff/internal/host/tool"
	"github.com/iff-run/iff/record"
)

// hosts are iff's own and those of whoever embeds it. Calls of upstreams' tools
// go to the host for those, whatever their class.
func (r *Runtime) hosts(ctx context.Context, b *Boot) (map[capability.Capability]gate.Host, error) {
	var roots []hostfs.Root
	var places []tool.Root
	for _, root := range b.roots {
		roots = append(roots, hostfs.Root{Corpus: root.Name, Dir: root.Path(), Volatile: root.Volatile})
		places = append(places, tool.Root{Corpus: root.Name, Dir: root.Path()})
	}
	files, err := hostfs.New(roots)
	if err != nil {
		return nil, err
	}
	r.files = files
	out := map[capability.Capability]gate.Host{
		capability.FSRead: files, capability.FSWriteRev: files, capability.FSWriteIrrev: files, capability.NetEgress: r.network(b),
	}
	for class, h := range b.opts.Hosts {
		if _, ours := out[class]; ours || h == nil {
			return nil, fmt.Errorf("%s has a host of its own; leave it out", class)
		}
		out[class] = h
	}
	if err := dominated(r.home.Config()); err != nil {
		return nil, err
	}
	if r.tools, err = r.upstreams(ctx, files, places); err != nil {
		return nil, err
	}
	return r.tools.Over(out), nil
}

// network reaches the hosts that iff.toml labels, and no listener of iff itself.
func (r *Runtime) network(b *Boot) gate.Host {
	c := r.home.Config()
	o := c.Network(b.listening(c))
	o.Limits = hostnet.Limits{Time: c.Gate.CallTimeout}
	return hostnet.New(o)
}

// listening are the addresses of this machine to which no call may lead: iff's own,
// and that of the service that answers questions for it.
func (b *Boot) listening(c home.Config) func() []netip.AddrPort {
	return func() []netip.AddrPort {
		var out []netip.AddrPort
		if b.opts.Listening != nil {
			out = b.opts.Listening()
		}
		if at, ok := c.WebhookAddress(); ok {
			out = append(out, at)
		}
		return out
	}
}

// dominated refuses a server that works in a corpus and has a lower label: what it
// tells without saying which object it read would carry too low a one.
func dominated(c home.Config) error {
	for _, u := range c.Upstreams {
		for _, o := range c.Corpora {
			at := func(path string) bool { return filepath.IsAbs(path) && (within(o.Root, path) || within(path, o.Root)) }
			if (at(u.Dir) || slices.ContainsFunc(u.Command, at)) && !o.Label.LessEq(u.Label) {
				return &home.Error{Reason: home.CorpusLabel, Path: "iff.toml", Detail: fmt.Sprintf("upstream.%s works in corpus %s, and its label %s is below %s; give it at least that", u.Name, o.Name, u.Label, o.Label)}
			}
		}
	}
	return nil
}

// within says whether a path is a directory or lies below it.
func within(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// upstreams starts the servers that iff.toml names.
func (r *Runtime) upstreams(ctx context.Context, files gate.Host, places []tool.Root) (*tool.Host, error) {
	o := tool.Options{
		Roots: places, Files: files, Version: Version, Pin: r.home.State().Tool, Now: r.now,
		Scratch: filepath.Join(r.home.SocketDir(), "upstream"),
		Note: func(t record.Tool) error {
			_, err := r.home.Log().Append(context.WithoutCancel(ctx), record.Of(t))
			return err
		},
	}
	for _, u := range r.home.Config().Upstreams {
		s, err := server(u)
		if err != nil {
			return nil, err
		}
		o.Servers = append(o.Servers, s)
	}
	return tool.Start(context.WithoutCancel(ctx), o)
}

// server is an upstream as its host takes it: what a mapping says of a tool, then
// what iff.toml says instead.
func server(u home.UpstreamConfig) (tool.Server, error) {
	out := tool.Server{
		Name: u.Name, Command: u.Command, URL: u.URL, TokenFile: u.TokenFile, Pin: u.Pin, Dir: u.Dir, Env: u.Env,
		Prefix: u.Prefix, Label: u.Label, Timeout: u.Timeout, Relay: u.Relay,
	}
	if u.Mapping != "" {
		rules, ok := tool.Ready(u.Mapping)
		if !ok {
			return out, fmt.Errorf("upstream %s: there is no mapping %s", u.Name, u.Mapping)
		}
		out.Rules = rules
	}
	for _, t := range u.Tools {
		out.Rules = append(out.Rules, tool.Rule{
			Name: t.Name, Capability: t.Capability, Target: t.Target, Also: t.Also, Reads: t.Reads, Takes: t.Takes, Op: t.Op, Reach: gate.Reach(t.Reach), Plan: t.Plan, Label: t.Label,
		})
	}
	return out, nil
}
