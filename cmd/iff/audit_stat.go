package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/iff-run/iff/audit"
	"github.com/iff-run/iff/internal/home"
	"github.com/iff-run/iff/record"
)

type auditStatCmd struct{}

type kindCountJSON struct {
	Kind    string `json:"kind" doc:"kind of record"`
	Records int64  `json:"records" doc:"how many"`
}

type sessionCountJSON struct {
	Session string `json:"session" doc:"id of the session"`
	Records int64  `json:"records" doc:"how many"`
	Calls   int64  `json:"calls" doc:"requests among them"`
	First   string `json:"first" doc:"earliest time, RFC 3339"`
	Last    string `json:"last" doc:"latest time, RFC 3339"`
}

type openCallJSON struct {
	Call    string `json:"call" doc:"id of the call"`
	Session string `json:"session" doc:"id of its session"`
	Status  string `json:"status" doc:"asked, decided, staged, intended or in-doubt"`
	Record  int64  `json:"record" doc:"number of its newest record"`
}

type auditStatJSON struct {
	Origin      string             `json:"origin" doc:"name of the log"`
	Key         string             `json:"key" doc:"verifier key that signs its checkpoints now"`
	FirstKey    string             `json:"firstKey" doc:"verifier key that signed the first ones; what audit verify --key takes"`
	Records     int64              `json:"records" doc:"how many"`
	Bytes       int64              `json:"bytes" doc:"of the lines, with their newlines"`
	Segments    int64              `json:"segments" doc:"files they lie in"`
	First       string             `json:"first" doc:"earliest time, RFC 3339"`
	Last        string             `json:"last" doc:"latest time, RFC 3339"`
	Seconds     int64              `json:"seconds" doc:"between the two"`
	Checkpoints int64              `json:"checkpoints" doc:"signed heads among the records"`
	Signed      int64              `json:"signed" doc:"records under the newest checkpoint"`
	Anchors     []anchorJSON       `json:"anchors" doc:"who outside vouches for the log, and up to where"`
	Anchored    int64              `json:"anchored" doc:"records that somebody outside vouches for"`
	Kinds       []kindCountJSON    `json:"kinds" doc:"most frequent first"`
	Sessions    []sessionCountJSON `json:"sessions" doc:"in the order of their first record"`
	Open        []openCallJSON     `json:"open" doc:"calls without an outcome"`
	Verdict     string             `json:"verdict" doc:"PASS, FAIL or OPEN of the newest verdict; empty if there is none"`
	VerdictAt   int64              `json:"verdictAt" doc:"number of its record; -1 if there is none"`
}

// Run reads every record once.
func (auditStatCmd) Run(a *app) error {
	return a.withHome(home.Read, func(h *home.Home) error {
		c := counter{kinds: map[record.Kind]int64{}, sessions: map[string]*sessionCount{}, segment: -1}
		if err := a.each(h, &filter{to: forever}, c.count); err != nil {
			return err
		}
		out, err := c.report(a, h)
		if err != nil {
			return err
		}
		return a.print(out, func() error { return a.printStat(out) })
	})
}

// counter counts records as they come.
type counter struct {
	records, bytes, segments int64
	segment                  int64 // the one before
	first, last              time.Time
	kinds                    map[record.Kind]int64
	sessions                 map[string]*sessionCount
	order                    []string // of the sessions
	verdict                  record.Result
}

type sessionCount struct {
	records, calls int64
	first, last    time.Time
}

func (c *counter) count(s audit.Stored) error {
	c.records++
	c.bytes += int64(len(s.Line)) + 1
	if s.At.Segment != c.segment {
		c.segment = s.At.Segment
		c.segments++
	}
	c.first, c.last = spread(c.first, c.last, s.Time)
	kind := s.Body.Kind()
	if _, ok := c.kinds[kind]; !ok {
		kind = record.Kind(strings.Clone(string(kind)))
	}
	c.kinds[kind]++
	if v, ok := s.Body.(record.Verdict); ok {
		c.verdict = v.Result
	}
	if s.Session == "" {
		return nil
	}
	n := c.sessions[s.Session]
	if n == nil {
		id := strings.Clone(s.Session)
		n = new(sessionCount)
		c.sessions[id] = n
		c.order = append(c.order, id)
	}
	n.records++
	if kind == record.KindRequest || kind == record.KindReversibleRequest {
		n.calls++
	}
	n.first, n.last = spread(n.first, n.last, s.Time)
	return nil
}

// spread widens a span of time to hold t; clocks are set back now and then.
func spread(first, last, t time.Time) (time.Time, time.Time) {
	if first.IsZero() || t.Before(first) {
		first = t
	}
	if last.IsZero() || t.After(last) {
		last = t
	}
	return first, last
}

func (c *counter) report(a *app, h *home.Home) (auditStatJSON, error) {
	state := h.State()
	origin, key, _ := state.Log()
	_, signed := h.View().Newest()
	out := auditStatJSON{
		Origin: origin, Records: c.records, Bytes: c.bytes, Segments: c.segments, Checkpoints: c.kinds[record.KindCheckpoint], Signed: signed,
		First: stamp(c.first), Last: stamp(c.last), Seconds: int64(c.last.Sub(c.first).Seconds()),
		Kinds: []kindCountJSON{}, Sessions: []sessionCountJSON{}, Open: openCalls(state.Calls()), Verdict: string(c.verdict), VerdictAt: -1,
	}
	if at, ok := state.LastVerdict(); ok {
		out.VerdictAt = at
	}
	var err error
	if out.Key, err = verifierKey(origin, key); err != nil {
		return out, err
	}
	if out.FirstKey, err = verifierKey(h.Config().Log.Origin, h.Config().Log.Key); err != nil {
		return out, err
	}
	for _, k := range slices.SortedFunc(maps.Keys(c.kinds), func(x, y record.Kind) int {
		return cmp.Or(cmp.Compare(c.kinds[y], c.kinds[x]), strings.Compare(string(x), string(y)))
	}) {
		out.Kinds = append(out.Kinds, kindCountJSON{string(k), c.kinds[k]})
	}
	for _, id := range c.order {
		n := c.sessions[id]
		out.Sessions = append(out.Sessions, sessionCountJSON{id, n.records, n.calls, stamp(n.first), stamp(n.last)})
	}
	out.Anchors, out.Anchored = a.anchorsOf(h)
	return out, nil
}

// verifierKey is a key of the log as others are given it.
func verifierKey(origin, key string) (string, error) {
	k, err := audit.ParseKey(key)
	if err != nil {
		return "", err
	}
	return audit.VerifierKey(origin, k)
}

func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return string(record.StampOf(t))
}

func openCalls(calls []record.Call) []openCallJSON {
	out := []openCallJSON{}
	for _, c := range calls {
		o := openCallJSON{Call: c.ID, Session: c.Session, Status: "asked", Record: max(c.Request, c.Decision, c.Staged, c.Intent)}
		switch {
		case c.InDoubt:
			o.Status = "in-doubt"
		case c.Intent >= 0:
			o.Status = "intended"
		case c.Staged >= 0:
			o.Status = "staged"
		case c.Decision >= 0:
			o.Status = "decided"
		}
		out = append(out, o)
	}
	return out
}

// statSessions is how many sessions are listed for people, the newest ones.
const statSessions = 10

func (a *app) printStat(out auditStatJSON) error {
	files := plural(int(out.Segments), "segment")
	rows := [][]string{
		{"log", out.Origin},
		{"key", out.Key},
		{"records", fmt.Sprintf("%s, %s in %s", count(out.Records), size(out.Bytes), files)},
		{"time", fmt.Sprintf("%s to %s, %s", short19(out.First), short19(out.Last), rate(out.Records, out.Seconds))},
		{"checkpoints", fmt.Sprintf("%s, the newest of %s of %s records", count(out.Checkpoints), count(out.Signed), count(out.Records))},
		{"anchored", anchoredWords(out.Anchors, out.Anchored, out.Records)},
	}
	if out.FirstKey != out.Key {
		rows = slices.Insert(rows, 2, []string{"first key", out.FirstKey})
	}
	verdict := "none"
	if out.VerdictAt >= 0 {
		verdict = fmt.Sprintf("%s, record %s", out.Verdict, count(out.VerdictAt))
	}
	rows = append(rows, []string{"verdict", verdict}, []string{"open", openWords(out.Open)})
	if err := a.table(rows); err != nil {
		return err
	}
	a.printf("\n")
	rows = [][]string{{"KIND", "RECORDS"}}
	for _, k := range out.Kinds {
		rows = append(rows, []string{k.Kind, count(k.Records)})
	}
	if err := a.table(rows); err != nil || len(out.Sessions) == 0 {
		return err
	}
	newest := out.Sessions[max(0, len(out.Sessions)-statSessions):]
	a.printf("\n")
	rows = [][]string{{"SESSION", "RECORDS", "CALLS", "FIRST (UTC)", "LAST (UTC)"}}
	for _, s := range newest {
		rows = append(rows, []string{s.Session, count(s.Records), count(s.Calls), short19(s.First), short19(s.Last)})
	}
	if err := a.table(rows); err != nil {
		return err
	}
	if more := len(out.Sessions) - len(newest); more > 0 {
		a.printf("and %s before them: iff audit stat --json\n", plural(more, "session"))
	}
	return nil
}

// short19 is a stamp of a record for people.
func short19(stamp string) string {
	if len(stamp) < 19 {
		return stamp
	}
	return stamp[:10] + " " + stamp[11:19]
}

// rate is how many records came in which unit of time.
func rate(records, seconds int64) string {
	perSecond := float64(records) / float64(max(seconds, 1))
	for _, u := range []struct {
		name    string
		seconds float64
	}{{"second", 1}, {"minute", 60}, {"hour", 3600}} {
		if n := perSecond * u.seconds; n >= 1 {
			return fmt.Sprintf("%s a %s", count(int64(n+0.5)), u.name)
		}
	}
	return fmt.Sprintf("%.1f a day", perSecond*86400)
}

func openWords(open []openCallJSON) string {
	if len(open) == 0 {
		return "no call"
	}
	doubt := 0
	for _, c := range open {
		if c.Status == "in-doubt" || c.Status == "intended" {
			doubt++
		}
	}
	if doubt == 0 {
		return plural(len(open), "call") + ", none with an intent"
	}
	return fmt.Sprintf("%s, %d of them with an intent and no outcome", plural(len(open), "call"), doubt)
}
