package mcpgate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/iff-run/iff/gate"
	"github.com/iff-run/iff/internal/canonical"
	"github.com/iff-run/iff/internal/serve"
	"github.com/iff-run/iff/record"
)

// Whatever is answered with a refusal and is no call is noted for the log, where the answer is written: [wire.fail], [wire.Write] and
// [wire.answer] on a connection, [replying] over HTTP; and what only the model reads, as the result of a tool, by [use.refuse].

// noted has a refusal recorded; the empty reason is none.
func (g *Gateway) noted(r serve.Refusal) {
	if r.Reason == "" {
		return
	}
	if err := g.opts.Agents.Refused(r); err != nil {
		g.report(fmt.Errorf("a refusal of %s: %w", r.Principal, err))
	}
}

func (s *session) note(reason string) {
	s.mu.Lock()
	id := s.id
	s.mu.Unlock()
	over := record.ChannelMCP
	if s.peer.Token != "" {
		over = record.ChannelHTTP
	}
	s.gate.noted(serve.Refusal{Principal: s.peer.Principal(), Session: id, Channel: over, Reason: reason})
}

// noteError notes the error of an answer; nil is none.
func (w *wire) noteError(err error) {
	if err != nil {
		w.of.note(reasonOf(err))
	}
}

// refuse is a result that says why there is no call.
func (u use) refuse(err error) ([]byte, error) {
	u.s.note(serve.FaultOf(err).Reason)
	return faultResult(err)
}

// aboutCall is a fault that says how a call stands, which has records of its own.
type aboutCall struct {
	request string
	*serve.Fault
}

// Unwrap gives the fault.
func (a *aboutCall) Unwrap() error { return a.Fault }

// reasonOf is why an error is answered, empty if it tells of a call.
func reasonOf(err error) string {
	var e *jsonrpc.Error
	if errors.As(err, &e) {
		return reasonIn(e.Code, e.Data)
	}
	return string(ProtocolRefused)
}

// reasonIn is the reason in an error's data, which the SDK does not give.
func reasonIn(code int64, data []byte) string {
	var said faultData
	if len(data) > 0 && canonical.Parse(data, &said, canonical.Limits{Bytes: maxFrame}) == nil && said.Reason != "" {
		if said.Request != "" {
			return ""
		}
		return said.Reason
	}
	switch code {
	case serve.CodeMethod:
		return string(serve.MethodUnknown)
	case serve.CodeParams:
		return string(canonical.InvalidValue)
	}
	return string(ProtocolRefused)
}

// replying is the answer to a request over HTTP: each write of it gets its own time, and the refusals in it are noted.
type replying struct {
	http.ResponseWriter
	control   *http.ResponseController
	within    time.Duration
	gate      *Gateway
	principal string // empty until the token was found to be good
	transport string // the session over HTTP that the request names
	status    int
	noted     bool
}

func (g *Gateway) replying(w http.ResponseWriter, r *http.Request) *replying {
	return &replying{ResponseWriter: w, control: http.NewResponseController(w), within: g.limits.write, gate: g, transport: r.Header.Get(sessionName)}
}

// known says whose request it is.
func (p *replying) known(ctx context.Context) {
	if token := auth.TokenInfoFromContext(ctx); token != nil {
		p.principal = serve.Peer{Token: token.UserID}.Principal()
	}
}

// WriteHeader implements [http.ResponseWriter].
func (p *replying) WriteHeader(status int) {
	p.status = status
	p.ResponseWriter.WriteHeader(status)
}

// Write implements [http.ResponseWriter]. What is written at once is a message, or an event with one.
func (p *replying) Write(data []byte) (int, error) {
	if code, body, ok := errorIn(data); ok {
		p.note(reasonIn(code, body))
	}
	_ = p.control.SetWriteDeadline(time.Now().Add(p.within)) // a writer without deadlines is a test's
	return p.ResponseWriter.Write(data)
}

// Flush implements [http.Flusher].
func (p *replying) Flush() {
	_ = p.control.SetWriteDeadline(time.Now().Add(p.within))
	_ = p.control.Flush() // a client that is gone is noticed by the next write
}

// Unwrap is for [http.ResponseController].
func (p *replying) Unwrap() http.ResponseWriter { return p.ResponseWriter }

// end notes a refusal that the status alone tells.
func (p *replying) end() {
	if p.noted || p.status < http.StatusBadRequest {
		return
	}
	switch p.status {
	case http.StatusUnauthorized:
		p.note(string(TokenInvalid))
	case http.StatusNotFound:
		p.note(string(gate.SessionUnknown))
	default:
		p.note(string(ProtocolRefused))
	}
}

func (p *replying) note(reason string) {
	p.noted = true
	p.gate.noted(serve.Refusal{Principal: p.principal, Session: p.gate.sessionNamed(p.principal, p.transport), Channel: record.ChannelHTTP, Reason: reason})
}

// sessionNamed is the id of the session that requests over HTTP of a principal belong to, empty if there is none.
func (g *Gateway) sessionNamed(principal, transport string) string {
	g.mu.Lock()
	defer g.mu.Unlock()
	found := func(s *session) string {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.peer.Principal() != principal {
			return ""
		}
		return s.id
	}
	if transport == "" {
		for _, s := range g.byToken {
			if id := found(s.session); id != "" {
				return id
			}
		}
		return ""
	}
	for t, s := range g.overHTTP {
		if t.ID() == transport {
			return found(s)
		}
	}
	return ""
}

// longestHead is where the error of an answer has begun, if it is one: behind the id, and in an event behind its name.
const longestHead = 1 << 10

// errorIn is the error in what is written, if it is an answer with one.
func errorIn(data []byte) (code int64, body []byte, ok bool) {
	at := bytes.IndexByte(data[:min(len(data), longestHead)], '{')
	if at < 0 {
		return 0, nil, false
	}
	message := data[at:]
	head := message[:min(len(message), longestHead)]
	begins := bytes.Index(head, []byte(`"error":{`))
	for _, other := range []string{`"result":`, `"method":`} {
		if i := bytes.Index(head, []byte(other)); begins < 0 || i >= 0 && i < begins {
			return 0, nil, false
		}
	}
	var form struct {
		Code    int64         `json:"code"`
		Message string        `json:"message"`
		Data    canonical.Raw `json:"data,omitzero"`
	}
	said := message[begins+len(`"error":`):]
	if err := canonical.Parse(said[:canonical.ValueLength(said)], &form, canonical.Limits{Bytes: 2 * maxFrame}); err != nil {
		return 0, nil, true // it is an error, whatever it says
	}
	return form.Code, []byte(form.Data.String()), true
}
