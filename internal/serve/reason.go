package serve

import (
	"errors"
	"strings"

	"github.com/iff-run/iff/gate"
	"github.com/iff-run/iff/internal/canonical"
	"github.com/iff-run/iff/internal/visible"
)

// Reason is a closed token. Faults carry those of package canonical and of the gate too.
type Reason string

// Why a request or a connection is refused.
const (
	FrameTooLarge      Reason = "frame-too-large"      // a line is longer than is read
	FrameLate          Reason = "frame-late"           // a line was begun and not ended in time
	OpenLate           Reason = "open-late"            // a connection to agent.sock did not open a session in time
	BatchRefused       Reason = "batch-refused"        // several requests in one array
	VersionInvalid     Reason = "version-invalid"      // the member jsonrpc is not "2.0"
	NotificationGiven  Reason = "notification-refused" // a request without an id
	IDInvalid          Reason = "id-invalid"           // the id is no whole number and no short string
	IDInFlight         Reason = "id-in-flight"         // the request before with this id is not answered yet
	MethodUnknown      Reason = "method-unknown"       // this socket has no such method
	Base64Invalid      Reason = "base64-invalid"       // not padded standard base64
	NoSession          Reason = "no-session"           // session.open comes first
	SessionOpened      Reason = "session-open"         // there is one session for each connection
	TooManyRequests    Reason = "too-many-requests"    // in flight, of one connection or together
	TooManyConnections Reason = "too-many-connections" // on one socket
	NotOperator        Reason = "not-operator"         // the operator's socket is for the runtime's own user
	NotAgent           Reason = "not-agent"            // the socket is for agents of other users
	PeerUnknown        Reason = "peer-unknown"         // the system does not say who is connected
	ResultTooLarge     Reason = "result-too-large"     // the result does not fit a line
	Internal           Reason = "internal"             // a fault of the runtime
)

// Why a runtime cannot be served, reached or started.
const (
	NotConfigured  Reason = "serve-not-configured" // who answers was not given
	DirUnsafe      Reason = "run-dir-unsafe"       // others may enter the directory of the sockets
	PathTooLong    Reason = "socket-path-too-long" // longer than a socket's address can be
	Occupied       Reason = "socket-occupied"      // something that is no dead socket has the name
	Busy           Reason = "runtime-busy"         // another process serves this directory
	SocketFailed   Reason = "socket-failed"        // the system refused it
	NotRunning     Reason = "runtime-not-running"  // nobody answers
	ConnectionLost Reason = "connection-lost"      // it ended before the answer
	StartFailed    Reason = "start-failed"         // the process ended before it answered
)

// Error says why sockets are not served, or not reached.
type Error struct {
	Reason Reason
	Path   string // the file, or empty
	Detail string // what is wrong, then what to do
	Err    error  // the cause, or nil
}

func (e *Error) Error() string {
	out := string(e.Reason) + ": "
	if e.Path != "" {
		out += visible.Escape(e.Path) + ": "
	}
	out += e.Detail
	if e.Err != nil {
		out += " (" + visible.Escape(e.Err.Error()) + ")"
	}
	return out
}

// Unwrap gives the cause, if there is one.
func (e *Error) Unwrap() error { return e.Err }

// The codes of a Fault: those of JSON-RPC 2.0, and one of its range for servers.
const (
	CodeParse    = -32700 // the line is not JSON as it is read here
	CodeRequest  = -32600 // it is JSON and not a request
	CodeMethod   = -32601 // this socket has no such method
	CodeParams   = -32602 // the method does not take these params
	CodeInternal = -32603 // the runtime failed
	CodeRefused  = -32000 // a good request was refused; data.reason says why
)

// Fault is the error of an answer. Agents and Operator return one, wrapped or not, to refuse with a reason: what they return
// else is CodeInternal. [Client.Call] returns the one that came.
type Fault struct {
	Code    int    // zero means CodeRefused
	Reason  string // token
	Message string // what is wrong
	Remedy  string // what to do; empty if Message says it
}

func (f *Fault) Error() string {
	out := f.Reason + ": " + visible.Escape(strings.TrimPrefix(f.Message, f.Reason+": "))
	if f.Remedy != "" {
		out += "; " + visible.Escape(f.Remedy)
	}
	return out
}

func refused(r Reason, message, remedy string) *Fault {
	return &Fault{Code: CodeRefused, Reason: string(r), Message: message, Remedy: remedy}
}

// unread is the fault of bytes that canonical refused, as the whole line or, with CodeParams, as params.
func unread(err error, otherwise int) *Fault {
	var e *canonical.Error
	if !errors.As(err, &e) {
		return &Fault{Code: CodeInternal, Reason: string(Internal), Message: "the request cannot be read"}
	}
	f := &Fault{Code: otherwise, Reason: string(e.Reason), Message: e.Error(), Remedy: "send what docs/agent-api.md says"}
	switch e.Reason {
	case canonical.UnknownField, canonical.MissingField, canonical.WrongType, canonical.InvalidValue:
	default:
		if otherwise == CodeRequest {
			f.Code = CodeParse
		}
	}
	return f
}

// faultOf is what a client is told of an error. A cause that has no reason may tell of others' affairs: only an operator reads it.
func faultOf(err error, toOperator bool) *Fault {
	var f *Fault
	var r *gate.Refusal
	switch {
	case errors.As(err, &f):
		out := *f
		if out.Code == 0 {
			out.Code = CodeRefused
		}
		return &out
	case errors.As(err, &r):
		return &Fault{Code: CodeRefused, Reason: string(r.Reason), Message: r.Error()}
	case toOperator:
		return &Fault{Code: CodeInternal, Reason: string(Internal), Message: err.Error(), Remedy: "see the runtime's log; iff doctor says what is wrong with the home"}
	}
	return &Fault{Code: CodeInternal, Reason: string(Internal), Message: "the runtime failed", Remedy: "tell the operator"}
}
