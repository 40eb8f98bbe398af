package inbox_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/iff-run/iff/approval"
	"github.com/iff-run/iff/capability"
	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/internal/ask/inbox"
	"github.com/iff-run/iff/record"
)

var (
	errVoid = errors.New("void")
	yes     = approval.Answer{Choice: record.Approve, Cause: record.CauseHuman, Signature: "good"}
	no      = approval.Answer{Choice: record.Deny, Cause: record.CauseHuman}
)

// check stands in for approval's: an approval needs a good signature.
func check(_ approval.Question, a approval.Answer) error {
	if a.Choice == record.Approve && a.Signature != "good" {
		return errVoid
	}
	return nil
}

func question(tb testing.TB, id string, wait time.Duration) approval.Question {
	tb.Helper()
	where, err := capability.ParseTarget(capability.FSWriteIrrev, "a/"+id)
	if err != nil {
		tb.Fatal(err)
	}
	env, err := capability.NewEnvelope(capability.Call{Target: where})
	if err != nil {
		tb.Fatal(err)
	}
	return approval.Question{Request: id, Agent: "a", Session: "s", Op: "write", Envelope: env, Asked: time.Now(), Deadline: time.Now().Add(wait)}
}

func reasonOf(err error) inbox.Reason {
	var e *inbox.Error
	if errors.As(err, &e) {
		return e.Reason
	}
	return ""
}

type result struct {
	answers []approval.Answer
	err     error
}

// ask asks in the background.
func ask(ctx context.Context, b *inbox.Inbox, qs ...approval.Question) <-chan result {
	out := make(chan result, 1)
	go func() {
		answers, err := b.Ask(ctx, qs)
		out <- result{answers, err}
	}()
	return out
}

func give(id string, a approval.Answer) map[string]approval.Answer {
	return map[string]approval.Answer{id: a}
}

func TestAGroupWaitsForAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := inbox.New(inbox.Options{Check: check})
		got := ask(t.Context(), b, question(t, "1", time.Minute), question(t, "2", time.Minute), question(t, "3", time.Minute))
		synctest.Wait()
		if g := b.Group("1"); !slices.Equal(g, []string{"1", "2", "3"}) {
			t.Errorf("group %q", g)
		}
		time.Sleep(2 * time.Second)
		if err := b.Answer(t.Context(), map[string]approval.Answer{"1": yes, "3": no, "9": yes}); reasonOf(err) != inbox.AnswerUnknown {
			t.Errorf("an unknown one among others: %v", err)
		}
		synctest.Wait()
		select {
		case <-got:
			t.Fatal("came back before all were answered")
		default:
		}
		if g := b.Group("2"); !slices.Equal(g, []string{"2"}) {
			t.Errorf("group %q", g)
		}
		time.Sleep(time.Minute)
		r := <-got
		if r.err != nil || len(r.answers) != 3 || r.answers[0].Choice != record.Approve || r.answers[2].Cause != record.CauseHuman ||
			r.answers[1].Choice != record.Deny || r.answers[1].Cause != record.CauseTimeout {
			t.Errorf("%+v", r)
		}
		want := inbox.Counts{Asked: 3, Approved: 1, Denied: 1, TimedOut: 1, Deciding: 4 * time.Second}
		if c := b.Counts(); c != want {
			t.Errorf("%+v", c)
		}
	})
}

func TestWhatIsNotTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var late []string
		b := inbox.New(inbox.Options{Check: check, Late: func(id string, _ approval.Answer) error { late = append(late, id); return nil }})
		got := ask(t.Context(), b, question(t, "1", time.Minute))
		synctest.Wait()
		policy := approval.Answer{Choice: record.Approve, Cause: record.CausePolicy, Signature: "good"}
		forged := yes
		forged.Signature = ""
		for name, a := range map[string]approval.Answer{"a policy's": policy, "a forged one": forged, "the zero one": {}} {
			if err := b.Answer(t.Context(), give("1", a)); reasonOf(err) != inbox.AnswerVoid {
				t.Errorf("%s: %v", name, err)
			}
		}
		if err := b.Answer(t.Context(), give("1", forged)); !errors.Is(err, errVoid) {
			t.Errorf("the cause is lost: %v", err)
		}
		if err := b.Answer(t.Context(), give("1", yes)); err != nil {
			t.Fatal(err)
		}
		if r := <-got; r.answers[0].Broker != b.Name() || r.answers[0].Choice != record.Approve {
			t.Errorf("%+v", r)
		}
		if err := b.Answer(t.Context(), give("1", no)); reasonOf(err) != inbox.AnswerLate || !slices.Equal(late, []string{"1"}) {
			t.Errorf("a second answer: %v, late %q", err, late)
		}
		if c := b.Counts(); c.Late != 1 || c.Quick != 1 || c.Denied != 0 {
			t.Errorf("%+v", c)
		}
		if _, err := b.Ask(t.Context(), []approval.Question{question(t, "1", time.Minute)}); reasonOf(err) != inbox.NotAsked {
			t.Errorf("the same request again: %v", err)
		}
		ended, end := context.WithCancel(t.Context())
		end()
		if err := b.Answer(ended, give("1", no)); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}

// What ended is kept for a while, so that a late answer can be read, checked and
// recorded.
func TestLateAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var late []approval.Answer
		var full error
		b := inbox.New(inbox.Options{Check: check, Late: func(_ string, a approval.Answer) error { late = append(late, a); return full }})
		<-ask(t.Context(), b, question(t, "1", time.Minute))
		forged := yes
		forged.Signature = ""
		if err := b.Answer(t.Context(), give("1", forged)); reasonOf(err) != inbox.AnswerVoid || len(late) > 0 {
			t.Errorf("a late answer that nobody signed: %v, recorded %v", err, late)
		}
		if err := b.Answer(t.Context(), give("1", yes)); reasonOf(err) != inbox.AnswerLate || !strings.Contains(err.Error(), "its time was over and it was denied before this answer, which has no effect; see") {
			t.Errorf("an approval of what timed out: %v", err)
		}
		if len(late) != 1 || late[0].Broker != b.Name() || late[0].Signature != yes.Signature {
			t.Errorf("recorded %+v", late)
		}
		full = errors.New("full")
		if err := b.Answer(t.Context(), give("1", no)); !errors.Is(err, full) || !strings.Contains(err.Error(), "could not be recorded") {
			t.Errorf("one that cannot be recorded: %v", err)
		}
		time.Sleep(inbox.KeptFor)
		for _, a := range []approval.Answer{yes, no} {
			if err := b.Answer(t.Context(), give("1", a)); reasonOf(err) != inbox.AnswerLate || len(late) != 2 {
				t.Errorf("long after: %v, recorded %v", err, late)
			}
		}
		if _, err := b.Question("1"); reasonOf(err) != inbox.AnswerLate {
			t.Errorf("long after: %v", err)
		}
		if c := b.Counts(); c.Late != 2 || c.TimedOut != 1 {
			t.Errorf("%+v", c)
		}
	})
}

// What is kept of what ended is bounded in bytes, the newest first.
func TestLateAnswersAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := inbox.New(inbox.Options{Check: check})
		large := strings.Repeat("x", inbox.MaxKept/2)
		for _, id := range []string{"1", "2", "3"} {
			q := question(t, id, time.Second)
			q.After = []corpus.Copy{corpus.NewCopy(corpus.Facts{Kind: corpus.File}, large, nil)}
			<-ask(t.Context(), b, q)
		}
		for id, kept := range map[string]bool{"1": false, "2": false, "3": true} {
			if _, err := b.Question(id); (err == nil) != kept {
				t.Errorf("%s: %v", id, err)
			}
		}
		if n := len(b.List()); n != 3 {
			t.Errorf("%d are listed", n)
		}
	})
}

func TestWithoutCheckNothingIsTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := inbox.New(inbox.Options{})
		got := ask(t.Context(), b, question(t, "1", time.Minute))
		synctest.Wait()
		if err := b.Answer(t.Context(), give("1", yes)); reasonOf(err) != inbox.Unattended {
			t.Error(err)
		}
		if r := <-got; r.answers[0].Cause != record.CauseTimeout {
			t.Errorf("%+v", r)
		}
	})
}

func TestBounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := inbox.New(inbox.Options{Check: check})
		ctx, cancel := context.WithCancel(t.Context())
		var all []<-chan result
		ids := 0
		of := func(agent, session string) approval.Question {
			ids++
			q := question(t, fmt.Sprint(ids), time.Hour)
			q.Agent, q.Session = agent, session
			return q
		}
		posts := func(agent, session string, groups int) {
			t.Helper()
			for range groups {
				all = append(all, ask(ctx, b, of(agent, session)))
			}
			synctest.Wait()
		}
		refused := int64(0)
		full := func(agent, session string) {
			t.Helper()
			refused++
			if _, err := b.Ask(ctx, []approval.Question{of(agent, session)}); reasonOf(err) != inbox.Full {
				t.Errorf("one more of %s in %s: %v", agent, session, err)
			}
		}
		posts("a", "s1", inbox.MaxPerSession)
		full("a", "s1")
		posts("a", "s2", inbox.MaxPerSession)
		full("a", "s2")
		// The last places are for sessions of which nothing waits.
		for _, session := range []string{"s3", "s4", "s5", "s6"} {
			posts("a", session, 1)
			full("a", session)
		}
		full("a", "s7")
		var group, last []approval.Question
		for range inbox.MaxOfAgent {
			group = append(group, of("b", "s8"))
		}
		all = append(all, ask(ctx, b, group...))
		synctest.Wait()
		full("b", "s9")
		for range inbox.MaxPending - inbox.MaxOfAgent - inbox.MaxPerAgent {
			last = append(last, of("c", "s10"))
		}
		all = append(all, ask(ctx, b, last...))
		synctest.Wait()
		full("d", "s11")
		if n := len(b.List()); n != inbox.MaxPending {
			t.Errorf("%d are listed", n)
		}
		cancel()
		for _, c := range all {
			for _, a := range (<-c).answers {
				if a.Choice != record.Deny || a.Cause != record.CauseCancelled {
					t.Errorf("%+v", a)
				}
			}
		}
		list, c := b.List(), b.Counts()
		if len(list) != inbox.MaxRecent || c.Pending != 0 || c.Refused != refused || c.Cancelled != inbox.MaxPending {
			t.Errorf("%d listed, %+v", len(list), c)
		}
		for _, q := range group {
			want := inbox.AnswerUnknown
			if slices.ContainsFunc(list, func(i inbox.Item) bool { return i.Request == q.Request }) {
				want = inbox.AnswerLate
			}
			if err := b.Answer(t.Context(), give(q.Request, yes)); reasonOf(err) != want {
				t.Errorf("%s, which ended: %v, want %s", q.Request, err, want)
			}
		}
	})
}

func TestUnfit(t *testing.T) {
	b := inbox.New(inbox.Options{Check: check})
	other := question(t, "2", time.Hour)
	other.Agent = "b"
	for name, qs := range map[string][]approval.Question{
		"no id":      {{}},
		"twice":      {question(t, "1", time.Hour), question(t, "1", time.Hour)},
		"two agents": {question(t, "1", time.Hour), other},
	} {
		if _, err := b.Ask(t.Context(), qs); reasonOf(err) != inbox.NotAsked || len(b.List()) != 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	if answers, err := b.Ask(t.Context(), nil); len(answers) != 0 || err != nil {
		t.Errorf("%v %v", answers, err)
	}
}

func TestListAndWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := inbox.New(inbox.Options{Check: check})
		version, err := b.Wait(t.Context(), -1)
		if err != nil || version != 0 {
			t.Fatal(version, err)
		}
		seen := make(chan int64, 1)
		go func() { v, _ := b.Wait(t.Context(), version); seen <- v }()
		synctest.Wait()
		got := ask(t.Context(), b, question(t, "1", time.Minute))
		if v := <-seen; v != 1 {
			t.Errorf("version %d", v)
		}
		second := ask(t.Context(), b, question(t, "2", time.Minute))
		synctest.Wait()
		list := b.List()
		if len(list) != 2 || list[0].Request != "1" || list[0].State != inbox.Pending || list[0].Target != "a/1" || list[0].Class != "fs.write.irrev" {
			t.Errorf("%+v", list)
		}
		if q, err := b.Question("2"); err != nil || q.Request != "2" {
			t.Error("the question is not there")
		}
		if err := b.Answer(t.Context(), give("1", no)); err != nil {
			t.Fatal(err)
		}
		<-got
		if list = b.List(); list[0].Request != "2" || list[1].State != inbox.Denied || list[1].Ended.IsZero() {
			t.Errorf("%+v", list)
		}
		if q, err := b.Question("1"); err != nil || q.Request != "1" {
			t.Errorf("what ended a moment ago cannot be read: %v", err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		now, _ := b.Wait(ctx, -1)
		if _, err := b.Wait(ctx, now); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("nothing changed: %v", err)
		}
		<-second
	})
}

// schedule is one race at a deadline: what happens how far from it.
type schedule struct {
	approve, deny, cancel time.Duration // from the deadline; never if 0 or more than a minute
}

const never = time.Hour

// run plays a schedule and says what came of it.
func (s schedule) run(t *testing.T, b *inbox.Inbox, id string, r *rand.Rand) (a approval.Answer, taken []record.Choice) {
	const wait = time.Minute
	start := time.Now()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var mu sync.Mutex
	var all sync.WaitGroup
	at := func(d time.Duration, f func()) {
		if d == never {
			return
		}
		all.Go(func() {
			time.Sleep(time.Until(start.Add(wait + d)))
			f()
		})
	}
	answer := func(a approval.Answer) func() {
		return func() {
			if b.Answer(t.Context(), give(id, a)) == nil {
				mu.Lock()
				defer mu.Unlock()
				taken = append(taken, a.Choice)
			}
		}
	}
	events := []func(){
		func() { at(s.approve, answer(yes)) }, func() { at(s.deny, answer(no)) }, func() { at(s.cancel, cancel) },
	}
	r.Shuffle(len(events), func(i, j int) { events[i], events[j] = events[j], events[i] })
	for _, e := range events[:2] {
		e()
	}
	got := ask(ctx, b, question(t, id, wait))
	events[2]()
	res := <-got
	all.Wait()
	if res.err != nil || len(res.answers) != 1 {
		t.Fatalf("%+v", res)
	}
	return res.answers[0], taken
}

// TestRacesAtTheDeadline is T14: approve, deny, cancel and the deadline within
// nanoseconds of each other. One of them ends the question, nothing is approved
// at the deadline or behind it, and nobody is told that an answer was taken that
// was not.
func TestRacesAtTheDeadline(t *testing.T) {
	const runs = 10_000
	synctest.Test(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(1, 2))
		var late atomic.Int64
		b := inbox.New(inbox.Options{Check: check, Late: func(string, approval.Answer) error { late.Add(1); return nil }})
		when := []time.Duration{-2, -1, 0, 1, never}
		outcomes := map[record.Cause]int{}
		for i := range runs {
			pick := func() time.Duration { return when[r.IntN(len(when))] }
			s := schedule{pick(), pick(), pick()}
			a, taken := s.run(t, b, fmt.Sprint(i), r)
			outcomes[a.Cause]++
			if err := s.judge(a, taken); err != nil {
				t.Fatalf("%+v: %v", s, err)
			}
		}
		c := b.Counts()
		if c.Asked != runs || c.Approved+c.Denied+c.TimedOut+c.Cancelled != runs || c.Late != late.Load() || c.Pending != 0 {
			t.Errorf("%+v, %d late", c, late.Load())
		}
		for _, cause := range []record.Cause{record.CauseHuman, record.CauseTimeout, record.CauseCancelled} {
			if outcomes[cause] < runs/100 {
				t.Errorf("only %d ended with %s", outcomes[cause], cause)
			}
		}
	})
}

// judge says what is wrong with how a schedule ended.
func (s schedule) judge(a approval.Answer, taken []record.Choice) error {
	human := a.Cause == record.CauseHuman
	switch {
	case len(taken) > 1, human != (len(taken) == 1), human && taken[0] != a.Choice:
		return fmt.Errorf("%v were taken, %s by %s came out", taken, a.Choice, a.Cause)
	case a.Choice == record.Approve && (s.approve >= 0 || s.approve > s.cancel):
		return fmt.Errorf("approved too late")
	case human && a.Choice == record.Deny && (s.deny >= 0 || s.deny > s.cancel):
		return fmt.Errorf("denied too late")
	case a.Cause == record.CauseTimeout && min(s.approve, s.deny, s.cancel) < 0:
		return fmt.Errorf("timed out too early")
	case a.Cause == record.CauseCancelled && min(s.approve, s.deny) < min(s.cancel, 0):
		return fmt.Errorf("cancelled after an answer")
	case !human && a.Choice != record.Deny:
		return fmt.Errorf("approved by %s", a.Cause)
	}
	return nil
}

// TestJudge plants what the judge has to notice.
func TestJudge(t *testing.T) {
	timeout := approval.Answer{Choice: record.Deny, Cause: record.CauseTimeout}
	cancelled := approval.Answer{Choice: record.Deny, Cause: record.CauseCancelled}
	approves := []record.Choice{record.Approve}
	for name, p := range map[string]struct {
		s     schedule
		a     approval.Answer
		taken []record.Choice
	}{
		"approved at the deadline":       {schedule{0, never, never}, yes, approves},
		"approved behind it":             {schedule{1, never, never}, yes, approves},
		"approved after it was given up": {schedule{-1, never, -2}, yes, approves},
		"two taken":                      {schedule{-1, -1, never}, yes, []record.Choice{record.Approve, record.Deny}},
		"taken and lost":                 {schedule{-1, never, never}, timeout, approves},
		"the other one":                  {schedule{-1, -1, never}, no, approves},
		"an answer ignored":              {schedule{-1, never, never}, timeout, nil},
		"cancelled afterwards":           {schedule{-2, never, -1}, cancelled, nil},
		"approved by nobody":             {schedule{never, never, never}, approval.Answer{Choice: record.Approve, Cause: record.CauseTimeout}, nil},
	} {
		if p.s.judge(p.a, p.taken) == nil {
			t.Errorf("%s passes", name)
		}
	}
	if err := (schedule{-1, 1, never}).judge(yes, approves); err != nil {
		t.Error(err)
	}
}

// TestADeadlineOfTheContext ends a question without one of its own.
func TestADeadlineOfTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := inbox.New(inbox.Options{Check: check})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		q := question(t, "1", 0)
		q.Deadline = time.Time{}
		if r := <-ask(ctx, b, q); r.err != nil || r.answers[0].Cause != record.CauseTimeout {
			t.Errorf("%+v", r)
		}
	})
}
