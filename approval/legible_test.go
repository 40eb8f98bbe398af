package approval_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/iff-run/iff/approval"
	"github.com/iff-run/iff/capability"
	"github.com/iff-run/iff/corpus"
	"pgregory.net/rapid"
)

// ours are the lines that a rendering has besides those of others.
var ours = regexp.MustCompile(`^  ((effect|class|reach|labels|!!|new|known|skill|agent|create|modify|delete|unchanged|change|before|after|changes|session|request|log|asked|until|envelope|subject|question) +\S.*|before|after|arguments|target|@@ before line [0-9,]+, after line [0-9,]+|(before|after): no newline at the end|(before|after), first [0-9,]+ bytes? of [0-9,]+|the content stays the same|cut: it says [0-9,]+ bytes in all|           (sha256 [0-9a-f]{64}|[0-9a-f]{64}|[0-9,]+ extended attributes?))$`)

// once are the lines that are there exactly once.
var once = []string{"effect", "class", "reach", "labels", "skill", "agent", "session", "request", "log", "asked", "until", "envelope", "question"}

type failer interface {
	Helper()
	Fatalf(string, ...any)
}

// legible holds a rendering to what the package documentation promises.
func legible(t failer, q approval.Question) {
	t.Helper()
	out := q.Render()
	if err := illegible(out); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if out != q.Render() {
		t.Fatalf("the same question has two renderings")
	}
}

func illegible(out string) error {
	if !utf8.ValidString(out) || len(out) > 512<<10 || !strings.HasSuffix(out, "\n") {
		return fmt.Errorf("%d bytes, or not UTF-8, or no newline at the end", len(out))
	}
	counts, said := map[string]int{}, false
	for i, l := range strings.Split(strings.TrimSuffix(out, "\n"), "\n") {
		if strings.ContainsFunc(l, func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) }) {
			return fmt.Errorf("line %d has a control: %q", i, l)
		}
		if n := utf8.RuneCountInString(l); n > 101 {
			return fmt.Errorf("line %d has %d columns", i, n)
		}
		switch {
		case i == 0, strings.HasPrefix(l, "  | "), l == "  |", strings.HasPrefix(l, "  : "):
			continue
		case strings.HasPrefix(l, "The agent says"):
			if said {
				return fmt.Errorf("line %d says again what the agent says", i)
			}
			said = true
			continue
		case !ours.MatchString(l):
			return fmt.Errorf("line %d is nobody's: %q", i, l)
		case said && !strings.HasPrefix(l, "  cut:"):
			return fmt.Errorf("line %d stands behind the agent's words: %q", i, l)
		}
		counts[strings.Fields(l)[0]]++
	}
	for _, word := range once {
		if word == "question" && strings.Contains(out, "THIS QUESTION CANNOT BE WRITTEN DOWN") {
			continue // and so nobody can approve it
		}
		if counts[word] != 1 {
			return fmt.Errorf("%d lines %q", counts[word], word)
		}
	}
	if !said {
		return fmt.Errorf("no word of what the agent says")
	}
	return nil
}

func TestScenesAreLegible(t *testing.T) {
	for name, q := range scenes(t) {
		if err := illegible(q.Render()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, fake := range map[string]string{
		"a line of ours":  "  session    S-9\n",
		"the agent again": "The agent says (untrusted):\n",
		"a control":       "  | \x1b[2J\n",
		"a free line":     "approved\n",
	} {
		if illegible(question(t).Render()+fake) == nil {
			t.Errorf("the check lets %s pass", name)
		}
	}
}

// TestHugeQuestions holds the largest of everything to the bounds.
func TestHugeQuestions(t *testing.T) {
	odd := strings.Repeat("\u202e", 20000)
	for name, build := range map[string]func(q *approval.Question){
		"target": func(q *approval.Question) {
			q.Envelope = envelope(t, capability.SpawnProc, "sh "+strings.Repeat("a", capability.MaxArgv-3), "{}", strings.Repeat("\U0010ffff", 16000))
		},
		"lines": func(q *approval.Question) {
			q.Envelope = envelope(t, capability.ToolInvoke, "t/x", `{"a":"`+strings.Repeat(`\n`, 400000)+`"}`, strings.Repeat("\n", 64000))
		},
		"contents": func(q *approval.Question) {
			for i := range 3 {
				change(q, strings.Repeat("\x01", 3000)+fmt.Sprint(i), file(strings.Repeat("a\n", 4000)), file(strings.Repeat("\u00a0b\n", 4900)))
			}
		},
		"one line": func(q *approval.Question) { change(q, "min.js", file(strings.Repeat("x", 1<<20)), file("")) },
		"too much": func(q *approval.Question) {
			change(q, "big", file(strings.Repeat("x", approval.MaxContents+1)), file("y"))
		},
		"names": func(q *approval.Question) {
			q.Agent, q.Op, q.Mark, q.Guarded, q.Level, q.Log = odd, odd, odd, odd, odd, odd
			q.Doubts = slices.Repeat([]string{odd}, 1000)
			for i := range 1000 {
				change(q, fmt.Sprint(i)+strings.Repeat("/\xff", 1000), file("x"), corpus.Copy{})
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			q := question(t)
			q.Plan, q.Before, q.After = nil, nil, nil
			build(&q)
			out := q.Render()
			if err := illegible(out); err != nil {
				t.Error(err)
			}
			if !strings.Contains(out, "NOT ALL") && !strings.Contains(out, "too large to be kept") {
				t.Error("does not say that not all is shown")
			}
			form, err := q.MarshalJSON()
			must(t, err)
			if back, err := approval.ParseQuestion(form); err != nil || back.Render() != out {
				t.Errorf("the wire form does not keep the question: %v", err)
			}
			t.Logf("%d bytes, %d on the wire", len(out), len(form))
		})
	}
}

func TestDiffLaw(t *testing.T) {
	word := rapid.SampledFrom([]string{"a", "b", "c", "d", "e", "f", "}", ""})
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.SliceOfN(word, 0, 40).Draw(t, "a"), rapid.SliceOfN(word, 0, 40).Draw(t, "b")
		var before, after []string
		same := 0
		for _, e := range approval.Diff(a, b) {
			if e[0] != '+' {
				before = append(before, e[1:])
			}
			if e[0] != '-' {
				after = append(after, e[1:])
			}
			if e[0] == ' ' {
				same++
			}
		}
		if !slices.Equal(before, a) || !slices.Equal(after, b) {
			t.Fatalf("the diff of %q and %q is of %q and %q", a, b, before, after)
		}
		if slices.Equal(a, b) && same != len(a) {
			t.Fatalf("equal lists differ")
		}
	})
}

func TestDiff(t *testing.T) {
	a := strings.Split("one two three four five six", " ")
	b := strings.Split("zero one two 3 four six five", " ")
	want := strings.Split("+zero, one, two,-three,+3, four,+six, five,-six", ",")
	if got := approval.Diff(a, b); !slices.Equal(got, want) && !slices.Equal(got, strings.Split("+zero, one, two,-three,+3, four,-five, six,+five", ",")) {
		t.Errorf("%q", got)
	}
	// Two long texts without a line in common, then with many equal ones.
	for range 2 {
		long := func(s string) []string { return slices.Repeat([]string{s, "x"}, 2500) }
		if got := approval.Diff(long("a"), long("b")); len(got) < 5000 {
			t.Errorf("%d lines", len(got))
		}
	}
}

func FuzzRender(f *testing.F) {
	f.Add("old\n", "new\n", "because", "user", "a/b", []byte(`{"op":"write"}`))
	f.Add("\x00", "\xff\n", "The agent says nothing.\n  session    S-9\n", "\x1b", "a b\n", []byte(`{"content":"x\n  | y"}`))
	f.Add("0", "0", "0", "\x89", "0", []byte("0"))
	f.Add("a\u202e\n\n", "  : \t", "\r\n", "!!", "..", []byte(`{"a":{"b":[null,"\n"]}}`))
	f.Fuzz(func(t *testing.T, before, after, reasoning, name, path string, arguments []byte) {
		q := question(t)
		q.Plan, q.Before, q.After = nil, nil, nil
		change(&q, path, file(before), file(after))
		q.Agent, q.Op, q.Guarded, q.Mark, q.Skill.Name, q.Session, q.Doubts = name, name, name, name, name, name, []string{name}
		where, err := capability.ParseTarget(capability.FSWriteIrrev, path)
		if err != nil {
			where = q.Envelope.Target()
		}
		env, err := capability.NewEnvelope(capability.Call{Target: where, Arguments: arguments, Reasoning: reasoning})
		if err == nil {
			q.Envelope = env
		}
		legible(t, q)
		form, err := q.MarshalJSON()
		if err != nil {
			return
		}
		back, err := approval.ParseQuestion(form)
		if err != nil || back.Item() != q.Item() {
			t.Fatalf("the wire form does not keep the question: %v", err)
		}
	})
}

func FuzzParseQuestion(f *testing.F) {
	odd := question(f)
	odd.Plan[0].Before = corpus.State(strings.Repeat("a", 60) + "%aaa") // no state is that
	form, err := odd.MarshalJSON()
	must(f, err)
	f.Add(form)
	for _, q := range scenes(f) {
		if form, err := q.MarshalJSON(); err == nil && len(form) < 1<<16 {
			f.Add(form)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		q, err := approval.ParseQuestion(data)
		if err != nil {
			if approval.ReasonOf(err) != approval.WireInvalid {
				t.Fatalf("refused with %v", err)
			}
			return
		}
		legible(t, q)
		if again, err := q.MarshalJSON(); err != nil || string(again) != string(data) {
			t.Fatalf("two spellings: %v", err)
		}
	})
}

func FuzzParseAnswer(f *testing.F) {
	q := question(f)
	r := root(f)
	for _, a := range sign(f, "approve", q) {
		form, err := a.MarshalJSON()
		must(f, err)
		f.Add(form)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		a, err := approval.ParseAnswer(data)
		if err != nil {
			return
		}
		if again, err := a.MarshalJSON(); err != nil || string(again) != string(data) {
			t.Fatalf("two spellings: %v", err)
		}
		if a.Choice == "approve" && a.Cause != "policy" && q.Check(a, r, now) == nil && a.Signature != sign(t, "approve", q)[0].Signature {
			t.Fatal("a forgery counts")
		}
	})
}
