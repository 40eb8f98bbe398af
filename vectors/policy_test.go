package vectors_test

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"strconv"

	"github.com/iff-run/iff/approval"
	"github.com/iff-run/iff/broker"
	"github.com/iff-run/iff/internal/canonical"
)

func (v vector) policy(text []byte) (*broker.Policy, error) {
	file := broker.PolicyFile{Name: cmp.Or(v.get("file"), "p.cedar"), Text: text}
	return broker.ParsePolicy([]broker.PolicyFile{file}, broker.PolicyOptions{})
}

// runReadPolicy has the text of a policy.
func runReadPolicy(v vector, _ string) (result, error) {
	p, err := v.policy(v.payload)
	var refused *broker.Error
	switch {
	case errors.As(err, &refused) && refused.Line > 0:
		return answer(string(refused.Reason), "line", strconv.Itoa(refused.Line))
	case errors.As(err, &refused):
		return answer(string(refused.Reason))
	case err != nil:
		return result{}, err
	}
	names := []string{}
	for _, r := range p.Rules() {
		names = append(names, r.Name)
	}
	form, err := canonical.Marshal(names)
	if err != nil {
		return result{}, err
	}
	return answer("ok", "rules", string(form))
}

// runDecide has a question, and in the lines below it a policy.
func runDecide(v vector, _ string) (result, error) {
	question, text, _ := bytes.Cut(v.payload, []byte("\n"))
	q, err := approval.ParseQuestion(question)
	if err != nil {
		return result{}, err
	}
	p, err := v.policy(text)
	if err != nil {
		return result{}, err
	}
	r := p.Decide(q)
	token := cmp.Or(string(r.Choice), "pass")
	if r.Rule == "" {
		return answer(token)
	}
	return answer(token, "rule", r.Rule)
}

// runFacts has a question.
func runFacts(v vector, _ string) (result, error) {
	q, err := approval.ParseQuestion(v.payload)
	if err != nil {
		return result{}, err
	}
	list, err := broker.Facts(q)
	if err != nil {
		return result{}, err
	}
	facts := map[string]string{}
	for _, f := range list {
		if _, twice := facts[f.Name]; twice {
			return result{}, fmt.Errorf("two facts %s", f.Name)
		}
		facts[f.Name] = f.Value
	}
	form, err := canonical.Marshal(facts)
	if err != nil {
		return result{}, err
	}
	return answer("ok", "facts", string(form))
}
