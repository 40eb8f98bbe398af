package home

import (
	"fmt"
	"slices"

	"github.com/iff-run/iff/capability"
	"github.com/iff-run/iff/label"
)

const maxHosts = 256

// HostLabel says of hosts that calls may reach what label they have: what may
// be sent there, and what comes from there. In the zero value no host has one.
type HostLabel struct {
	Host    string // as in net.egress(Host)
	Label   label.Label
	Private bool // addresses of private networks too, which are refused otherwise

	grant capability.Grant
	text  located
}

// Covers says whether it is about the host of a target of net.egress.
func (h HostLabel) Covers(t capability.Target) bool { return h.grant.Covers(t) }

// HostLabel is what iff.toml says of a target of net.egress: the join of the
// labels of all entries that cover it. private says that one of them allows
// addresses of private networks. A host in no entry has no label, and is refused.
func (c Config) HostLabel(t capability.Target) (l label.Label, private, known bool) {
	for _, h := range c.Net {
		if !h.Covers(t) {
			continue
		}
		if l, known = join(l, h.Label, known), true; h.Private {
			private = true
		}
	}
	return l, private, known
}

// join is b where there is no a yet.
func join(a, b label.Label, known bool) label.Label {
	if !known {
		return b
	}
	return a.Join(b)
}

// netTable is [net] as it is written.
type netTable struct {
	Hosts []hostTable `toml:"host" most:"256" doc:"hosts that calls may reach; any other is refused"`
}

type hostTable struct {
	Host    string `toml:"host" form:"host" need:"yes" doc:"as in net.egress(...): api.example.com, *.example.com:8443"`
	Label   string `toml:"label" form:"label" need:"yes" doc:"of what may go there, and of what comes from there"`
	Private bool   `toml:"private" doc:"addresses of private networks too"`
}

func (s settings) net(c *Config) error {
	if n := len(s.Net.Hosts); n > maxHosts {
		return s.wrong("net", 0, "host", fmt.Sprintf("%d entries, at most %d; join some by *.", n, maxHosts))
	}
	for i, t := range s.Net.Hosts {
		grant, err := capability.ParseGrant(capability.NetEgress.String() + "(" + t.Host + ")")
		switch {
		case t.Host == "":
			return s.wrong("net.host", i, "host", "it is missing; name the host")
		case err != nil:
			return s.wrong("net.host", i, "host", err.Error())
		case slices.ContainsFunc(c.Net, func(h HostLabel) bool { return h.Host == t.Host }):
			return s.wrong("net.host", i, "host", quoted(t.Host)+" stands there twice; leave one out")
		}
		h := HostLabel{Host: t.Host, Private: t.Private, grant: grant, text: s.at("net.host", i, "label", t.Label)}
		if err := h.text.given(); err != nil {
			return err
		}
		c.Net = append(c.Net, h)
	}
	return nil
}
