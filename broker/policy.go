package broker

import (
	"context"
	"crypto/sha256"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/cedar-policy/cedar-go"
	"github.com/cedar-policy/cedar-go/types"
	"github.com/cedar-policy/cedar-go/x/exp/ast"
	"github.com/cedar-policy/cedar-go/x/exp/eval"
	"github.com/cedar-policy/cedar-go/x/exp/schema/validate"

	"github.com/iff-run/iff/approval"
	"github.com/iff-run/iff/capability"
	"github.com/iff-run/iff/internal/canonical"
	"github.com/iff-run/iff/internal/visible"
	"github.com/iff-run/iff/level"
	"github.com/iff-run/iff/record"
)

// PolicyFile is Cedar text. Rules are named after the file, so a name that is the
// same everywhere makes rules that are: not a path of one machine.
type PolicyFile struct {
	Name string
	Text []byte
}

// PolicyOptions say under what a policy decides. The zero value is as strict as
// profile strict.
type PolicyOptions struct {
	Profile string // strict or dev
}

// Policy decides by rules. What it decides does not change, and it is safe for
// concurrent use. The zero value has no rules and passes everything.
type Policy struct {
	dev     bool
	digest  record.Hash
	rules   []rule
	byClass map[capability.Capability]ruleSet // those that can match at all
	check   *validate.Validator               // of what the rules ask for
	actions map[types.EntityUID]types.Entity
	uses    uses
	// What was asked for lately.
	made memo[contextKey, types.Record]
	seen memo[capability.Target, types.Entity]
}

// rule is one permit or forbid.
type rule struct {
	id     cedar.PolicyID // how it is named
	file   string
	line   int
	policy *cedar.Policy
	tree   *ast.Policy
	node   ast.IsNode // scope and conditions as one expression
}

func (r rule) permits() bool { return r.policy.Effect() == cedar.Permit }

// ruleSet is rules in order. It implements cedar.PolicyIterator.
type ruleSet []rule

// All gives the rules in order.
func (s ruleSet) All() iter.Seq2[cedar.PolicyID, *cedar.Policy] {
	return func(yield func(cedar.PolicyID, *cedar.Policy) bool) {
		for _, r := range s {
			if !yield(r.id, r.policy) {
				return
			}
		}
	}
}

// policyBroker is what records call a policy.
const policyBroker = "policy"

// ParsePolicy reads the files of one policy, in any order, and refuses what is not
// Cedar, does not fit the schema, or is a wildcard; see the package. The error is
// *[Error].
func ParsePolicy(files []PolicyFile, opts PolicyOptions) (*Policy, error) {
	p, err := parsePolicy(files, opts)
	if err != nil {
		return nil, err
	}
	if err := p.checkWildcards(); err != nil {
		return nil, err
	}
	return p, nil
}

// parsePolicy does all but look for wildcards.
func parsePolicy(files []PolicyFile, opts PolicyOptions) (*Policy, error) {
	p := &Policy{dev: opts.Profile == "dev", actions: actionEntities(), byClass: map[capability.Capability]ruleSet{}}
	files, digest, err := order(files)
	if err != nil {
		return nil, err
	}
	p.digest = digest
	for _, f := range files {
		rules, err := readRules(f)
		if err != nil {
			return nil, err
		}
		p.rules = append(p.rules, rules...)
	}
	if err := p.settle(); err != nil {
		return nil, err
	}
	p.uses = newUses(p.rules)
	for _, row := range capability.Vocabulary() {
		for _, r := range p.rules {
			if !p.ties(r, row.Capability).never() {
				p.byClass[row.Capability] = append(p.byClass[row.Capability], r)
			}
		}
	}
	p.uses.add(p.byClass)
	p.check, err = newValidator(&p.uses)
	return p, err
}

// settle checks and names the rules.
func (p *Policy) settle() error {
	if err := nameRules(p.rules); err != nil {
		return err
	}
	check, err := newValidator(nil)
	if err != nil {
		return err
	}
	for i, r := range p.rules {
		if err := check.Policy("", r.tree); err != nil {
			return &Error{
				Reason: PolicySchema, File: r.file, Line: r.line, Detail: firstLine(err.Error()), Err: err,
				Remedy: "see which names and types there are: iff policy schema",
			}
		}
		p.rules[i].node = eval.PolicyToNode(r.tree).AsIsNode()
		if err := checkLiterals(p.rules[i]); err != nil {
			return err
		}
	}
	return nil
}

// firstLine is the first of the lines in the order of their text: they come in
// another one each time.
func firstLine(s string) string {
	lines := strings.Split(s, "\n")
	slices.Sort(lines)
	return visible.Escape(lines[0])
}

// order sorts files by name and says what they are together.
func order(files []PolicyFile) ([]PolicyFile, record.Hash, error) {
	type entry struct {
		Name   string `json:"name"`
		SHA256 string `json:"sha256"`
	}
	files = slices.Clone(files)
	slices.SortFunc(files, func(a, b PolicyFile) int { return strings.Compare(a.Name, b.Name) })
	all := []entry{}
	for i, f := range files {
		if err := checkName(f.Name); err != nil {
			return nil, record.Hash{}, err
		}
		if i > 0 && files[i-1].Name == f.Name {
			return nil, record.Hash{}, &Error{Reason: PolicyFileName, File: f.Name, Detail: "two files of one policy have this name", Remedy: "rename one"}
		}
		all = append(all, entry{f.Name, record.Hash(sha256.Sum256(f.Text)).String()})
	}
	form, err := canonical.Marshal(all)
	if err != nil {
		return nil, record.Hash{}, &Error{Reason: PolicyFileName, Detail: "the name of a file is not UTF-8", Remedy: "rename it", Err: err}
	}
	return files, sha256.Sum256(form), nil
}

// Name is what records call it: policy.
func (p *Policy) Name() string { return policyBroker }

// Digest is of the names and texts of the files, in whichever order they came.
func (p *Policy) Digest() record.Hash { return p.digest }

// Ask answers each question, or passes it with an answer without a choice. It
// never fails.
func (p *Policy) Ask(_ context.Context, qs []approval.Question) ([]approval.Answer, error) {
	out := make([]approval.Answer, len(qs))
	for i, q := range qs {
		if r := p.Decide(q); r.Choice != "" {
			out[i] = approval.Answer{Choice: r.Choice, Cause: record.CausePolicy, Broker: policyBroker, Rule: r.Rule}
		}
	}
	return out, nil
}

// Ruling is what a policy says of a question. The zero value passes it.
type Ruling struct {
	Choice record.Choice // empty: it has no opinion
	Rule   string        // that decided, or whose approval is one too many; empty if none matched
	Limit  string        // why an approval became a pass, in words
	// Matched are the rules that matched, in order, and Diagnostics what could not
	// be evaluated, in words.
	Matched     []string
	Diagnostics []string
}

// failedRule is the rule of a denial because of an error.
const failedRule = "error"

// Decide says what the policy says of q: the same of the same question always.
func (p *Policy) Decide(q approval.Question) Ruling {
	rules := p.byClass[q.Envelope.Target().Capability()]
	if len(rules) == 0 {
		return Ruling{}
	}
	out, err := p.decide(rules, &q)
	if err != nil {
		return Ruling{Choice: record.Deny, Rule: failedRule, Diagnostics: []string{err.Error()}}
	}
	if out.Choice == record.Approve {
		if out.Limit = p.limit(&q); out.Limit != "" {
			out.Choice = ""
		}
	}
	return out
}

// limit says why no policy approves q; empty if one may.
func (p *Policy) limit(q *approval.Question) string {
	unverified := level.Unverified.String()
	switch {
	case q.Guarded != "":
		return "it reaches for something guarded, which no policy approves"
	case p.dev && q.Profile == "dev":
	case q.Level == unverified, q.Skill.Level == unverified:
		return "the skill is unverified, and outside of profile dev no policy approves for one"
	}
	return ""
}

func (p *Policy) decide(rules ruleSet, q *approval.Question) (Ruling, error) {
	targets, err := targetsOf(q)
	if err != nil {
		return Ruling{}, err
	}
	request, err := p.request(q, targets[0])
	if err != nil {
		return Ruling{}, err
	}
	var whole Ruling
	for i, t := range targets {
		one, err := p.decideOn(rules, request, t)
		if err != nil {
			return Ruling{}, err
		}
		if whole = both(whole, one, i == 0); whole.Choice == record.Deny {
			break
		}
	}
	return whole, nil
}

// request is a question as Cedar has it, on its first target. It fits the schema.
func (p *Policy) request(q *approval.Question, t capability.Target) (cedar.Request, error) {
	class := t.Capability()
	r := cedar.Request{
		Principal: types.NewEntityUID(typeAgent, types.String(q.Agent)),
		Action:    types.NewEntityUID(typeAction, types.String(class.String())),
		Resource:  types.NewEntityUID(resourceType(class), types.String(t.String())),
	}
	key, err := p.uses.contextOf(q)
	if err != nil {
		return r, err
	}
	known := false
	if r.Context, known = p.made.find(key); known {
		return r, nil // of another question with the same types throughout
	}
	r.Context = key.record(p.uses.context[class])
	if err := p.check.Request(r); err != nil {
		return r, fmt.Errorf("the request does not fit the schema: %w", err)
	}
	if key.bytes() <= maxContextBytes {
		p.made.keep(key, r.Context, maxContexts)
	}
	return r, nil
}

// both is what comes of the rulings on the objects so far and on one more: a
// denial of one denies, an approval needs all.
func both(whole, one Ruling, first bool) Ruling {
	switch {
	case first || one.Choice == record.Deny:
		return one
	case whole.Choice == "" || one.Choice == "":
		return Ruling{Matched: whole.Matched}
	}
	for _, r := range one.Matched {
		if !slices.Contains(whole.Matched, r) {
			whole.Matched = append(whole.Matched, r)
		}
	}
	return whole
}

// resource is a target as Cedar sees it. It fits the schema.
func (p *Policy) resource(t capability.Target) (types.Entity, error) {
	if e, ok := p.seen.find(t); ok {
		return e, nil
	}
	e, err := p.uses.resourceOf(t)
	if err != nil {
		return e, err
	}
	if err := p.check.Entity(e); err != nil {
		return e, fmt.Errorf("the target does not fit the schema: %w", err)
	}
	if len(t.String()) <= maxTargetBytes {
		p.seen.keep(t, e, maxTargets)
	}
	return e, nil
}

// decideOn decides on one target.
func (p *Policy) decideOn(rules ruleSet, request cedar.Request, t capability.Target) (Ruling, error) {
	resource, err := p.resource(t)
	if err != nil {
		return Ruling{}, err
	}
	request.Resource = resource.UID
	decision, diagnostic := cedar.Authorize(rules, &entities{resource, p.uses.places, p.actions}, request)
	var out Ruling
	for _, r := range diagnostic.Reasons {
		out.Matched = append(out.Matched, string(r.PolicyID))
	}
	if len(diagnostic.Errors) > 0 {
		for _, e := range diagnostic.Errors {
			out.Diagnostics = append(out.Diagnostics, string(e.PolicyID)+": "+e.Message)
		}
		out.Choice, out.Rule = record.Deny, failedRule+" "+string(diagnostic.Errors[0].PolicyID)
		return out, nil
	}
	if len(out.Matched) > 0 {
		out.Rule, out.Choice = out.Matched[0], record.Deny
		if decision == cedar.Allow {
			out.Choice = record.Approve
		}
	}
	return out, nil
}

// Rule is one rule, for people.
type Rule struct {
	Name    string // file:line, and its @id
	Permits bool
	Tokens  []string // of the capabilities that it can match, in the order of the vocabulary
}

// Rules are the rules in the order in which they are named.
func (p *Policy) Rules() []Rule {
	var out []Rule
	for _, r := range p.rules {
		o := Rule{Name: string(r.id), Permits: r.permits()}
		for _, row := range capability.Vocabulary() {
			if slices.ContainsFunc(p.byClass[row.Capability], func(s rule) bool { return s.id == r.id }) {
				o.Tokens = append(o.Tokens, row.Token)
			}
		}
		out = append(out, o)
	}
	return out
}
