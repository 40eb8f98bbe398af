package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/iff-run/iff/audit"
	"github.com/iff-run/iff/internal/visible"
	"github.com/iff-run/iff/record"
)

// filterFlags say which records a verb is about. All that are given must hold.
type filterFlags struct {
	Session string   `help:"Only of this session; the end of its id will do." placeholder:"ID"`
	Call    string   `help:"Only of this call; the end of its id will do." placeholder:"ID"`
	Kind    []string `help:"Only of this kind, such as decision, or of this family, such as skill. Can be given again." placeholder:"KIND"`
	Since   string   `help:"Only from this time on: 2027-01-31, 2027-01-31T14:02:11Z (UTC), or 90m, 12h, 7d ago." placeholder:"TIME"`
	Until   string   `help:"Only before this time, written as --since." placeholder:"TIME"`
	Skill   string   `help:"Only of the skill of this name, and of its calls." placeholder:"NAME"`
	From    int64    `help:"Only from this record on." default:"0" placeholder:"SEQ"`
	To      *int64   `help:"Only up to this record." placeholder:"SEQ"`
	Limit   int64    `help:"Only the first N of them; 0 means all." default:"0" placeholder:"N"`
}

// filter is filterFlags, checked. What it has seen of the log so far says which
// calls are of a skill, so it is asked about every record in order.
type filter struct {
	session, call string
	kinds         map[record.Kind]bool // nil means all
	since, until  time.Time            // zero means unbounded
	skill         *skillFilter         // nil means all
	from, to      int64                // to is behind the last
	limit         int64
}

// forever is behind every record.
const forever = 1 << 53

func (f filterFlags) compile(now time.Time) (*filter, error) {
	out := &filter{session: f.Session, call: f.Call, from: f.From, to: forever, limit: f.Limit}
	if f.To != nil {
		out.to = *f.To + 1
	}
	if f.From < 0 || out.to < 1 || f.Limit < 0 {
		return nil, &usageError{reason: "usage", detail: "--from, --to and --limit are not below 0"}
	}
	if out.from >= out.to {
		return nil, &usageError{reason: "usage", detail: fmt.Sprintf("--from %d lies behind --to %d", out.from, out.to-1), remedy: "swap the two"}
	}
	var err error
	if out.since, err = parseWhen("--since", f.Since, now); err != nil {
		return nil, err
	}
	if out.until, err = parseWhen("--until", f.Until, now); err != nil {
		return nil, err
	}
	if out.kinds, err = parseKinds(f.Kind); err != nil {
		return nil, err
	}
	if f.Skill != "" {
		out.skill = &skillFilter{name: f.Skill, subjects: map[string]bool{}, calls: map[string]bool{}}
	}
	return out, nil
}

// parseKinds finds the kinds that words name: one kind, or all that begin with
// the word and a dot.
func parseKinds(words []string) (map[record.Kind]bool, error) {
	if len(words) == 0 {
		return nil, nil
	}
	out := map[record.Kind]bool{}
	for _, w := range words {
		known := false
		for _, k := range record.Kinds() {
			if string(k) == w || strings.HasPrefix(string(k), w+".") {
				out[k], known = true, true
			}
		}
		if !known {
			var all []string
			for _, k := range record.Kinds() {
				all = append(all, string(k))
			}
			return nil, &usageError{reason: "usage", detail: fmt.Sprintf("--kind %s: no record is of this kind", visible.Escape(w)), remedy: "one of " + strings.Join(all, ", ")}
		}
	}
	return out, nil
}

var timeForms = []string{time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02T15:04", "2006-01-02 15:04", time.DateOnly}

// parseWhen reads a time, in UTC unless it says otherwise, or how long ago it
// was. Nothing is the zero time.
func parseWhen(flag, text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	for _, form := range timeForms {
		if t, err := time.Parse(form, text); err == nil {
			return t, nil
		}
	}
	if n, ok := strings.CutSuffix(text, "d"); ok {
		if days, err := strconv.ParseUint(n, 10, 16); err == nil {
			return now.AddDate(0, 0, -int(days)), nil
		}
	}
	if d, err := time.ParseDuration(text); err == nil && d > 0 {
		return now.Add(-d), nil
	}
	return time.Time{}, &usageError{reason: "usage", detail: fmt.Sprintf("%s %s: neither a time nor how long ago", flag, visible.Escape(text)), remedy: "write it so: 2027-01-31, 2027-01-31T14:02:11Z, 90m, 12h or 7d"}
}

// start is the first record that the filter has to be asked about.
func (f *filter) start() int64 {
	if f.skill != nil {
		return 0 // which versions are of the skill is said anywhere before
	}
	return f.from
}

// match says whether a record is asked for.
func (f *filter) match(s audit.Stored) bool {
	ofSkill := f.skill == nil || f.skill.match(s.Record)
	switch {
	case !ofSkill, s.Seq < f.from, s.Seq >= f.to:
	case !endsIn(s.Session, f.session), f.call != "" && !f.ofCall(s.Record):
	case f.kinds != nil && !f.kinds[s.Body.Kind()]:
	case !f.since.IsZero() && s.Time.Before(f.since), !f.until.IsZero() && !s.Time.Before(f.until):
	default:
		return true
	}
	return false
}

// ofCall says whether a record is of the call, or says what became of it when
// the log was opened after a crash.
func (f *filter) ofCall(r record.Record) bool {
	if r.Request != "" {
		return endsIn(r.Request, f.call)
	}
	b, ok := r.Body.(record.Recovery)
	if !ok {
		return false
	}
	for _, ids := range [][]string{b.Denied, b.Expired, b.InDoubt, b.RolledBack} {
		if slices.ContainsFunc(ids, func(id string) bool { return endsIn(id, f.call) }) {
			return true
		}
	}
	return false
}

// endsIn says whether an id is the one that is asked for, or ends so. Nothing
// is asked for by "".
func endsIn(id, asked string) bool { return asked == "" || id != "" && strings.HasSuffix(id, asked) }

// skillFilter knows which records are of the skill of a name.
type skillFilter struct {
	name     string
	subjects map[string]bool // of its versions
	calls    map[string]bool // of it, the newest maxCalls at least
	older    map[string]bool
}

// maxCalls bounds what is remembered; what a call does after so many others is
// not found by the skill's name any more.
const maxCalls = 1 << 19

func (f *skillFilter) match(r record.Record) bool {
	if r.Request != "" && (f.calls[r.Request] || f.older[r.Request]) {
		return true
	}
	for _, k := range skillsOf(r.Body) {
		if k.Name == f.name {
			f.subjects[strings.Clone(k.Subject)] = true
			return true
		}
	}
	switch b := r.Body.(type) {
	case record.Request:
		return f.begins(r.Request, b)
	case record.ReversibleRequest:
		return f.begins(r.Request, b.Request)
	case record.Session:
		return f.subjects[b.Skill]
	case record.Mutation:
		return b.Skill == f.name
	case record.Revocation:
		return slices.Contains(b.Evicted, f.name)
	case record.Lock:
		return slices.ContainsFunc(b.Skills, func(s string) bool { return f.subjects[s] })
	}
	return false
}

func (f *skillFilter) begins(id string, b record.Request) bool {
	if !f.subjects[b.Skill] {
		return false
	}
	if len(f.calls) == maxCalls {
		f.calls, f.older = map[string]bool{}, f.calls
	}
	f.calls[strings.Clone(id)] = true
	return true
}

// skillsOf are the skills that a body is about.
func skillsOf(b record.Body) []record.Skill {
	switch b := b.(type) {
	case record.SkillAdopted:
		return []record.Skill{b.Skill}
	case record.SkillSigned:
		return []record.Skill{b.Skill}
	case record.SkillLoaded:
		return []record.Skill{b.Skill}
	case record.SkillEvicted:
		return []record.Skill{b.Skill}
	}
	return nil
}
