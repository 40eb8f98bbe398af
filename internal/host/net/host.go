package net

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	stdnet "net"
	"net/netip"
	"time"

	"github.com/iff-run/iff/capability"
	"github.com/iff-run/iff/gate"
	"github.com/iff-run/iff/internal/canonical"
	"github.com/iff-run/iff/label"
)

// Why this host refuses, beside the reasons of package gate.
const (
	HostUnlabelled gate.Reason = "host-unlabelled" // the configuration has no entry for the host
	HostSpelling   gate.Reason = "host-spelling"   // the URL is not a plain spelling of the target's host
	AddressRefused gate.Reason = "address-refused" // the name leads to an address that is not gone to
)

// Resolver looks names up. It is [net.Resolver], or a stand-in for it.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// Limits bound one call.
type Limits struct {
	Body int           // bytes of a response that are told; 0 is 4 MiB, and so is more
	Time time.Duration // of a call, with its redirects; 0 is a minute
}

const (
	mostBody    = 4 << 20
	defaultTime = time.Minute
	dialTime    = 10 * time.Second // for one address
	maxHops     = 5
	maxReplied  = 64 << 10 // bytes of a response's headers
)

// Options of a host. Those that are nil refuse.
type Options struct {
	// Label is that of all that goes to a host and comes from it, false if the
	// configuration has none. The host is as in targets, an IPv6 address without
	// brackets.
	Label func(host string, port uint16) (label.Label, bool)
	// Private says whether a host may lie on this machine or in a private network.
	Private func(host string, port uint16) bool
	// Own are the addresses that this runtime listens on. They are asked for at
	// each connection.
	Own func() []netip.AddrPort
	// Resolver is the system's if it is nil.
	Resolver Resolver
	Limits   Limits
}

// Host does the calls of net.egress. It is safe for concurrent use. The zero
// value refuses everything.
type Host struct {
	options Options
	local   func() ([]netip.Addr, error) // addresses of this machine
	connect func(context.Context, netip.AddrPort) (stdnet.Conn, error)
	roots   *x509.CertPool // nil is the system's
}

var _ gate.Host = (*Host)(nil)

// New makes a host.
func New(o Options) *Host {
	if o.Resolver == nil {
		o.Resolver = system{}
	}
	if o.Limits.Body <= 0 || o.Limits.Body > mostBody {
		o.Limits.Body = mostBody
	}
	if o.Limits.Time <= 0 {
		o.Limits.Time = defaultTime
	}
	return &Host{options: o, local: interfaces, connect: connect}
}

// Touches implements [gate.Host]: a call reaches one host, whose label is that
// of what goes there and of what comes back.
func (h *Host) Touches(env capability.Envelope) (gate.Touches, error) {
	c, l, err := h.parse(env)
	if err != nil {
		return gate.Touches{}, err
	}
	return gate.Touches{Op: c.op(), Outside: []label.Label{l}}, nil
}

// Plan implements [gate.Host]: nothing that a call changes is observed. Nothing is
// looked up for it.
func (h *Host) Plan(_ context.Context, env capability.Envelope, _ gate.Staged) (gate.Plan, error) {
	if _, _, err := h.parse(env); err != nil {
		return gate.Plan{}, err
	}
	return gate.Plan{Reach: gate.Opaque}, nil
}

// Do implements [gate.Host]: it takes the permit and sends the request.
func (h *Host) Do(ctx context.Context, p *gate.Permit) (gate.Result, error) {
	order, err := p.Take()
	if err != nil {
		return gate.Result{}, err
	}
	return h.do(ctx, order)
}

func (h *Host) do(ctx context.Context, o gate.Order) (gate.Result, error) {
	c, _, err := h.parse(o.Envelope)
	if err != nil {
		return gate.Result{}, err
	}
	if o.Phase != gate.Execute {
		return gate.Result{}, refuse(gate.HostFailed, "a request has no phase %q; nothing was sent", o.Phase)
	}
	ctx, cancel := context.WithTimeout(ctx, h.options.Limits.Time)
	defer cancel()
	a, detail, err := h.fetch(ctx, c)
	if err != nil {
		return gate.Result{}, failure(ctx, err)
	}
	data, err := canonical.Marshal(a)
	return gate.Result{Data: data, Detail: detail}, err
}

// parse reads an envelope and finds the label of its host. Its errors are
// *[gate.Refusal].
func (h *Host) parse(env capability.Envelope) (call, label.Label, error) {
	c, err := parse(env)
	if err != nil {
		return call{}, label.Label{}, err
	}
	if h.options.Label == nil {
		return call{}, label.Label{}, unlabelled(c)
	}
	l, ok := h.options.Label(c.host, c.port)
	if !ok {
		return call{}, label.Label{}, unlabelled(c)
	}
	return c, l, nil
}

func unlabelled(c call) error {
	return refuse(HostUnlabelled, "no [[net.host]] of the configuration has %s, so nothing goes there; whoever runs iff can add it", c.target)
}

// failure is what came of a request that may have been sent.
func failure(ctx context.Context, err error) error {
	var r *gate.Refusal
	if errors.As(err, &r) {
		return err
	}
	f := refuse(gate.HostFailed, "the request had no answer: %v; the host may have got it", err)
	if ctx.Err() != nil {
		f.Detail = "the request was not answered in time; the host may have got it"
	}
	f.Err = err
	return f
}

func refuse(r gate.Reason, format string, args ...any) *gate.Refusal {
	return &gate.Refusal{Reason: r, Detail: fmt.Sprintf(format, args...)}
}
