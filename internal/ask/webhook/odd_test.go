package webhook_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/iff-run/iff/approval"
	"github.com/iff-run/iff/internal/ask/webhook"
	"github.com/iff-run/iff/internal/trusttest"
	"github.com/iff-run/iff/record"
)

// odd is one way for an answer to be none.
type odd struct {
	what string
	want webhook.Reason
	play play
}

type play = func(testing.TB, http.ResponseWriter, webhook.Request)

func raw(status int, kind, body string) play {
	return func(_ testing.TB, w http.ResponseWriter, _ webhook.Request) {
		w.Header().Set("Content-Type", kind)
		w.WriteHeader(status)
		fmt.Fprint(w, body)
	}
}

func answers(f func(tb testing.TB, q approval.Question) []approval.Answer) play {
	return func(tb testing.TB, w http.ResponseWriter, r webhook.Request) { reply(tb, w, f(tb, r.Questions[0])...) }
}

// changed signs another question than the one that was asked.
func changed(f func(q *approval.Question)) play {
	return answers(func(tb testing.TB, q approval.Question) []approval.Answer {
		f(&q)
		return signed(tb, record.Approve, q)
	})
}

// edited changes an answer after it was signed.
func edited(f func(a *approval.Answer)) play {
	return answers(func(tb testing.TB, q approval.Question) []approval.Answer {
		a := signed(tb, record.Approve, q)
		f(&a[0])
		return a
	})
}

// by signs as somebody else, or for another time.
func by(id string, key byte, until time.Time) play {
	return answers(func(tb testing.TB, q approval.Question) []approval.Answer {
		return signedBy(tb, id, key, record.Approve, until, q)
	})
}

const json = "application/json"

// void are answers that do not hold for the question.
func void() []odd {
	return []odd{
		{"wrong signer", webhook.Void, by("hook", otherKey, now.Add(time.Minute))},
		{"unknown signer", webhook.Void, by("nobody", hookKey, now.Add(time.Minute))},
		{"not an approver", webhook.Void, by("ops", trusttest.OpsKey, now.Add(time.Minute))},
		{"stale", webhook.Void, by("hook", hookKey, now)},
		{"for too long", webhook.Void, by("hook", hookKey, now.Add(time.Hour))},
		{"replayed from another request", webhook.Void, changed(func(q *approval.Question) { q.Request, q.Seq = "R-9", 99 })},
		{"foreign session", webhook.Void, changed(func(q *approval.Question) { q.Session = "S-2" })},
		{"foreign runtime", webhook.Void, changed(func(q *approval.Question) { q.Fence = 2 })},
		{"foreign log", webhook.Void, changed(func(q *approval.Question) { q.Log = "iff/log/0000" })},
		{"another view", webhook.Void, changed(func(q *approval.Question) { q.Guarded = "skill x" })},
		{"deny turned into approve", webhook.Void, answers(func(tb testing.TB, q approval.Question) []approval.Answer {
			a := signed(tb, record.Deny, q)
			a[0].Choice = record.Approve
			return a
		})},
		{"unsigned", webhook.Void, answers(func(tb testing.TB, q approval.Question) []approval.Answer {
			return []approval.Answer{{Choice: record.Approve}}
		})},
		{"an unsigned denial", webhook.Void, answers(func(tb testing.TB, q approval.Question) []approval.Answer {
			return []approval.Answer{{Choice: record.Deny}}
		})},
		{"a choice of neither", webhook.Void, edited(func(a *approval.Answer) { a.Choice = "maybe" })},
		{"no choice, and yet signed", webhook.Void, edited(func(a *approval.Answer) { a.Choice = "" })},
		{"a policy's cause", webhook.Void, func(tb testing.TB, w http.ResponseWriter, r webhook.Request) {
			a := signed(tb, record.Approve, r.Questions[0])[0]
			a.Cause = record.CausePolicy
			data, err := a.MarshalJSON()
			if err != nil {
				tb.Error(err)
			}
			raw(200, json, `{"answers":[`+string(data)+`]}`)(tb, w, r)
		}},
	}
}

// strange are replies that are no answers.
func strange(release <-chan struct{}) []odd {
	return []odd{
		{"none", webhook.Malformed, answers(func(testing.TB, approval.Question) []approval.Answer { return nil })},
		{"too many", webhook.Malformed, answers(func(tb testing.TB, q approval.Question) []approval.Answer {
			return append(signed(tb, record.Approve, q), signed(tb, record.Approve, q)...)
		})},
		{"empty", webhook.Malformed, raw(200, json, "")},
		{"not JSON", webhook.Malformed, raw(200, json, "approve")},
		{"twice the same key", webhook.Malformed, raw(200, json, `{"answers":[],"answers":[]}`)},
		{"another member", webhook.Malformed, raw(200, json, `{"answers":[],"approve":true}`)},
		{"null", webhook.Malformed, raw(200, json, `{"answers":[null]}`)},
		{"deep", webhook.Malformed, raw(200, json, strings.Repeat("[", 100_000))},
		{"oversize", webhook.Malformed, raw(200, json, `{"answers":[`+strings.Repeat(" ", webhook.MaxAnswers)+`]}`)},
		{"another type", webhook.Malformed, raw(200, "text/html", `{"answers":[]}`)},
		{"no type", webhook.Malformed, raw(200, "", `{"answers":[]}`)},
		{"cut off", webhook.Malformed, func(_ testing.TB, w http.ResponseWriter, _ webhook.Request) {
			w.Header().Set("Content-Type", json)
			w.Header().Set("Content-Length", "100")
			fmt.Fprint(w, "{")
		}},
		{"packed", webhook.Malformed, func(tb testing.TB, w http.ResponseWriter, r webhook.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			reply(tb, w, signed(tb, record.Approve, r.Questions[0])...)
		}},
		{"an error", webhook.StatusOther, raw(500, json, `{"answers":[]}`)},
		{"created", webhook.StatusOther, raw(201, json, `{"answers":[]}`)},
		{"slow", webhook.TimedOut, func(_ testing.TB, w http.ResponseWriter, _ webhook.Request) { <-release }},
		{"slow in the middle", webhook.TimedOut, func(_ testing.TB, w http.ResponseWriter, _ webhook.Request) {
			w.Header().Set("Content-Type", json)
			fmt.Fprint(w, "{")
			w.(http.Flusher).Flush()
			<-release
		}},
		{"no HTTP", webhook.Unreachable, func(_ testing.TB, w http.ResponseWriter, _ webhook.Request) {
			conn, _, _ := w.(http.Hijacker).Hijack()
			fmt.Fprint(conn, "hello\r\n\r\n")
			_ = conn.Close()
		}},
		{"endless headers", webhook.Unreachable, func(_ testing.TB, w http.ResponseWriter, _ webhook.Request) {
			w.Header().Set("X", strings.Repeat("x", 1<<20))
		}},
	}
}

// T15: whatever is odd denies, with its reason.
func TestOddAnswers(t *testing.T) {
	release := make(chan struct{})
	defer close(release)
	for _, c := range append(void(), strange(release)...) {
		s := httptest.NewServer(handler(t, func(w http.ResponseWriter, _ *http.Request, r webhook.Request) { c.play(t, w, r) }))
		o := options(t, s.URL)
		if o.Timeout = time.Minute; c.want == webhook.TimedOut {
			o.Timeout = 50 * time.Millisecond
		}
		got, err := broker(t, o).Ask(t.Context(), questions(t, 1))
		if err != nil || len(got) != 1 || got[0].Choice != record.Deny || got[0].Cause != record.CauseBroker || got[0].Rule != string(c.want) || got[0].Broker != "webhook" {
			t.Errorf("%s: %+v %v, want %s", c.what, got, err, c.want)
		}
		if c.want != webhook.TimedOut {
			s.Close()
		} else {
			t.Cleanup(s.Close) // after the release
		}
		// The mutant that does not check lets some of them pass, so the test would see it.
		if c.want != webhook.Void || c.what == "a policy's cause" {
			continue
		}
		s = httptest.NewServer(handler(t, func(w http.ResponseWriter, _ *http.Request, r webhook.Request) { c.play(t, w, r) }))
		o = options(t, s.URL)
		o.Check = func(approval.Question, approval.Answer) error { return nil }
		if got, _ := broker(t, o).Ask(t.Context(), questions(t, 1)); got[0].Cause != record.CauseWebhook {
			t.Errorf("%s: the mutant denies too: %+v", c.what, got[0])
		}
		s.Close()
	}
}
