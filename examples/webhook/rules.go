package main

import (
	"fmt"
	"strings"

	"github.com/iff-run/iff/approval"
	"github.com/iff-run/iff/capability"
	"github.com/iff-run/iff/record"
)

// rule is one line: a choice and the grant of what it is for.
type rule struct {
	choice record.Choice
	grant  capability.Grant
}

// parseRules reads lines such as
//
//	approve fs.write.rev(notes/**)
//	deny    net.egress(*.example.com)
//	pass    fs.write.irrev(**)
//
// in which # begins a comment. The first that covers a call decides; no opinion
// is had on what none covers.
func parseRules(text string) ([]rule, error) {
	var out []rule
	n := 0
	for line := range strings.Lines(text) {
		n++
		line, _, _ = strings.Cut(line, "#")
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		word, rest, _ := strings.Cut(line, " ")
		choice := record.Choice(word)
		if word == "pass" {
			choice = ""
		} else if choice != record.Approve && choice != record.Deny {
			return nil, fmt.Errorf("line %d: %q is none of approve, deny and pass", n, word)
		}
		g, err := capability.ParseGrant(strings.TrimSpace(rest))
		if err == nil && g.Bare() {
			err = fmt.Errorf("%s covers nothing; say what, in parentheses", g)
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		out = append(out, rule{choice, g})
	}
	return out, nil
}

// decide is what the rules say. What is guarded they leave to a person.
func decide(rules []rule, q approval.Question) record.Choice {
	for _, r := range rules {
		if r.grant.Covers(q.Envelope.Target()) && (q.Guarded == "" || r.choice == record.Deny) {
			return r.choice
		}
	}
	return ""
}
