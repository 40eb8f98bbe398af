package tool

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/iff-run/iff/gate"
	"github.com/iff-run/iff/internal/visible"
	"github.com/iff-run/iff/label"
)

// Server is one upstream, with a command or a URL.
type Server struct {
	Name      string   // of a-z, 0-9 and hyphens, up to 32
	Command   []string // the program, absolute or a name, and its arguments
	URL       string   // https, or http to this machine
	TokenFile string   // with a URL: holds the bearer token; empty is none
	Pin       string   // with a URL: sha256/BASE64 of the server's public key; empty is none
	Dir       string   // absolute; where the command runs, and relative paths begin; empty is a private empty one
	Env       map[string]string
	Rules     []Rule        // of its tools; a later one of a name counts
	Prefix    string        // before the names of its tools, as they are offered
	Label     label.Label   // of what its tools reach that have no label and no path
	Timeout   time.Duration // for one call, at most what the gate allows; 0 is 30 s
	Relay     []string      // what it may ask the client of a call: RelaySampling, RelayElicitation
}

const (
	longestRest  = time.Minute
	defaultPause = 30 * time.Second
	fresh        = time.Minute // how long a list of tools is taken for true
)

// upstream is a server and what is known of it.
type upstream struct {
	Server
	host     *Host
	place    int // in the configuration
	program  program
	mappings map[string]*mapping
	stderr   ring
	running  sync.WaitGroup
	scratch  string // a directory of its own

	turn  chan struct{} // held by who connects or lists
	stale atomic.Bool   // the list of tools is said to have changed

	mu       sync.Mutex
	link     *link
	tools    map[string]*offer
	names    []string // of tools, in the server's order
	listed   time.Time
	failures int
	rest     time.Time // not tried again before
	faults   []string  // what of its list was not taken
	last     error     // why it is down
	closed   bool

	refreshing bool          // somebody lists the tools, or is about to
	pace       time.Duration // how long a list stands whatever is said of it: longer and longer while it is looked at again and again
}

func (h *Host) newUpstream(c Server, place int) (*upstream, error) {
	u := &upstream{Server: c, host: h, place: place, turn: make(chan struct{}, 1), mappings: map[string]*mapping{}}
	if u.Timeout <= 0 {
		u.Timeout = defaultPause
	}
	for _, r := range c.Rules {
		m, err := r.compile()
		if err == nil {
			err = m.checkRoots(u.host.places)
		}
		if err != nil {
			return nil, fmt.Errorf("upstream %s: %w", c.Name, err)
		}
		u.mappings[r.Name] = m
	}
	if err := u.prepare(); err != nil {
		return nil, fmt.Errorf("upstream %s: %w", c.Name, err)
	}
	return u, nil
}

// prepare finds the program or checks the URL.
func (u *upstream) prepare() error {
	for _, r := range u.Relay {
		if r != RelaySampling && r != RelayElicitation {
			return fmt.Errorf("%q cannot be relayed; there are %s and %s", r, RelaySampling, RelayElicitation)
		}
	}
	switch {
	case !isServerName(u.Name):
		return errors.New("the name is 1 to 32 of a-z, 0-9 and -")
	case (len(u.Command) > 0) == (u.URL != ""):
		return errors.New("it has a command or a url, and not both")
	case u.URL != "":
		if _, err := pinned(u.Pin); err != nil {
			return err
		}
		return checkURL(u.URL)
	}
	dir := u.Dir
	if dir == "" {
		var err error
		if dir, err = u.own(); err != nil {
			return err
		}
		u.scratch = dir
	}
	var err error
	u.program, err = newProgram(u.Command, dir, u.Env)
	return err
}

// own makes its own empty directory. What a runtime that was killed has left there
// is removed.
func (u *upstream) own() (string, error) {
	if u.host.options.Scratch == "" {
		return os.MkdirTemp("", "iff-upstream-")
	}
	dir := filepath.Join(u.host.options.Scratch, u.Name)
	if err := os.RemoveAll(dir); err != nil {
		return "", err
	}
	return dir, os.MkdirAll(dir, 0o700)
}

// use gives a connection that can be used, with a fresh list of tools. The error
// is *Error, and nothing was sent.
func (u *upstream) use(ctx context.Context) (*link, error) {
	if l := u.current(); l != nil && !l.suspect.Load() && !u.outdated() {
		return l, nil
	}
	select {
	case u.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, u.down("it is being started; ask again later", ctx.Err())
	}
	defer func() { <-u.turn }()
	l, err := u.connected(ctx)
	if err != nil {
		return nil, err
	}
	if !u.outdated() {
		return l, nil
	}
	if err := u.list(ctx, l); err != nil {
		return nil, u.down("its tools cannot be listed: "+short(err.Error()), err)
	}
	return l, nil
}

// current is the connection there is; nil if there is none.
func (u *upstream) current() *link {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.link == nil || u.link.ended() {
		return nil
	}
	return u.link
}

func (u *upstream) outdated() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	age := u.host.now().Sub(u.listed)
	return u.stale.Load() && age >= u.pace || age > fresh
}

// connected sees that there is a connection. The turn is held.
func (u *upstream) connected(ctx context.Context) (*link, error) {
	if l := u.held(); l != nil {
		if l.sound(ctx) {
			return l, nil
		}
		u.drop(l)
		u.fell(l.why())
	}
	u.mu.Lock()
	wait, last, closed := u.rest.Sub(u.host.now()), u.last, u.closed
	u.mu.Unlock()
	switch {
	case closed:
		return nil, u.down("it is closed", nil)
	case wait > 0:
		return nil, u.down(fmt.Sprintf("it is down (%v); it is tried again in %s", short(last.Error()), wait.Round(time.Second)), last)
	}
	l, err := u.dial(ctx)
	if err == nil {
		u.mu.Lock()
		u.listed = time.Time{}
		u.mu.Unlock()
		if err = u.list(ctx, l); err != nil {
			l.close()
		}
	}
	if err != nil {
		u.fell(err)
		return nil, u.down("it cannot be reached: "+short(err.Error()), err)
	}
	if params := u.host.louder(""); params != "" && l.features()["logging"] {
		if send, err := sender(l.session, setLevel, members(params)); err == nil {
			_, _ = l.ask(ctx, u.Name, &flight{own: true}, send) // it logs as it likes
		}
	}
	u.mu.Lock()
	u.link, u.last = l, nil
	u.mu.Unlock()
	return l, nil
}

// drop ends a connection that is of no use. A program is waited for, so that two of
// it never work on the same; over HTTP there may be calls that still wait.
func (u *upstream) drop(l *link) {
	if u.URL == "" {
		l.close()
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.running.Go(l.close)
}

// held is the connection there is, also if it is over.
func (u *upstream) held() *link {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.link
}

// fell notes that it ended or cannot be reached. One that was in order is tried
// again at once, others rest, the longer the more often it happens.
func (u *upstream) fell(err error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if err == nil {
		err = errors.New("it did not answer")
	}
	first := u.link != nil && u.failures == 0
	u.link, u.last = nil, err
	if !first {
		u.rest = u.host.now().Add(min(time.Second<<min(u.failures, 10), longestRest))
	}
	u.failures++
}

// well notes that it answered a call.
func (u *upstream) well() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.failures = 0
}

func (u *upstream) down(detail string, err error) error {
	return &Error{Reason: UpstreamDown, Server: u.Name, Detail: detail, Err: err}
}

// changed is what the server says of its tools.
func (u *upstream) changed() {
	u.stale.Store(true)
	u.host.refresh(u)
}

// call sends one call of a tool, once.
func (u *upstream) call(ctx context.Context, name, arguments string) ([]byte, error) {
	return u.ask(ctx, func(l *link) (func(context.Context) error, error) {
		return func(ctx context.Context) error {
			if l.plainly() {
				return l.callTool(ctx, u, flightOf(ctx), name, arguments)
			}
			params := &mcp.CallToolParams{Name: name, Arguments: rawJSON(arguments)}
			if f := flightOf(ctx); f.talk != nil && f.talk.follows {
				params.Meta = mcp.Meta{"progressToken": f.number}
			}
			_, err := l.session.CallTool(ctx, params)
			return err
		}, nil
	})
}

// ask sends a request over a connection that can be used. One that ended before
// anything was sent is replaced, once.
func (u *upstream) ask(ctx context.Context, sender func(*link) (func(context.Context) error, error)) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, u.Timeout)
	defer cancel()
	defer context.AfterFunc(u.host.base, cancel)()
	for again := true; ; again = false {
		l, err := u.use(ctx)
		if err != nil {
			return nil, err
		}
		send, err := sender(l)
		if err != nil {
			return nil, err
		}
		data, err := l.ask(ctx, u.Name, u.flight(ctx), send)
		if err == nil {
			u.well()
		}
		var e *Error
		if !again || !errors.As(err, &e) || e.Sent || e.Reason != UpstreamDied {
			return data, err
		}
		l.fail(e.Err)
	}
}

// flight is a request of a call.
func (u *upstream) flight(ctx context.Context) *flight {
	t := talkOf(ctx)
	if t == nil {
		return &flight{}
	}
	return &flight{talk: t, notes: notes{ctx: ctx, work: u.beside}}
}

// beside has something done that [upstream.close] waits for.
func (u *upstream) beside(work func()) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if !u.closed {
		u.running.Go(work)
	}
	return !u.closed
}

// rawJSON is JSON that is passed on.
type rawJSON string

// MarshalJSON gives the text.
func (r rawJSON) MarshalJSON() ([]byte, error) { return []byte(r), nil }

// close ends the connection for good.
func (u *upstream) close() {
	u.mu.Lock()
	u.closed = true
	u.mu.Unlock()
	u.turn <- struct{}{}
	defer func() { <-u.turn }()
	u.mu.Lock()
	l := u.link
	u.link = nil
	u.mu.Unlock()
	if l != nil {
		l.close()
	}
	u.running.Wait()
	if u.scratch != "" {
		_ = os.RemoveAll(u.scratch)
	}
}

// State is how an upstream is.
type State struct {
	Server string
	Up     bool
	Why    string   // it is down, escaped; empty if it is up or was not tried
	Stderr string   // the last of what its program said, escaped
	Tools  []Tool   // those that are offered and those that are not
	Faults []string // what of its list was not taken
}

func (u *upstream) state() State {
	up := u.current() != nil
	u.mu.Lock()
	defer u.mu.Unlock()
	s := State{Server: u.Name, Up: up, Stderr: u.stderr.String(), Faults: u.faults}
	if u.last != nil {
		s.Why = short(u.last.Error())
	}
	for _, name := range u.names {
		s.Tools = append(s.Tools, u.tools[name].Tool)
	}
	return s
}

// short is somebody else's text in one bounded line.
func short(s string) string { return visible.Truncate(visible.Escape(s), 300) }

// reach is what the tools of a server are, by name; for a tool without one, what
// it is all the same.
func (u *upstream) mapping(tool string) *mapping {
	if m := u.mappings[tool]; m != nil {
		return m
	}
	return &mapping{name: tool, class: invoke, reach: gate.Opaque, op: "write"}
}

func isServerName(name string) bool {
	ok := name != "" && len(name) <= 32
	return ok && !slices.ContainsFunc([]rune(name), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-'
	})
}
