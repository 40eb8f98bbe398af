package model

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"
)

const (
	// SubMark in the first user messages makes a conversation a sub-agent's.
	SubMark = "SUBAGENT-MARK"
	// Done is said after the last step.
	Done = "SCRIPT-COMPLETE"
)

// Script is what is played. The zero value says Done at once.
type Script struct {
	Main []Step // by the conversation that the agent was started for
	Sub  []Step // by each of its sub-agents
}

// Step is one answer: a text, or one tool call. The zero value is an empty text.
type Step struct {
	Text string // said if there is no tool

	// Tool is sent as it is, offered or not. With a * before it, it is the first
	// tool offered whose name ends with the rest, in that tool's namespace.
	Tool string
	// Namespace is that of the tool, for the responses dialect.
	Namespace string
	// Args are sent as a JSON object; nil is {}. Values are those that
	// encoding/json writes.
	Args map[string]any
	// Input makes it a custom tool call with this text in place of Args, in the
	// responses dialect.
	Input string

	// Delay is how long the answer takes, less than a minute.
	Delay time.Duration
}

// Endpoint is a scripted model that listens until it is closed. All methods are
// safe for concurrent use.
type Endpoint struct {
	url    string
	server *http.Server
	served chan struct{}
	stop   func() bool
	slots  chan struct{}

	closing sync.Once

	mu    sync.Mutex
	state notes // guarded by mu
}

// Start listens on a free port of 127.0.0.1. The endpoint ends with Close, or with
// ctx; it must be closed in either case.
func Start(ctx context.Context, script Script) (*Endpoint, error) {
	listen := net.ListenConfig{}
	l, err := listen.Listen(ctx, "tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("model: no port on loopback: %w", err)
	}
	e := &Endpoint{
		url: "http://" + l.Addr().String(), served: make(chan struct{}), slots: make(chan struct{}, maxTogether),
		state: notes{script: script, asked: map[turnKey]int{}, skipped: map[string]int{}, sent: map[turnKey]int{}},
	}
	e.server = &http.Server{
		Handler: e, ReadTimeout: time.Minute, WriteTimeout: time.Minute, MaxHeaderBytes: 64 << 10,
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	e.stop = context.AfterFunc(ctx, func() { _ = e.server.Close() })
	go func() {
		defer close(e.served)
		_ = e.server.Serve(l) // ErrServerClosed, or nobody can connect any more and agents say so
	}()
	return e, nil
}

// Close ends the endpoint and every answer under way. What it has noted stays.
func (e *Endpoint) Close() error {
	var err error
	e.closing.Do(func() {
		e.stop()
		err = e.server.Close()
		<-e.served
		for range maxTogether { // waits for the handlers that run, and lets no other begin
			e.slots <- struct{}{}
		}
	})
	return err
}

// URL is the endpoint's base: http://127.0.0.1:PORT, without a slash at the end.
func (e *Endpoint) URL() string { return e.url }

// Offered returns the names of the tools that the first request of the main
// conversation offered, in its order; nil if there was none. A tool in a namespace
// is NAMESPACE/NAME, one of the provider's own its type.
func (e *Endpoint) Offered() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, r := range e.state.requests {
		if r.Who == Main {
			return slices.Clone(r.Offered)
		}
	}
	return nil
}

// Results returns what the agent answered to the tool calls of the main script:
// element n is the text of step n, empty where none was seen.
func (e *Endpoint) Results() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.state.results)
}

// Requests returns what was asked, oldest first.
func (e *Endpoint) Requests() []Request {
	e.mu.Lock()
	defer e.mu.Unlock()
	out := slices.Clone(e.state.requests)
	for i := range out {
		out[i].Offered = slices.Clone(out[i].Offered)
	}
	return out
}
