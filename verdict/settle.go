package verdict

import (
	"strings"

	"github.com/iff-run/iff/corpus"
)

// object is what is known of an object that a record named or that changed.
type object struct {
	name   corpus.Object
	home   *place
	last   value   // the end of its chain so far
	at     instant // of that reading
	stamp  int     // of the list that named it last
	slot   int     // its place there
	open   int     // intents that lease it now
	closed int     // leases that ended in the interval
	tally  [3]int  // by operation: in D less in S

	active  bool // looked at since the newest snapshot
	hidden  bool // unreadable in the newest snapshot
	leased  bool // in the interval
	changed bool
	odd     bool // a finding names it
}

// element is a member of D that S lacks, or the other way round.
type element struct {
	object        *object
	call          *call // nil: nobody
	before, after value
	planned       value // state after, of a reading in a plan
	failed        bool  // of a call that did not do what was planned
	early         bool  // before the end of the object's first lease
	from, to      instant
	detail        string
}

// object is the object of that name, which is looked at from now on.
func (j *Judge) object(name corpus.Object) *object {
	o := j.objects[name]
	if o == nil {
		o = &object{name: corpus.Object(strings.Clone(string(name))), home: j.place(name.Corpus())}
		j.objects[o.name] = o
		o.restore()
	}
	if p := o.home; !o.active {
		o.active = true
		p.active = append(p.active, o)
		if p.base != nil && !o.hidden {
			o.at = p.at
		}
	}
	return o
}

// restore sets an object to what the newest snapshot says.
func (o *object) restore() {
	o.last = value{}
	if o.home.base == nil {
		return
	}
	if v := valueOf(o.home.base.State(o.name)); v.known() {
		o.last, o.at = v, o.home.at
	}
}

// planned reads a plan; an object or a state that no plan can have breaks the
// call.
func (j *Judge) planned(c *call, plan []corpus.Change) []step {
	steps := make([]step, 0, len(plan))
	j.stamp++
	for _, p := range plan {
		s := step{j.object(p.Object), valueOf(p.Before), valueOf(p.After)}
		if s.object.stamp == j.stamp {
			j.breaks(c, "an object twice in a plan")
			continue
		}
		if !s.before.known() || !s.after.known() && s.after.word != anything {
			j.breaks(c, "a plan without a state")
		}
		s.object.stamp = j.stamp
		steps = append(steps, s)
	}
	return steps
}

// lease marks the objects of an intent.
func (j *Judge) lease(c *call) {
	for _, s := range c.plan {
		o := s.object
		o.open++
		if j.inside {
			o.leased = true
			o.home.used = true
		} else {
			o.last = value{} // the start saw it in the middle
		}
	}
}

// release ends the lease of an open intent.
func (j *Judge) release(c *call) {
	for _, s := range c.plan {
		s.object.open--
		if !j.inside && s.object.open == 0 {
			s.object.restore()
		}
	}
	c.plan, c.phase = nil, nothing
}

// settle holds the readings of an outcome against the plan of the open intent,
// and closes it.
func (j *Judge) settle(c *call, r *result) {
	plan := c.plan
	list := j.readings(c, r.readings)
	j.release(c)
	c.plan = plan
	if !j.inside {
		return
	}
	for _, s := range plan {
		read := step{object: s.object, before: value{word: unreadable}, after: value{word: unreadable}}
		if s.object.stamp == j.stamp {
			read, list[s.object.slot].object = list[s.object.slot], nil
		}
		j.read(c, &s, read, r.done)
		s.object.leased = true
		s.object.closed++
	}
	for _, read := range list {
		if read.object != nil {
			j.read(c, nil, read, r.done)
		}
	}
}

// readings reads those of an outcome; what no reading can say breaks the call.
func (j *Judge) readings(c *call, readings []corpus.Change) []step {
	j.list = j.list[:0]
	if !j.inside {
		return nil
	}
	j.stamp++
	for i, r := range readings {
		s := step{before: valueOf(r.Before), after: valueOf(r.After)}
		if i < len(c.plan) && c.plan[i].object.name == r.Object {
			s.object = c.plan[i].object // as it mostly is
		} else {
			s.object = j.object(r.Object)
		}
		if s.object.stamp == j.stamp {
			j.breaks(c, "an object twice in readings")
			continue
		}
		if !s.before.read() || !s.after.read() {
			j.breaks(c, "a reading without a state")
		}
		s.object.stamp, s.object.slot = j.stamp, len(j.list)
		j.list = append(j.list, s)
	}
	return j.list
}

func (v value) read() bool { return v.known() || v.word == unreadable }

// read takes one reading of a call; planned is nil for what it had not planned.
func (j *Judge) read(c *call, planned *step, read step, done bool) {
	o := read.object
	o.home.used = true
	if !read.before.known() || !read.after.known() {
		j.unreadBy(c, o)
		read = assume(planned, read, done)
	}
	j.gap(o, read.before)
	d := element{object: o, call: c, before: read.before, after: read.after, failed: !done, from: c.since, to: j.now}
	s := d
	observed, audited := differ(d.before, d.after), false
	if planned != nil && done {
		s.before, s.after = planned.before, planned.after
		if s.after.word == anything {
			s.after = d.after
		}
		audited = differ(s.before, s.after)
	}
	if planned != nil {
		d.planned = planned.after
	}
	j.weigh(o, observed, d.before, d.after, 1)
	j.weigh(o, audited, s.before, s.after, -1)
	o.last, o.at = read.after, j.now
	if observed && audited && d.before == s.before && d.after == s.after {
		return
	}
	if observed {
		c.kept = true
		j.extra = append(j.extra, d)
	}
	if audited {
		c.kept = true
		s.planned, s.before, s.after = s.after, d.before, d.after
		j.missing = append(j.missing, s)
	}
}

// assume stands the planned states in for what could not be read.
func assume(planned *step, read step, done bool) step {
	if !read.before.known() {
		read.before = value{}
		if planned != nil && planned.before.known() {
			read.before = planned.before
		} else if read.object.last.known() {
			read.before = read.object.last
		}
	}
	if !read.after.known() {
		read.after = read.before
		if planned != nil && done {
			read.after = value{}
			if planned.after.known() {
				read.after = planned.after
			}
		}
	}
	return read
}

// gap extends the chain of an object by a reading that nobody accounts for.
func (j *Judge) gap(o *object, v value) {
	if !differ(o.last, v) {
		return
	}
	j.weigh(o, true, o.last, v, 1)
	j.extra = append(j.extra, element{object: o, before: o.last, after: v, early: o.closed == 0, from: o.at, to: j.now})
}

// weigh counts a member of D (1) or S (-1).
func (j *Judge) weigh(o *object, there bool, before, after value, n int) {
	if !there {
		return
	}
	op := 1
	switch {
	case before.word == absent:
		op = 0
	case after.word == absent:
		op = 2
	}
	o.tally[op] += n
	if n > 0 {
		o.changed = true
		j.observed++
	} else {
		j.audited++
	}
}

// blank notes that a snapshot could not read an object.
func (j *Judge) blank(o *object) {
	o.hidden = true
	j.unread = append(j.unread, element{object: o, from: o.at, to: j.now, detail: "a snapshot could not read it"})
}

func (j *Judge) unreadBy(c *call, o *object) {
	c.kept = true
	j.unread = append(j.unread, element{object: o, call: c, from: c.since, to: j.now, detail: "it could not be read around the call"})
}

// look takes a snapshot as a reading of every object that nobody leases.
func (j *Judge) look(p *place, s *corpus.Snapshot) {
	if s == nil {
		return
	}
	j.stamp++
	var leased []*object
	visit := func(o *object) {
		o.stamp = j.stamp
		switch v := valueOf(s.State(o.name)); {
		case o.open > 0:
			leased = append(leased, o)
			return
		case !v.known():
			j.blank(o)
		default:
			j.gap(o, v)
			o.hidden, o.last = false, v
		}
		o.active = false
	}
	for _, o := range p.active {
		visit(o)
	}
	p.active = p.active[:0]
	if p.base != nil {
		for _, c := range corpus.Diff(p.base, s) {
			if o := j.objects[c.Object]; o == nil || o.stamp != j.stamp {
				visit(j.object(c.Object))
			}
		}
	} else {
		j.unreadIn(s, visit)
	}
	p.active, p.base, p.at = append(p.active[:0], leased...), s, j.now
}

// unreadIn visits what a first snapshot could not read.
func (j *Judge) unreadIn(s *corpus.Snapshot, visit func(*object)) {
	for _, e := range s.Entries() {
		if o := j.objects[e.Object]; e.State == corpus.Unreadable && (o == nil || o.stamp != j.stamp) {
			visit(j.object(e.Object))
		}
	}
}
