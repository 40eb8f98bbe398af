package webhook_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"testing"

	"github.com/iff-run/iff/internal/ask/webhook"
	"github.com/iff-run/iff/internal/trusttest"
	"github.com/iff-run/iff/record"
	"github.com/iff-run/iff/trust"
)

// captured is a request as it comes.
func captured(tb testing.TB) (header string, body []byte) {
	tb.Helper()
	s := serve(tb, func(http.ResponseWriter, *http.Request, webhook.Request) {})
	s.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header = r.Header.Get(webhook.Header)
		body, _ = io.ReadAll(r.Body)
		w.WriteHeader(http.StatusNoContent)
	})
	_, err := broker(tb, options(tb, s.URL)).Ask(tb.Context(), questions(tb, 1))
	must(tb, err)
	return header, body
}

// A receiver takes what its runtime signed, and not a byte else.
func TestOpen(t *testing.T) {
	header, body := captured(t)
	key := trusttest.NewKey(askKey).Public()
	if r, err := webhook.Open(key, header, body); err != nil || r.Questions[0].Request != "R-0" {
		t.Fatalf("%+v %v", r, err)
	}
	refused := func(what string, key trust.PublicKey, header string, body []byte) {
		t.Helper()
		_, err := webhook.Open(key, header, body)
		var e *webhook.Error
		if !errors.As(err, &e) || e.Reason != webhook.RequestInvalid {
			t.Errorf("%s: %v", what, err)
		}
	}
	refused("another key", trusttest.NewKey(otherKey).Public(), header, body)
	refused("no key", trust.PublicKey{}, header, body)
	refused("no header", key, "", body)
	refused("a cut header", key, header[:len(header)-1], body)
	refused("more", key, header, append(bytes.Clone(body), ' '))
	for i := range len(body) {
		other := bytes.Clone(body)
		other[i] ^= 1
		refused("a changed byte", key, header, other)
	}
	for what, text := range map[string]string{
		"nothing": "", "empty": "{}", "no question": `{"fence":3,"log":"l","nonce":"n","questions":[],"schema":"iff/ask/v1","sent":"2026-11-20T12:00:00.000000000Z"}`,
		"schema":  `{"fence":3,"log":"l","nonce":"n","questions":[{}],"schema":"iff/ask/v2","sent":"2026-11-20T12:00:00.000000000Z"}`,
		"time":    `{"fence":3,"log":"l","nonce":"n","questions":[{}],"schema":"iff/ask/v1","sent":"now"}`,
		"shape":   `{"fence":3,"log":"l","nonce":"n","questions":[{}],"schema":"iff/ask/v1","sent":"2026-11-20T12:00:00.000000000Z"}`,
		"foreign": string(bytes.Replace(body, []byte(`"fence":3,"log"`), []byte(`"fence":4,"log"`), 1)),
	} {
		refused(what, key, sealed(t, []byte(text)), []byte(text))
	}
}

func sealed(tb testing.TB, body []byte) string {
	tb.Helper()
	k := trusttest.NewKey(askKey)
	sig, err := trust.Sign(k, webhook.Domain, body)
	must(tb, err)
	text, err := sig.MarshalText()
	must(tb, err)
	return "ed25519 " + webhook.KeyID(k.Public()) + ":" + string(text)
}

// FuzzReply reads whatever is the body of a reply: nothing that nobody signed
// approves.
func FuzzReply(f *testing.F) {
	q := question(f, 0)
	for _, c := range []record.Choice{record.Approve, record.Deny} {
		body, err := webhook.Reply(signed(f, c, q))
		must(f, err)
		f.Add(body)
	}
	f.Add([]byte(`{"answers":[]}`))
	b := broker(f, options(f, "http://127.0.0.1:1/"))
	good := signed(f, record.Approve, q)[0].Signature
	other := question(f, 1) // what was signed is not for this one
	f.Fuzz(func(t *testing.T, data []byte) {
		if got, why := b.Take(data, q); why == "" && got[0].Choice == record.Approve && got[0].Signature != good {
			t.Errorf("approved by %q", data)
		}
		if got, why := b.Take(data, other); why == "" && got[0].Choice == record.Approve {
			t.Errorf("another question approved by %q", data)
		}
	})
}

// FuzzOpen reads whatever claims to be a request: what is taken, is of one
// runtime and has questions.
func FuzzOpen(f *testing.F) {
	_, body := captured(f)
	f.Add(body)
	f.Add([]byte(`{}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := webhook.Open(trusttest.NewKey(askKey).Public(), sealed(t, data), data)
		if err != nil {
			return
		}
		for _, q := range r.Questions {
			if q.Log != r.Log || q.Fence != r.Fence || q.Render() == "" {
				t.Errorf("%+v", r)
			}
		}
		if len(r.Questions) == 0 {
			t.Error("no questions")
		}
	})
}
