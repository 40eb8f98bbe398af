package broker_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/iff-run/iff/approval"
	"github.com/iff-run/iff/broker"
	"github.com/iff-run/iff/record"
)

// How a link of the tests answers.
const (
	approves = "approve"
	denies   = "deny"
	passes   = "pass"
	fails    = "fail"
	short    = "short"
	odd      = "odd"
	signs    = "signs nothing" // no choice, and a signature
)

// scripted answers question i, told by its number, as its script says.
type scripted struct {
	name  string
	says  []string
	asked *[]string // name and number of each question, in order
}

func (s scripted) Name() string { return s.name }

func (s scripted) Ask(_ context.Context, qs []approval.Question) ([]approval.Answer, error) {
	out := []approval.Answer{}
	for _, q := range qs {
		*s.asked = append(*s.asked, fmt.Sprint(s.name, " ", q.Seq))
		a := approval.Answer{Cause: record.CausePolicy}
		switch s.says[q.Seq] {
		case approves:
			a.Choice = record.Approve
		case denies:
			a.Choice = record.Deny
		case fails:
			return nil, errors.New("out of order")
		case short:
			return out, nil
		case odd:
			a.Choice = "Approve"
		case signs:
			a.Signature = "AAAA"
		}
		out = append(out, a)
	}
	return out, nil
}

// chains is a chain of scripted links, and how it was asked.
type chains struct {
	links []scripted
	asked []string
	n     int // questions
}

func drawChain(t *rapid.T) *chains {
	c := &chains{n: rapid.IntRange(0, 4).Draw(t, "questions")}
	says := rapid.SampledFrom([]string{approves, denies, passes, passes, passes, passes, fails, short, odd, signs})
	for i := range rapid.IntRange(0, 4).Draw(t, "links") {
		c.links = append(c.links, scripted{fmt.Sprint("link", i), rapid.SliceOfN(says, c.n, c.n).Draw(t, "says"), &c.asked})
	}
	return c
}

func (c *chains) questions() []approval.Question {
	out := make([]approval.Question, c.n)
	for i := range out {
		out[i].Seq = int64(i)
	}
	return out
}

type asker func([]broker.Link, []approval.Question) []approval.Answer

// chained is the chain itself.
func chained(links []broker.Link, qs []approval.Question) []approval.Answer {
	out, err := broker.Chain(links...).Ask(context.Background(), qs)
	if err != nil {
		panic(err)
	}
	return out
}

// check holds a chain against what it has to be; empty means that it is.
func (c *chains) check(ask asker) string {
	c.asked = nil
	links := make([]broker.Link, len(c.links))
	for i, l := range c.links {
		links[i] = l
	}
	answers := ask(links, c.questions())
	if len(answers) != c.n {
		return fmt.Sprintf("%d answers to %d questions", len(answers), c.n)
	}
	for i, a := range answers {
		choice, by, passed := c.want(i)
		if a.Choice != choice || a.Broker != by || !slices.Equal(a.Passed, passed) {
			return fmt.Sprintf("question %d: %q by %q behind %q, want %q by %q behind %q", i, a.Choice, a.Broker, a.Passed, choice, by, passed)
		}
		for at, l := range c.links {
			if asked := slices.Contains(c.asked, fmt.Sprint(l.name, " ", i)); asked && at > len(passed) {
				return fmt.Sprintf("question %d was put to %s, which is behind its answer", i, l.name)
			}
		}
	}
	return ""
}

// want works out one question alone: which link answers it, and how.
func (c *chains) want(i int) (choice record.Choice, by string, passed []string) {
	left := make([]int, c.n)
	for q := range left {
		left[q] = q
	}
	for at, l := range c.links {
		last := at == len(c.links)-1
		broken := slices.ContainsFunc(left, func(q int) bool { return l.says[q] == fails || l.says[q] == short })
		switch {
		case broken, l.says[i] == odd, l.says[i] == signs, l.says[i] == denies, last && l.says[i] == passes:
			return record.Deny, l.name, passed
		case l.says[i] == approves:
			return record.Approve, l.name, passed
		}
		left = slices.DeleteFunc(slices.Clone(left), func(q int) bool { return l.says[q] != passes })
		passed = append(passed, l.name)
	}
	return record.Deny, broker.DenyAll{}.Name(), nil
}

func TestChain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawChain(t)
		if wrong := c.check(chained); wrong != "" {
			t.Fatal(wrong)
		}
	})
}

// TestChainMutants: the check catches chains that are wrong.
func TestChainMutants(t *testing.T) {
	each := func(f func(l broker.Link, q approval.Question, soFar *approval.Answer) bool) asker {
		return func(links []broker.Link, qs []approval.Question) []approval.Answer {
			out := make([]approval.Answer, len(qs))
			for i, q := range qs {
				out[i] = approval.Answer{Choice: record.Deny, Broker: broker.DenyAll{}.Name()}
				for _, l := range links {
					if !f(l, q, &out[i]) {
						break
					}
				}
			}
			return out
		}
	}
	one := func(l broker.Link, q approval.Question) (approval.Answer, error) {
		a, err := l.Ask(context.Background(), []approval.Question{q})
		if err != nil || len(a) != 1 {
			return approval.Answer{}, errors.New("no answer")
		}
		return a[0], nil
	}
	for name, mutant := range map[string]asker{
		"an error is a pass": each(func(l broker.Link, q approval.Question, out *approval.Answer) bool {
			a, err := one(l, q)
			passed := out.Passed
			if err != nil || a.Choice == "" {
				*out = approval.Answer{Choice: record.Deny, Broker: l.Name(), Passed: append(passed, l.Name())}
				return true
			}
			a.Broker, a.Passed = l.Name(), passed
			*out = a
			return false
		}),
		"all passes are an approval": each(func(l broker.Link, q approval.Question, out *approval.Answer) bool {
			a, err := one(l, q)
			passed := out.Passed
			*out = approval.Answer{Choice: a.Choice, Broker: l.Name(), Passed: passed}
			if err != nil || a.Choice == "" {
				out.Choice, out.Passed = record.Approve, append(passed, l.Name())
			}
			return err == nil && a.Choice == ""
		}),
		"a later approval overrules": each(func(l broker.Link, q approval.Question, out *approval.Answer) bool {
			if a, err := one(l, q); err == nil && a.Choice == record.Approve {
				*out = approval.Answer{Choice: a.Choice, Broker: l.Name()}
			}
			return true
		}),
		"nobody is named": each(func(l broker.Link, q approval.Question, out *approval.Answer) bool {
			a, err := one(l, q)
			if err == nil && a.Choice != "" {
				*out = a
			}
			return err == nil && a.Choice == ""
		}),
	} {
		killed := false
		for seed := range 200 {
			c := rapid.Custom(drawChain).Example(seed)
			killed = killed || c.check(mutant) != ""
		}
		if !killed {
			t.Errorf("%s: the check lets it pass", name)
		}
	}
}

func TestChainEdges(t *testing.T) {
	q := make([]approval.Question, 1)
	ended, end := context.WithCancel(t.Context())
	end()
	asked := []string{}
	yes := scripted{"yes", []string{approves}, &asked}
	pass := scripted{"pass", []string{passes}, &asked}
	for name, c := range map[string]struct {
		chain *broker.Links
		ctx   context.Context
		by    string
	}{
		"empty":   {broker.Chain(), t.Context(), "deny-all"},
		"zero":    {new(broker.Links), t.Context(), "deny-all"},
		"nil":     {broker.Chain(nil, yes), t.Context(), "deny-all"},
		"ended":   {broker.Chain(yes), ended, "yes"},
		"nested":  {broker.Chain(broker.Chain(pass), yes), t.Context(), "pass"},
		"denyall": {broker.Chain(pass, broker.DenyAll{}, yes), t.Context(), "deny-all"},
	} {
		a, err := c.chain.Ask(c.ctx, q)
		if err != nil || len(a) != 1 || a[0].Choice != record.Deny || a[0].Broker != c.by {
			t.Errorf("%s: %+v %v", name, a, err)
		}
	}
	a, _ := broker.Chain(pass, broker.Chain(pass, yes)).Ask(t.Context(), q)
	if a[0].Choice != record.Approve || a[0].Broker != "yes" || !slices.Equal(a[0].Passed, []string{"pass", "pass"}) {
		t.Errorf("%+v", a[0])
	}
	if got := broker.Chain(pass, yes).Name(); got != "pass, yes" {
		t.Error(got)
	}
}
