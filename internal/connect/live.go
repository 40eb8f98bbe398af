package connect

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/iff-run/iff/internal/connect/model"
)

// LiveTimeout bounds the proof of an agent.
const LiveTimeout = 60 * time.Second

// startDelay is what an agent's servers are given to start, if it does not wait for
// them.
const startDelay = 10 * time.Second

// Verdict is what running an agent has shown. The zero value is NotProved.
type Verdict int

// The verdicts.
const (
	NotProved Verdict = iota // it could not be run, or did not come to its end
	Open                     // it offered, or ran, what is not iff's
	Proved                   // it offered iff's tools and nothing else, and ran nothing else
)

// String is the verdict as it is printed.
func (v Verdict) String() string {
	switch v {
	case Open:
		return "open"
	case Proved:
		return "proved"
	}
	return "not proved"
}

// LiveOptions says what is run.
type LiveOptions struct {
	Agent   Agent
	Place   Place
	Program string   // a path; empty: the agent's program is looked for on PATH
	Tools   []string // of iff; nil: it is asked, as Place says
	Env     []string // of the user, as os.Environ has it: PATH, and the variables that configure the agent, are taken from it
}

// Proof is what a run has shown.
type Proof struct {
	Agent   string
	Verdict Verdict
	Why     string   // why it is open or not proved; one line
	Iff     []string // iff's tools that were offered, as the agent names them
	Neutral []string // others that reach nothing but iff
	Left    []string // others that the agent has no switch for and that reach something
	Foreign []string // every other
	Ran     []string // built-in tools that had an effect, called by name whether offered or not
}

// String is the proof on one line.
func (p Proof) String() string {
	if p.Verdict != Proved {
		return fmt.Sprintf("%s: %s: %s", p.Verdict, p.Agent, p.Why)
	}
	out := fmt.Sprintf("proved: %s offers iff's %d tools and nothing else", p.Agent, len(p.Iff))
	if len(p.Left) > 0 {
		out += ", but for what it has no switch for: " + strings.Join(p.Left, ", ")
	}
	return out
}

// Live runs an agent in the project, without a person and with its most permissive
// flag, against a model on loopback that calls the agent's built-in tools by name
// and notes what it is offered.
//
// The agent reads the files of the project and of the machine where they are. What
// it has below the user's home directory is copied, byte for byte and without
// credentials and history, to a directory of its own for this run: the agent keeps
// its state there, so the user's is not touched. Only the provider is another, by
// flags and variables, and with gemini by one key of the copied settings. Packages
// that plugins have installed are not copied. The run ends within LiveTimeout, with
// every process of its group; a runtime that it made iff start goes on.
//
// Which tools are iff's is asked of iff itself: a name that begins like one of iff's
// can be another server's. What is proved is proved of the agent's default mode; what
// it may be switched to is for Check.
//
// The error is for what is not the agent's fault: a temporary directory that cannot
// be made, or a cancelled context.
func Live(ctx context.Context, o LiveOptions) (Proof, error) { return live(ctx, o, startDelay) }

func live(ctx context.Context, o LiveOptions, delay time.Duration) (Proof, error) {
	name := o.Agent.Name
	a, ok := liveAgents()[name]
	if !ok {
		return Proof{Agent: name, Why: "there is no way to run it"}, nil
	}
	program, err := o.program()
	if err != nil {
		return Proof{Agent: name, Why: err.Error()}, nil
	}
	temp, err := os.MkdirTemp("", "iff-live-")
	if err != nil {
		return Proof{}, fmt.Errorf("connect: a directory for the run of %s: %w", name, err)
	}
	defer func() { _ = os.RemoveAll(temp) }()
	r := &liveRun{agent: a, options: o, program: program, temp: temp}
	within, cancel := context.WithTimeout(ctx, LiveTimeout)
	defer cancel()
	proof, err := r.prove(within, 0)
	if err == nil && proof.Verdict == NotProved && len(proof.Iff) == 0 && within.Err() == nil {
		proof, err = r.prove(within, delay) // it may not have waited for its servers
	}
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	proof.Agent = name
	return proof, err
}

// liveRun is one run of an agent.
type liveRun struct {
	agent   liveAgent
	options LiveOptions
	program string
	temp    string // for the copies, the agent's state and the probes' marks
	output  tail
}

// prove runs the agent once; the model thinks so long before it speaks.
func (r *liveRun) prove(ctx context.Context, delay time.Duration) (Proof, error) {
	if err := r.copyState(); err != nil {
		return Proof{Why: err.Error()}, nil
	}
	tools, err := r.options.iffTools(ctx, r.env(nil))
	if err != nil {
		return Proof{Why: err.Error()}, nil
	}
	probes := r.probes()
	script := model.Script{Main: []model.Step{r.agent.ask}}
	script.Main[0].Delay = delay
	for _, p := range probes {
		script.Main = append(script.Main, p.step)
	}
	endpoint, err := model.Start(ctx, script)
	if err != nil {
		return Proof{}, err
	}
	ended := r.run(ctx, endpoint.URL())
	if err := endpoint.Close(); err != nil {
		return Proof{}, err
	}
	seen := sight{iff: tools, requests: endpoint.Requests(), results: endpoint.Results(), steps: len(script.Main), ended: ended, said: r.output.last()}
	for _, p := range probes {
		if _, err := os.Lstat(p.mark); err == nil {
			seen.ran = append(seen.ran, p.step.Tool)
		}
	}
	return r.agent.judge(seen), nil
}

// sight is what was seen of a run.
type sight struct {
	iff      []string // tools that iff has, by their own names
	requests []model.Request
	results  []string
	steps    int // of the script
	ran      []string
	ended    error  // how the program ended
	said     string // the last line of its output
}

// judge draws the conclusion. Whatever is seen of a foreign tool makes it open;
// proved needs the run to have come to its end, and an answer of iff.
func (a liveAgent) judge(s sight) Proof {
	var p Proof
	last, asked := -1, false
	for _, r := range s.requests {
		if r.Who == model.Aux {
			continue
		}
		asked = true
		if r.Who == model.Main {
			last = max(last, r.Step)
		}
		tools := r.Offered
		if a.listed != nil {
			tools = append(slices.Clone(tools), a.listed(r.Opening)...)
		}
		for _, tool := range tools {
			a.sort(&p, tool, s.iff)
		}
	}
	p.Ran = s.ran
	answered := len(s.results) > 0 && s.results[0] != ""
	switch {
	case len(p.Foreign) > 0 || len(p.Ran) > 0:
		p.Verdict, p.Why = Open, openReason(p)
	case !asked && len(s.requests) > 0:
		p.Why = "it offered the model no tools at all, not even iff's"
	case !asked:
		p.Why = "it never asked the model: " + s.why()
	case len(p.Iff) == 0:
		p.Why = "it offered nothing else, but not iff's tools either; does `iff mcp` start?"
	case last < s.steps:
		p.Why = fmt.Sprintf("it ended after %d of %d calls: %s", last, s.steps, s.why())
	case !answered:
		p.Why = "iff did not answer when it was called; does `iff mcp` start?"
	default:
		p.Verdict = Proved
	}
	return p
}

// sort says whose tool it is. That its name begins like iff's is not enough: another
// server can be called iff_more.
func (a liveAgent) sort(p *Proof, tool string, iff []string) {
	list := &p.Foreign
	name, ours := strings.CutPrefix(tool, a.prefix)
	switch {
	case ours && slices.Contains(iff, name):
		list = &p.Iff
	case slices.Contains(a.neutral, tool):
		list = &p.Neutral
	case slices.Contains(a.left, tool):
		list = &p.Left
	}
	if !slices.Contains(*list, tool) {
		*list = append(*list, tool)
	}
}

func openReason(p Proof) string {
	var out []string
	if len(p.Foreign) > 0 {
		out = append(out, "it offers "+strings.Join(p.Foreign, ", "))
	}
	if len(p.Ran) > 0 {
		out = append(out, "it ran "+strings.Join(p.Ran, ", ")+" when the model called it")
	}
	return strings.Join(out, "; ")
}

// why is how the program ended, for a person.
func (s sight) why() string {
	out := "it ended by itself"
	if s.ended != nil {
		out = s.ended.Error()
	}
	if s.said != "" {
		out += ", saying: " + s.said
	}
	return out
}
