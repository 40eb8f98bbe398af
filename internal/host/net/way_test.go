package net

import (
	"context"
	"fmt"
	"io"
	stdnet "net"
	"net/http"
	"net/netip"
	"testing"

	"github.com/iff-run/iff/capability"
	"github.com/iff-run/iff/gate"
	"github.com/iff-run/iff/label"
)

func grants(t testing.TB, texts ...string) capability.Grants {
	t.Helper()
	gs, err := capability.ParseGrants(texts)
	must(t, err)
	return gs
}

func host(t testing.TB, target string) capability.Target {
	t.Helper()
	to, err := capability.ParseTarget(capability.NetEgress, target)
	must(t, err)
	return to
}

func known(string, uint16) (label.Label, bool) { return label.Label{}, true }

func ask(t testing.TB, way http.RoundTripper, address string) (*http.Response, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	must(t, err)
	resp, err := way.RoundTrip(req)
	if err == nil {
		t.Cleanup(func() { _ = resp.Body.Close() })
	}
	return resp, err
}

func TestWay(t *testing.T) {
	elsewhere := newListener(t, "127.0.0.1:0")
	target, at := site(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/away" {
			http.Redirect(w, r, "http://"+elsewhere.l.Addr().String()+"/", http.StatusFound)
			return
		}
		fmt.Fprint(w, "here")
	})
	t.Setenv("HTTP_PROXY", "http://"+elsewhere.l.Addr().String())
	way, err := NewWay(grants(t, "net.egress("+target+")"), host(t, target), Options{Label: known, Private: everywhere})
	must(t, err)
	resp, err := ask(t, way, at+"/")
	must(t, err)
	if data, err := io.ReadAll(resp.Body); err != nil || string(data) != "here" {
		t.Errorf("%q %v", data, err)
	}
	resp, err = ask(t, way, at+"/away")
	must(t, err)
	if resp.StatusCode != http.StatusFound {
		t.Errorf("a redirect was followed: %s", resp.Status)
	}
	if way.h.transport(&route{}).Proxy != nil {
		t.Error("there is a proxy")
	}
	for _, other := range []string{"http://" + elsewhere.l.Addr().String() + "/", "https://" + target + "/x#y", "http://user@" + target + "/", "http://localhost:1/"} {
		_, err := ask(t, way, other)
		wantReason(t, other, err, HostSpelling)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, at, nil)
	must(t, err)
	req.Host = "other.example"
	_, err = way.RoundTrip(req)
	wantReason(t, "another name in the request", err, HostSpelling)
	if n := elsewhere.seen(t); n != 0 {
		t.Errorf("%d connections went elsewhere", n)
	}
}

// A way is granted, labelled and, to this machine, allowed as private; else
// nothing is connected to.
func TestWayClosed(t *testing.T) {
	l := newListener(t, "127.0.0.1:0")
	target := l.l.Addr().String()
	all := grants(t, "net.egress("+target+")")
	for what, c := range map[string]struct {
		granted capability.Grants
		o       Options
		want    gate.Reason
	}{
		"no grant":      {capability.Grants{}, Options{Label: known, Private: everywhere}, gate.Undeclared},
		"another host":  {grants(t, "net.egress(good.example)"), Options{Label: known, Private: everywhere}, gate.Undeclared},
		"another class": {grants(t, "fs.read"), Options{Label: known, Private: everywhere}, gate.Undeclared},
		"no labels":     {all, Options{Private: everywhere}, HostUnlabelled},
		"no label":      {all, Options{Label: func(string, uint16) (l label.Label, ok bool) { return }, Private: everywhere}, HostUnlabelled},
	} {
		way, err := NewWay(c.granted, host(t, target), c.o)
		wantReason(t, what, err, c.want)
		if way != nil {
			t.Errorf("%s: there is a way", what)
		}
	}
	way, err := NewWay(all, host(t, target), Options{Label: known})
	must(t, err)
	own := Options{Label: known, Private: everywhere, Own: func() []netip.AddrPort { return []netip.AddrPort{netip.MustParseAddrPort(target)} }}
	ours, err := NewWay(all, host(t, target), own)
	must(t, err)
	for what, c := range map[string]struct {
		way  *Way
		want gate.Reason
	}{"not private": {way, AddressRefused}, "iff's own": {ours, AddressRefused}, "zero": {&Way{}, gate.Undeclared}, "nil": {nil, gate.Undeclared}} {
		_, err := ask(t, c.way, "http://"+target+"/")
		wantReason(t, what, err, c.want)
	}
	file, err := capability.ParseTarget(capability.FSRead, "a")
	must(t, err)
	_, err = NewWay(grants(t, "fs.read"), file, Options{Label: known})
	wantReason(t, "a file", err, gate.NoHost)
	if n := l.seen(t); n != 0 {
		t.Errorf("%d connections", n)
	}
	// The listener does see what is sent past the check.
	way.h.connect = func(ctx context.Context, _ netip.AddrPort) (stdnet.Conn, error) {
		return (&stdnet.Dialer{}).DialContext(ctx, "tcp", target)
	}
	way.h.options.Private = everywhere
	if _, err := ask(t, way, "http://"+target+"/"); err == nil || l.seen(t) == 0 {
		t.Errorf("the check does not see a connection: %v", err)
	}
}
