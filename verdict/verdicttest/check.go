package verdicttest

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/record"
)

// Found is a finding, without words.
type Found struct {
	Class  string
	Object corpus.Object
	Call   string
}

// Check is the verdict on a log, made from DESIGN section 6 and the contract of
// package verdict without its code, for being right and not for being fast.
func Check(l Log) (record.Result, []Found) {
	c := checker{
		Log: l, calls: map[string][]int{}, broken: map[string]bool{}, out: map[Found]int{}, plans: map[string][]corpus.Change{}, since: map[string]int{},
		last: map[corpus.Object]corpus.State{}, when: map[corpus.Object]int{}, ended: map[corpus.Object]int{}, leased: map[corpus.Object]bool{}, used: map[string]bool{},
	}
	c.lifes()
	c.read()
	c.classify()
	result, out := record.Pass, []Found{}
	for f, n := range c.out {
		out = append(out, slices.Repeat([]Found{f}, n)...)
		if f.Class != "unread" && f.Class != "in-doubt" {
			result = record.Fail
		} else if result == record.Pass {
			result = record.Open
		}
	}
	Sort(out)
	return result, out
}

type checker struct {
	Log
	calls  map[string][]int // events of each call, and recoveries that close it
	fences []int64          // at each event
	broken map[string]bool
	out    map[Found]int
	plans  map[string][]corpus.Change // of open intents
	since  map[string]int             // those intents
	last   map[corpus.Object]corpus.State
	when   map[corpus.Object]int
	ended  map[corpus.Object]int // leases
	leased map[corpus.Object]bool
	used   map[string]bool // corpora
	extra  []diff          // in D and not in S
	lacks  []diff          // in S and not in D
}

// diff is a member of D or S: of a call, or a gap.
type diff struct {
	from, at    int
	call        string
	gap         bool
	object      corpus.Object
	after       corpus.State // in S: planned
	done, early bool
}

func (c *checker) past(i int) bool {
	return c.Events[i].Snapshot == nil && c.Events[i].Record.Seq < c.From
}

// lifes sorts the records by call and judges W of each.
func (c *checker) lifes() {
	fence := c.Fence
	for i, e := range c.Events {
		id, ids := e.Record.Request, []string(nil)
		switch b := e.Record.Body.(type) {
		case record.Boot:
			fence = max(fence, b.Fence)
		case record.Recovery:
			ids = slices.Concat(b.Denied, b.Expired, b.RolledBack)
			ids = slices.DeleteFunc(ids, func(id string) bool { return len(c.calls[id]) == 0 })
		}
		if e.Record.Body != nil && token(e.Record.Body) != "" && token(e.Record.Body) != "z" {
			ids = []string{id}
		}
		for _, id := range ids {
			c.calls[id] = append(c.calls[id], i)
		}
		c.fences = append(c.fences, fence)
	}
	for id, events := range c.calls {
		inside := func(i int) bool { return !c.past(i) && token(c.Events[i].Record.Body) != "z" }
		if c.broken[id] = id == "" || !c.lives(events); c.broken[id] && slices.ContainsFunc(events, inside) {
			c.out[Found{"forgery", "", id}]++
		}
	}
}

const commitLife = `c(e|w|(m|v)(e|b[ew])*(b[kv]?)?)?`

var lives = regexp.MustCompile(`^(q(y[xe]?|n)?|Q(y(e|i[xevw]?)?|n)?|P(ye?|n)?|S(y(e|s[ke]?)?|n|s(k|nk?|y[ke]?)?)?|` +
	`R(y(e|s(k|e|` + commitLife + `)?)?|n|s(k|nk?|y(k|e|` + commitLife + `)?)?)?)$`)

var closed = regexp.MustCompile(`z.*[ysicb]|^q.*z.*x`)

// lives says whether the records of one call are as W wants them.
func (c *checker) lives(events []int) bool {
	life := ""
	for _, i := range events {
		life += token(c.Events[i].Record.Body)
	}
	if !lives.MatchString(strings.ReplaceAll(life, "z", "")) || closed.MatchString(life) {
		return false
	}
	first := c.Events[events[0]]
	q, ok := first.Record.Body.(record.Request)
	if !ok {
		q = first.Record.Body.(record.ReversibleRequest).Request
	}
	asked, ok := list(q.Plan, q.Rest, first.Rest)
	var expires time.Time
	var plan, done []corpus.Change
	intent, committed := false, false
	for n, i := range events {
		e := c.Events[i]
		session, envelope := e.Record.Session == first.Record.Session, q.Envelope
		switch b := e.Record.Body.(type) {
		case record.Decision:
			envelope, expires = b.Envelope, b.Expires
			ok = ok && (b.Choice != record.Approve || c.approves(b, q, first, e, c.fences[events[0]]))
		case record.Staged:
			envelope = b.Envelope
		case record.Intent, record.CommitIntent:
			in := intentOf(b)
			envelope, intent = in.Envelope, true
			plan, ok = listAnd(ok, in, e)
			ok = ok && in.Fence == c.fences[i] && (expires.IsZero() || !e.Record.Time.After(expires)) && admitted(asked, plan) && sound(plan, true)
		case record.RollbackIntent:
			envelope, intent, session = b.Envelope, true, true
			plan, ok = listAnd(ok, b.Intent, e)
			ok = ok && b.Fence == c.fences[i] && reverse(plan, done) && sound(plan, true)
		case record.Executed, record.Error, record.Committed, record.RolledBack, record.Resolved:
			o := outcomeOf(b)
			readings, have := list(o.Readings, o.Rest, e.Rest)
			ok = ok && have && (intent || len(readings) == 0) && (c.past(i) || sound(readings, false))
			letter := life[n]
			if session = session || committed || letter == 'k' || letter == 'v' || letter == 'w'; letter != 'v' && letter != 'w' {
				envelope = o.Envelope
			}
			if life[0] == 'R' && !committed && intent && (letter == 'm' || letter == 'v') {
				committed, done = true, plan
			}
			intent = false
		case record.Recovery:
			session = true
		}
		if !session || envelope != q.Envelope || !ok {
			return false
		}
	}
	return ok
}

// approves says whether an approval counts.
func (c *checker) approves(d record.Decision, q record.Request, first, e Event, fence int64) bool {
	changes := q.Effect != "none"
	switch d.Cause {
	case "human", "webhook":
		return c.Signed(fence, first.Record, e.Record)
	case "policy":
		return !changes || q.Guarded == ""
	case "level":
		return !changes || q.Guarded == "" && q.Level != "unverified"
	}
	return false
}

func listAnd(ok bool, in record.Intent, e Event) ([]corpus.Change, bool) {
	plan, have := list(in.Plan, in.Rest, e.Rest)
	return plan, ok && have
}

// sound says whether a plan or readings name each object once and known states.
func sound(changes []corpus.Change, plan bool) bool {
	seen := map[corpus.Object]bool{}
	for _, ch := range changes {
		loose := map[bool]corpus.State{true: corpus.Any, false: corpus.Unreadable}[plan]
		if seen[ch.Object] || !ch.Before.Known() && (plan || ch.Before != loose) || !ch.After.Known() && ch.After != loose {
			return false
		}
		seen[ch.Object] = true
	}
	return true
}

func admitted(asked, plan []corpus.Change) bool {
	return slices.EqualFunc(asked, plan, func(a, p corpus.Change) bool {
		return a.Object == p.Object && (a.Before == "any" || a.Before == p.Before) && (a.After == "any" || a.After == p.After)
	})
}

func reverse(plan, done []corpus.Change) bool {
	back := slices.Clone(done)
	slices.Reverse(back)
	return slices.EqualFunc(back, plan, func(d, p corpus.Change) bool {
		return d.Object == p.Object && d.Before == p.After && d.After == p.Before
	})
}

// once drops the second place of an object.
func once(changes []corpus.Change) []corpus.Change {
	var out []corpus.Change
	for _, ch := range changes {
		if !slices.ContainsFunc(out, func(o corpus.Change) bool { return o.Object == ch.Object }) {
			out = append(out, ch)
		}
	}
	return out
}

// read makes the chains of all objects.
func (c *checker) read() {
	for i := 0; i <= len(c.Events); i++ {
		if i == c.first() {
			for name, s := range c.Start {
				c.used[name] = true
				c.snapshot(-1, name, s)
			}
		}
		if i == len(c.Events) {
			break
		}
		if e := c.Events[i]; e.Snapshot != nil {
			c.used[e.Corpus] = c.used[e.Corpus]
			c.snapshot(i, e.Corpus, e.Snapshot)
		} else {
			c.step(i, e)
		}
	}
	for name, s := range c.Final {
		c.used[name] = true
		c.snapshot(len(c.Events), name, s)
	}
}

// first is the first event of the interval.
func (c *checker) first() int {
	for i := range c.Events {
		if !c.past(i) {
			return i
		}
	}
	return len(c.Events)
}

// step takes what opens and closes leases.
func (c *checker) step(i int, e Event) {
	id, t := e.Record.Request, token(e.Record.Body)
	switch {
	case t != "" && strings.Contains("icb", t):
		in := intentOf(e.Record.Body)
		plan, _ := list(in.Plan, in.Rest, e.Rest)
		c.plans[id], c.since[id] = once(plan), i
		for _, p := range c.plans[id] {
			c.leased[p.Object] = c.leased[p.Object] || !c.past(i)
			c.used[p.Object.Corpus()] = c.used[p.Object.Corpus()] || !c.past(i)
		}
	case t != "" && strings.Contains("xemkvw", t):
		plan, from, open := c.plans[id], i, false
		if from, open = c.since[id]; !open {
			from = i
		}
		delete(c.plans, id)
		delete(c.since, id)
		o := outcomeOf(e.Record.Body)
		all, _ := list(o.Readings, o.Rest, e.Rest)
		readings := once(all)
		for _, p := range plan {
			r := corpus.Change{Object: p.Object, Before: "unreadable", After: "unreadable"}
			if n := slices.IndexFunc(readings, func(r corpus.Change) bool { return r.Object == p.Object }); n >= 0 {
				r = readings[n]
				readings = slices.Delete(readings, n, n+1)
			}
			c.reading(diff{from: from, at: i, call: id, object: p.Object, done: t != "e" && t != "w"}, r, &p)
		}
		for _, r := range readings {
			c.reading(diff{from: from, at: i, call: id, object: r.Object, done: t != "e" && t != "w"}, r, nil)
		}
	}
}

// reading holds what was read around a call against its plan.
func (c *checker) reading(d diff, r corpus.Change, plan *corpus.Change) {
	if c.past(d.at) {
		return
	}
	c.used[d.object.Corpus()] = true
	if !r.Before.Known() || !r.After.Known() {
		c.out[Found{"unread", d.object, d.call}] = 1
		if !r.Before.Known() {
			if r.Before = c.last[d.object]; plan != nil && plan.Before.Known() {
				r.Before = plan.Before
			}
		}
		switch {
		case r.After.Known():
		case plan == nil || !d.done:
			r.After = r.Before
		default:
			r.After = plan.After
		}
	}
	c.gap(d.at, d.object, r.Before)
	did, want := r, corpus.Change{}
	if plan != nil && d.done {
		if want = *plan; want.After == "any" {
			want.After = r.After
		}
	}
	if did.Op() != "" && did != want {
		d.after = did.After
		c.extra = append(c.extra, d)
	}
	if want.Op() != "" && did != want {
		d.after = want.After
		c.lacks = append(c.lacks, d)
	}
	c.last[d.object], c.when[d.object] = r.After, d.at
	if plan != nil {
		c.ended[d.object]++
		c.leased[d.object] = true
	}
}

// gap extends the chain of an object.
func (c *checker) gap(i int, o corpus.Object, s corpus.State) {
	if last := c.last[o]; last.Known() && s.Known() && last != s {
		c.extra = append(c.extra, diff{from: c.when[o], at: i, gap: true, object: o, after: s, early: c.ended[o] == 0})
	}
}

// snapshot reads every object that nobody leases.
func (c *checker) snapshot(i int, name string, s *corpus.Snapshot) {
	if s == nil {
		return
	}
	for o := range c.universe() {
		if o.Corpus() != name || i >= 0 && c.held(o) {
			continue
		}
		switch state := s.State(o); {
		case !state.Known():
			c.out[Found{"unread", o, ""}] = 1
		case i >= 0 || !c.held(o):
			c.gap(i, o, state)
			c.last[o], c.when[o] = state, i
		}
	}
}

func (c *checker) held(o corpus.Object) bool {
	for _, plan := range c.plans {
		if slices.ContainsFunc(plan, func(p corpus.Change) bool { return p.Object == o }) {
			return true
		}
	}
	return false
}

// classify gives each difference its class.
func (c *checker) classify() {
	for id, plan := range c.plans {
		for _, p := range plan {
			c.out[Found{"in-doubt", p.Object, id}]++
		}
		if len(plan) == 0 {
			c.out[Found{"in-doubt", "", id}]++
		}
	}
	for name := range c.used {
		if c.used[name] && (c.Start[name] == nil || c.Final[name] == nil) {
			c.out[Found{"unread", corpus.Object(name + "/."), ""}] = 1
		}
	}
	if len(c.Start) == 0 {
		c.out[Found{"unread", "", ""}] = 1
	}
	c.take(&c.extra, func(d diff) string {
		switch {
		case !d.gap && c.broken[d.call]:
			return "forgery"
		case d.gap && c.Guard[d.object]:
			return "tamper"
		}
		return ""
	})
	c.take(&c.lacks, func(d diff) string { return map[bool]string{true: "forgery"}[c.broken[d.call]] })
	order := func(a, b diff) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.object, b.object), cmp.Compare(btoi(b.gap), btoi(a.gap)))
	}
	slices.SortStableFunc(c.lacks, order)
	slices.SortStableFunc(c.extra, order)
	pair := func(class string, fits func(s, d diff) bool) {
		c.take(&c.lacks, func(s diff) string {
			n := slices.IndexFunc(c.extra, func(d diff) bool { return fits(s, d) })
			if n < 0 {
				return ""
			}
			c.extra = slices.Delete(c.extra, n, n+1)
			return class
		})
	}
	pair("wrong-target", func(s, d diff) bool {
		return (d.gap || d.done) && d.object != s.object && d.after == s.after && d.from < s.at && d.at > s.from
	})
	pair("wrong-content", func(s, d diff) bool { return !d.gap && d.call == s.call && d.object == s.object && d.at == s.at })
	c.take(&c.lacks, func(diff) string { return "silent-failure" })
	c.take(&c.extra, func(d diff) string {
		switch {
		case !d.gap && !d.done:
			return "partial"
		case !d.gap:
			return "wrong-content"
		case !c.leased[d.object]:
			return "bypass"
		case d.early:
			return "drift"
		}
		return "overlap"
	})
}

// take turns the differences that have a class into findings.
func (c *checker) take(list *[]diff, class func(diff) string) {
	*list = slices.DeleteFunc(*list, func(d diff) bool {
		is := class(d)
		if is != "" && d.gap {
			d.call = ""
		}
		if is != "" {
			c.out[Found{is, d.object, d.call}]++
		}
		return is != ""
	})
}
