package net

import (
	"encoding/base64"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/iff-run/iff/capability"
	"github.com/iff-run/iff/gate"
	"github.com/iff-run/iff/internal/canonical"
)

const (
	maxHeaders     = 32
	maxHeaderBytes = 8 << 10
	maxURL         = 8 << 10
)

// call is what an envelope asks for.
type call struct {
	target  string // as approved
	host    string // as in it, an IPv6 address without brackets
	port    uint16
	url     *url.URL
	method  string
	headers map[string]string
	body    string
}

func (c call) op() string { return strings.ToLower(c.method) }

// members are the arguments as they are written.
type members struct {
	URL        string            `json:"url"`
	Method     *string           `json:"method,omitempty"`
	Headers    map[string]string `json:"headers,omitempty"`
	Body       *string           `json:"body,omitempty"`
	BodyBase64 *string           `json:"bodyBase64,omitempty"`
}

// parse reads an envelope. Its errors are *[gate.Refusal].
func parse(env capability.Envelope) (call, error) {
	target := env.Target()
	host, port, ok := target.Host()
	if !ok {
		return call{}, refuse(gate.NoHost, "not a call of a host of the network")
	}
	var m members
	if err := canonical.Parse([]byte(env.Arguments()), &m, canonical.Limits{Bytes: capability.MaxEnvelope}); err != nil {
		r := refuse(gate.ArgumentsBad, "arguments: %v", err)
		r.Err = err
		return call{}, r
	}
	c := call{target: target.String(), host: host, port: port, method: "GET", headers: m.Headers}
	var err error
	if c.url, err = readURL(m.URL, c.target); err != nil {
		return call{}, err
	}
	if m.Method != nil {
		c.method = *m.Method
	}
	if err := checkHeaders(m.Headers); err != nil {
		return call{}, err
	}
	if c.body, err = body(c.method, m); err != nil {
		return call{}, err
	}
	return c, nil
}

// body is what is sent; methods that send none are refused one.
func body(method string, m members) (string, error) {
	switch method {
	case "GET", "HEAD":
		if m.Body != nil || m.BodyBase64 != nil {
			return "", refuse(gate.ArgumentsBad, "%s takes no body; leave it out, or use POST", method)
		}
		return "", nil
	case "POST", "PUT", "PATCH", "DELETE":
	default:
		return "", refuse(gate.ArgumentsBad, "method is one of GET, HEAD, POST, PUT, PATCH and DELETE, in capitals")
	}
	switch {
	case m.Body != nil && m.BodyBase64 != nil:
		return "", refuse(gate.ArgumentsBad, "a request takes one of body and bodyBase64, not both")
	case m.Body != nil:
		return *m.Body, nil
	case m.BodyBase64 == nil:
		return "", nil
	}
	data, err := base64.StdEncoding.Strict().DecodeString(*m.BodyBase64)
	if err != nil || strings.ContainsAny(*m.BodyBase64, "\r\n") {
		return "", refuse(gate.ArgumentsBad, "bodyBase64 is not in the standard form of RFC 4648, padded, without line breaks")
	}
	return string(data), nil
}

// readURL reads a URL whose host is the target in the target's own spelling, so
// that no two readers of the URL see another host than the approver.
func readURL(text, target string) (*url.URL, error) {
	if len(text) > maxURL {
		return nil, refuse(gate.ArgumentsBad, "the url has %d bytes, at most %d", len(text), maxURL)
	}
	for i := range len(text) {
		if c := text[i]; c <= ' ' || c > '~' || strings.IndexByte("\\\"<>^`{|}#", c) >= 0 {
			return nil, refuse(HostSpelling, "byte %d of the url is %q; escape it in a path, write a host in its xn-- form, and leave out a fragment", i, c)
		}
	}
	scheme, rest, _ := strings.Cut(text, "://")
	if scheme != "https" && scheme != "http" {
		return nil, refuse(HostSpelling, "the url begins with https:// or http://, in small letters")
	}
	authority, _, _ := strings.Cut(rest, "/")
	want := authority
	if scheme == "http" && !strings.Contains(authority[strings.LastIndexByte(authority, ']')+1:], ":") {
		want += ":80"
	}
	if want != target {
		return nil, refuse(HostSpelling, "the url's host is %s and the target is %s; write both in the target's spelling", quote(authority), target)
	}
	if scheme == "http" && !strings.Contains(target[strings.LastIndexByte(target, ']')+1:], ":") {
		return nil, refuse(HostSpelling, "port 443 is not spoken to in plain http; write https")
	}
	u, err := url.Parse(text)
	if err != nil || u.User != nil || u.Host != authority || u.Opaque != "" || u.String() != text {
		return nil, refuse(HostSpelling, "the url is not in its plain spelling; escape in its path and query what is not a letter or digit")
	}
	return u, nil
}

// kept are the headers that are not the agent's to set: where the request goes,
// how long it is, what becomes of the connection, how the answer is packed.
var kept = []string{
	"accept-encoding", "connection", "content-length", "expect", "forwarded", "host", "http2-settings", "keep-alive",
	"te", "trailer", "transfer-encoding", "upgrade", "via",
}

func checkHeaders(headers map[string]string) error {
	if len(headers) > maxHeaders {
		return refuse(gate.ArgumentsBad, "%d headers, at most %d", len(headers), maxHeaders)
	}
	size := 0
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		value := headers[name]
		size += len(name) + len(value)
		low := strings.ToLower(name)
		switch {
		case name == "" || strings.Trim(low, "abcdefghijklmnopqrstuvwxyz0123456789-") != "":
			return refuse(gate.ArgumentsBad, "header %s: a name is of letters, digits and hyphens", quote(name))
		case slices.Contains(kept, low) || strings.HasPrefix(low, "proxy-") || strings.HasPrefix(low, "x-forwarded-"):
			return refuse(gate.ArgumentsBad, "header %s is not the caller's to set; leave it out", name)
		case !visibleValue(value):
			return refuse(gate.ArgumentsBad, "header %s: a value is of visible ASCII characters with spaces between them", name)
		}
	}
	if size > maxHeaderBytes {
		return refuse(gate.ArgumentsBad, "the headers have %d bytes, at most %d", size, maxHeaderBytes)
	}
	return nil
}

func visibleValue(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return strings.TrimSpace(s) == s
}
