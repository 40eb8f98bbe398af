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

// Check is the verdict on a log, made from DESIGN section 6 and the rules of
// package verdict without its code, for being right and not for being fast.
func Check(l Log) (record.Result, []Found) {
	c := checker{Log: l, out: map[Found]int{}, broken: map[string]bool{}, plans: map[string][]corpus.Change{}, since: map[string]int{}, used: map[string]bool{}}
	c.last, c.when, c.ended, c.leased = map[corpus.Object]corpus.State{}, map[corpus.Object]int{}, map[corpus.Object]int{}, map[corpus.Object]bool{}
	c.lifes()
	c.chains()
	c.classify()
	return summed(c.out)
}

type checker struct {
	Log
	fences []int64 // at each event
	broken map[string]bool
	out    map[Found]int
	plans  map[string][]corpus.Change // of open intents
	since  map[string]int             // those intents
	last   map[corpus.Object]corpus.State
	when   map[corpus.Object]int // that was read
	ended  map[corpus.Object]int // leases
	leased map[corpus.Object]bool
	used   map[string]bool // corpora

	extra, lacks []diff // in D and not in S, in S and not in D
}

// diff is a member of D or S: of a call, or a gap.
type diff struct {
	from, at         int
	call             string
	object           corpus.Object
	after            corpus.State // in S: planned
	gap, done, early bool
}

func (c *checker) past(i int) bool {
	return c.Events[i].Snapshot == nil && c.Events[i].Record.Seq < c.From
}

// lifes sorts the records by call, with the recoveries that close it, and judges
// W of each.
func (c *checker) lifes() {
	fence, calls := c.Fence, map[string][]int{}
	for i, e := range c.Events {
		var ids []string
		switch b := e.Record.Body.(type) {
		case record.Boot:
			fence = max(fence, b.Fence)
		case record.Recovery:
			ids = slices.Concat(b.Denied, b.Expired, b.RolledBack)
			ids = slices.DeleteFunc(ids, func(id string) bool { return len(calls[id]) == 0 })
		default:
			if token(b) != "" {
				ids = []string{e.Record.Request}
			}
		}
		for _, id := range ids {
			calls[id] = append(calls[id], i)
		}
		c.fences = append(c.fences, fence)
	}
	for id, events := range calls {
		c.broken[id] = id == "" || !c.lives(events)
		if c.broken[id] && slices.ContainsFunc(events, func(i int) bool { return !c.past(i) && token(c.Events[i].Record.Body) != "z" }) {
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
	q := requestOf(first.Record.Body)
	asked, ok := list(q.Plan, q.Rest, first.Rest)
	var d record.Decision
	var plan, done []corpus.Change
	intent, committed := false, false
	for n, i := range events {
		e, letter := c.Events[i], life[n:n+1]
		have, bound := true, !strings.Contains("zvw", letter)
		switch letter {
		case "y", "n":
			d = e.Record.Body.(record.Decision)
			have = letter == "n" || c.approves(d, q, first, e, c.fences[events[0]])
		case "i", "c", "b":
			in := intentOf(e.Record.Body)
			plan, have = list(in.Plan, in.Rest, e.Rest)
			have = have && in.Fence == c.fences[i] && sound(plan, corpus.Any, true)
			if intent = true; letter == "b" {
				have = have && reverse(plan, done)
			} else {
				have = have && admitted(asked, plan) && (d.Expires.IsZero() || !e.Record.Time.After(d.Expires.Add(time.Minute)))
			}
		case "x", "e", "m", "k", "v", "w":
			var readings []corpus.Change
			o := outcomeOf(e.Record.Body)
			readings, have = list(o.Readings, o.Rest, e.Rest)
			have = have && (intent || len(readings) == 0) && (c.past(i) || sound(readings, corpus.Unreadable, false))
		}
		session := e.Record.Session == first.Record.Session || !bound || committed || letter == "k"
		if life[0] == 'R' && !committed && intent && (letter == "m" || letter == "v") {
			committed, done = true, plan
		}
		intent = intent && !strings.Contains("xemkvw", letter)
		ok = ok && have && session && (!bound || envelopeOf(e.Record.Body) == q.Envelope)
	}
	return ok
}

// approves says whether an approval counts.
func (c *checker) approves(d record.Decision, q record.Request, first, e Event, fence int64) bool {
	if d.Cause == "human" || d.Cause == "webhook" {
		return c.Signed(fence, first.Record, e.Record)
	}
	reads := q.Effect == "none"
	return (reads || q.Guarded == "") && (d.Cause == "policy" || d.Cause == "level" && (reads || q.Level != "unverified"))
}

// sound says whether each object stands there once, with states; besides, loose is
// one after it, and before it unless strict.
func sound(changes []corpus.Change, loose corpus.State, strict bool) bool {
	return len(once(changes)) == len(changes) && !slices.ContainsFunc(changes, func(ch corpus.Change) bool {
		return !ch.Before.Known() && (strict || ch.Before != loose) || !ch.After.Known() && ch.After != loose
	})
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

// chains reads the log as the chains of all objects.
func (c *checker) chains() {
	all, n := c.universe(), 0
	for ; n < len(c.Events) && c.past(n); n++ {
		c.step(n, c.Events[n])
	}
	for name, s := range c.Start {
		c.used[name] = true
		c.snapshot(all, -1, name, s)
	}
	for i, e := range c.Events[n:] {
		c.snapshot(all, n+i, e.Corpus, e.Snapshot)
		c.step(n+i, e)
	}
	for name, s := range c.Final {
		c.used[name] = true
		c.snapshot(all, len(c.Events), name, s)
	}
}

// step takes what opens and closes leases.
func (c *checker) step(i int, e Event) {
	id, t := e.Record.Request, token(e.Record.Body)
	switch {
	case t == "":
	case strings.Contains("icb", t):
		in := intentOf(e.Record.Body)
		plan, _ := list(in.Plan, in.Rest, e.Rest)
		c.plans[id], c.since[id] = once(plan), i
		for _, p := range c.plans[id] {
			c.leased[p.Object] = c.leased[p.Object] || !c.past(i)
			c.used[p.Object.Corpus()] = c.used[p.Object.Corpus()] || !c.past(i)
		}
	case strings.Contains("xemkvw", t):
		from, open := c.since[id]
		if !open {
			from = i
		}
		o, plan := outcomeOf(e.Record.Body), c.plans[id]
		delete(c.plans, id)
		delete(c.since, id)
		readings, _ := list(o.Readings, o.Rest, e.Rest)
		for _, p := range plan { // what is not there was not read
			readings = append(slices.Clip(readings), corpus.Change{Object: p.Object, Before: "unreadable", After: "unreadable"})
		}
		for _, r := range once(readings) {
			n := slices.IndexFunc(plan, func(p corpus.Change) bool { return p.Object == r.Object })
			var p corpus.Change
			if n >= 0 {
				p = plan[n]
			}
			if !c.past(i) {
				c.reading(diff{from: from, at: i, call: id, object: r.Object, done: t != "e" && t != "w"}, r, p, n >= 0)
			}
		}
	}
}

// reading holds what was read around a call against its plan.
func (c *checker) reading(d diff, r, plan corpus.Change, planned bool) {
	c.used[d.object.Corpus()] = true
	if !r.Before.Known() || !r.After.Known() {
		c.out[Found{"unread", d.object, d.call}] = 1
	}
	if !r.Before.Known() {
		if r.Before = c.last[d.object]; plan.Before.Known() {
			r.Before = plan.Before
		}
	}
	if !r.After.Known() {
		if r.After = r.Before; planned && d.done {
			r.After = plan.After
		}
	}
	c.gap(d.at, d.object, r.Before)
	if plan.After == "any" {
		plan.After = r.After
	}
	if r.Op() != "" && (r != plan || !d.done) {
		d.after = r.After
		c.extra = append(c.extra, d)
	}
	if plan.Op() != "" && r != plan && d.done {
		d.after = plan.After
		c.lacks = append(c.lacks, d)
	}
	c.last[d.object], c.when[d.object] = r.After, d.at
	if planned {
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
func (c *checker) snapshot(all map[corpus.Object]bool, i int, name string, s *corpus.Snapshot) {
	for o := range all {
		held := false
		for _, plan := range c.plans {
			held = held || slices.ContainsFunc(plan, func(p corpus.Change) bool { return p.Object == o })
		}
		if s == nil || o.Corpus() != name || held && (i >= 0 || s.State(o).Known()) {
			continue
		}
		if state := s.State(o); state.Known() {
			c.gap(i, o, state)
			c.last[o], c.when[o] = state, i
		} else {
			c.out[Found{"unread", o, ""}] = 1
		}
	}
}

// classify gives each difference its class.
func (c *checker) classify() {
	for id, plan := range c.plans {
		for _, p := range append(plan, make([]corpus.Change, btoi(len(plan) == 0))...) {
			c.out[Found{"in-doubt", p.Object, id}]++
		}
	}
	for name, used := range c.used {
		if used && (c.Start[name] == nil || c.Final[name] == nil) {
			c.out[Found{"unread", corpus.Object(name + "/."), ""}] = 1
		}
	}
	c.out[Found{"unread", "", ""}] += btoi(len(c.Start) == 0)
	for _, list := range []*[]diff{&c.lacks, &c.extra} {
		slices.SortStableFunc(*list, func(a, b diff) int {
			return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.object, b.object), cmp.Compare(btoi(b.gap), btoi(a.gap)))
		})
		c.take("forgery", list, func(d diff) bool { return !d.gap && c.broken[d.call] })
	}
	c.take("tamper", &c.extra, func(d diff) bool { return d.gap && c.Guard[d.object] })
	c.pair("wrong-target", func(s, d diff) bool {
		return (d.gap || d.done) && d.object != s.object && d.after == s.after && d.from < s.at && d.at > s.from
	})
	c.pair("wrong-content", func(s, d diff) bool { return !d.gap && d.call == s.call && d.object == s.object && d.at == s.at })
	c.take("silent-failure", &c.lacks, func(diff) bool { return true })
	c.take("partial", &c.extra, func(d diff) bool { return !d.gap && !d.done })
	c.take("wrong-content", &c.extra, func(d diff) bool { return !d.gap })
	c.take("bypass", &c.extra, func(d diff) bool { return !c.leased[d.object] })
	c.take("drift", &c.extra, func(d diff) bool { return d.early })
	c.take("overlap", &c.extra, func(diff) bool { return true })
}

// pair makes findings of what is missing and there instead.
func (c *checker) pair(class string, fits func(s, d diff) bool) {
	c.take(class, &c.lacks, func(s diff) bool {
		n := slices.IndexFunc(c.extra, func(d diff) bool { return fits(s, d) })
		if n >= 0 {
			c.extra = slices.Delete(c.extra, n, n+1)
		}
		return n >= 0
	})
}

// take makes findings of those differences that are of a class.
func (c *checker) take(class string, from *[]diff, is func(diff) bool) {
	*from = slices.DeleteFunc(*from, func(d diff) bool {
		if !is(d) {
			return false
		}
		c.out[Found{class, d.object, d.call}]++
		return true
	})
}
