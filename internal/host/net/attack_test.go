package net

import (
	"context"
	"fmt"
	stdnet "net"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"github.com/iff-run/iff/capability"
	"github.com/iff-run/iff/gate"
	"github.com/iff-run/iff/label"
)

// spellings are URLs that some reader takes for a host that another does not see.
// PORT is that of a listener on this machine.
var spellings = []string{
	"http://2130706433:PORT/", "http://0x7f000001:PORT/", "http://017700000001:PORT/", "http://0177.0.0.1:PORT/",
	"http://127.1:PORT/", "http://127.0.1:PORT/", "http://0x7f.0.0.0x1:PORT/", "http://127.0.0.1.:PORT/",
	"http://127.000.000.001:PORT/", "http://0:PORT/", "http://localhost.:PORT/", "http://LOCALHOST:PORT/",
	"http://\uff11\uff12\uff17.0.0.1:PORT/", "http://127\u30020.0.1:PORT/", "http://loc\u00adalhost:PORT/", "http://\u24dbocalhost:PORT/",
	"http://xn--:PORT/", "http://localhos\u0074%00:PORT/", "http://%6cocalhost:PORT/", "http://127.0.0.1%2f:PORT/",
	"http://good.example@127.0.0.1:PORT/", "http://127.0.0.1:PORT@good.example/", "http://good.example:80@127.0.0.1:PORT/",
	"http://good.example\\@127.0.0.1:PORT/", "http://127.0.0.1:PORT\\@good.example/", "http:\\\\127.0.0.1:PORT/",
	"http://good.example#@127.0.0.1:PORT/", "http://127.0.0.1:PORT#good.example/", "http://good.example?@127.0.0.1:PORT/",
	"http://[::ffff:127.0.0.1]:PORT/", "http://[::ffff:7f00:1]:PORT/", "http://[::127.0.0.1]:PORT/", "http://[0:0:0:0:0:0:0:1]:PORT/",
	"http://[::1%25lo]:PORT/", "http://[::1%lo]:PORT/", "http://[fe80::1%25lo]:PORT/", "http://::1:PORT/", "http://[127.0.0.1]:PORT/",
	"http:///127.0.0.1:PORT/", "http:127.0.0.1:PORT/", "//127.0.0.1:PORT/", "127.0.0.1:PORT", "HTTP://127.0.0.1:PORT/",
	"http://127.0.0.1:PORT:80/", "http://127.0.0.1:0PORT/", "http://127.0.0.1:+PORT/", "http://127.0.0.1\t:PORT/", "http://127.0.0.1 :PORT/",
	"http://127.0.0.1\r\nHost: x:PORT/", "ftp://127.0.0.1:PORT/", "file://127.0.0.1:PORT/", "gopher://127.0.0.1:PORT/", "unix://127.0.0.1:PORT/",
}

// Whatever a URL looks like, nothing goes to a host that is not the target, and
// nothing to this machine: no connection, of any of them.
func TestHostileSpellings(t *testing.T) {
	l := newListener(t, "127.0.0.1:0")
	port := fmt.Sprint(l.port())
	h := open(Options{Resolver: &table{lists: map[string][][]string{"localhost": {{"127.0.0.1"}}, "good.example": {{"127.0.0.1"}}}}})
	for _, s := range spellings {
		address := strings.ReplaceAll(s, "PORT", port)
		for _, target := range []string{"good.example", "good.example:80", "127.0.0.1:" + port, "localhost:" + port, "[::1]:" + port} {
			_, err := readURL(address, target)
			wantReason(t, address+" for "+target, err, HostSpelling)
		}
		// The spelling as the target.
		authority := strings.TrimRight(strings.TrimPrefix(address, "http://"), "/")
		if to, err := capability.ParseTarget(capability.NetEgress, authority); err == nil {
			if _, err := readURL(address, to.String()); err == nil {
				_, err := h.run(t.Context(), get(t, to.String(), address))
				wantReason(t, address, err, AddressRefused)
			}
		}
	}
	for _, plain := range []string{"127.0.0.1", "localhost", "good.example"} {
		target := plain + ":" + port
		_, err := h.run(t.Context(), get(t, target, "http://"+target+"/"))
		wantReason(t, target, err, AddressRefused)
	}
	if n := l.seen(t); n != 0 {
		t.Errorf("%d connections", n)
	}
}

func TestURLs(t *testing.T) {
	for address, target := range map[string]string{
		"https://example.com": "example.com", "https://example.com/": "example.com", "https://example.com/?x=%2F&y": "example.com",
		"https://example.com:8443/a/../b": "example.com:8443", "http://example.com/": "example.com:80", "http://example.com:80/": "example.com:80",
		"https://[2606:4700::1]/": "[2606:4700::1]", "http://[2606:4700::1]/": "[2606:4700::1]:80", "https://xn--bcher-kva.example/": "xn--bcher-kva.example",
		"https://example.com/@x:y": "example.com",
	} {
		if u, err := readURL(address, target); err != nil || u.String() != address {
			t.Errorf("%s for %s: %v", address, target, err)
		}
	}
	for address, target := range map[string]string{
		"https://example.com:443/": "example.com", "http://example.com/": "example.com", "http://example.com:443/": "example.com",
		"https://example.com/": "example.com:80", "https://example.com./": "example.com", "https://Example.com/": "example.com",
		"https://a.example.com/": "example.com", "https://example.com.evil.example/": "example.com", "https://example.com/a b": "example.com",
		"https://example.com/%": "example.com", "https://example.com/%zz": "example.com", "https://b\u00fccher.example/": "xn--bcher-kva.example",
		"https://example.com/#a": "example.com", "https://example.com?a": "example.com", "": "example.com", "https://": "example.com",
	} {
		_, err := readURL(address, target)
		wantReason(t, address+" for "+target, err, HostSpelling)
	}
}

func FuzzURL(f *testing.F) {
	for _, s := range spellings {
		f.Add(s, "good.example")
	}
	f.Add("https://example.com:8443/a?b", "example.com:8443")
	f.Fuzz(func(t *testing.T, address, target string) {
		to, err := capability.ParseTarget(capability.NetEgress, target)
		if err != nil {
			return
		}
		u, err := readURL(address, target)
		if err != nil {
			if reasonOf(err) == "" {
				t.Errorf("no reason: %v", err)
			}
			return
		}
		host, port, _ := to.Host()
		got := u.Port()
		if got == "" {
			got = map[string]string{"http": "80", "https": "443"}[u.Scheme]
		}
		// A connection would be made to what the target says, and the request is for
		// what was written.
		if u.Hostname() != host || got != fmt.Sprint(port) || u.String() != address || u.User != nil || u.Fragment != "" {
			t.Errorf("%q for %q goes to %q port %q as %q", address, target, u.Hostname(), got, u)
		}
		req, err := http.NewRequest("GET", address, nil)
		if err != nil || req.URL.Host != u.Host || strings.ContainsAny(req.URL.RequestURI(), " \r\n") {
			t.Errorf("%q: %v", address, err)
		}
	})
}

func TestAddresses(t *testing.T) {
	h := open(Options{})
	for _, a := range []string{
		"0.0.0.0", "0.1.2.3", "100.64.0.1", "100.100.100.200", "169.254.0.1", "169.254.169.254", "192.0.0.192", "192.0.2.1", "192.88.99.1",
		"198.18.0.1", "198.51.100.1", "203.0.113.9", "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255", "168.63.129.16",
		"::", "::127.0.0.1", "::7f00:1", "::8.8.8.8", "64:ff9b::7f00:1", "64:ff9b::8.8.8.8", "64:ff9b:1::1", "100::1", "2001::1", "2001:20::1",
		"2001:db8::1", "2002:7f00:1::1", "2002:808:808::1", "3fff::1", "5f00::1", "fe80::1", "fe80::1%eth0", "fec0::1", "ff02::1", "fd00:ec2::254",
		"2606:4700::1%eth0", "4000::1", "::ffff:169.254.169.254", "::ffff:0.0.0.0", "::ffff:0:127.0.0.1",
	} {
		for _, private := range []bool{false, true} {
			wantReason(t, a, h.vet(netip.AddrPortFrom(netip.MustParseAddr(a), 443), private), AddressRefused)
		}
	}
	for _, a := range []string{
		"127.0.0.1", "127.9.9.9", "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "::1", "fc00::1", "fd12::1", "::ffff:10.0.0.1",
		"::ffff:127.0.0.1",
	} {
		at := netip.AddrPortFrom(netip.MustParseAddr(a), 443)
		wantReason(t, a, h.vet(at, false), AddressRefused)
		must(t, h.vet(at, true))
	}
	for _, a := range []string{"1.1.1.1", "8.8.8.8", "172.32.0.1", "193.0.0.1", "2606:4700::1", "2a00::1", "::ffff:8.8.8.8"} {
		must(t, h.vet(netip.AddrPortFrom(netip.MustParseAddr(a), 443), false))
	}
	wantReason(t, "none", h.vet(netip.AddrPort{}, true), AddressRefused)
}

// FuzzAddress holds the table against the properties of package netip: only
// what is global and public is gone to.
func FuzzAddress(f *testing.F) {
	for _, s := range []string{"127.0.0.1", "8.8.8.8", "::1", "2606:4700::1"} {
		f.Add(netip.MustParseAddr(s).AsSlice())
	}
	h := open(Options{})
	f.Fuzz(func(t *testing.T, raw []byte) {
		a, ok := netip.AddrFromSlice(raw)
		if !ok || h.vet(netip.AddrPortFrom(a, 443), false) != nil {
			return
		}
		if u := a.Unmap(); !u.IsGlobalUnicast() || u.IsPrivate() || u.IsLoopback() || u.IsLinkLocalUnicast() || u.IsMulticast() || u.IsUnspecified() {
			t.Errorf("%s is gone to", a)
		}
	})
}

// A name that leads to one address that is refused leads nowhere.
func TestOneOfSeveral(t *testing.T) {
	l := newListener(t, "127.0.0.1:0")
	target := fmt.Sprintf("mixed.example:%d", l.port())
	for _, list := range [][]string{{"127.0.0.1", "169.254.169.254"}, {"10.0.0.1", "127.0.0.1", "fe80::1"}, {"::ffff:127.0.0.1", "0.0.0.0"}} {
		r := &table{lists: map[string][][]string{"mixed.example": {list}}}
		_, err := open(Options{Private: everywhere, Resolver: r}).run(t.Context(), get(t, target, "http://"+target))
		wantReason(t, strings.Join(list, " "), err, AddressRefused)
		if len(r.asked) != 1 || r.asked[0] != "mixed.example." {
			t.Errorf("asked %q", r.asked)
		}
	}
	r := &table{lists: map[string][][]string{"many.example": {strings.Fields(strings.Repeat("127.0.0.1 ", maxAddresses+1))}, "none.example": {{}}}}
	for _, name := range []string{"many.example", "none.example", "unknown.example"} {
		target := fmt.Sprintf("%s:%d", name, l.port())
		_, err := open(Options{Private: everywhere, Resolver: r}).run(t.Context(), get(t, target, "http://"+target))
		wantReason(t, name, err, gate.HostFailed)
	}
	if n := l.seen(t); n != 0 {
		t.Errorf("%d connections", n)
	}
}

// naive is a dialer as most programs have it: it looks, then lets the system
// resolve the name again.
func naive(h *Host, r Resolver) func(context.Context, string, string) (stdnet.Conn, error) {
	return func(ctx context.Context, network, address string) (stdnet.Conn, error) {
		host, port, _ := stdnet.SplitHostPort(address)
		var at netip.AddrPort
		for range 2 {
			found, err := r.LookupNetIP(ctx, "ip", host+".")
			if err != nil {
				return nil, err
			}
			first := !at.IsValid()
			at = netip.MustParseAddrPort(stdnet.JoinHostPort(found[0].String(), port))
			if err := h.vet(at, false); first && err != nil {
				return nil, err
			}
		}
		return (&stdnet.Dialer{}).DialContext(ctx, network, at.String())
	}
}

// A name whose address changes between two looks is looked up once. The naive
// dialer is led to this machine, so the test would see it.
func TestRebinding(t *testing.T) {
	l := newListener(t, "127.0.0.1:0")
	target := fmt.Sprintf("flip.example:%d", l.port())
	flip := func() *table {
		return &table{lists: map[string][][]string{"flip.example": {{"8.8.8.8"}, {"127.0.0.1"}}}}
	}
	r := flip()
	h := open(Options{Resolver: r})
	var dialled []netip.AddrPort
	h.connect = func(_ context.Context, to netip.AddrPort) (stdnet.Conn, error) {
		dialled = append(dialled, to)
		return nil, context.DeadlineExceeded // nobody answers there
	}
	_, err := h.run(t.Context(), get(t, target, "http://"+target))
	wantReason(t, "flip", err, gate.HostFailed)
	if len(r.asked) != 1 || len(dialled) != 1 || dialled[0] != netip.AddrPortFrom(netip.MustParseAddr("8.8.8.8"), l.port()) {
		t.Errorf("asked %q, dialled %v", r.asked, dialled)
	}
	h.connect = connect
	_, err = h.run(t.Context(), get(t, target, "http://"+target)) // the second time it leads here
	wantReason(t, "flipped", err, AddressRefused)
	if n := l.seen(t); n != 0 {
		t.Errorf("%d connections", n)
	}
	conn, err := naive(h, flip())(t.Context(), "tcp", target)
	if err != nil || l.seen(t) == 0 {
		t.Fatalf("the mutant was not led here, so the test sees nothing: %v", err)
	}
	_ = conn.Close()
}

// Each redirect is looked at anew, though it stays within the target.
func TestRebindingOnRedirect(t *testing.T) {
	target, _ := site(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Location", "/again")
		w.WriteHeader(http.StatusFound)
	})
	_, port, _ := strings.Cut(target, ":")
	r := &table{lists: map[string][][]string{"flip.example": {{"127.0.0.1"}, {"169.254.169.254"}}}}
	target = "flip.example:" + port
	_, err := open(Options{Private: everywhere, Resolver: r}).run(t.Context(), get(t, target, "http://"+target+"/"))
	wantReason(t, "redirected", err, AddressRefused)
	if len(r.asked) != 2 {
		t.Errorf("asked %q", r.asked)
	}
}

// What the runtime listens on is not gone to, whatever the configuration says
// and by whatever address.
func TestOwnListeners(t *testing.T) {
	for _, at := range []string{"127.0.0.1:0", "0.0.0.0:0"} {
		l := newListener(t, at)
		own := netip.MustParseAddrPort(l.l.Addr().String())
		outer := netip.MustParseAddr("10.9.8.7")
		r := &table{lists: map[string][][]string{"own.example": {{"127.0.0.1"}}, "outer.example": {{outer.String()}}, "mapped.example": {{"::ffff:127.0.0.1"}}}}
		h := open(Options{Private: everywhere, Resolver: r, Own: func() []netip.AddrPort {
			return []netip.AddrPort{netip.MustParseAddrPort("127.0.0.1:1"), own}
		}})
		h.local = func() ([]netip.Addr, error) { return []netip.Addr{outer}, nil }
		for _, host := range []string{"127.0.0.1", "127.0.0.2", "[::1]", "own.example", "outer.example", "mapped.example"} {
			target := fmt.Sprintf("%s:%d", host, own.Port())
			_, err := h.run(t.Context(), get(t, target, "http://"+target))
			wantReason(t, target, err, AddressRefused)
		}
		if n := l.seen(t); n != 0 {
			t.Errorf("%d connections", n)
		}
		h.options.Own = nil // the mutant that forgets
		_, err := h.run(t.Context(), get(t, fmt.Sprintf("127.0.0.1:%d", own.Port()), "http://"+fmt.Sprintf("127.0.0.1:%d", own.Port())))
		if reasonOf(err) != gate.HostFailed || l.seen(t) == 0 {
			t.Errorf("the mutant does not connect, so the test sees nothing: %v", err)
		}
	}
	h := open(Options{Own: func() []netip.AddrPort { return []netip.AddrPort{netip.MustParseAddrPort("[::]:7447")} }})
	h.local = func() ([]netip.Addr, error) { return nil, context.Canceled }
	wantReason(t, "addresses are not known", h.vet(netip.MustParseAddrPort("8.8.8.8:7447"), false), AddressRefused)
	must(t, h.vet(netip.MustParseAddrPort("8.8.8.8:443"), false))
	h.local = func() ([]netip.Addr, error) { return []netip.Addr{netip.MustParseAddr("8.8.4.4")}, nil }
	wantReason(t, "a public address of this machine", h.vet(netip.MustParseAddrPort("8.8.4.4:443"), false), AddressRefused)
	must(t, h.vet(netip.MustParseAddrPort("8.8.4.4:443"), true))
	if all, err := interfaces(); err != nil || len(all) == 0 {
		t.Errorf("%v %v", all, err)
	}
}

// A socket that leads elsewhere than it was to is not used.
func TestSame(t *testing.T) {
	to := netip.MustParseAddrPort("127.0.0.1:80")
	must(t, same("[::ffff:127.0.0.1]:80", to))
	for _, bad := range []string{"127.0.0.2:80", "127.0.0.1:81", "localhost:80", "", "[::1]:80"} {
		if same(bad, to) == nil {
			t.Errorf("%s is taken", bad)
		}
	}
}

// No setting of the environment leads a request elsewhere.
func TestEnvironment(t *testing.T) {
	proxy := newListener(t, "127.0.0.1:0")
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy"} {
		t.Setenv(name, "http://"+proxy.l.Addr().String())
	}
	target, at := site(t, func(http.ResponseWriter, *http.Request) {})
	_, port, _ := strings.Cut(target, ":")
	r := &table{lists: map[string][][]string{"site.example": {{"127.0.0.1"}}}}
	h := open(Options{Private: everywhere, Resolver: r, Label: func(string, uint16) (label.Label, bool) { return label.Label{}, true }})
	_, err := h.run(t.Context(), get(t, target, at))
	must(t, err)
	target = "site.example:" + port
	_, err = h.run(t.Context(), get(t, target, "http://"+target))
	must(t, err)
	if n := proxy.seen(t); n != 0 {
		t.Errorf("%d connections to the proxy", n)
	}
}
