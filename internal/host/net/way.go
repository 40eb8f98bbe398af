package net

import (
	"net/http"

	"github.com/iff-run/iff/capability"
	"github.com/iff-run/iff/gate"
)

// Way leads a program of the operator's own to one host, as a call would get
// there: granted, labelled, resolved and looked at in the same way. It is an
// [http.RoundTripper] that is safe for concurrent use. The zero value refuses
// everything.
type Way struct {
	h *Host
	c call
}

// NewWay makes the way to a target of net.egress, which the operator's grants must
// cover and [Options].Label must know. Options.Limits do not count: whoever reads a
// response bounds it, and the request's context ends it. The error is a
// *[gate.Refusal].
func NewWay(granted capability.Grants, to capability.Target, o Options) (*Way, error) {
	host, port, ok := to.Host()
	if !ok {
		return nil, refuse(gate.NoHost, "%s is not a host of the network", quote(to.String()))
	}
	if !granted.Covers(to) {
		return nil, refuse(gate.Undeclared, "nothing grants net.egress(%s), so nothing goes there", to)
	}
	w := &Way{h: New(o), c: call{target: to.String(), host: host, port: port}}
	if o.Label == nil {
		return nil, unlabelled(w.c)
	}
	if _, ok := o.Label(host, port); !ok {
		return nil, unlabelled(w.c)
	}
	return w, nil
}

// RoundTrip implements [http.RoundTripper]. The request's URL has the target's own
// spelling, else it is refused with host-spelling; what else keeps it from being
// sent is a *[gate.Refusal] too. Redirects are responses like others.
func (w *Way) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := w.admit(req); err != nil {
		if req.Body != nil {
			_ = req.Body.Close()
		}
		return nil, err
	}
	return w.h.transport(&route{h: w.h, c: w.c}).RoundTrip(req)
}

func (w *Way) admit(req *http.Request) error {
	if w == nil || w.h == nil {
		return refuse(gate.Undeclared, "nothing grants the way, so nothing goes there; make it with NewWay")
	}
	if _, err := readURL(req.URL.String(), w.c.target); err != nil {
		return err
	}
	if req.Host != "" && req.Host != req.URL.Host {
		return refuse(HostSpelling, "the request is for %s and its URL for %s", quote(req.Host), quote(req.URL.Host))
	}
	return nil
}
