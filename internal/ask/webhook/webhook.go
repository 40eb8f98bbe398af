package webhook

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/iff-run/iff/approval"
	"github.com/iff-run/iff/internal/canonical"
	"github.com/iff-run/iff/record"
	"github.com/iff-run/iff/trust"
)

// name is what records call this broker.
const name = "webhook"

// Bounds.
const (
	MaxPosts       = 8        // requests that are under way
	MaxRequest     = 16 << 20 // bytes of the questions of one request
	MaxAnswers     = 1 << 20  // bytes of its answers
	DefaultTimeout = 20 * time.Second
)

// Options of a broker. URL, Key, Log, Fence and Check are needed, and for https
// Pin or CA.
type Options struct {
	URL     string
	Pin     string        // of the server's public key: "sha256/" and the base64 of SHA-256 of its SubjectPublicKeyInfo (RFC 7469)
	CA      []byte        // PEM certificates to which the server's leads
	Timeout time.Duration // of one request; 0 is [DefaultTimeout]

	Key   trust.Signer // by which a receiver knows this runtime
	Log   string       // origin of the log
	Fence int64        // of the runtime

	// Check says whether an answer to a question counts.
	Check func(approval.Question, approval.Answer) error
	// Now is the clock, time.Now if it is nil.
	Now func() time.Time
}

// Broker asks a webhook. It is made by [New] and safe for concurrent use; the zero
// value denies everything.
type Broker struct {
	options Options
	client  *http.Client
	slots   chan struct{}
}

// New makes a broker. The error is *[Error] with webhook-options. It connects to
// nobody yet.
func New(o Options) (*Broker, error) {
	if o.Key == nil || o.Check == nil || o.Log == "" || o.Fence < 1 {
		return nil, refuse(OptionsInvalid, nil, "a key, a check, a log or a fence is missing")
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Timeout <= 0 {
		o.Timeout = DefaultTimeout
	}
	client, err := newClient(o)
	if err != nil {
		return nil, err
	}
	return &Broker{options: o, client: client, slots: make(chan struct{}, MaxPosts)}, nil
}

// Name is the name of the broker in records.
func (b *Broker) Name() string { return name }

// Ask puts the questions and returns when all are answered, one way or the other;
// it never fails. An answer without a choice is no opinion.
func (b *Broker) Ask(ctx context.Context, qs []approval.Question) ([]approval.Answer, error) {
	out := make([]approval.Answer, len(qs))
	if b.client == nil {
		for i := range out {
			out[i] = denial(OptionsInvalid)
		}
		return out, nil
	}
	for start := 0; start < len(qs); {
		forms, n := batch(qs[start:])
		part := out[start : start+n]
		start += n
		answers, why := b.post(ctx, forms, qs[start-n:start])
		for i := range part {
			if why != "" {
				part[i] = b.unanswered(ctx, why)
			} else {
				part[i] = answers[i]
			}
		}
	}
	return out, nil
}

// batch writes the first questions that fit one request. None fit if the first
// cannot be written; then n is 1.
func batch(qs []approval.Question) (forms []canonical.Raw, n int) {
	room := MaxRequest
	for _, q := range qs[:min(len(qs), approval.MaxBatch)] {
		data, err := q.MarshalJSON()
		var form canonical.Raw
		if err == nil {
			form, err = canonical.NewRaw(data, canonical.Limits{Bytes: MaxRequest})
		}
		if room -= len(data); room < 0 || err != nil {
			break
		}
		forms = append(forms, form)
	}
	return forms, max(len(forms), 1)
}

// unanswered is a denial that the webhook did not give: because of who asks, if
// he does not wait any more.
func (b *Broker) unanswered(ctx context.Context, why Reason) approval.Answer {
	a := denial(why)
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		a.Cause = record.CauseTimeout
	case ctx.Err() != nil:
		a.Cause = record.CauseCancelled
	}
	return a
}

func denial(why Reason) approval.Answer {
	return approval.Answer{Choice: record.Deny, Cause: record.CauseBroker, Broker: name, Rule: string(why)}
}

// judge takes what came back for one question, if it counts for it.
func (b *Broker) judge(q approval.Question, a approval.Answer) approval.Answer {
	if a.Choice == "" && a.Approver == "" && a.Signature == "" {
		return approval.Answer{}
	}
	if a.Cause != record.CauseWebhook {
		return denial(Void)
	}
	a.Broker, a.Rule, a.SameUID = name, "", false
	if err := b.options.Check(q, a); err != nil {
		return denial(Void)
	}
	return a
}
