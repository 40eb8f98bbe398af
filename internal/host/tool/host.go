package tool

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/iff-run/iff/capability"
	"github.com/iff-run/iff/gate"
	"github.com/iff-run/iff/record"
)

// Options are what a host is made of.
type Options struct {
	Servers []Server
	Roots   []Root    // of the corpora
	Files   gate.Host // the native host of the corpora; plans what upstreams do to files
	// Pin says what a tool is held to; false if it was never seen. Nil knows none.
	Pin func(server, tool string) (record.ToolPin, bool)
	// Note records what becomes of a tool; what cannot be recorded is not offered.
	// Nil records nothing.
	Note    func(record.Tool) error
	Version string           // that servers are told
	Scratch string           // absolute; below it are the directories of servers that have none; empty: the system's
	Now     func() time.Time // nil is the clock
	// Patience is how long the start waits for all servers together; zero is a second.
	Patience time.Duration
}

// Host does the calls of upstreams' tools. It is safe for concurrent use. The zero
// value refuses everything.
type Host struct {
	options   Options
	version   string
	places    places
	ordered   []*upstream
	upstreams map[string]*upstream
	base      context.Context
	stop      context.CancelFunc

	pinning sync.Mutex // held while tools are held against their pins
	pins    map[string]record.ToolPin
	gone    map[string]bool // recorded as gone already
	away    map[string]bool // not there now
	pinned  map[string]int  // how many tools of a server are new since the start

	same func(derived, capability.Envelope) bool // tests plant another one

	mu      sync.Mutex
	notify  func()
	client  Client
	verbose string // the most talkative level that anybody wants; empty if nobody does
}

var _ gate.Host = (*Host)(nil)

// Start makes a host and connects to its servers, for as long as ctx lasts. One
// that cannot be reached is down, see [Host.States], and is tried again when it is
// used. Errors are those of the configuration.
func Start(ctx context.Context, o Options) (*Host, error) {
	h := &Host{
		options: o, version: o.Version, same: same,
		upstreams: map[string]*upstream{}, pins: map[string]record.ToolPin{}, gone: map[string]bool{}, away: map[string]bool{}, pinned: map[string]int{},
	}
	if h.version == "" {
		h.version = "0"
	}
	var err error
	if h.places, err = newPlaces(o.Roots); err != nil {
		return nil, err
	}
	h.base, h.stop = context.WithCancel(context.WithoutCancel(ctx))
	for i, s := range o.Servers {
		u, err := h.newUpstream(s, i)
		if err == nil && h.upstreams[s.Name] != nil {
			err = fmt.Errorf("upstream %s is there twice; give each its own name", s.Name)
		}
		if err != nil {
			h.Close()
			return nil, err
		}
		h.ordered, h.upstreams[s.Name] = append(h.ordered, u), u
	}
	h.connect(o.Patience)
	return h, nil
}

// connect starts all servers, and waits for them as long as nobody minds: an agent
// that is about to start waits for iff. Whoever comes up later is announced.
func (h *Host) connect(patience time.Duration) {
	if patience <= 0 {
		patience = defaultPatience
	}
	up := make(chan struct{}, len(h.ordered))
	for _, u := range h.ordered {
		u.running.Go(func() {
			defer func() { up <- struct{}{} }()
			ctx, cancel := context.WithTimeout(h.base, u.Timeout)
			defer cancel()
			_, _ = u.use(ctx) // its state says why
		})
	}
	late := time.NewTimer(patience)
	defer late.Stop()
	for range h.ordered {
		select {
		case <-up:
		case <-late.C:
			return
		}
	}
}

// defaultPatience is how long the start waits for all servers together.
const defaultPatience = time.Second

// Close ends all servers, and what is under way with them fails.
func (h *Host) Close() {
	if h.stop == nil {
		return
	}
	h.stop()
	var all sync.WaitGroup
	for _, u := range h.ordered {
		all.Go(u.close)
	}
	all.Wait()
}

func (h *Host) now() time.Time {
	if h.options.Now != nil {
		return h.options.Now()
	}
	return time.Now()
}

// Notify says whom to tell that what is offered has changed. It is not to block.
func (h *Host) Notify(changed func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.notify = changed
}

func (h *Host) tell() {
	h.mu.Lock()
	changed := h.notify
	h.mu.Unlock()
	if changed != nil {
		changed()
	}
}

// refresh lists the tools of a server anew, beside whoever asked.
func (h *Host) refresh(u *upstream) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.closed || u.refreshing {
		return
	}
	u.refreshing = true
	wait := u.pace - h.now().Sub(u.listed)
	u.running.Go(func() {
		ctx, cancel := context.WithTimeout(h.base, max(wait, 0)+u.Timeout)
		defer cancel()
		if wait > 0 {
			select {
			case <-ctx.Done():
				return
			case <-time.After(wait):
			}
		}
		u.mu.Lock()
		u.refreshing = false // a change from now on is another one
		u.mu.Unlock()
		_, _ = u.use(ctx)
	})
}

// Tools are those that are offered, server by server in their order.
func (h *Host) Tools() []Tool {
	var out []Tool
	for _, s := range h.States() {
		for _, t := range s.Tools {
			if t.Standing == Offered {
				out = append(out, t)
			}
		}
	}
	return out
}

// States are all servers, in the order of the configuration.
func (h *Host) States() []State {
	var out []State
	for _, u := range h.ordered {
		out = append(out, u.state())
	}
	return out
}

// Over is the table of hosts for a gate: calls of upstreams' tools come here,
// others go to the native hosts.
func (h *Host) Over(native map[capability.Capability]gate.Host) map[capability.Capability]gate.Host {
	out := maps.Clone(native)
	if out == nil {
		out = map[capability.Capability]gate.Host{}
	}
	for _, row := range capability.Vocabulary() {
		if row.Capability != capability.FSWriteRev && len(h.ordered) > 0 {
			out[row.Capability] = either{h, native[row.Capability]}
		}
	}
	return out
}

// either routes calls of one class.
type either struct {
	tool   *Host
	native gate.Host // nil if there is none
}

func (e either) of(env capability.Envelope) gate.Host {
	if e.native == nil || isVia(env.Arguments()) {
		return e.tool
	}
	return e.native
}

// isVia says whether arguments in canonical form have the member via.
func isVia(arguments string) bool {
	return strings.Contains(arguments, `"via":`) && slices.ContainsFunc(members(arguments), func(m member) bool { return m.name == "via" })
}

// Touches implements [gate.Host].
func (e either) Touches(env capability.Envelope) (gate.Touches, error) { return e.of(env).Touches(env) }

// Plan implements [gate.Host].
func (e either) Plan(ctx context.Context, env capability.Envelope, staged gate.Staged) (gate.Plan, error) {
	return e.of(env).Plan(ctx, env, staged)
}

// Do implements [gate.Host].
func (e either) Do(ctx context.Context, p *gate.Permit) (gate.Result, error) {
	return e.of(p.Envelope()).Do(ctx, p)
}
