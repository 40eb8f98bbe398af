package main

import (
	"fmt"

	"github.com/iff-run/iff/approval"
	"github.com/iff-run/iff/audit"
	"github.com/iff-run/iff/capability"
	"github.com/iff-run/iff/internal/home"
	"github.com/iff-run/iff/record"
)

// logged is a request that was asked about, as the log has it.
type logged struct {
	audit.Stored
	request  record.Request
	decision *record.Decision // nil: none yet, or a crash was faster
}

// askedRequests goes through the log, in order, and gives each request that
// somebody was asked about, once it is known what came of it; those without a
// decision come last.
type askedRequests struct {
	*app
	home    *home.Home
	skills  map[string]record.Skill // by subject
	profile string                  // of the newest boot
	open    map[string]logged
	order   []string // of open
}

func (a *app) askedRequests(h *home.Home) *askedRequests {
	return &askedRequests{app: a, home: h, skills: map[string]record.Skill{}, open: map[string]logged{}}
}

// each calls do for each of them. All records are read: what a skill is called
// stands anywhere before.
func (r *askedRequests) each(do func(logged) error) error {
	everything, err := filterFlags{}.compile(r.now())
	if err != nil {
		return err
	}
	err = r.app.each(r.home, everything, func(s audit.Stored) error {
		s.Line = nil
		for _, k := range skillsOf(s.Body) {
			r.skills[k.Subject] = k
		}
		switch b := s.Body.(type) {
		case record.Boot:
			r.profile = b.Profile
		case record.Request:
			r.begin(s, b)
		case record.ReversibleRequest:
			r.begin(s, b.Request)
		case record.Decision:
			l, ok := r.open[s.Request]
			delete(r.open, s.Request)
			if l.decision = &b; ok && l.Batch != s.Batch {
				return do(l)
			}
		case record.Committed, record.RolledBack:
			delete(r.open, s.Request) // it was staged, and nobody had to be asked
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, id := range r.order {
		if l, ok := r.open[id]; ok {
			if err := do(l); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *askedRequests) begin(s audit.Stored, b record.Request) {
	r.open[s.Request] = logged{Stored: s, request: b}
	if len(r.order) > 2*len(r.open)+1000 { // most are decided
		kept := r.order[:0]
		for _, id := range r.order {
			if _, ok := r.open[id]; ok {
				kept = append(kept, id)
			}
		}
		r.order = kept
	}
	r.order = append(r.order, s.Request)
}

// question makes a logged request a question again, as far as a policy sees it.
func (r *askedRequests) question(l logged) (approval.Question, error) {
	store := r.home.LogStore()
	data, err := audit.Fetch(r.ctx, store, l.request.Payload)
	if err != nil {
		return approval.Question{}, err
	}
	envelope, err := capability.ParseEnvelope(data)
	if err != nil || envelope.Hash() != l.request.Envelope {
		return approval.Question{}, damaged(&audit.Error{
			Reason: audit.BlobMissing, Detail: fmt.Sprintf("record %d: what was kept with the request is not its envelope", l.Seq), Err: err,
		})
	}
	plan := l.request.Plan
	if l.request.Rest.Size > 0 {
		if data, err = audit.Fetch(r.ctx, store, l.request.Rest); err != nil {
			return approval.Question{}, err
		}
		if plan, err = record.ParseChanges(data); err != nil {
			return approval.Question{}, err
		}
	}
	profile := r.profile
	if l.decision != nil {
		profile = l.decision.Profile
	}
	return approval.Question{
		Session: l.Session, Request: l.Request, Seq: l.Seq, Agent: l.request.Agent, Profile: profile, Envelope: envelope,
		Effect: envelope.Target().Capability().Effect(), Plan: plan, Skill: r.skills[l.request.Skill], Level: l.request.Level,
		Mark: l.request.Mark, Sink: l.request.Sink, Guarded: l.request.Guarded,
	}, nil
}
