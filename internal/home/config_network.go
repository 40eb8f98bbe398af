package home

import (
	"net"
	"net/netip"
	"net/url"

	"github.com/iff-run/iff/capability"
	hostnet "github.com/iff-run/iff/internal/host/net"
	"github.com/iff-run/iff/label"
)

// Network reaches the hosts that the configuration labels, and none of own, the
// addresses that iff itself listens on; nil refuses all. It has no limits yet.
func (c Config) Network(own func() []netip.AddrPort) hostnet.Options {
	about := func(host string, port uint16) (l label.Label, private, known bool) {
		t, err := capability.Host(host, port)
		if err != nil {
			return l, false, false
		}
		return c.HostLabel(t)
	}
	return hostnet.Options{
		Label:   func(host string, port uint16) (label.Label, bool) { l, _, known := about(host, port); return l, known },
		Private: func(host string, port uint16) bool { _, private, known := about(host, port); return known && private },
		Own:     own,
	}
}

// WebhookAddress is where the webhook listens, if that is this machine.
func (c Config) WebhookAddress() (netip.AddrPort, bool) {
	if c.Webhook == nil {
		return netip.AddrPort{}, false
	}
	u, err := url.Parse(c.Webhook.URL)
	if err != nil {
		return netip.AddrPort{}, false
	}
	host, port := u.Hostname(), u.Port()
	if host == "localhost" {
		host = "127.0.0.1"
	}
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	at, err := netip.ParseAddrPort(net.JoinHostPort(host, port))
	return at, err == nil && at.Addr().IsLoopback()
}
