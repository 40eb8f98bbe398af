package main

import (
	"cmp"
	"fmt"
	"strconv"

	"github.com/iff-run/iff/approval"
	"github.com/iff-run/iff/broker"
	"github.com/iff-run/iff/capability"
	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/internal/home"
	"github.com/iff-run/iff/internal/visible"
	"github.com/iff-run/iff/record"
)

type policyExplainCmd struct {
	Request string   `arg:"" optional:"" help:"Id of a logged call, or the end of it; else say the call with --cap and --target."`
	Policy  []string `help:"Cedar file; can be given again. By default those of the home." placeholder:"FILE"`
	Cap     string   `help:"Capability, such as net.egress." placeholder:"TOKEN"`
	Target  string   `help:"What the call acts on, spelled as in a grant." placeholder:"TARGET"`
	Op      string   `help:"Operation, such as delete: the argument op." placeholder:"OP"`
	Method  string   `help:"HTTP method: the argument method." placeholder:"METHOD"`
	Agent   string   `help:"Who asks." default:"agent" placeholder:"AGENT"`
	Skill   string   `help:"Name of the active skill." placeholder:"NAME"`
	Signer  string   `help:"Its signer." placeholder:"NAME"`
	Level   string   `help:"Its level, and the session's." default:"declared" enum:"unverified,declared,tested,formal"`
	Guarded bool     `help:"The call reaches for something guarded."`
}

type policyExplainJSON struct {
	Decides     string           `json:"decides" doc:"approve, deny, or pass"`
	Rule        string           `json:"rule" doc:"that decides; empty: none matches"`
	Limit       string           `json:"limit" doc:"why an approval became a pass; empty: it did not"`
	Matched     []string         `json:"matched" doc:"rules that match"`
	Diagnostics []string         `json:"diagnostics" doc:"what could not be evaluated"`
	Recorded    string           `json:"recorded" doc:"of a logged call: approve or deny, and by what cause; else empty"`
	Facts       []policyFactJSON `json:"facts" doc:"all that a rule can ask of the call"`
}

type policyFactJSON struct {
	Name  string `json:"name" doc:"as a rule writes it"`
	Value string `json:"value" doc:"as Cedar writes it"`
}

// Run decides one call.
func (c policyExplainCmd) Run(a *app) error {
	if (c.Request == "") == (c.Cap == "" && c.Target == "") {
		return &usageError{reason: "usage", detail: "name a logged call, or say one with --cap and --target", remedy: "see: iff policy explain --help"}
	}
	var out policyExplainJSON
	err := a.withHome(home.Read, func(h *home.Home) error {
		p, err := a.policyOf(h, c.Policy)
		if err != nil {
			return err
		}
		var q approval.Question
		if c.Request == "" {
			q, err = c.question(string(h.Config().Profile))
		} else {
			q, out.Recorded, err = c.logged(a, h)
		}
		if err != nil {
			return err
		}
		return out.explain(p, q)
	})
	if err != nil {
		return err
	}
	return a.print(out, func() error { return a.printExplained(out) })
}

func (out *policyExplainJSON) explain(p *broker.Policy, q approval.Question) error {
	r := p.Decide(q)
	out.Decides, out.Rule, out.Limit = cmp.Or(string(r.Choice), "pass"), r.Rule, r.Limit
	out.Matched, out.Diagnostics, out.Facts = list(r.Matched), list(r.Diagnostics), []policyFactJSON{}
	facts, err := broker.Facts(q)
	if err != nil {
		return nil // the diagnostics say it
	}
	for _, f := range facts {
		out.Facts = append(out.Facts, policyFactJSON(f))
	}
	return nil
}

// question makes one from the flags: a call that changes its target alone, to
// something known beforehand.
func (c policyExplainCmd) question(profile string) (approval.Question, error) {
	wrong := func(flag string, err error) (approval.Question, error) {
		return approval.Question{}, &usageError{reason: "usage", detail: flag + ": " + visible.Escape(err.Error()), remedy: "see which there are: iff policy schema"}
	}
	class, err := capability.Parse(c.Cap)
	if err != nil {
		return wrong("--cap", err)
	}
	target, err := capability.ParseTarget(class, c.Target)
	if err != nil {
		return wrong("--target", err)
	}
	arguments, comma := "{", ""
	for _, m := range []struct{ name, value string }{{"method", c.Method}, {"op", c.Op}} {
		if m.value != "" {
			arguments += comma + strconv.Quote(m.name) + ":" + strconv.QuoteToASCII(m.value)
			comma = ","
		}
	}
	envelope, err := capability.NewEnvelope(capability.Call{Target: target, Arguments: []byte(arguments + "}")})
	if err != nil {
		return wrong("--op", err)
	}
	q := approval.Question{
		Agent: c.Agent, Profile: profile, Envelope: envelope, Effect: class.Effect(), Level: c.Level,
		Skill: record.Skill{Name: c.Skill, Signer: c.Signer, Level: c.Level},
	}
	if c.Guarded {
		q.Guarded = target.String()
	}
	if name, path, ok := target.Path(); ok && class.Effect() != capability.None {
		change := corpus.Change{Object: corpus.Name(name, path), Before: corpus.Facts{Kind: corpus.File}.State(), After: corpus.Facts{Kind: corpus.File, Mode: 0o644}.State()}
		if c.Op == "delete" {
			change.After = corpus.Absent
		}
		q.Plan = []corpus.Change{change}
	}
	return q, nil
}

// logged finds the call of an id, or of the end of one.
func (c policyExplainCmd) logged(a *app, h *home.Home) (q approval.Question, recorded string, err error) {
	var found []logged
	asked := a.askedRequests(h)
	err = asked.each(func(l logged) error {
		if endsIn(l.Request, c.Request) {
			found = append(found, l)
		}
		return nil
	})
	switch {
	case err != nil:
		return q, "", err
	case len(found) == 0:
		return q, "", &usageError{reason: "no-record", detail: "nobody was asked about a call " + visible.Escape(c.Request), remedy: "see which calls there are: iff audit show --kind request"}
	case len(found) > 1:
		return q, "", &usageError{reason: "usage", detail: fmt.Sprintf("the ids of %d calls end in %s", len(found), visible.Escape(c.Request)), remedy: "give more of the id"}
	}
	if d := found[0].decision; d != nil {
		recorded = string(d.Choice) + ", " + string(d.Cause)
		if d.Rule != "" {
			recorded += ", " + d.Rule
		}
	}
	q, err = asked.question(found[0])
	return q, recorded, err
}

func (a *app) printExplained(out policyExplainJSON) error {
	switch {
	case len(out.Diagnostics) > 0:
		a.printf("deny: it cannot be evaluated\n")
		for _, d := range out.Diagnostics {
			a.printf("  %s\n", plainly(d))
		}
	case out.Limit != "":
		a.printf("pass: %s permits it, and %s\n", visible.Escape(out.Rule), visible.Escape(out.Limit))
	case out.Rule == "":
		a.printf("pass: no rule matches, so whoever comes next is asked\n")
	default:
		a.printf("%s, by %s\n", out.Decides, visible.Escape(out.Rule))
	}
	for _, m := range out.Matched {
		if m != out.Rule {
			a.printf("  matches too: %s\n", visible.Escape(m))
		}
	}
	if out.Recorded != "" {
		a.printf("recorded: %s\n", visible.Escape(out.Recorded))
	}
	a.printf("\n")
	var rows [][]string
	for _, f := range out.Facts {
		rows = append(rows, []string{"  " + f.Name, f.Value})
	}
	return a.table(rows)
}
