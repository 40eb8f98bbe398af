package approval_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/iff-run/iff/approval"
	"github.com/iff-run/iff/capability"
	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/internal/trusttest"
	"github.com/iff-run/iff/record"
	"pgregory.net/rapid"
)

// mutate calls try with v changed in every bit, one after the other, and puts it
// back. where names what was changed.
func mutate(v reflect.Value, where string, try func(where string)) {
	old := reflect.New(v.Type()).Elem()
	old.Set(v)
	set := func(x any) {
		v.Set(reflect.ValueOf(x).Convert(v.Type()))
		try(where)
		v.Set(old)
	}
	switch x := v.Interface().(type) {
	case time.Time:
		for _, d := range []time.Duration{-time.Hour, -1, 1, time.Second, 24 * time.Hour} {
			set(x.Add(d))
		}
		return
	case capability.Effect:
		set((x + 1) % 3)
		set((x + 2) % 3)
		return
	case capability.Envelope:
		return // TestEveryEnvelopeCounts
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			mutate(v.Field(i), where+"."+v.Type().Field(i).Name, try)
		}
	case reflect.Array:
		for i := range v.Len() {
			mutate(v.Index(i), where, try)
		}
	case reflect.Slice:
		for i := range v.Len() {
			mutate(v.Index(i), fmt.Sprintf("%s[%d]", where, i), try)
		}
		more := reflect.Append(v, reflect.Zero(v.Type().Elem()))
		v.Set(more)
		try(where + " longer")
		if v.Set(old); v.Len() > 0 {
			v.Set(old.Slice(0, v.Len()-1))
			try(where + " shorter")
			v.Set(old)
		}
	case reflect.String:
		s := v.String()
		for i := range 8 * len(s) {
			b := []byte(s)
			b[i/8] ^= 1 << (i % 8)
			set(string(b))
		}
		set(s + "x")
		set(s + " ")
	case reflect.Bool:
		set(!v.Bool())
	case reflect.Int64:
		for i := range 64 {
			set(v.Int() ^ 1<<i)
		}
	case reflect.Uint32, reflect.Uint8:
		for i := range v.Type().Bits() {
			set(v.Uint() ^ 1<<i)
		}
	default:
		panic("no mutation for " + v.Type().String())
	}
}

// TestEveryBitOfAQuestionCounts is T13: an answer is not for any other question.
func TestEveryBitOfAQuestionCounts(t *testing.T) {
	r, q := root(t), question(t)
	q.Guarded, q.Doubts = "x", []string{"work/a"}
	q.Before[0].Xattrs = []corpus.Xattr{{Name: "user.n", Value: "v"}}
	answers := sign(t, record.Approve, q, question(t))
	a := answers[0]
	must(t, q.Check(a, r, now))
	tries := 0
	mutate(reflect.ValueOf(&q).Elem(), "question", func(where string) {
		tries++
		if q.Check(a, r, now) == nil {
			t.Errorf("%s may change", where)
		}
	})
	must(t, q.Check(a, r, now))
	t.Logf("%d changes", tries)
}

func TestEveryEnvelopeCounts(t *testing.T) {
	r, q := root(t), question(t)
	a := sign(t, record.Approve, q)[0]
	data, tries := q.Envelope.Bytes(), 0
	for i := range 8 * len(data) {
		b := slices.Clone(data)
		b[i/8] ^= 1 << (i % 8)
		env, err := capability.ParseEnvelope(b)
		if err != nil {
			continue
		}
		tries++
		other := q
		other.Envelope = env
		if other.Check(a, r, now) == nil {
			t.Errorf("byte %d of the envelope may change", i/8)
		}
	}
	if tries < 100 {
		t.Errorf("only %d envelopes were tried", tries)
	}
}

// unsigned are the fields that are the gate's word.
var unsigned = []string{"answer.Broker", "answer.Rule", "answer.Passed longer", "answer.SameUID"}

func TestEveryBitOfAnAnswerCounts(t *testing.T) {
	r, q := root(t), question(t)
	second := question(t)
	second.Seq++
	for _, a := range []approval.Answer{sign(t, record.Approve, q)[0], sign(t, record.Approve, q, second)[0]} {
		a.Broker, a.Rule = "inbox", "r"
		must(t, q.Check(a, r, now))
		mutate(reflect.ValueOf(&a).Elem(), "answer", func(where string) {
			if free := slices.Contains(unsigned, where); free != (q.Check(a, r, now) == nil) {
				t.Errorf("%s: %v", where, q.Check(a, r, now))
			}
		})
	}
}

// TestTheStatement writes down what is signed, by hand.
func TestTheStatement(t *testing.T) {
	q := question(t)
	a := sign(t, record.Approve, q)[0]
	env := record.Hash(q.Envelope.Hash())
	item := hash(fmt.Sprintf(`{"envelope":"%s","request":"R-1","seq":41,"session":"S-1","view":"%s"}`, env, hash(q.Render())))
	if item != q.Item() || q.View() != hash(q.Render()) {
		t.Error("the item is another")
	}
	form := fmt.Sprintf(`{"decision":"approve","fence":3,"items":["%s"],"log":"iff/log/4f2a","nonce":"%s","notAfter":"2026-11-20T12:05:00.000000000Z"}`, item, nonce)
	key := trusttest.NewKey(aliceKey)
	want, err := key.SignMessage([]byte("iff/approval/v1\n" + form))
	must(t, err)
	text, err := want.MarshalText()
	must(t, err)
	if string(text) != a.Signature {
		t.Error("something else is signed")
	}
}

// anyQuestion draws a question that can be written down.
func anyQuestion(t *rapid.T, tb testing.TB) approval.Question {
	q := question(tb)
	text := rapid.OneOf(rapid.SampledFrom([]string{"", "a", "b", "\n  session    S-9\n", "\u202e", `"`, "a b", "  | x"}), rapid.String())
	for _, s := range []*string{&q.Agent, &q.Profile, &q.Op, &q.Level, &q.Mark, &q.Sink, &q.Guarded, &q.Skill.Name, &q.Skill.Signer} {
		*s = strings.ToValidUTF8(text.Draw(t, "text"), "?")
	}
	q.Session += rapid.SampledFrom([]string{"", "a"}).Draw(t, "session")
	q.Seq = rapid.Int64Range(0, 3).Draw(t, "seq")
	q.Reach = rapid.SampledFrom([]string{"", "exact", "bounded", "opaque", "else"}).Draw(t, "reach")
	q.Novel = rapid.Bool().Draw(t, "novel")
	q.Doubts = rapid.SliceOfN(rapid.SampledFrom([]string{"work/a", "work/\nb"}), 0, 30).Draw(t, "doubts")
	q.Plan, q.Before, q.After = nil, nil, nil
	data := rapid.OneOf(rapid.SampledFrom([]string{"", "a\n", "a\nb\n", "a\nc", "\x00\xff", "\x1b[2J\n  session    S-9\n"}), rapid.String())
	for range rapid.IntRange(0, 5).Draw(t, "changes") {
		before, after := file(data.Draw(t, "before")), file(data.Draw(t, "after"))
		if rapid.Bool().Draw(t, "absent") {
			before = corpus.Copy{}
		}
		change(&q, rapid.SampledFrom([]string{"a", "b c", "d\n  !! e"}).Draw(t, "path"), before, after)
	}
	words := rapid.OneOf(rapid.SampledFrom([]string{"", "please\nThe agent says nothing.\n", "\r\x1b"}), rapid.String()).Draw(t, "reasoning")
	where := q.Envelope.Target()
	env, err := capability.NewEnvelope(capability.Call{Target: where, Arguments: []byte(q.Envelope.Arguments()), Reasoning: strings.ToValidUTF8(words, "?")})
	must(tb, err)
	q.Envelope = env
	return q
}

func TestQuestionLaws(t *testing.T) {
	r, key := root(t), trusttest.NewKey(aliceKey)
	rapid.Check(t, func(rt *rapid.T) {
		q, other := anyQuestion(rt, t), anyQuestion(rt, t)
		legible(rt, q)
		form, err := q.MarshalJSON()
		must(t, err)
		back, err := approval.ParseQuestion(form)
		if err != nil || back.Render() != q.Render() || back.Item() != q.Item() {
			rt.Fatalf("the wire form does not keep the question: %v", err)
		}
		theirs, err := other.MarshalJSON()
		must(t, err)
		if (string(form) == string(theirs)) != (q.Item() == other.Item()) {
			rt.Fatal("two questions have one item, or one has two")
		}
		answers, err := approval.Sign([]approval.Question{q}, record.Approve, "alice", key, nonce, now.Add(time.Minute))
		must(t, err)
		if err := q.Check(answers[0], r, now); err != nil {
			rt.Fatal(err)
		}
		if q.Item() != other.Item() && other.Check(answers[0], r, now) == nil {
			rt.Fatal("the answer to another question counts")
		}
		text, err := answers[0].MarshalJSON()
		must(t, err)
		if a, err := approval.ParseAnswer(text); err != nil || q.Check(a, r, now) != nil {
			rt.Fatalf("the wire form does not keep the answer: %v", err)
		}
	})
}

func recorded(q approval.Question, a approval.Answer) approval.Recorded {
	return approval.Recorded{
		Log: q.Log, Fence: q.Fence, Session: q.Session, Request: q.Request, Seq: q.Seq, At: now,
		Asked: record.Request{Envelope: q.Envelope.Hash()},
		Decision: record.Decision{
			Approver: a.Approver, Batch: a.Batch, Broker: "inbox", Cause: a.Cause, Choice: a.Choice, Envelope: q.Envelope.Hash(),
			Expires: a.Expires, Nonce: a.Nonce, Profile: q.Profile, Signature: a.Signature, View: a.View,
		},
	}
}

func TestCheckRecord(t *testing.T) {
	r, q := root(t), question(t)
	second := question(t)
	second.Seq++
	good := recorded(q, sign(t, record.Approve, q, second)[0])
	must(t, approval.CheckRecord(good, r))
	free := []string{"r.Decision.Broker", "r.Decision.Passed longer", "r.Decision.Profile", "r.Decision.Reason", "r.Decision.Rule", "r.Decision.SameUID"}
	m := good
	try := func(where string) {
		if ok := approval.CheckRecord(m, r) == nil; ok != slices.Contains(free, where) {
			t.Errorf("%s: counts: %v", where, ok)
		}
	}
	for _, f := range []string{"Log", "Fence", "Session", "Request", "Seq", "Decision"} {
		mutate(reflect.ValueOf(&m).Elem().FieldByName(f), "r."+f, try)
	}
	mutate(reflect.ValueOf(&m.Asked.Envelope).Elem(), "r.Asked.Envelope", try)
}

func TestCheckRecordOverTime(t *testing.T) {
	r, q := root(t), question(t)
	gone := now.Add(-time.Hour) // when gone was revoked
	for _, tt := range []struct {
		name string
		id   string
		key  byte
		at   time.Time
		want approval.Reason
	}{
		{"now", "alice", aliceKey, now, ""},
		{"before the revocation", "gone", trusttest.GoneKey, gone.Add(-1), ""},
		{"in its second", "gone", trusttest.GoneKey, gone.Add(time.Second - 1), ""},
		{"after the revocation", "gone", trusttest.GoneKey, gone.Add(time.Second), approval.SignerRevoked},
		{"in time", "old", trusttest.OldKey, time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), ""},
		{"over time", "old", trusttest.OldKey, time.Date(2026, 1, 1, 0, 0, 0, 1, time.UTC), approval.SignerExpired},
		{"unknown", "nobody", aliceKey, now, approval.SignerUnknown},
		{"skills only", "ops", trusttest.OpsKey, now, approval.NotApprover},
	} {
		f := newForge(q)
		f.id, f.key, f.expires = tt.id, tt.key, tt.at.Add(time.Minute)
		rec := recorded(q, f.answer(t, q))
		rec.At = tt.at
		err := approval.CheckRecord(rec, r)
		if approval.ReasonOf(err) != tt.want {
			t.Errorf("%s: %v", tt.name, err)
		}
		rec.At = f.expires.Add(time.Hour)
		if err := approval.CheckRecord(rec, r); err == nil {
			t.Errorf("%s: decided an hour after it expired", tt.name)
		}
	}
}

func TestCheckRecordCauses(t *testing.T) {
	r, q := root(t), question(t)
	for _, tt := range []struct {
		choice record.Choice
		cause  record.Cause
		want   approval.Reason
	}{
		{record.Approve, record.CauseLevel, ""},
		{record.Approve, record.CausePolicy, ""},
		{record.Approve, record.CauseHuman, approval.Unsigned},
		{record.Approve, record.CauseWebhook, approval.Unsigned},
		{record.Approve, record.CauseTimeout, approval.CauseInvalid},
		{record.Approve, "", approval.CauseInvalid},
		{record.Deny, record.CauseTimeout, ""},
		{record.Deny, record.CauseHuman, ""},
		{record.Deny, record.CauseCrash, ""},
		{"", record.CauseLevel, approval.ChoiceInvalid},
	} {
		rec := recorded(q, approval.Answer{Choice: tt.choice, Cause: tt.cause})
		if err := approval.CheckRecord(rec, r); approval.ReasonOf(err) != tt.want {
			t.Errorf("%s %s: %v", tt.choice, tt.cause, err)
		}
	}
	unsignedHuman := recorded(q, approval.Answer{Choice: record.Approve, Cause: record.CauseHuman})
	if approval.RecordWithout(approval.Unsigned, unsignedHuman, r) != nil {
		t.Error("the mutant that asks for no signature is refused for another reason")
	}
}
