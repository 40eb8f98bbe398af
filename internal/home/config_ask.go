package home

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const maxPolicyFiles = 32

// PolicyConfig is [policy] of iff.toml. Without files there is no policy.
type PolicyConfig struct {
	Files []string // relative to the home, in the order of the file
}

// WebhookConfig is [webhook] of iff.toml: a service that is asked.
type WebhookConfig struct {
	URL     string        // https, or http to this machine
	Pin     string        // sha256/ and base64 of the digest of the server's public key; empty if CA is given or URL is http
	CA      string        // absolute path of a file of PEM certificates; empty: none
	Timeout time.Duration // for one answer; shorter than gate.timeout; default 20s
}

// policyTable is [policy] as it is written.
type policyTable struct {
	Files []string `toml:"files" form:"local" most:"32" doc:"Cedar files, relative to the home"`
}

// webhookTable is [webhook] as it is written.
type webhookTable struct {
	URL     string  `toml:"url" form:"url" need:"yes" doc:"where questions are sent: https, or http to this machine"`
	Pin     string  `toml:"pin" form:"pin" doc:"of the server's public key; or ca"`
	CA      string  `toml:"ca" form:"path" doc:"PEM file of the certificates that may have signed the server's"`
	Timeout *string `toml:"timeout" form:"time" doc:"for one answer; 20s if nothing is said"`
}

func (s settings) policy(c *Config) error {
	if n := len(s.Policy.Files); n > maxPolicyFiles {
		return s.wrong("policy", 0, "files", fmt.Sprintf("%d files, at most %d; put some together", n, maxPolicyFiles))
	}
	for i, name := range s.Policy.Files {
		if !filepath.IsLocal(name) || filepath.Clean(name) != name || name == "." || strings.ContainsRune(name, 0) {
			return s.wrong("policy", 0, "files", quoted(name)+"; write a path below the home, such as \"policy.cedar\"")
		}
		if slices.Contains(s.Policy.Files[:i], name) {
			return s.wrong("policy", 0, "files", quoted(name)+" stands there twice; leave one out")
		}
	}
	c.Policy.Files = s.Policy.Files
	return nil
}

func (s settings) webhook(c *Config) error {
	t := s.Webhook
	if t == nil {
		return nil
	}
	secure, err := checkURL(t.URL)
	if err != nil {
		return s.wrong("webhook", 0, "url", err.Error())
	}
	w := &WebhookConfig{URL: t.URL, Pin: t.Pin, Timeout: 20 * time.Second}
	if t.Timeout != nil {
		if w.Timeout, err = parseTimeout(*t.Timeout); err != nil {
			return s.wrong("webhook", 0, "timeout", err.Error())
		}
	}
	if err := checkPin(t.Pin, secure); err != nil {
		return s.wrong("webhook", 0, "pin", err.Error())
	}
	if t.CA != "" {
		if w.CA, err = expandPath(t.CA); err != nil {
			return s.wrong("webhook", 0, "ca", err.Error())
		}
	}
	if secure && t.Pin == "" && t.CA == "" {
		return s.wrong("webhook", 0, "pin", "it is missing, and so is ca; name the server's public key by pin, or a certificate file by ca")
	}
	c.Webhook = w
	return nil
}

// checkURL takes https, and http to this machine. secure says which it is.
func checkURL(text string) (secure bool, err error) {
	u, err := url.Parse(text)
	switch {
	case text == "":
		return false, errors.New("it is missing; write the address, such as \"https://example.com/iff\"")
	case err != nil || u.Host == "" || u.Hostname() == "" || u.Opaque != "" || u.User != nil || u.Fragment != "" || strings.ContainsAny(text, " \t\r\n\\#"):
		return false, fmt.Errorf("%s; write https://, a host and a path, without a user and without a fragment", quoted(text))
	case u.Scheme == "https":
		return true, nil
	case u.Scheme == "http" && isLoopback(u.Hostname()):
		return false, nil
	}
	return false, fmt.Errorf("%s; write https://; http is for this machine alone, such as http://127.0.0.1:8080", quoted(text))
}

func isLoopback(host string) bool {
	if host == "localhost" {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.IsLoopback() && !addr.Is4In6() && addr.Zone() == ""
}

const pinPrefix = "sha256/"

// checkPin takes none, or that of a public key.
func checkPin(text string, secure bool) error {
	if text == "" {
		return nil
	}
	digest, ok := strings.CutPrefix(text, pinPrefix)
	raw, err := base64.StdEncoding.Strict().DecodeString(digest)
	switch {
	case !ok || err != nil || len(raw) != 32:
		return fmt.Errorf("%s; write %s and the base64 of the SHA-256 of the server's public key, 44 characters", quoted(text), pinPrefix)
	case !secure:
		return errors.New("http has no key that could be held against it; leave pin out, or write https")
	}
	return nil
}

// expandPath reads a path that is absolute or begins with ~/.
func expandPath(text string) (string, error) { return expandRoot(text) }
