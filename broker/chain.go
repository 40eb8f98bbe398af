package broker

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/iff-run/iff/approval"
	"github.com/iff-run/iff/record"
)

// Link is a broker that may stand in a chain: it may leave questions to the next
// with an answer without a choice.
type Link interface {
	// Name is what records call it.
	Name() string
	// Ask gives one answer for each question, in order.
	Ask(context.Context, []approval.Question) ([]approval.Answer, error)
}

// Links is a chain. The zero value denies everything.
type Links struct{ links []Link }

// Chain asks links in this order, each what the ones before passed. What the last
// passes is denied. It is safe for concurrent use if the links are.
func Chain(links ...Link) *Links { return &Links{slices.Clone(links)} }

// Name is the names of the links, in order.
func (c *Links) Name() string {
	if len(c.links) == 0 {
		return denyAll
	}
	names := make([]string, len(c.links))
	for i, l := range c.links {
		names[i] = nameOf(l)
	}
	return strings.Join(names, ", ")
}

func nameOf(l Link) string {
	if l == nil {
		return denyAll
	}
	return l.Name()
}

// Ask puts the questions to one link after the other. It never fails: a link that
// does denies what it was asked.
func (c *Links) Ask(ctx context.Context, qs []approval.Question) ([]approval.Answer, error) {
	out := make([]approval.Answer, len(qs))
	left := make([]int, len(qs)) // places in qs of what is not answered
	for i := range left {
		left[i] = i
		out[i] = denial(c.Name(), nil)
	}
	var passed []string
	for _, l := range c.links {
		if len(left) == 0 {
			break
		}
		answers, err := put(ctx, l, qs, left)
		next := left[:0]
		for i, at := range left {
			out[at] = denial(nameOf(l), passed)
			switch {
			case err != nil:
			case passes(answers[i]):
				next = append(next, at)
			case decides(answers[i]):
				out[at] = from(l, answers[i], passed)
			}
		}
		left, passed = next, append(passed, nameOf(l))
	}
	return out, nil
}

// put asks one link what is left.
func put(ctx context.Context, l Link, qs []approval.Question, left []int) ([]approval.Answer, error) {
	if l == nil {
		return nil, errors.New("no link")
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	asked := make([]approval.Question, len(left))
	for i, at := range left {
		asked[i] = qs[at]
	}
	answers, err := l.Ask(ctx, asked)
	if err == nil && len(answers) != len(asked) {
		err = errors.New("another number of answers than of questions")
	}
	return answers, err
}

// passes says whether an answer is no opinion: it has neither a choice nor
// anything that would sign one.
func passes(a approval.Answer) bool {
	return a.Choice == "" && a.Approver == "" && a.Signature == ""
}

func decides(a approval.Answer) bool {
	return a.Choice == record.Approve || a.Choice == record.Deny
}

// from is a link's answer with who was asked before.
func from(l Link, a approval.Answer, passed []string) approval.Answer {
	if a.Broker == "" {
		a.Broker = l.Name()
	}
	a.Passed = slices.Concat(passed, a.Passed)
	return a
}

// denial is what stands for a link that gave no answer.
func denial(name string, passed []string) approval.Answer {
	return approval.Answer{Choice: record.Deny, Cause: record.CauseBroker, Broker: name, Passed: slices.Clone(passed)}
}
