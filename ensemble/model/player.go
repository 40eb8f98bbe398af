package model

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"io"
	"net/http"
	"slices"
	"sync"

	"github.com/iff-run/iff/internal/canonical"
)

// errBroken is a connection that broke, as it was recorded.
var errBroken = errors.New("the connection broke off")

// Player is a way that leads to no endpoint, but to what was recorded of one. Each
// recorded answer is given once, to the request that it answered; equal requests
// get theirs in order. It is safe for concurrent use. The zero value has no
// answers.
type Player struct {
	mu   sync.Mutex
	left []recorded // guarded by mu
	used int
}

// NewPlayer reads a cassette. The error is *[Error] with cassette-malformed.
func NewPlayer(cassette []byte) (*Player, error) {
	var t tape
	if err := canonical.Parse(cassette, &t, canonical.Limits{Bytes: MaxCassette, Depth: cassetteDepth}); err != nil {
		return nil, refuse(CassetteMalformed, err, "%v; record it again", err)
	}
	if t.Schema != cassetteSchema || len(t.Exchanges) > MaxExchanges {
		return nil, refuse(CassetteMalformed, nil, "it is not of schema %s, or has too many exchanges; record it again", cassetteSchema)
	}
	for i, x := range t.Exchanges {
		answered := x.Status >= 200 && x.Status < 600
		_, err := x.body()
		switch {
		case x.Hash != sum(x.Path, x.Request):
			return nil, refuse(CassetteMalformed, nil, "exchange %d: its hash is not that of its request; record it again", i)
		case err != nil, answered != (x.Failed == ""), x.Failed != "" && x.Failed != failedLate && x.Failed != failedBroken:
			return nil, refuse(CassetteMalformed, nil, "exchange %d has neither a response nor a failure; record it again", i)
		}
	}
	return &Player{left: t.Exchanges}, nil
}

func (x recorded) body() ([]byte, error) {
	if x.Base64 == "" {
		return []byte(x.Body), nil
	}
	return base64.StdEncoding.Strict().DecodeString(x.Base64)
}

// Left is how many answers nobody has asked for yet.
func (p *Player) Left() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.left)
}

// RoundTrip implements [http.RoundTripper]. A request that has no answer is an
// *[Error] with cassette-mismatch.
func (p *Player) RoundTrip(req *http.Request) (*http.Response, error) {
	asked, err := asking(req)
	if err != nil {
		return nil, refuse(CassetteMismatch, err, "%v", err)
	}
	x, err := p.next(asked)
	if err != nil {
		return nil, err
	}
	switch x.Failed {
	case failedLate:
		return nil, context.DeadlineExceeded
	case failedBroken:
		return nil, errBroken
	}
	data, err := x.body()
	if err != nil {
		return nil, refuse(CassetteMalformed, err, "a body cannot be read; record it again")
	}
	return &http.Response{
		StatusCode: x.Status, Status: http.StatusText(x.Status), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {x.Type}}, Body: io.NopCloser(bytes.NewReader(data)), ContentLength: int64(len(data)), Request: req,
	}, nil
}

// next takes the answer to a request off the cassette.
func (p *Player) next(asked recorded) (recorded, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, x := range p.left {
		if x.Hash == asked.Hash {
			p.left = slices.Delete(p.left, i, i+1)
			p.used++
			return x, nil
		}
	}
	if len(p.left) == 0 {
		return recorded{}, refuse(CassetteMismatch, nil, "request %d: the cassette has no answers left; record it again", p.used)
	}
	was, is := p.left[0].Path+p.left[0].Request.String(), asked.Path+asked.Request.String()
	at := 0
	for at < min(len(was), len(is)) && was[at] == is[at] {
		at++
	}
	return recorded{}, refuse(CassetteMismatch, nil, "request %d is not on the cassette: from byte %d it has %q, and the next one there %q; record it again",
		p.used, at, around(is, at), around(was, at))
}

// around is a few characters of a request; it is shown quoted.
func around(s string, at int) string { return s[min(at, len(s)):min(at+40, len(s))] }
