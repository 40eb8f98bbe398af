package net

import (
	"net/netip"
	"os"
	"strings"
	"testing"
)

// The system's own resolver: this machine without asking anybody, and the hosts
// file.
func TestSystem(t *testing.T) {
	for _, name := range []string{"localhost.", "a.localhost."} {
		got, err := system{}.LookupNetIP(t.Context(), "ip", name)
		if err != nil || len(got) != 2 || !got[0].IsLoopback() || !got[1].IsLoopback() {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	name, address := inHostsFile(t)
	if name == "" {
		t.Log("the hosts file names nothing but localhost: that it is read is not checked")
		return
	}
	got, err := system{}.LookupNetIP(t.Context(), "ip", name+".")
	if err != nil {
		t.Fatalf("%s of the hosts file: %v", name, err)
	}
	for _, a := range got {
		if a.Unmap() == address {
			return
		}
	}
	t.Errorf("%s is %s in the hosts file, and was resolved as %v", name, address, got)
}

// inHostsFile is a name that it has, other than those of RFC 6761.
func inHostsFile(t *testing.T) (string, netip.Addr) {
	text, err := os.ReadFile("/etc/hosts")
	if err != nil {
		t.Log(err)
	}
	for line := range strings.Lines(string(text)) {
		line, _, _ = strings.Cut(line, "#")
		words := strings.Fields(line)
		if len(words) < 2 || strings.HasSuffix(words[1], "localhost") {
			continue
		}
		if a, err := netip.ParseAddr(words[0]); err == nil {
			return words[1], a
		}
	}
	return "", netip.Addr{}
}
