package net

import (
	stdnet "net"
	"net/netip"
	"slices"
	"strconv"
)

func prefixes(texts ...string) []netip.Prefix {
	out := make([]netip.Prefix, len(texts))
	for i, t := range texts {
		out[i] = netip.MustParsePrefix(t)
	}
	return out
}

var (
	// private is refused unless the configuration says otherwise.
	private = prefixes("127.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "::1/128", "fc00::/7")
	// public is all of IPv6 that is given out (RFC 4291, IANA); special takes from
	// it again.
	public = netip.MustParsePrefix("2000::/3")
	// special is refused always: RFC 6890 and its registries, and addresses at which
	// clouds tell machines their secrets.
	special = prefixes(
		"0.0.0.0/8", "100.64.0.0/10", "169.254.0.0/16", "192.0.0.0/24", "192.0.2.0/24", "192.31.196.0/24",
		"192.52.193.0/24", "192.88.99.0/24", "192.175.48.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24",
		"224.0.0.0/4", "240.0.0.0/4", "168.63.129.16/32",
		"2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20", "2620:4f:8000::/48", "fd00:ec2::/32",
	)
)

func within(a netip.Addr, ranges []netip.Prefix) bool {
	return slices.ContainsFunc(ranges, func(p netip.Prefix) bool { return p.Contains(a) })
}

// vet says whether a connection may be made to an address; its error is a
// *[gate.Refusal] with address-refused.
func (h *Host) vet(to netip.AddrPort, mayPrivate bool) error {
	a := to.Addr().Unmap()
	switch {
	case !a.IsValid() || a.Zone() != "":
		return refuse(AddressRefused, "the name leads to %s, which is no address of a host", quote(to.Addr().String()))
	case within(a, special):
		return refuse(AddressRefused, "the name leads to %s, an address for special purposes, to which nothing goes", a)
	case within(a, private) && !mayPrivate:
		return refuse(AddressRefused, "the name leads to %s, in a private network or this machine; only private = true in its [[net.host]] allows that", a)
	case !mayPrivate && h.ours(a):
		return refuse(AddressRefused, "the name leads to %s, which is this machine; only private = true in its [[net.host]] allows that", a)
	case a.Is6() && !within(a, private) && !public.Contains(a):
		return refuse(AddressRefused, "the name leads to %s, which is not a public address", a)
	}
	return h.foreign(netip.AddrPortFrom(a, to.Port()))
}

// foreign refuses what this runtime itself listens on, whatever the
// configuration says: any address of this machine with the port of a listener.
func (h *Host) foreign(to netip.AddrPort) error {
	if h.options.Own == nil {
		return nil
	}
	for _, own := range h.options.Own() {
		if own.Port() != to.Port() {
			continue
		}
		if own.Addr().Unmap() == to.Addr() || h.here(to.Addr()) {
			return refuse(AddressRefused, "the name leads to %s, where iff itself listens; nothing goes there", to)
		}
	}
	return nil
}

// here says whether an address is one of this machine, or may be.
func (h *Host) here(a netip.Addr) bool {
	if a.IsLoopback() || a.IsUnspecified() {
		return true
	}
	all, err := h.local()
	return err != nil || slices.Contains(all, a)
}

// ours says whether an address is known to be one of this machine: a service that
// listens on all of them is not meant for the network only because one is public.
func (h *Host) ours(a netip.Addr) bool {
	all, err := h.local()
	return err == nil && slices.Contains(all, a)
}

// interfaces are the addresses of this machine.
func interfaces() ([]netip.Addr, error) {
	all, err := stdnet.InterfaceAddrs()
	if err != nil {
		return nil, err
	}
	var out []netip.Addr
	for _, one := range all {
		if n, ok := one.(*stdnet.IPNet); ok {
			if a, ok := netip.AddrFromSlice(n.IP); ok {
				out = append(out, a.Unmap().WithZone(""))
			}
		}
	}
	return out, nil
}

func quote(s string) string { return strconv.QuoteToASCII(s) }
