package net

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/iff-run/iff/gate"
)

const userAgent = "iff"

// fetch sends a request and follows its redirects within the target.
func (h *Host) fetch(ctx context.Context, c call) (answer, string, error) {
	way := &route{h: h, c: c}
	t := h.transport(way)
	defer t.CloseIdleConnections()
	at := c.url
	for hop := 0; ; hop++ {
		resp, err := send(ctx, t, c, at)
		if err != nil {
			return answer{}, "", err
		}
		next, note := c.onwards(resp, at)
		if next != nil && hop < maxHops {
			_ = resp.Body.Close()
			at = next
			continue
		}
		if next != nil {
			note = fmt.Sprintf("it was redirected more than %d times", maxHops)
		}
		a, err := h.read(resp, at, note)
		if err != nil {
			return answer{}, "", err
		}
		return a, fmt.Sprintf("%s %d from %s, %d bytes", c.method, a.Status, way.at.Load(), a.size), nil
	}
}

// transport is that of one call: nothing of a connection is used again.
func (h *Host) transport(r *route) *http.Transport {
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	return &http.Transport{ // no Proxy
		DialContext:            r.dial,
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: h.roots},
		TLSHandshakeTimeout:    dialTime,
		DisableKeepAlives:      true,
		DisableCompression:     true,
		MaxResponseHeaderBytes: maxReplied,
		Protocols:              &protocols,
	}
}

func send(ctx context.Context, t *http.Transport, c call, at *url.URL) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, c.method, at.String(), strings.NewReader(c.body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("User-Agent", userAgent)
	for name, value := range c.headers {
		req.Header.Set(name, value)
	}
	resp, err := t.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode < 200 {
		_ = resp.Body.Close()
		return nil, refuse(gate.HostFailed, "the host answered with status %d, which ends no request", resp.StatusCode)
	}
	return resp, nil
}

// onwards is where a redirect leads that is followed, nil for none, and what to
// say of one that is not.
func (c call) onwards(resp *http.Response, at *url.URL) (*url.URL, string) {
	location := resp.Header.Get("Location")
	switch resp.StatusCode {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
	default:
		return nil, ""
	}
	if location == "" || len(location) > maxURL {
		return nil, ""
	}
	if c.method != http.MethodGet && c.method != http.MethodHead {
		return nil, "a redirect of " + c.method + " is not followed; look at its location and ask for that"
	}
	next, err := at.Parse(location)
	if err != nil {
		return nil, "its location is no URL"
	}
	next.Fragment, next.RawFragment = "", ""
	if next, err = readURL(next.String(), c.target); err != nil {
		return nil, "it leads elsewhere, which was not approved; ask for its location by itself"
	}
	return next, ""
}

// read takes a response that is not followed any further.
func (h *Host) read(resp *http.Response, at *url.URL, note string) (answer, error) {
	defer resp.Body.Close()
	most := h.options.Limits.Body
	data, err := io.ReadAll(io.LimitReader(resp.Body, int64(most)+1))
	if err != nil {
		return answer{}, err
	}
	a := answer{Status: resp.StatusCode, FinalURL: at.String(), Headers: told(resp.Header), Note: note}
	if len(data) > most {
		data, a.Truncated = data[:most], true
	}
	a.fill(data)
	return a, nil
}
