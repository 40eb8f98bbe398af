package model

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/iff-run/iff/internal/canonical"
)

// Bounds of a cassette.
const (
	MaxCassette  = 64 << 20 // bytes
	MaxExchanges = 10_000

	cassetteSchema = "iff/cassette/v1"
	cassetteDepth  = maxDepth + 8
	maxRequest     = 1 << 20
)

// tape is a cassette as it is written.
type tape struct {
	Schema    string     `json:"schema"`
	Exchanges []recorded `json:"exchanges"`
}

// recorded is a request and what came of it: a response, or a failure.
type recorded struct {
	Hash    string        `json:"hash"`
	Path    string        `json:"path"` // the end of the URL's, from the dialect
	Request canonical.Raw `json:"request"`
	Status  int           `json:"status,omitzero"`
	Type    string        `json:"type,omitzero"`
	Body    string        `json:"body,omitzero"`
	Base64  string        `json:"base64,omitzero"` // of a body that is not UTF-8
	Failed  string        `json:"failed,omitzero"` // late or broken, in place of a response
}

const (
	failedLate   = "late"
	failedBroken = "broken"
)

// sum is what a request is known by: what it asks, not where.
func sum(path string, request canonical.Raw) string {
	h := sha256.Sum256([]byte("POST " + path + "\n" + request.String()))
	return hex.EncodeToString(h[:])
}

// asking reads a request, and ends it. It gives no key away.
func asking(req *http.Request) (recorded, error) {
	var data []byte
	if req.Body != nil {
		var err error
		data, err = io.ReadAll(io.LimitReader(req.Body, maxRequest+1))
		if err = errors.Join(err, req.Body.Close()); err != nil {
			return recorded{}, fmt.Errorf("read a request: %w", err)
		}
	}
	raw, err := canonical.NewRaw(data, canonical.Limits{Bytes: maxRequest, Depth: maxDepth})
	if err != nil {
		return recorded{}, fmt.Errorf("read a request: %w", err)
	}
	r := recorded{Request: raw, Path: chat{}.path()}
	if strings.HasSuffix(req.URL.Path, messages{}.path()) {
		r.Path = messages{}.path()
	}
	r.Hash = sum(r.Path, raw)
	return r, nil
}

// Recorder is a way that keeps what goes over another one. It is safe for
// concurrent use. Headers of requests are not kept, nor is a response that has the
// key in it.
type Recorder struct {
	way http.RoundTripper

	mu   sync.Mutex
	kept []recorded // guarded by mu, as are size and err
	size int
	err  error
}

// NewRecorder records what goes over a way.
func NewRecorder(way http.RoundTripper) *Recorder { return &Recorder{way: way} }

// RoundTrip implements [http.RoundTripper].
func (r *Recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	if r.way == nil {
		return nil, refuse(OptionsInvalid, nil, "there is no way to the endpoint; grant it and make one")
	}
	x, err := asking(req)
	if err != nil {
		return nil, err
	}
	sent := req.Clone(req.Context())
	sent.Body = io.NopCloser(strings.NewReader(x.Request.String()))
	sent.ContentLength = int64(len(x.Request.String()))
	resp, err := r.way.RoundTrip(sent)
	var data []byte
	if err == nil {
		data, err = io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
		_ = resp.Body.Close()
	}
	if err != nil {
		x.Failed = failedBroken
		if req.Context().Err() != nil {
			x.Failed = failedLate
		}
		r.keep(x, nil, nil)
		return nil, err
	}
	x.Status, x.Type = resp.StatusCode, resp.Header.Get("Content-Type")
	r.keep(x, data, keys(req.Header))
	resp.Body = io.NopCloser(bytes.NewReader(data))
	return resp, nil
}

// keys are those that a request was sent with.
func keys(h http.Header) []string {
	var out []string
	for _, value := range []string{strings.TrimPrefix(h.Get("Authorization"), "Bearer "), h.Get("X-Api-Key")} {
		if len(value) >= minKey {
			out = append(out, value)
		}
	}
	return out
}

// keep takes one exchange. Of a response that counts for nothing the status is
// enough: what else it says may be about the key.
func (r *Recorder) keep(x recorded, data []byte, keys []string) {
	if x.Status != http.StatusOK {
		data, x.Type = nil, ""
	}
	if utf8.Valid(data) {
		x.Body = string(data)
	} else {
		x.Base64 = base64.StdEncoding.EncodeToString(data)
	}
	plainly, _ := canonical.Transform(data, limits()) // with escapes resolved, if it is JSON
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, key := range keys {
		if bytes.Contains(data, []byte(key)) || bytes.Contains(plainly, []byte(key)) || strings.Contains(x.Type+x.Request.String(), key) {
			r.err = refuse(Leak, nil, "an exchange has the endpoint's own key in it; nothing is kept of this recording")
		}
	}
	r.size += len(data) + len(x.Request.String())
	if r.size > MaxCassette/2 || len(r.kept) == MaxExchanges {
		r.err = errors.Join(r.err, refuse(CassetteMalformed, nil, "the recording is too large; record fewer turns"))
	}
	if r.err != nil {
		r.kept = nil
		return
	}
	r.kept = append(r.kept, x)
}

// Cassette is what was recorded so far, for a [Player], a line for each exchange.
// The same exchanges in the same order give the same bytes.
func (r *Recorder) Cassette() ([]byte, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil {
		return nil, r.err
	}
	out := []byte(`{"exchanges":[`)
	for i, x := range r.kept {
		line, err := canonical.Marshal(x)
		if err != nil {
			return nil, fmt.Errorf("write exchange %d: %w", i, err)
		}
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(out, '\n'), line...)
	}
	return append(out, "\n],\"schema\":\""+cassetteSchema+"\"}\n"...), nil
}
