package verdict

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/record"
)

// found is a finding and its place in the order of the report.
type found struct {
	pos int64
	Finding
}

// finding is an element with its class.
func (e *element) finding(class Class, detail string) found {
	f := Finding{
		Class: class, Before: e.before.state(), After: e.after.state(), Planned: e.planned.state(),
		From: stamp(e.from), To: stamp(e.to), Detail: detail,
	}
	if e.object != nil {
		f.Object = e.object.name
		e.object.odd = true
	}
	if e.call != nil {
		f.Call, f.Session = e.call.id, e.call.session
	}
	return found{e.to.pos, f}
}

func stamp(at instant) record.Stamp {
	if at.time.IsZero() {
		return ""
	}
	return record.StampOf(at.time)
}

// findings gives every difference its one class.
func (j *Judge) findings() []found {
	out := j.forged()
	out = append(out, j.tampered()...)
	out = append(out, j.misplaced()...)
	out = append(out, j.miswritten()...)
	for i := range j.missing {
		out = append(out, j.missing[i].finding(SilentFailure, "it was recorded as done, and it was not"))
	}
	for i := range j.extra {
		out = append(out, j.extra[i].rest())
	}
	return append(append(out, j.unreads()...), j.doubts()...)
}

// rest is the class of a member of D that nothing else explains.
func (e *element) rest() found {
	switch {
	case e.call != nil && e.failed:
		return e.finding(Partial, "a call that failed left a change behind")
	case e.call != nil:
		return e.finding(WrongContent, "the call changed what it was not to change")
	case !e.object.leased:
		return e.finding(Bypass, "changed outside every call; nobody leased it")
	case e.early:
		return e.finding(Drift, "changed before the first call that leased it")
	}
	return e.finding(Overlap, "changed outside the calls that leased it, after one of them")
}

// forged takes broken calls, and the differences that they left.
func (j *Judge) forged() []found {
	var out []found
	for _, c := range j.broken {
		if c.inside {
			e := element{call: c, to: c.fell}
			out = append(out, e.finding(Forgery, c.fault))
		}
	}
	broken := func(e element) bool {
		if e.call == nil || e.call.fault == "" {
			return false
		}
		out = append(out, e.finding(Forgery, "left by a call whose records do not hold"))
		return true
	}
	j.extra = slices.DeleteFunc(j.extra, broken)
	j.missing = slices.DeleteFunc(j.missing, broken)
	return out
}

func (j *Judge) tampered() []found {
	var out []found
	j.extra = slices.DeleteFunc(j.extra, func(e element) bool {
		if e.call != nil || j.opt.Guarded == nil || !j.opt.Guarded(e.object.name) {
			return false
		}
		out = append(out, e.finding(Tamper, "a guarded object changed outside every call"))
		return true
	})
	return out
}

// before orders elements as they are paired.
func before(a, b element) int {
	return cmp.Or(cmp.Compare(a.to.pos, b.to.pos), strings.Compare(string(a.object.name), string(b.object.name)), cmp.Compare(nobody(b), nobody(a)))
}

func nobody(e element) int {
	if e.call == nil {
		return 1
	}
	return 0
}

// misplaced pairs what was planned here with what was found there.
func (j *Judge) misplaced() []found {
	slices.SortStableFunc(j.missing, before)
	slices.SortStableFunc(j.extra, before)
	landed := map[value][]int{}
	for i, e := range j.extra {
		if !e.failed {
			landed[e.after] = append(landed[e.after], i)
		}
	}
	var out []found
	taken := make([]bool, len(j.extra))
	missing := j.missing[:0]
	for _, m := range j.missing {
		at := slices.IndexFunc(landed[m.planned], func(i int) bool { return m.near(&j.extra[i]) })
		if at < 0 {
			missing = append(missing, m)
			continue
		}
		i := landed[m.planned][at]
		landed[m.planned] = slices.Delete(landed[m.planned], at, at+1)
		taken[i] = true
		f := m.finding(WrongTarget, "what was approved for one object was done to another")
		f.Landed, j.extra[i].object.odd = j.extra[i].object.name, true
		out = append(out, f)
	}
	j.missing, j.extra = missing, untaken(j.extra, taken)
	return out
}

// near says whether e happened on another object while m should have.
func (m *element) near(e *element) bool {
	return m.object != e.object && e.from.pos < m.to.pos && e.to.pos > m.from.pos
}

func untaken(list []element, taken []bool) []element {
	var out []element
	for i, e := range list {
		if !taken[i] {
			out = append(out, e)
		}
	}
	return out
}

// miswritten pairs what a call was to do to an object with what it did.
func (j *Judge) miswritten() []found {
	type key struct {
		call   *call
		object *object
		pos    int64
	}
	of := func(e element) key { return key{e.call, e.object, e.to.pos} }
	did := map[key]int{}
	for i, e := range j.extra {
		if e.call != nil {
			did[of(e)] = i
		}
	}
	var out []found
	taken := make([]bool, len(j.extra))
	j.missing = slices.DeleteFunc(j.missing, func(m element) bool {
		i, ok := did[of(m)]
		if !ok {
			return false
		}
		taken[i] = true
		out = append(out, m.finding(WrongContent, "it was changed otherwise than was approved"))
		return true
	})
	j.extra = untaken(j.extra, taken)
	return out
}

// unreads lists what could not be read, once for each object and call.
func (j *Judge) unreads() []found {
	type key struct {
		object corpus.Object
		call   string
	}
	var out []found
	seen := map[key]bool{}
	for i := range j.unread {
		f := j.unread[i].finding(Unread, j.unread[i].detail)
		if k := (key{f.Object, f.Call}); !seen[k] {
			seen[k] = true
			out = append(out, f)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(j.corpora)) {
		if p := j.corpora[name]; p.used && (p.start == nil || p.end == nil) {
			out = append(out, found{j.now.pos, Finding{Class: Unread, Object: corpus.Object(name + "/."), Detail: "the corpus was not read at both ends"}})
		}
	}
	if len(j.opt.Start) == 0 {
		out = append(out, found{j.now.pos, Finding{Class: Unread, Detail: "no corpus was read"}})
	}
	return out
}

// ending is what the last snapshot says of an object.
func (j *Judge) ending(o *object) value {
	if p := o.home; p.end != nil {
		return valueOf(p.end.State(o.name))
	}
	return value{}
}

// report comes to the verdict.
func (j *Judge) report() Report {
	all := j.findings()
	slices.SortStableFunc(all, func(a, b found) int {
		return cmp.Or(cmp.Compare(a.pos, b.pos), cmp.Compare(a.Object, b.Object), cmp.Compare(a.Class, b.Class),
			cmp.Compare(a.Call, b.Call), cmp.Compare(a.Landed, b.Landed), cmp.Compare(a.Before, b.Before), cmp.Compare(a.After, b.After))
	})
	r := Report{
		Session: j.opt.Session, From: j.opt.From, To: j.to, Since: stamp(instant{time: j.opt.Since}), Until: stamp(j.now),
		Counts: j.counts, Corpora: j.described(), Paper: Paper{Equal: true, Observed: j.observed, Audited: j.audited},
		Findings: []Finding{}, Unseen: Unseen(),
	}
	for _, o := range j.objects {
		r.Paper.Equal = r.Paper.Equal && o.tally == [3]int{}
		if o.changed {
			r.Counts.Changed++
			if !o.odd {
				r.Counts.Explained++
			}
		}
	}
	whole := make([]Finding, 0, len(all))
	for _, f := range all {
		whole = append(whole, f.Finding)
		if j.opt.Session == "" || f.Session == j.opt.Session || f.Call == "" {
			r.Findings = append(r.Findings, f.Finding)
		}
	}
	r.Whole, r.Result = judged(whole), judged(r.Findings)
	return r
}

// described lists the corpora that the caller gave.
func (j *Judge) described() []Corpus {
	out := []Corpus{}
	for _, name := range slices.Sorted(maps.Keys(j.corpora)) {
		p, o := j.corpora[name], j.opt.Observers[name]
		c := Corpus{Name: name, Observer: o.Name, Blind: append([]string{}, o.Blind...), Volatile: append([]string{}, o.Volatile...)}
		if p.end != nil {
			c.Objects, c.Unread = int64(p.end.Len()), int64(p.end.Unread())
		}
		out = append(out, c)
	}
	return out
}

// doubts lists the calls whose intent has no outcome.
func (j *Judge) doubts() []found {
	var out []found
	for _, c := range j.calls {
		if c == nil || c.phase == nothing {
			continue
		}
		const words = "what became of the call is not known"
		e := element{call: c, from: c.since, to: j.now}
		if len(c.plan) == 0 {
			out = append(out, e.finding(InDoubt, words))
		}
		for _, s := range c.plan {
			e.object, e.before, e.after, e.planned = s.object, s.before, j.ending(s.object), s.after
			out = append(out, e.finding(InDoubt, words))
		}
	}
	return out
}
