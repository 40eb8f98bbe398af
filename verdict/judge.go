package verdict

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/record"
)

// Observer is who read a corpus.
type Observer struct {
	Name     string
	Blind    []string // what it cannot see, in words
	Volatile []string // patterns that are taken out of the corpus
}

// Signed is an approval that has to be a signed one, and what it was given for.
type Signed struct {
	Session  string
	ID       string
	Seq      int64 // of the request record
	Fence    int64 // of the runtime that recorded the request
	Asked    time.Time
	Decided  time.Time
	Request  record.Request
	Decision record.Decision
}

// Options say what is judged. The zero value is no corpus, which is never PASS.
type Options struct {
	From      int64     // sequence number at which the interval begins; records below are the past
	Since     time.Time // of the snapshots in Start
	Start     map[string]*corpus.Snapshot
	Observers map[string]Observer
	Fence     int64  // of the runtime at the first record given, where its boot is not among the records
	Session   string // show the view of this session; empty: all

	// Guarded says whether an object is a file of a loaded skill or a control file.
	// Nil: none is.
	Guarded func(corpus.Object) bool
	// Check says whether the approval of a human or a webhook was signed by who may,
	// for exactly this. Nil: such approvals count as forged, for nobody can tell.
	Check func(Signed) error
}

// Judge takes the records of an interval and comes to a verdict. It is made by
// [New] and not safe for concurrent use. What it keeps grows with the calls that
// are open or can be rolled back, the objects touched, the findings, and the
// ids of all calls.
type Judge struct {
	opt     Options
	fence   int64
	now     instant
	inside  bool // the record at hand is in the interval
	to      int64
	calls   map[string]*call // nil: one that ended without a fault
	recent  *call            // of the record before, if it goes on
	spare   []*call
	names   map[string]string // sessions
	objects map[corpus.Object]*object
	corpora map[string]*place
	stamp   int
	list    []step // scratch
	counts  Counts

	broken         []*call
	missing, extra []element // of S and not of D, of D and not of S
	unread         []element

	observed, audited int64 // sizes of D and S
}

// instant is a place in the log, and its time.
type instant struct {
	pos  int64
	time time.Time
}

// place is one corpus: its newest snapshot, and the objects looked at since.
type place struct {
	name       string
	base       *corpus.Snapshot // nil: none was given
	at         instant
	start, end *corpus.Snapshot
	used       bool // the caller, or a record in the interval, names it
	active     []*object
}

// New is a judge of the interval that begins with opt.From.
func New(opt Options) *Judge {
	j := &Judge{
		opt: opt, fence: opt.Fence, now: instant{time: opt.Since}, to: opt.From,
		calls: map[string]*call{}, names: map[string]string{}, objects: map[corpus.Object]*object{}, corpora: map[string]*place{},
	}
	for _, name := range slices.Sorted(maps.Keys(opt.Start)) {
		p := j.place(name)
		p.start, p.base, p.at, p.used = opt.Start[name], opt.Start[name], j.now, true
		if p.base == nil || p.base.Unread() == 0 {
			continue
		}
		for _, e := range p.base.Entries() {
			if e.State == corpus.Unreadable {
				j.blank(j.object(e.Object))
			}
		}
	}
	return j
}

// Add takes the next record. rest are the changes of its body's Rest payload,
// where it has one.
func (j *Judge) Add(r record.Record, rest []corpus.Change) {
	j.now = instant{j.now.pos + 1, r.Time}
	j.inside = r.Seq >= j.opt.From
	j.to = max(j.to, r.Seq+1)
	switch b := r.Body.(type) {
	case record.Boot:
		j.fence = max(j.fence, b.Fence)
	case record.Recovery:
		j.recovered(&b)
	case record.Request:
		j.request(&r, &b, rest, false)
	case record.ReversibleRequest:
		j.request(&r, &b.Request, rest, true)
	case record.Decision:
		j.decision(&r, &b)
	case record.LateDecision:
		if j.counted(r.Session) {
			j.counts.Late++
		}
	case record.Staged:
		j.staged(&r, &b)
	case record.Intent:
		j.intent(&r, &b, rest, executing)
	case record.CommitIntent:
		j.intent(&r, &b.Intent, rest, committing)
	case record.RollbackIntent:
		j.intent(&r, &b.Intent, rest, rollingBack)
	default:
		j.outcome(&r, rest)
	}
}

// Snapshot takes what a corpus was at a barrier: after the last record given,
// before the next.
func (j *Judge) Snapshot(name string, s *corpus.Snapshot) {
	j.now.pos++
	j.look(j.place(name), s)
}

// End takes what the corpora were at the end of the interval, at that time, and
// comes to the verdict. The judge is used up.
func (j *Judge) End(final map[string]*corpus.Snapshot, at time.Time) Report {
	j.now = instant{j.now.pos + 1, at}
	for _, name := range slices.Sorted(maps.Keys(final)) {
		p := j.place(name)
		p.end, p.used = final[name], true
		j.look(p, p.end)
	}
	return j.report()
}

func (j *Judge) place(name string) *place {
	p := j.corpora[name]
	if p == nil {
		p = &place{name: strings.Clone(name)}
		j.corpora[p.name] = p
	}
	return p
}

// intern keeps one copy of a session's id, and none of the line it came in.
func (j *Judge) intern(s string) string {
	own, ok := j.names[s]
	if !ok {
		own = strings.Clone(s)
		j.names[own] = own
	}
	return own
}

// counted says whether a record of a session at this place is counted.
func (j *Judge) counted(session string) bool {
	return j.inside && (j.opt.Session == "" || j.opt.Session == session)
}
