package trial

import (
	"cmp"
	"slices"
	"strings"

	"github.com/iff-run/iff/ensemble"
	"github.com/iff-run/iff/gate"
	"github.com/iff-run/iff/internal/canonical"
	"github.com/iff-run/iff/record"
	"github.com/iff-run/iff/verdict"
)

// Result is what came of a trial.
type Result struct {
	Corpus  string
	Copied  Copied
	Agents  []Agent
	Refused []Refused // skills that are not loaded
	Unused  []string  // skills that are loaded and that no agent used
	Rounds  []Round
	Whole   verdict.Report // over all rounds
	Records int64          // of the log
	Origin  string         // of the log
	Key     string         // that a verifier of the log needs, see iff audit verify --key
}

// Agent is one of those who acted.
type Agent struct {
	Name  string
	Role  string
	Skill string // that it used; empty for none
	Level string // of that, or of the base manifest
	Tally ensemble.Tally
	// Silenced is the round from which on its mind was not asked any more, for what it
	// had read may not flow to who hears it; 0 if that did not happen.
	Silenced int
}

// Round is what came of one.
type Round struct {
	Number int
	Calls  []Call
	Report verdict.Report
}

// Call is what an agent asked for, and what became of it. What the agent wrote is as
// it wrote it: escape it before a person sees it.
type Call struct {
	Agent, Skill       string
	Capability, Target string // the target as resolved, if it could be
	Op                 string // the first word of its arguments; may be empty
	Effect             string // none, reversible or irreversible; empty if it did not become a call
	Level              string // of the session
	Guarded            string // skill or control file that it reached for; may be empty
	Status             gate.Status
	Reason             gate.Reason
	Decision           record.Choice // empty if there was none
	Cause              record.Cause
	Rule               string // of a policy, or the grant
}

// Done says whether it happened.
func (c Call) Done() bool { return c.Status == gate.Done }

// Asked says whether somebody was asked about it, a policy or a person.
func (c Call) Asked() bool {
	switch c.Cause {
	case record.CauseHuman, record.CausePolicy, record.CauseWebhook, record.CauseTimeout, record.CauseBroker:
		return true
	}
	return false
}

// Let says whether what decides without a person let it through: a rule of a policy,
// or a grant at the session's level.
func (c Call) Let(cause record.Cause) bool {
	return c.Decision == record.Approve && c.Cause == cause
}

// Why says why somebody was asked.
func (c Call) Why() string {
	switch {
	case c.Guarded != "":
		return "reaches for " + c.Guarded
	case c.Level == "unverified":
		return "level unverified"
	}
	return "no grant covers it"
}

// Permit is a rule and what it let through that cannot be put back.
type Permit struct {
	Cause   record.Cause
	Rule    string
	Done    int
	Targets []string // sorted, each once
}

// Permits are the policy rules and grants that let through what is irreversible, and
// was done, those of policies first, then by what they let through.
func (r Result) Permits() []Permit {
	type rule struct {
		cause record.Cause
		text  string
	}
	found := make(map[rule]*Permit)
	for _, round := range r.Rounds {
		for _, c := range round.Calls {
			if !c.Done() || c.Effect != "irreversible" || !c.Let(record.CausePolicy) && !c.Let(record.CauseLevel) {
				continue
			}
			at := rule{c.Cause, c.Rule}
			if found[at] == nil {
				found[at] = &Permit{Cause: c.Cause, Rule: c.Rule}
			}
			found[at].Done++
			found[at].Targets = append(found[at].Targets, c.Target)
		}
	}
	out := []Permit{}
	for _, p := range found {
		slices.Sort(p.Targets)
		p.Targets = slices.Compact(p.Targets)
		out = append(out, *p)
	}
	slices.SortFunc(out, func(a, b Permit) int {
		return cmp.Or(-strings.Compare(string(a.Cause), string(b.Cause)), b.Done-a.Done, strings.Compare(a.Rule, b.Rule))
	})
	return out
}

// Verdict is the worst of all: FAIL before OPEN before PASS. A trial without rounds
// is OPEN.
func (r Result) Verdict() record.Result {
	all := []record.Result{r.Whole.Result}
	for _, round := range r.Rounds {
		all = append(all, round.Report.Result)
	}
	worst := record.Pass
	for _, v := range all {
		switch v {
		case record.Fail:
			return record.Fail
		case record.Pass:
		default:
			worst = record.Open
		}
	}
	return worst
}

// op is the operation that arguments name, if that is a plain word.
func op(arguments []byte) string {
	var m map[string]canonical.Raw
	if err := readInto(arguments, &m); err != nil {
		return ""
	}
	word := strings.Trim(m["op"].String(), `"`)
	if len(word) > 16 || strings.Trim(word, "abcdefghijklmnopqrstuvwxyz") != "" {
		return ""
	}
	return word
}
