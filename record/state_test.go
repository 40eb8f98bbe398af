package record_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/iff-run/iff/record"
)

// told is the state after records, numbered from 0. Each is of session S and
// call c unless it says otherwise.
func told(bodies ...any) *record.State {
	s := new(record.State)
	for i, b := range bodies {
		r := record.Record{Seq: int64(i), Session: "S", Request: "c"}
		switch b := b.(type) {
		case record.Entry:
			r.Session, r.Request, r.Body = b.Session, b.Request, b.Body
		case record.Body:
			r.Body = b
		}
		s.Apply(r)
	}
	return s
}

func turn(t record.Transition) record.Session { return record.Session{Agent: "a", Transition: t} }

func given(level, skill string) record.Session {
	return record.Session{Agent: "a", Level: level, Skill: skill, Transition: record.SessionSkill}
}

func in(session string, b record.Body) record.Entry { return record.Entry{Session: session, Body: b} }

func TestSessionsFold(t *testing.T) {
	opened := record.OpenSession{ID: "S", Agent: "a", Transition: record.SessionOpened}
	with := func(skill string, newest record.Transition) []record.OpenSession {
		s := opened
		s.Skill, s.Transition = skill, newest
		return []record.OpenSession{s}
	}
	for name, c := range map[string]struct {
		bodies []any
		want   []record.OpenSession
	}{
		"opened":           {[]any{turn(record.SessionOpened)}, with("", record.SessionOpened)},
		"paused":           {[]any{turn(record.SessionOpened), turn(record.SessionPaused)}, with("", record.SessionPaused)},
		"skill":            {[]any{turn(record.SessionOpened), given("tested", "s1")}, with("s1", record.SessionSkill)},
		"back to none":     {[]any{turn(record.SessionOpened), given("tested", "s1"), given("", "")}, with("", record.SessionSkill)},
		"opened twice":     {[]any{turn(record.SessionOpened), record.Session{Agent: "b", Transition: record.SessionOpened}}, with("", record.SessionOpened)},
		"reset":            {[]any{turn(record.SessionOpened), given("tested", "s1"), turn(record.AgentReset)}, with("s1", record.SessionSkill)},
		"stopped":          {[]any{turn(record.SessionOpened), turn(record.SessionStopped)}, nil},
		"aborted":          {[]any{turn(record.SessionOpened), turn(record.SessionAborted)}, nil},
		"closed":           {[]any{turn(record.SessionOpened), turn(record.SessionClosed)}, nil},
		"late":             {[]any{turn(record.SessionOpened), turn(record.SessionStopped), given("tested", "s1"), turn(record.SessionPaused)}, nil},
		"never opened":     {[]any{turn(record.SessionResumed), given("tested", "s1")}, nil},
		"nameless":         {[]any{in("", turn(record.SessionOpened))}, nil},
		"another is ended": {[]any{turn(record.SessionOpened), in("T", turn(record.SessionOpened)), in("T", turn(record.SessionClosed))}, with("", record.SessionOpened)},
	} {
		if got := told(c.bodies...).Sessions(); !slices.Equal(got, c.want) {
			t.Errorf("%s: %+v, not %+v", name, got, c.want)
		}
	}
	two := told(in("T", turn(record.SessionOpened)), in("S", turn(record.SessionOpened))).Sessions()
	if len(two) != 2 || two[0].ID != "S" || two[0].Opened != 1 || two[1].ID != "T" || two[1].Opened != 0 {
		t.Errorf("two sessions are %+v", two)
	}
}

func TestAgentsFold(t *testing.T) {
	read := func(mark string) record.Request { return record.Request{Agent: "a", Level: "unverified", Mark: mark} }
	for name, c := range map[string]struct {
		bodies []any
		level  string
		marks  []string
	}{
		"nothing":             {nil, "", nil},
		"opened":              {[]any{record.Session{Agent: "a", Level: "unverified", Mark: "P", Transition: record.SessionOpened}}, "", []string{"P"}},
		"given":               {[]any{given("tested", "s")}, "tested", nil},
		"given less":          {[]any{given("tested", "s"), given("declared", "s")}, "declared", nil},
		"given more":          {[]any{given("declared", "s"), given("formal", "s")}, "declared", nil},
		"unverified":          {[]any{given("unverified", "s"), given("formal", "s")}, "unverified", nil},
		"no level":            {[]any{given("formal", "s"), given("", "")}, "formal", nil},
		"what is none is low": {[]any{given("formal", "s"), given("Formal", "s")}, "unverified", nil},
		"only by a skill":     {[]any{given("formal", "s"), record.Session{Agent: "a", Level: "declared", Transition: record.SessionPaused}, read("P")}, "formal", []string{"P"}},
		"a set":               {[]any{read("B"), read("A"), record.ReversibleRequest{Request: read("B")}, read("")}, "", []string{"A", "B"}},
		"at the end":          {[]any{turn(record.SessionOpened), record.Session{Agent: "a", Mark: "Q", Transition: record.SessionClosed}}, "", []string{"Q"}},
		"another agent":       {[]any{record.Request{Agent: "b", Mark: "X"}, record.Session{Agent: "b", Level: "unverified", Transition: record.SessionSkill}}, "", nil},
		"reset":               {[]any{given("declared", "s"), read("B"), turn(record.AgentReset)}, "", nil},
		"reset, then more":    {[]any{given("declared", "s"), read("B"), turn(record.AgentReset), read("A"), given("tested", "s")}, "tested", []string{"A"}},
		"another is reset":    {[]any{given("declared", "s"), record.Session{Agent: "b", Transition: record.AgentReset}}, "declared", nil},
	} {
		s := told(c.bodies...)
		if got := s.Agent("a"); got.Name != "a" || got.Level != c.level || !slices.Equal(got.Marks, c.marks) {
			t.Errorf("%s: %+v, not %s %q", name, got, c.level, c.marks)
		}
	}
	s := told(record.Request{Agent: "b", Mark: "X"}, record.Request{Agent: "a", Mark: "Y"}, record.Request{Mark: "Z"})
	all := s.Agents()
	if len(all) != 2 || all[0].Name != "a" || all[1].Name != "b" {
		t.Fatalf("the agents are %+v", all)
	}
	all[0].Marks[0], s.Agent("b").Marks[0] = "changed", "changed"
	if again := s.Agents(); again[0].Marks[0] != "Y" || again[1].Marks[0] != "X" {
		t.Error("a caller changed the state")
	}
}

// The order of the records of an agent does not matter, nor that some come
// twice; and none takes away what was known.
func TestAgentsOrder(t *testing.T) {
	levels := []string{"", "unverified", "declared", "tested", "formal", "other"}
	rapid.Check(t, func(t *rapid.T) {
		var bodies []any
		for range rapid.IntRange(1, 12).Draw(t, "records") {
			agent, mark := rapid.SampledFrom([]string{"a", "b"}).Draw(t, "agent"), rapid.SampledFrom([]string{"", "A", "B", "C", "é"}).Draw(t, "mark")
			if rapid.Bool().Draw(t, "request") {
				bodies = append(bodies, record.Request{Agent: agent, Mark: mark})
				continue
			}
			bodies = append(bodies, record.Session{Agent: agent, Mark: mark, Level: rapid.SampledFrom(levels).Draw(t, "level"), Transition: record.SessionSkill})
		}
		want := told(bodies...).Agents()
		shuffled := rapid.Permutation(slices.Concat(bodies, bodies[:len(bodies)/2])).Draw(t, "order")
		if got := told(shuffled...).Agents(); !reflect.DeepEqual(got, want) {
			t.Errorf("%+v, and in another order %+v", want, got)
		}
		less := told(bodies[1:]...)
		for _, w := range less.Agents() {
			now := told(shuffled...).Agent(w.Name)
			for _, m := range w.Marks {
				if !slices.Contains(now.Marks, m) {
					t.Errorf("%s was read, and %+v says nothing of it", m, now)
				}
			}
		}
	})
}

// What becomes of a call, by the records that it has. -2 stands for no open
// call.
func TestCallsFold(t *testing.T) {
	yes, no := record.Decision{Choice: record.Approve}, record.Decision{Choice: record.Deny}
	asked, reversible := record.Request{}, record.ReversibleRequest{}
	for name, c := range map[string]struct {
		bodies                            []any
		request, decision, staged, intent int64
	}{
		"asked":                       {[]any{asked}, 0, -1, -1, -1},
		"approved":                    {[]any{asked, yes}, 0, 1, -1, -1},
		"denied":                      {[]any{asked, no}, -2, 0, 0, 0},
		"approved, not attempted":     {[]any{asked, yes, record.Error{}}, -2, 0, 0, 0},
		"read":                        {[]any{asked, yes, record.Executed{}}, -2, 0, 0, 0},
		"intended":                    {[]any{asked, yes, record.Intent{}}, 0, 1, -1, 2},
		"denied too late":             {[]any{asked, yes, record.Intent{}, no}, 0, 1, -1, 2},
		"late":                        {[]any{asked, record.LateDecision{Decision: no}}, 0, -1, -1, -1},
		"staged by a grant":           {[]any{reversible, yes, record.Staged{}}, 0, 1, 2, -1},
		"staged and undecided":        {[]any{reversible, record.Staged{}}, 0, -1, 1, -1},
		"staged, then approved":       {[]any{reversible, record.Staged{}, yes}, 0, 2, 1, -1},
		"staged, then denied":         {[]any{reversible, record.Staged{}, no}, -2, 0, 0, 0},
		"denied, then dropped":        {[]any{reversible, record.Staged{}, no, record.RolledBack{}}, -2, 0, 0, 0},
		"staged, then dropped":        {[]any{reversible, record.Staged{}, record.RolledBack{}}, -2, 0, 0, 0},
		"approved, and in conflict":   {[]any{reversible, record.Staged{}, yes, record.Error{}}, -2, 0, 0, 0},
		"about to be committed":       {[]any{reversible, record.Staged{}, yes, record.CommitIntent{}}, 0, 2, 1, 3},
		"committed":                   {[]any{reversible, record.Staged{}, yes, record.CommitIntent{}, record.Committed{}}, -2, 0, 0, 0},
		"about to be put back":        {[]any{reversible, record.Staged{}, yes, record.CommitIntent{}, record.Committed{}, record.RollbackIntent{}}, -1, -1, -1, 5},
		"a denial behind":             {[]any{reversible, yes, record.CommitIntent{}, record.Committed{}, record.RollbackIntent{}, no}, -1, -1, -1, 4},
		"an approval behind":          {[]any{record.RollbackIntent{}, yes}, -1, -1, -1, 0},
		"put back":                    {[]any{reversible, yes, record.CommitIntent{}, record.Committed{}, record.RollbackIntent{}, record.RolledBack{}}, -2, 0, 0, 0},
		"not put back":                {[]any{reversible, yes, record.CommitIntent{}, record.Committed{}, record.RollbackIntent{}, record.Error{}}, -2, 0, 0, 0},
		"put back, the second time":   {[]any{record.RollbackIntent{}, record.Error{}, record.RollbackIntent{}}, -1, -1, -1, 2},
		"resolved":                    {[]any{asked, yes, record.Intent{}, record.Resolved{}}, -2, 0, 0, 0},
		"resolved, then put back":     {[]any{reversible, yes, record.CommitIntent{}, record.Resolved{}, record.RollbackIntent{}}, -1, -1, -1, 4},
		"an outcome of another":       {[]any{asked, record.Entry{Request: "d", Body: record.Executed{}}}, 0, -1, -1, -1},
		"an intent of none, as found": {[]any{record.Intent{}}, -2, 0, 0, 0},
	} {
		calls := told(c.bodies...).Calls()
		if c.request == -2 {
			if len(calls) != 0 {
				t.Errorf("%s: %+v is open", name, calls)
			}
			continue
		}
		if len(calls) != 1 {
			t.Errorf("%s: %d calls are open", name, len(calls))
			continue
		}
		if k := calls[0]; k.ID != "c" || k.Session != "S" || k.Request != c.request || k.Decision != c.decision || k.Staged != c.staged || k.Intent != c.intent {
			t.Errorf("%s: %+v", name, k)
		}
	}
}

// Any records fold to a state that comes back from its canonical form, and
// goes on as the one it came from.
func TestStateComesBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 7))
		text := func() string { return nasty[r.IntN(len(nasty))] }
		var s record.State
		next := func(i int64) record.Record {
			rec := record.Record{Seq: i, Session: fmt.Sprint("S", i%3), Request: fmt.Sprint("r", i%7), Body: random(bodies[r.IntN(len(bodies))], r, text)}
			line, err := rec.Line()
			if err != nil {
				t.Fatal(err)
			}
			if rec, err = record.ParseLine(string(line)); err != nil {
				t.Fatal(err)
			}
			return rec
		}
		for i := range int64(200) {
			s.Apply(next(i))
		}
		back, err := record.ParseState(s.Canonical())
		if err != nil {
			t.Fatal(err)
		}
		for i := range int64(50) {
			rec := next(200 + i)
			s.Apply(rec)
			back.Apply(rec)
			if s.Digest() != back.Digest() {
				t.Fatalf("after %s: %s, and of the one that came back %s", rec.Body.Kind(), s.Canonical(), back.Canonical())
			}
		}
	})
}

func TestStatesAreReadStrictly(t *testing.T) {
	s := told(record.Session{Agent: "a", Level: "declared", Mark: "A", Skill: "s", Transition: record.SessionOpened},
		given("tested", "s"), record.Request{Agent: "a", Mark: "B"}, record.Request{Agent: "b"}, in("T", turn(record.SessionOpened)))
	good := string(s.Canonical())
	if _, err := record.ParseState([]byte(good)); err != nil {
		t.Fatal(err)
	}
	for name, edit := range map[string][2]string{
		"marks in another order": {`["A","B"]`, `["B","A"]`},
		"a mark twice":           {`["A","B"]`, `["A","A"]`},
		"an empty mark":          {`["A","B"]`, `["","A"]`},
		"a level that is none":   {`"level":"tested"`, `"level":"Tested"`},
		"an empty level":         {`"level":"tested",`, `"level":"",`},
		"an agent twice":         {`"name":"b"`, `"name":"a"`},
		"agents in other order":  {`"name":"b"`, `"name":"A"`},
		"an empty skill":         {`"skill":"s"`, `"skill":""`},
		"a session twice":        {`"id":"T"`, `"id":"S"`},
		"no such transition":     {`"transition":"skill"`, `"transition":"gone"`},
		"a field more":           {`"agents":`, `"a":1,"agents":`},
	} {
		bad := strings.Replace(good, edit[0], edit[1], 1)
		if bad == good {
			t.Errorf("%s: the test does not change %s", name, good)
		}
		if _, err := record.ParseState([]byte(bad)); !errors.Is(err, record.ErrLine) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The digests that a batch was signed over: left out if there are none, and
// nothing but hashes.
func TestHashLists(t *testing.T) {
	e := func(batch ...record.Hash) string {
		line, err := record.Record{Body: record.Decision{Batch: batch, Cause: record.CauseHuman, Choice: record.Approve}}.Line()
		if err != nil {
			t.Fatal(err)
		}
		return string(line)
	}
	first, second := record.Hash{1}, record.Hash{}
	line := e(first, second)
	back, err := record.ParseLine(line)
	if err != nil || !slices.Equal(back.Body.(record.Decision).Batch, []record.Hash{first, second}) {
		t.Errorf("%s is read as %+v (%v)", line, back, err)
	}
	if none := e(); strings.Contains(none, "batch\":[") {
		t.Errorf("an empty list is written: %s", none)
	}
	list := `"batch":["` + first.String() + `","` + second.String() + `"],`
	for name, bad := range map[string]string{
		"empty":      `"batch":[],`,
		"short":      `"batch":["` + first.String()[1:] + `"],`,
		"long":       `"batch":["0` + first.String() + `"],`,
		"nothing":    `"batch":[""],`,
		"cut":        `"batch":["`,
		"upper case": `"batch":["` + strings.Repeat("A", 64) + `"],`,
		"escapes":    `"batch":["` + strings.Repeat(`\u202e`, 10) + `0000"],`,
		"a number":   `"batch":[1],`,
		"no comma":   `"batch":["` + first.String() + `""` + second.String() + `"],`,
		"not a list": `"batch":"` + first.String() + `",`,
		"a list":     `"batch":[["` + first.String() + `"]],`,
	} {
		edited := strings.Replace(line, list, bad, 1)
		var s record.Skimmer
		_, errParsed := record.ParseLine(edited)
		_, errSkimmed := s.Line(edited)
		if edited == line || !errors.Is(errParsed, record.ErrLine) || !errors.Is(errSkimmed, record.ErrLine) {
			t.Errorf("%s: parsed %v, skimmed %v", name, errParsed, errSkimmed)
		}
	}
}

// What is read of requests while skimming is of that request, not of one before.
func TestSkimmingRequests(t *testing.T) {
	var s record.Skimmer
	var state record.State
	for i, agent := range []string{"a", "b\u202e", "a", "b\u202e", "b\u202e"} {
		rec := record.Record{Seq: int64(i), Body: record.ReversibleRequest{Request: record.Request{Agent: agent, Mark: fmt.Sprint(agent, "\x00", i/3)}}}
		if i%2 == 0 {
			rec.Body = rec.Body.(record.ReversibleRequest).Request
		}
		line, err := rec.Line()
		if err != nil {
			t.Fatal(err)
		}
		if rec, err = s.Line(string(line)); err != nil {
			t.Fatal(err)
		}
		state.Apply(rec)
	}
	want := []record.Agent{{Name: "a", Marks: []string{"a\x000"}}, {Name: "b\u202e", Marks: []string{"b\u202e\x000", "b\u202e\x001"}}}
	if got := state.Agents(); !reflect.DeepEqual(got, want) {
		t.Errorf("%q, not %q", got, want)
	}
}
