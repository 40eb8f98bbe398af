package verdict_test

import (
	"bytes"
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/record"
	"github.com/iff-run/iff/verdict"
	"github.com/iff-run/iff/verdict/verdicttest"
)

func TestZeroIsNoPass(t *testing.T) {
	if (verdict.Report{}).Result == record.Pass {
		t.Error("the zero report is a PASS")
	}
	if r := verdict.New(verdict.Options{}).End(nil, time.Time{}); r.Result != record.Open {
		t.Errorf("nothing was read, and the verdict is %s", r.Result)
	}
	if r := verdict.New(verdict.Options{Start: map[string]*corpus.Snapshot{"work": nil}}).End(nil, time.Time{}); r.Result != record.Open {
		t.Errorf("a corpus was not read, and the verdict is %s", r.Result)
	}
	if !verdict.Class("").Fails() || !verdict.Class("odd").Fails() {
		t.Error("a class that there is not does not fail")
	}
}

// TestUncheckedApprovals fails closed where nobody can check a signature.
func TestUncheckedApprovals(t *testing.T) {
	opt := standard("a=1")
	opt.Check = nil
	r := judge(opt, parse(t, "c1.ask(a:1>2) c1.human c1.do(a:1>2) c1.done(a:1>2)"), "a=2")
	if brief(r) != "FAIL forgery::c1" || r.Counts.Unchecked != 1 {
		t.Errorf("%s, %d unchecked", brief(r), r.Counts.Unchecked)
	}
	if r := judge(opt, parse(t, verdicttest.Granted), "a=2"); r.Result != record.Pass {
		t.Errorf("nothing had to be checked: %s", brief(r))
	}
}

// TestFence refuses what an older runtime still tries.
func TestFence(t *testing.T) {
	events := parse(t, "c1.ask(a:1>2) c1.level boot c1.do(a:1>2) c1.done(a:1>2)")
	if got := brief(judge(standard("a=1"), events, "a=2")); got != "PASS" {
		t.Errorf("with the fence of the boot: %s", got)
	}
	opt := standard("a=1")
	opt.Fence = 7
	if got := brief(judge(opt, events, "a=2")); got != "FAIL forgery::c1" {
		t.Errorf("with an older fence: %s", got)
	}
}

// TestRoutes keeps what no level and no policy may approve.
func TestRoutes(t *testing.T) {
	for _, c := range []struct {
		cause, level, guarded, want string
	}{
		{"level", "declared", "", "PASS"},
		{"level", "unverified", "", "FAIL forgery::c1"},
		{"policy", "unverified", "", "PASS"},
		{"human", "unverified", "", "PASS"},
		{"level", "formal", "AGENTS.md", "FAIL forgery::c1"},
		{"policy", "formal", "AGENTS.md", "FAIL forgery::c1"},
		{"webhook", "formal", "AGENTS.md", "PASS"},
	} {
		events := parse(t, "c1.ask(a:1>2) c1."+c.cause+" c1.do(a:1>2) c1.done(a:1>2)")
		q := events[0].Record.Body.(record.Request)
		q.Level, q.Guarded = c.level, c.guarded
		events[0].Record.Body = q
		if got := brief(judge(standard("a=1"), events, "a=2")); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}

// TestReadOfGuarded lets what changes nothing pass, whoever approved it.
func TestReadOfGuarded(t *testing.T) {
	events := parse(t, "c1.get() c1.level c1.done()")
	q := events[0].Record.Body.(record.Request)
	q.Level, q.Guarded = "unverified", "AGENTS.md"
	events[0].Record.Body = q
	if got := brief(judge(standard("a=1"), events, "a=1")); got != "PASS" {
		t.Error(got)
	}
}

// TestOtherSession keeps the records of a call in one session.
func TestOtherSession(t *testing.T) {
	for i := 1; i < 4; i++ {
		events := parse(t, verdicttest.Granted)
		events[i].Record.Session = "s9"
		if got := brief(judge(standard("a=1"), events, "a=2")); got != "FAIL forgery::c1" {
			t.Errorf("record %d: %s", i, got)
		}
	}
}

// TestView shows one session's findings and those of nobody, and the rest in
// Whole.
func TestView(t *testing.T) {
	events := parse(t, verdicttest.Granted+"z1.ask(b:1>2) z1.level z1.do(b:1>2) z1.done(b:1>3)")
	for session, want := range map[string]string{"": "FAIL wrong-content:b:z1", "s1": "PASS", "s2": "FAIL wrong-content:b:z1"} {
		opt := standard("a=1 b=1")
		opt.Session = session
		r := judge(opt, events, "a=2 b=3")
		if brief(r) != want || r.Whole != record.Fail {
			t.Errorf("session %q: %s, whole %s", session, brief(r), r.Whole)
		}
		if want := map[string]int64{"": 2, "s1": 1, "s2": 1}[session]; r.Counts.Calls != want {
			t.Errorf("session %q: %d calls", session, r.Counts.Calls)
		}
	}
	opt := standard("a=1")
	opt.Session = "s1"
	if got := brief(judge(opt, parse(t, verdicttest.Granted), "a=3")); got != "FAIL overlap:a:" {
		t.Errorf("what nobody did is in every view: %s", got)
	}
}

// TestPast begins within the life of calls.
func TestPast(t *testing.T) {
	const log = "c1.rev(a:1>2) c1.level c1.staged c1.commit(a:1>2) c1.wrote(a:1>2) c2.ask(b:1>3) c3.ask(x:0>1) c3.human c3.do(x:0>1) c1.undo(a:2>1) c1.back(a:2>1) c2.human c2.do(b:1>3) c2.done(b:1>3) c3.found-executed(x:0>1)"
	events := parse(t, log)
	opt := standard("a=2 b=1 x=1")
	opt.From = 9
	r := judge(opt, events, "a=1 b=3 x=1")
	if r.Result != record.Pass || r.Counts.Calls != 0 || r.Counts.RolledBack != 1 || r.Counts.Irreversible != 2 || r.Counts.Resolved != 1 {
		t.Errorf("%s %+v", brief(r), r.Counts)
	}
	if got := brief(judge(opt, events[9:], "a=1 b=3 x=1")); got != "FAIL bypass:x: forgery::c1 forgery::c2 forgery::c3 forgery:x:c3" {
		t.Errorf("without the past: %s", got)
	}
	opt.From = 100
	if got := brief(judge(opt, events[:9], "a=2 b=1 x=1")); got != "OPEN in-doubt:x:c3" {
		t.Errorf("in doubt since before: %s", got)
	}
}

func TestCounts(t *testing.T) {
	const log = "r.get() r.level r.done() c1.ask(a:1>2) c1.human c1.do(a:1>2) c1.done(a:1>2) c2.ask(b:1>*) c2.level c2.do(b:1>*) c2.done(b:1>4) " +
		"c3.ask() c3.level c3.do() c3.done() c4.ask(a:2>3) c4.timeout c4.late c5.rev(d:0>1) c5.level c5.staged c5.commit(d:0>1) c5.wrote(d:0>1) " +
		"c5.undo(d:1>0) c5.back(d:1>0) c6.rev(d:0>1) c6.staged c6.back() c7.ask(a:2>3) c7.human c7.error() c8.ask(a:2>3) c8.level c8.do(a:2>3) c8.error(a:2>2)"
	r := judge(standard("a=1 b=1"), parse(t, log), "a=2 b=4")
	want := verdict.Counts{
		Calls: 9, Reads: 1, Reversible: 1, Irreversible: 3, Asked: 3, ByGrant: 4, Denied: 1, Failed: 1, NotTried: 1, Dropped: 1,
		RolledBack: 1, Opaque: 1, Bounded: 1, Late: 1, Changed: 3, Explained: 3,
	}
	if r.Result != record.Pass || r.Counts != want || !r.Paper.Equal {
		t.Errorf("%s\n %+v\nwant %+v", brief(r), r.Counts, want)
	}
	if c := r.Corpora; len(c) != 1 || c[0].Observer != "rehash" || c[0].Objects != 2 || c[0].Volatile[0] != ".git/**" || c[0].Blind[0] != "times" {
		t.Errorf("corpora %+v", c)
	}
}

// TestForm takes every report apart and together again.
func TestForm(t *testing.T) {
	for seed := range uint64(300) {
		r := verdicttest.Random(seed).Judge()
		form, err := r.Form()
		if err != nil {
			t.Fatal(err)
		}
		back, err := verdict.ParseReport(form)
		if err != nil || !reflect.DeepEqual(r, back) {
			t.Fatalf("seed %d: %v\n%+v\n%+v", seed, err, r, back)
		}
		if again, _ := verdicttest.Random(seed).Judge().Form(); !bytes.Equal(form, again) {
			t.Fatalf("seed %d: two reports of one log", seed)
		}
	}
}

func TestParseReportRefuses(t *testing.T) {
	form, err := judge(standard("a=1"), parse(t, verdicttest.Granted), "a=3").Form()
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{
		"empty": nil, "zero": []byte("{}"), "cut": form[:len(form)-1], "spaced": append([]byte(" "), form...),
		"a class":          bytes.Replace(form, []byte(`"overlap"`), []byte(`"harmless"`), 1),
		"a kinder result":  bytes.Replace(form, []byte(`"result":"FAIL"`), []byte(`"result":"PASS"`), 1),
		"a kinder whole":   bytes.Replace(form, []byte(`"whole":"FAIL"`), []byte(`"whole":"PASS"`), 1),
		"an unknown field": bytes.Replace(form, []byte(`"from"`), []byte(`"extra":1,"from"`), 1),
	} {
		if r, err := verdict.ParseReport(data); !errors.Is(err, verdict.ErrReport) || r.Result != "" {
			t.Errorf("%s: %v %v", name, r.Result, err)
		}
	}
}

func FuzzParseReport(f *testing.F) {
	for seed := range uint64(5) {
		form, _ := verdicttest.Random(seed).Judge().Form()
		f.Add(form)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := verdict.ParseReport(data)
		if err != nil {
			return
		}
		if form, err := r.Form(); err != nil || !bytes.Equal(form, data) {
			t.Errorf("%v: accepted another spelling than it writes", err)
		}
		if r.Result == record.Pass && len(r.Findings) > 0 {
			t.Error("a PASS with findings")
		}
	})
}
