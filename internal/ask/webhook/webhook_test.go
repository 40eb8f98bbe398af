package webhook_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/iff-run/iff/approval"
	"github.com/iff-run/iff/capability"
	"github.com/iff-run/iff/internal/ask/webhook"
	"github.com/iff-run/iff/internal/trusttest"
	"github.com/iff-run/iff/record"
	"github.com/iff-run/iff/trust"
)

const (
	hookKey  = 20 // approves
	otherKey = 21 // is trusted by nobody
	askKey   = 22 // of the runtime
	nonce    = "000102030405060708090a0b0c0d0e0f"
)

var now = trusttest.Now

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

// root has hook, which approves, and ops, which signs skills only.
func root() *trust.Root {
	ops := trusttest.Approver("ops", trusttest.NewKey(trusttest.OpsKey).Public())
	ops.Approver = false
	return trusttest.Locked(trusttest.Approver("hook", trusttest.NewKey(hookKey).Public()), ops)
}

func question(tb testing.TB, n int) approval.Question {
	tb.Helper()
	where, err := capability.ParseTarget(capability.FSWriteIrrev, fmt.Sprintf("reports/q%d.md", n))
	must(tb, err)
	env, err := capability.NewEnvelope(capability.Call{Target: where, Arguments: []byte(`{"op":"delete"}`), Reasoning: "the skill says so"})
	must(tb, err)
	return approval.Question{
		Log: "iff/log/4f2a", Fence: 3, Session: "S-1", Request: fmt.Sprint("R-", n), Seq: int64(40 + n), Agent: "uid-1000", Profile: "dev",
		Envelope: env, Op: "delete", Reach: "exact", Level: "unverified", Mark: "INTERNAL", Sink: "INTERNAL",
		Asked: now, Deadline: now.Add(2 * time.Minute),
	}
}

func questions(tb testing.TB, n int) []approval.Question {
	var out []approval.Question
	for i := range n {
		out = append(out, question(tb, i))
	}
	return out
}

// signed answers as the webhook's key does.
func signed(tb testing.TB, choice record.Choice, qs ...approval.Question) []approval.Answer {
	tb.Helper()
	return signedBy(tb, "hook", hookKey, choice, now.Add(approval.Validity), qs...)
}

func signedBy(tb testing.TB, id string, key byte, choice record.Choice, until time.Time, qs ...approval.Question) []approval.Answer {
	tb.Helper()
	out, err := approval.Sign(qs, choice, id, trusttest.NewKey(key), nonce, until)
	must(tb, err)
	return out
}

func options(tb testing.TB, url string) webhook.Options {
	r := root()
	return webhook.Options{
		URL: url, Key: trusttest.NewKey(askKey), Log: "iff/log/4f2a", Fence: 3, Now: func() time.Time { return now },
		Check: func(q approval.Question, a approval.Answer) error { return q.Check(a, r, now) },
	}
}

func broker(tb testing.TB, o webhook.Options) *webhook.Broker {
	tb.Helper()
	b, err := webhook.New(o)
	must(tb, err)
	return b
}

// serve answers each request that holds with what f makes of it.
func serve(tb testing.TB, f func(http.ResponseWriter, *http.Request, webhook.Request)) *httptest.Server {
	tb.Helper()
	s := httptest.NewServer(handler(tb, f))
	tb.Cleanup(s.Close)
	return s
}

func handler(tb testing.TB, f func(http.ResponseWriter, *http.Request, webhook.Request)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		req, err := webhook.Open(trusttest.NewKey(askKey).Public(), r.Header.Get(webhook.Header), body)
		if err != nil || r.Method != http.MethodPost || r.Header.Get("Content-Type") != "application/json" || r.Header.Get("Authorization") != "" {
			tb.Errorf("%s %v: %v", r.Method, r.Header, err)
		}
		f(w, r, req)
	}
}

func reply(tb testing.TB, w http.ResponseWriter, answers ...approval.Answer) {
	body, err := webhook.Reply(answers)
	if err != nil {
		tb.Error(err)
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	_, _ = w.Write(body)
}

func TestAnswers(t *testing.T) {
	qs := questions(t, 3)
	s := serve(t, func(w http.ResponseWriter, _ *http.Request, r webhook.Request) {
		if r.Log != qs[0].Log || r.Fence != 3 || !r.Sent.Equal(now) || len(r.Nonce) != 32 || len(r.Questions) != 3 || r.Questions[1].Render() != qs[1].Render() {
			t.Errorf("%+v", r)
		}
		yes := signed(t, record.Approve, r.Questions[0])[0]
		yes.Broker, yes.Rule, yes.SameUID = "somebody", "a rule", true
		reply(t, w, yes, signed(t, record.Deny, r.Questions[1])[0], approval.Answer{})
	})
	b := broker(t, options(t, s.URL+"/ask?x"))
	got, err := b.Ask(t.Context(), qs)
	must(t, err)
	if a := got[0]; a.Choice != record.Approve || a.Cause != record.CauseWebhook || a.Broker != b.Name() || a.Approver != "hook" || a.Rule != "" || a.SameUID {
		t.Errorf("%+v", a)
	}
	if a := got[1]; a.Choice != record.Deny || a.Cause != record.CauseWebhook || a.Signature == "" {
		t.Errorf("%+v", a)
	}
	if a := got[2]; a.Choice != "" || a.Broker != "" {
		t.Errorf("%+v", a)
	}
	if got, err := b.Ask(t.Context(), nil); len(got) != 0 || err != nil {
		t.Errorf("%v %v", got, err)
	}
}

func TestPass(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, _ *http.Request, _ webhook.Request) { w.WriteHeader(http.StatusNoContent) })
	got, err := broker(t, options(t, s.URL)).Ask(t.Context(), questions(t, 2))
	if err != nil || len(got) != 2 || got[0].Choice != "" || got[1].Choice != "" {
		t.Errorf("%+v %v", got, err)
	}
}

// One request for what is asked together, and more only where it does not fit.
func TestBatches(t *testing.T) {
	var sizes []int
	nonces := map[string]bool{}
	s := serve(t, func(w http.ResponseWriter, _ *http.Request, r webhook.Request) {
		sizes = append(sizes, len(r.Questions))
		nonces[r.Nonce] = true
		reply(t, w, signed(t, record.Deny, r.Questions...)...)
	})
	got, err := broker(t, options(t, s.URL)).Ask(t.Context(), questions(t, 120))
	if err != nil || !slices.Equal(sizes, []int{50, 50, 20}) || len(nonces) != 3 {
		t.Errorf("%v %d %v", sizes, len(nonces), err)
	}
	for i, a := range got {
		if a.Cause != record.CauseWebhook {
			t.Errorf("%d: %+v", i, a)
		}
	}
	sizes = nil
	qs := questions(t, 3)
	qs[1].Agent = "\xff" // cannot be written
	got, err = broker(t, options(t, s.URL)).Ask(t.Context(), qs)
	if err != nil || !slices.Equal(sizes, []int{1, 1}) || got[0].Cause != record.CauseWebhook || got[1].Rule != string(webhook.Unwritable) || got[2].Cause != record.CauseWebhook {
		t.Errorf("%v %+v %v", sizes, got, err)
	}
}

// A redirect is a denial, and nobody is at its other end.
func TestRedirect(t *testing.T) {
	var hits atomic.Int64
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { hits.Add(1) }))
	defer other.Close()
	for _, status := range []int{301, 302, 303, 307, 308} {
		s := serve(t, func(w http.ResponseWriter, r *http.Request, _ webhook.Request) {
			http.Redirect(w, r, other.URL, status)
		})
		got, err := broker(t, options(t, s.URL)).Ask(t.Context(), questions(t, 1))
		if err != nil || got[0].Rule != string(webhook.StatusOther) || hits.Load() != 0 {
			t.Errorf("%d: %+v %v, %d arrived", status, got, err, hits.Load())
		}
	}
}

func TestOneBadAmongGood(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, _ *http.Request, r webhook.Request) {
		good := signed(t, record.Approve, r.Questions...)
		good[1].Signature = good[1].Signature[1:2] + good[1].Signature[1:]
		reply(t, w, good...)
	})
	got, err := broker(t, options(t, s.URL)).Ask(t.Context(), questions(t, 3))
	if err != nil || got[0].Choice != record.Approve || got[1].Rule != string(webhook.Void) || got[2].Choice != record.Approve {
		t.Errorf("%+v %v", got, err)
	}
}

func TestWhoAsksGivesUp(t *testing.T) {
	release := make(chan struct{})
	s := serve(t, func(http.ResponseWriter, *http.Request, webhook.Request) { <-release })
	defer close(release)
	b := broker(t, options(t, s.URL))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	got, err := b.Ask(ctx, questions(t, 1))
	if err != nil || got[0].Choice != record.Deny || got[0].Cause != record.CauseCancelled {
		t.Errorf("%+v %v", got, err)
	}
	ctx, cancel = context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	got, err = b.Ask(ctx, questions(t, 1))
	if err != nil || got[0].Choice != record.Deny || got[0].Cause != record.CauseTimeout {
		t.Errorf("%+v %v", got, err)
	}
}

func TestConcurrency(t *testing.T) {
	var now, most atomic.Int64
	s := serve(t, func(w http.ResponseWriter, _ *http.Request, _ webhook.Request) {
		n := now.Add(1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		time.Sleep(5 * time.Millisecond)
		now.Add(-1)
		w.WriteHeader(http.StatusNoContent)
	})
	b := broker(t, options(t, s.URL))
	var wg sync.WaitGroup
	for range 4 * webhook.MaxPosts {
		wg.Go(func() {
			if got, _ := b.Ask(t.Context(), questions(t, 1)); got[0].Choice != "" {
				t.Errorf("%+v", got)
			}
		})
	}
	wg.Wait()
	if m := most.Load(); m > webhook.MaxPosts {
		t.Errorf("%d at once", m)
	}
}

func TestTLS(t *testing.T) {
	h := handler(t, func(w http.ResponseWriter, _ *http.Request, r webhook.Request) { w.WriteHeader(http.StatusNoContent) })
	s := httptest.NewUnstartedServer(h)
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	defer s.Close()
	sum := sha256.Sum256(s.Certificate().RawSubjectPublicKeyInfo)
	good := "sha256/" + base64.StdEncoding.EncodeToString(sum[:])
	wrong := "sha256/" + base64.StdEncoding.EncodeToString(make([]byte, 32))
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	byName := strings.Replace(s.URL, "127.0.0.1", "localhost", 1) // not a name of the certificate
	for _, c := range []struct {
		what, url, pin string
		ca             []byte
		want           webhook.Reason
	}{
		{"pin", s.URL, good, nil, ""}, {"ca", s.URL, "", ca, ""}, {"both", s.URL, good, ca, ""}, {"pin, another name", byName, good, nil, ""},
		{"wrong pin", s.URL, wrong, nil, webhook.Unreachable}, {"wrong pin, right ca", s.URL, wrong, ca, webhook.Unreachable},
		{"ca, another name", byName, "", ca, webhook.Unreachable}, {"both, another name", byName, good, ca, webhook.Unreachable},
	} {
		o := options(t, c.url)
		o.Pin, o.CA = c.pin, c.ca
		got, err := broker(t, o).Ask(t.Context(), questions(t, 1))
		if err != nil || got[0].Rule != string(c.want) || (c.want == "") != (got[0].Choice == "") {
			t.Errorf("%s: %+v %v", c.what, got, err)
		}
	}
}

func TestOptions(t *testing.T) {
	good := options(t, "http://127.0.0.1:1/")
	for what, f := range map[string]func(*webhook.Options){
		"no url": func(o *webhook.Options) { o.URL = "" }, "relative": func(o *webhook.Options) { o.URL = "/x" },
		"another scheme": func(o *webhook.Options) { o.URL = "ftp://localhost/" }, "http elsewhere": func(o *webhook.Options) { o.URL = "http://example.com/" },
		"a user": func(o *webhook.Options) { o.URL = "http://a:b@localhost/" }, "unpinned": func(o *webhook.Options) { o.URL = "https://example.com/" },
		"pin":    func(o *webhook.Options) { o.URL, o.Pin = "https://example.com/", "sha256/x" },
		"no PEM": func(o *webhook.Options) { o.URL, o.CA = "https://example.com/", []byte("x") },
		"no key": func(o *webhook.Options) { o.Key = nil }, "no check": func(o *webhook.Options) { o.Check = nil },
		"no log": func(o *webhook.Options) { o.Log = "" }, "no fence": func(o *webhook.Options) { o.Fence = 0 },
	} {
		o := good
		f(&o)
		_, err := webhook.New(o)
		var e *webhook.Error
		if !errors.As(err, &e) || e.Reason != webhook.OptionsInvalid {
			t.Errorf("%s: %v", what, err)
		}
	}
	got, err := broker(t, good).Ask(t.Context(), questions(t, 1)) // nobody is there
	if err != nil || got[0].Rule != string(webhook.Unreachable) {
		t.Errorf("%+v %v", got, err)
	}
	got, err = (&webhook.Broker{}).Ask(t.Context(), questions(t, 2))
	if err != nil || len(got) != 2 || got[1].Choice != record.Deny || got[1].Cause != record.CauseBroker {
		t.Errorf("the zero value: %+v %v", got, err)
	}
}
