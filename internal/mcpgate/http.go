package mcpgate

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/iff-run/iff/gate"
	"github.com/iff-run/iff/internal/serve"
)

const (
	mostPosts   = 256 // requests over HTTP at once
	mostHeaders = 32 << 10
	stateless   = "2026-07-28" // the first version without sessions
	versionName = "Mcp-Protocol-Version"
	sessionName = "Mcp-Session-Id"
)

// Listen listens for [Gateway.Serve] at host:port. The host must be of the loopback interface: what goes by is not encrypted.
func Listen(ctx context.Context, address string) (net.Listener, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, listenError(address, "it is not host:port, such as 127.0.0.1:7447", err)
	}
	if host == "localhost" {
		address = net.JoinHostPort("127.0.0.1", port)
	} else if ip, err := netip.ParseAddr(host); err != nil || !ip.IsLoopback() || ip.Zone() != "" {
		return nil, listenError(address, "it is not an address of the loopback interface; take 127.0.0.1 or [::1]", err)
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, listenError(address, "nothing can listen there; take another port", err)
	}
	return l, nil
}

func listenError(address, detail string, err error) error {
	return &serve.Error{Reason: serve.Reason(ListenRefused), Path: address, Detail: detail, Err: err}
}

// Token is one who may speak over HTTP: its name in records is "http-" and Name.
type Token struct {
	Name   string
	Secret string
}

// Serve answers MCP over HTTP (streamable HTTP, stateful up to 2025-11-25 and stateless from 2026-07-28 on) until ctx ends. Whoever asks
// has a token. It closes the listener.
func (g *Gateway) Serve(ctx context.Context, l net.Listener, tokens []Token) error {
	own := l.Addr().(*net.TCPAddr)
	var serving sync.WaitGroup
	server := &http.Server{
		Handler:           g.guarded(own.Port, tokens),
		ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: mostHeaders,
		BaseContext: func(net.Listener) context.Context { return ctx },
		ErrorLog:    log.New(reporting{g}, "", 0),
	}
	stop := make(chan struct{})
	serving.Go(func() {
		select {
		case <-ctx.Done():
		case <-stop:
		}
		_ = server.Close() // what is under way goes on without its client
	})
	err := server.Serve(l)
	close(stop)
	serving.Wait()
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// reporting is where the HTTP server writes what it has to say.
type reporting struct{ g *Gateway }

func (r reporting) Write(line []byte) (int, error) {
	r.g.report(fmt.Errorf("mcp over http: %s", bytes.TrimSpace(line)))
	return len(line), nil
}

// handler is both of the SDK's, for versions with sessions and without.
func (g *Gateway) handler() http.Handler {
	server := func(*http.Request) *mcp.Server { return g.server }
	with := mcp.NewStreamableHTTPHandler(server, &mcp.StreamableHTTPOptions{SessionTimeout: g.limits.idleHTTP, MaxRequestBodyBytes: maxFrame})
	without := mcp.NewStreamableHTTPHandler(server, &mcp.StreamableHTTPOptions{Stateless: true, PropagateRequestCancellation: true, MaxRequestBodyBytes: maxFrame})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get(versionName) >= stateless {
			without.ServeHTTP(w, r)
			return
		}
		with.ServeHTTP(w, r)
	})
}

// guarded lets through who asks this host, from no foreign page, with a token, what is strict and not too much.
func (g *Gateway) guarded(port int, tokens []Token) http.Handler {
	hosts := map[string]bool{}
	for _, host := range []string{"127.0.0.1", "[::1]", "localhost"} {
		hosts[fmt.Sprintf("%s:%d", host, port)] = true
	}
	verify := func(_ context.Context, secret string, _ *http.Request) (*auth.TokenInfo, error) {
		for _, t := range tokens {
			if same := sha256.Sum256([]byte(t.Secret)); t.Secret != "" && sameBytes(same, sha256.Sum256([]byte(secret))) {
				return &auth.TokenInfo{UserID: t.Name}, nil
			}
		}
		return nil, fmt.Errorf("%s: send the token of run/mcp.token in the home: %w", TokenInvalid, auth.ErrInvalidToken)
	}
	p := &posts{gate: g, slots: make(chan struct{}, mostPosts), flight: map[string]bool{}}
	named := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if reply, ok := w.(*replying); ok {
			reply.known(r.Context())
		}
		p.ServeHTTP(w, r)
	})
	inner := auth.RequireBearerToken(verify, &auth.RequireBearerTokenOptions{AllowMissingExpiration: true})(named)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		reply := g.replying(w, r)
		defer reply.end()
		origin := r.Header.Get("Origin")
		if !hosts[strings.ToLower(r.Host)] || origin != "" && origin != "http://"+r.Host {
			answer(reply, http.StatusForbidden, "", refused(HostRefused, "the request is for another host, or of a page of another origin", "ask 127.0.0.1 by that name, and from no browser"))
			return
		}
		inner.ServeHTTP(reply, r)
	})
}

func sameBytes(a, b [sha256.Size]byte) bool { return subtle.ConstantTimeCompare(a[:], b[:]) == 1 }

// posts reads the bodies of requests before the SDK does.
type posts struct {
	gate  *Gateway
	slots chan struct{}

	mu     sync.Mutex
	flight map[string]bool // session and id of requests; guarded by mu
}

// ServeHTTP implements [http.Handler].
func (p *posts) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		p.gate.http.ServeHTTP(w, r)
		return
	}
	select {
	case p.slots <- struct{}{}:
		defer func() { <-p.slots }()
	default:
		answer(w, http.StatusServiceUnavailable, "", refused(Reason(serve.TooManyRequests), fmt.Sprintf("%d requests are in flight", mostPosts), "wait, then send it again"))
		return
	}
	f, status, fault := p.read(w, r)
	if fault != nil {
		answer(w, status, f.id, fault)
		return
	}
	if f.method == "" && !p.gate.asks(r.Header.Get(sessionName)) || f.id == "" && f.method != methodInitialized && f.method != methodCancelled {
		w.WriteHeader(http.StatusAccepted) // nothing here waits for it
		return
	}
	body := f.body()
	if !p.gate.flying.Take(len(body)) {
		answer(w, http.StatusServiceUnavailable, f.id, refused(Reason(serve.TooManyRequests), "the requests in flight are too large together", "wait, then send it again"))
		return
	}
	defer p.gate.flying.Give(len(body))
	if key := r.Header.Get(sessionName); f.id != "" && key != "" && f.method != "" {
		key += " " + f.id
		if !p.enter(key) {
			answer(w, http.StatusBadRequest, "", bad(serve.IDInFlight, "the request before with this id is not answered yet", "give each request an id of its own"))
			return
		}
		defer p.leave(key)
	}
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	p.gate.http.ServeHTTP(w, r)
}

// read takes the body in time and reads it strictly.
func (p *posts) read(w http.ResponseWriter, r *http.Request) (frame, int, *serve.Fault) {
	control, within := http.NewResponseController(w), p.gate.limits.frame
	_ = control.SetReadDeadline(time.Now().Add(within)) // a writer without deadlines is a test's
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxFrame))
	if err == nil {
		_ = control.SetReadDeadline(time.Time{}) // else what is left of it is not waited for
	}
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return frame{}, http.StatusRequestEntityTooLarge, bad(serve.FrameTooLarge, fmt.Sprintf("the body has more than %d bytes", maxFrame), "send less at once")
	case err != nil:
		return frame{}, http.StatusRequestTimeout, bad(serve.FrameLate, fmt.Sprintf("the body was not there within %s", within), "send it in one go")
	}
	f, fault := parse(body)
	return f, http.StatusBadRequest, fault
}

func (p *posts) enter(key string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.flight[key] {
		return false
	}
	p.flight[key] = true
	return true
}

func (p *posts) leave(key string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.flight, key)
}

// body is the frame as canonical JSON.
func (f frame) body() []byte {
	var out []byte
	if f.id != "" {
		out = fmt.Appendf(out, `"id":%s,`, f.id)
	}
	switch {
	case f.method != "":
		return fmt.Appendf([]byte{'{'}, `%s"jsonrpc":"2.0","method":%s,"params":%s}`, out, quoteJSON(f.method), f.params)
	case f.err != "":
		return fmt.Appendf([]byte{'{'}, `"error":%s,%s"jsonrpc":"2.0"}`, f.err, out)
	}
	return fmt.Appendf([]byte{'{'}, `%s"jsonrpc":"2.0","result":%s}`, out, f.result)
}

func answer(w http.ResponseWriter, status int, id string, f *serve.Fault) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(faultJSON(id, f)) // the client may be gone
}

// shared is the session of all stateless requests with one token.
type shared struct {
	*session
	last *time.Timer // ends it when nobody has asked anything for long
}

// sessionOverHTTP is the session of a request over HTTP, of its session there or, where there are none, of its token.
func (g *Gateway) sessionOverHTTP(req mcp.Request) (*session, error) {
	extra := req.GetExtra()
	transport, ok := req.GetSession().(*mcp.ServerSession)
	if extra == nil || extra.TokenInfo == nil || extra.TokenInfo.UserID == "" || !ok {
		return nil, refused(TokenInvalid, "the request has no token", "send the token of run/mcp.token in the home")
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return nil, &serve.Fault{Reason: string(gate.SessionEnded), Message: "the runtime is ending", Remedy: "connect again"}
	}
	name := extra.TokenInfo.UserID
	if transport.ID() == "" {
		s := g.byToken[name]
		if s == nil {
			s = &shared{session: g.newSession(serve.Peer{Token: name})}
			s.last = time.AfterFunc(g.limits.idleHTTP, func() { g.expire(name, s) })
			g.byToken[name] = s
		}
		s.last.Reset(g.limits.idleHTTP)
		return s.session, nil
	}
	if s := g.overHTTP[transport]; s != nil {
		return s, nil
	}
	if len(g.overHTTP) >= g.limits.sessions {
		return nil, refused(TooManySessions, fmt.Sprintf("%d sessions are open", len(g.overHTTP)), "end one, or wait")
	}
	s := g.newSession(serve.Peer{Token: name})
	g.overHTTP[transport] = s
	g.work.Go(func() {
		_ = transport.Wait() // why it ended is nobody's business
		g.mu.Lock()
		delete(g.overHTTP, transport)
		g.mu.Unlock()
		if err := s.end(g.ctx); err != nil {
			g.report(err)
		}
	})
	return s, nil
}

// expire ends a shared session in which nothing is under way.
func (g *Gateway) expire(name string, s *shared) {
	s.mu.Lock()
	busy := s.busy > 0
	s.mu.Unlock()
	g.mu.Lock()
	if busy || g.closed || g.byToken[name] != s {
		if !g.closed {
			s.last.Reset(g.limits.idleHTTP)
		}
		g.mu.Unlock()
		return
	}
	delete(g.byToken, name)
	g.work.Add(1)
	g.mu.Unlock()
	defer g.work.Done()
	if err := s.end(g.ctx); err != nil {
		g.report(err)
	}
}

// closeHTTP ends all sessions over HTTP. The gateway is closed: none begins any more.
func (g *Gateway) closeHTTP() {
	g.mu.Lock()
	var open []*mcp.ServerSession
	for t, s := range g.overHTTP {
		open = append(open, t)
		s.withdraw()
	}
	tokens := g.byToken
	g.byToken = map[string]*shared{}
	g.mu.Unlock()
	for _, s := range tokens {
		s.last.Stop()
		if err := s.end(g.ctx); err != nil {
			g.report(err)
		}
	}
	for _, t := range open {
		_ = t.Close() // its session is ended by who waits for it
	}
}
