package capability

import (
	"net/netip"
	"strconv"
	"strings"
)

const (
	defaultPort   = "443"
	maxHost       = 253 // RFC 1035, in presentation form
	maxLabel      = 63
	wildcardLabel = "*."
)

// compileHost gives host ":" port, with the port always written, and anyRun
// for each wildcard.
func compileHost(text string) (string, *fault) {
	if i := strings.Index(text, "//"); i >= 0 {
		return "", wrong(i, "a host, not a URL: write host or host:port")
	}
	if i := strings.IndexByte(text, '@'); i >= 0 {
		return "", wrong(i, "a host without a user: write what follows the @")
	}
	host, port, f := cutPort(text)
	if f != nil {
		return "", f
	}
	portCode, ok := compilePort(port)
	if !ok {
		return "", wrong(len(host)+1, "%s is not a port: write a number from 1 to 65535, or *", quote(port))
	}
	code, f := compileHostName(host)
	if f != nil {
		return "", f
	}
	return code + ":" + portCode, nil
}

// cutPort splits at the colon after the host. An IPv6 address is in brackets.
func cutPort(text string) (host, port string, f *fault) {
	end := 0
	if strings.HasPrefix(text, "[") {
		if end = strings.IndexByte(text, ']') + 1; end == 0 {
			return "", "", wrong(0, "the bracket is not closed; write an IPv6 address as [::1]")
		}
	} else if end = strings.IndexByte(text, ':'); end < 0 {
		end = len(text)
	}
	switch {
	case end == len(text):
		return text, defaultPort, nil
	case text[end] != ':':
		return "", "", wrong(end, "after the bracket there is only :port")
	case strings.Contains(text[end+1:], ":"):
		return "", "", wrong(end, "more than one colon; write an IPv6 address as [::1]")
	}
	return text[:end], text[end+1:], nil
}

func compilePort(port string) (string, bool) {
	if port == "*" {
		return anyRun, true
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil || n == 0 {
		return "", false
	}
	return strconv.FormatUint(n, 10), true
}

func compileHostName(host string) (string, *fault) {
	if strings.HasPrefix(host, "[") {
		return compileIPv6(host)
	}
	host = asciiLower(host)
	name, wildcard := strings.CutPrefix(host, wildcardLabel)
	start := len(host) - len(name)
	if len(name)+start > maxHost {
		return "", wrong(0, "the host has %d bytes, at most %d", len(host), maxHost)
	}
	last := ""
	for at, more := 0, true; more; {
		last, _, more = strings.Cut(name[at:], ".")
		if f := checkLabel(last); f != nil {
			f.offset += start + at
			return "", f
		}
		at += len(last) + 1
	}
	switch {
	case isNumber(last) && wildcard:
		return "", wrong(start, "an address has no names below it; write the address alone")
	case isNumber(last):
		return compileIPv4(name)
	case wildcard:
		return anyRun + "." + name, nil
	}
	return name, nil
}

func checkLabel(label string) *fault {
	if label == "" {
		return wrong(0, "an empty label; write single dots, and none at the end")
	}
	if len(label) > maxLabel {
		return wrong(0, "a label of %d bytes, at most %d", len(label), maxLabel)
	}
	for i := range len(label) {
		switch c := label[i]; {
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9':
		case c == '-' && i > 0 && i < len(label)-1:
		case c == '*':
			return wrong(i, "a * stands only as the first label: write *.example.com")
		case c >= 0x80:
			return wrong(i, "a character outside ASCII; write the xn-- form of the name")
		default:
			return wrong(i, "%q cannot stand here; labels are letters, digits and inner hyphens", c)
		}
	}
	return nil
}

// isNumber reports whether a resolver may read a host with this last label as
// an address (WHATWG URL, "ends in a number checker").
func isNumber(label string) bool {
	if hex, ok := strings.CutPrefix(label, "0x"); ok {
		return strings.Trim(hex, "0123456789abcdef") == ""
	}
	return strings.Trim(label, "0123456789") == ""
}

func compileIPv4(host string) (string, *fault) {
	if addr, err := netip.ParseAddr(host); err != nil || !addr.Is4() {
		return "", wrong(0, "%s may be read as an address; write IPv4 as four plain decimal numbers, 127.0.0.1", quote(host))
	}
	return host, nil
}

func compileIPv6(host string) (string, *fault) {
	addr, err := netip.ParseAddr(host[1 : len(host)-1])
	switch {
	case err != nil || !addr.Is6() || addr.Zone() != "":
		return "", wrong(1, "%s is not an IPv6 address; write [::1], without a zone", quote(host))
	case addr.Is4In6():
		return "", wrong(1, "IPv4 inside IPv6; write %s", addr.Unmap())
	}
	return "[" + addr.String() + "]", nil
}

// asciiLower lowers A to Z only: strings.ToLower makes k of the Kelvin sign.
func asciiLower(s string) string {
	b := []byte(s)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}

func renderHost(code string) string {
	return strings.ReplaceAll(strings.TrimSuffix(code, ":"+defaultPort), anyRun, "*")
}

func matchHost(grant, target string) bool {
	g, t := strings.LastIndexByte(grant, ':'), strings.LastIndexByte(target, ':')
	if g < 0 || t < 0 {
		return false
	}
	if port := grant[g+1:]; port != anyRun && port != target[t+1:] {
		return false
	}
	grant, target = grant[:g], target[:t]
	if below, ok := strings.CutPrefix(grant, anyRun); ok {
		return strings.HasSuffix(target, below) // below begins with a dot, a target does not
	}
	return grant == target
}
