package net

import (
	"context"
	"errors"
	"fmt"
	stdnet "net"
	"net/netip"
	"sync/atomic"
	"syscall"

	"github.com/iff-run/iff/gate"
)

const (
	maxAddresses = 64 // that a name may have
	maxDialled   = 4  // that are tried
)

// route is how the connections of one call are made. It keeps where the newest
// leads.
type route struct {
	h  *Host
	c  call
	at atomic.Pointer[netip.AddrPort]
}

// dial makes a connection for the transport. Where to, the call says.
func (r *route) dial(ctx context.Context, _, _ string) (stdnet.Conn, error) {
	all, err := r.addresses(ctx)
	if err != nil {
		return nil, err
	}
	var failed error
	for _, to := range all[:min(len(all), maxDialled)] {
		conn, err := r.h.connect(ctx, to)
		if err == nil {
			r.at.Store(&to)
			return conn, nil
		}
		failed = errors.Join(failed, err)
	}
	return nil, failed
}

// addresses resolves the host once. One address that is refused refuses all: a
// name that leads here and there is not one that is trusted to lead there.
func (r *route) addresses(ctx context.Context) ([]netip.AddrPort, error) {
	found, err := r.resolve(ctx)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 || len(found) > maxAddresses {
		return nil, refuse(gate.HostFailed, "the name has %d addresses; it needs 1 to %d", len(found), maxAddresses)
	}
	mayPrivate := r.h.options.Private != nil && r.h.options.Private(r.c.host, r.c.port)
	out := make([]netip.AddrPort, len(found))
	for i, a := range found {
		out[i] = netip.AddrPortFrom(a.Unmap(), r.c.port)
		if err := r.h.vet(netip.AddrPortFrom(a, r.c.port), mayPrivate); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (r *route) resolve(ctx context.Context) ([]netip.Addr, error) {
	if a, err := netip.ParseAddr(r.c.host); err == nil {
		return []netip.Addr{a}, nil
	}
	found, err := r.h.options.Resolver.LookupNetIP(ctx, "ip", r.c.host+".")
	if err != nil {
		f := refuse(gate.HostFailed, "the name %s was not resolved; nothing was sent", r.c.host)
		f.Err = err
		return nil, f
	}
	return found, nil
}

// connect makes a connection to one address, and to no other: the socket is
// looked at before it is used, and the connection when it is there.
func connect(ctx context.Context, to netip.AddrPort) (stdnet.Conn, error) {
	d := stdnet.Dialer{Timeout: dialTime, Control: func(_, address string, _ syscall.RawConn) error {
		return same(address, to)
	}}
	conn, err := d.DialContext(ctx, "tcp", to.String())
	if err != nil {
		return nil, err
	}
	if err := same(conn.RemoteAddr().String(), to); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}

func same(address string, to netip.AddrPort) error {
	got, err := netip.ParseAddrPort(address)
	if err != nil || netip.AddrPortFrom(got.Addr().Unmap(), got.Port()) != to {
		return fmt.Errorf("a connection to %s was to lead to %s", to, address)
	}
	return nil
}
