package iff

import (
	"context"
	"fmt"
	"os"

	"github.com/iff-run/iff/approval"
	"github.com/iff-run/iff/broker"
	"github.com/iff-run/iff/internal/ask/inbox"
	"github.com/iff-run/iff/internal/ask/webhook"
	"github.com/iff-run/iff/internal/home"
)

// broker is who is asked: whoever embeds iff says so, or else those of iff.toml,
// one after the other.
func (r *Runtime) broker(ctx context.Context, b *Boot) (Broker, error) {
	if b.opts.Broker != nil {
		return b.opts.Broker, nil
	}
	var links []broker.Link
	for _, ask := range r.home.Config().Gate.Chain {
		switch ask {
		case home.AskPolicy:
			links = append(links, b.policy.Policy)
		case home.AskWebhook:
			w, err := r.webhook(ctx)
			if err != nil {
				return nil, err
			}
			links = append(links, w)
		case home.AskInbox:
			r.inbox = inbox.New(inbox.Options{Check: r.counts, Late: r.late, Now: r.now})
			links = append(links, r.inbox)
		default:
			return nil, fmt.Errorf("nobody is called %q", ask)
		}
	}
	switch len(links) {
	case 0:
		return broker.DenyAll{}, nil
	case 1:
		return links[0], nil
	}
	return broker.Chain(links...), nil
}

// counts says whether an answer counts now.
func (r *Runtime) counts(q approval.Question, a approval.Answer) error {
	return q.Check(a, r.Trust(), r.now())
}

func (r *Runtime) webhook(ctx context.Context) (*webhook.Broker, error) {
	c := r.home.Config().Webhook
	key, err := r.home.WebhookSigner(ctx)
	if err != nil {
		return nil, fmt.Errorf("the key for the webhook: %w", err)
	}
	o := webhook.Options{
		URL: c.URL, Pin: c.Pin, Timeout: c.Timeout, Key: key, Log: r.home.Config().Log.Origin, Fence: r.home.State().Fence() + 1,
		Check: r.counts, Now: r.now,
	}
	if c.CA != "" {
		if o.CA, err = os.ReadFile(c.CA); err != nil {
			return nil, fmt.Errorf("webhook.ca: %w", err)
		}
	}
	return webhook.New(o)
}

// policy is what the home's files say; nil where there are none.
type policy struct{ *broker.Policy }

func readPolicy(h *home.Home) (policy, error) {
	var files []broker.PolicyFile
	for _, f := range h.PolicyFiles() {
		files = append(files, broker.PolicyFile{Name: f.Name, Text: f.Text})
	}
	if len(files) == 0 {
		return policy{}, nil
	}
	p, err := broker.ParsePolicy(files, broker.PolicyOptions{Profile: string(h.Config().Profile)})
	return policy{p}, err
}

// digest is for the log; empty where there is no policy.
func (p policy) digest() string {
	if p.Policy == nil {
		return ""
	}
	return p.Digest().String()
}
