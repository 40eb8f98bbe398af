package model

import (
	"strconv"
	"strings"
)

const (
	maxBody     = 16 << 20 // bytes of a request
	maxDepth    = 200      // of its arrays and objects
	maxRequests = 1000     // answered
	maxTogether = 8        // worked on at a time
	maxKept     = 64 << 20 // bytes of requests kept for Requests, and of results
	maxRepeats  = 4        // of a step, before it is skipped
)

// Who a request is from.
const (
	Main = "main" // the conversation that the agent was started for
	Sub  = "sub"  // a sub-agent's
	Aux  = "aux"  // it offers no tools, or is no question to a model
)

// Request is one request as it was noted.
type Request struct {
	Method, Path string
	Who          string   // Main, Sub or Aux
	Step         int      // what was answered, from 0; meaningless for Aux
	Offered      []string // as for Endpoint.Offered
	Opening      string   // what the user said first; agents put more into it
	Refused      string   // why it was answered with an error, if it was
	Body         string   // in canonical form; it and Opening are empty once 64 MiB were kept
}

// turnKey is a place in a conversation: so many calls were made.
type turnKey struct {
	who   string
	calls int
}

// notes is what an endpoint remembers.
type notes struct {
	script   Script
	asked    map[turnKey]int
	skipped  map[string]int  // steps, by conversation
	sent     map[turnKey]int // the step answered
	results  []string
	requests []Request
	kept     int
}

// heard is what a request says, in no dialect.
type heard struct {
	offered []string // tools that the agent runs; then those hosted too
	hosted  []string // that the provider runs
	calls   int      // in the history
	results []result // in the history, in its order
	opening string   // of the user
	stream  bool
	model   string
}

type result struct{ id, text string }

// turn is what is answered.
type turn struct {
	who  string
	step int
	Step
}

// full says that no more is answered.
func (n *notes) full() bool { return len(n.requests) >= maxRequests }

// note keeps a request.
func (n *notes) note(r Request) {
	if n.kept += len(r.Body) + len(r.Opening); n.kept > maxKept {
		r.Body, r.Opening = "", ""
	}
	n.requests = append(n.requests, r)
}

// next chooses the answer to a request that offers tools.
func (n *notes) next(h heard) turn {
	who, steps := Main, n.script.Main
	if strings.Contains(h.opening, SubMark) {
		who, steps = Sub, n.script.Sub
	}
	key := turnKey{who, h.calls}
	if n.asked[key]++; n.asked[key] > maxRepeats {
		n.asked[key] = 0
		n.skipped[who]++
	}
	t := turn{who: who, step: h.calls + n.skipped[who], Step: Step{Text: Done}}
	n.sent[key] = t.step
	if t.step < len(steps) {
		t.Step = steps[t.step].among(h.offered)
	}
	if who == Main {
		n.learn(h.results)
	}
	return t
}

// among finds the tool of a step that names its ending only.
func (s Step) among(offered []string) Step {
	ending, ok := strings.CutPrefix(s.Tool, "*")
	if !ok {
		return s
	}
	s.Tool = ending
	for _, name := range offered {
		if !strings.HasSuffix(name, ending) {
			continue
		}
		s.Tool = name
		if space, rest, ok := strings.Cut(name, "/"); ok {
			s.Namespace, s.Tool = space, rest
		}
		break
	}
	return s
}

// learn keeps results that were not seen before.
func (n *notes) learn(results []result) {
	for i, r := range results {
		step, ok := stepOf(r.id)
		if !ok { // an agent that has its own ids: by the order of the calls
			if step, ok = n.sent[turnKey{Main, i}]; !ok {
				continue
			}
		}
		if step >= len(n.script.Main) {
			continue
		}
		if n.results == nil {
			n.results = make([]string, len(n.script.Main))
		}
		if n.results[step] == "" && n.kept < maxKept {
			n.kept += len(r.text)
			n.results[step] = r.text
		}
	}
}

const idMiddle = "_" + Main + "_"

// id names the call of a turn.
func (t turn) id(prefix string) string {
	text := strconv.Itoa(t.step)
	return prefix + "_" + t.who + "_" + strings.Repeat("0", max(0, 4-len(text))) + text
}

// stepOf reads what id has written for the main conversation.
func stepOf(id string) (int, bool) {
	_, text, ok := strings.Cut(id, idMiddle)
	step, err := strconv.Atoi(text)
	return step, ok && err == nil && step >= 0
}
