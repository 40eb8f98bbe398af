package corpus_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/iff-run/iff/corpus"
)

func TestSnapshot(t *testing.T) {
	s := corpus.NewSnapshot([]corpus.Entry{
		{"work/b", one}, {"work/a/c", two}, {"work/a-", one}, {"work/b", two}, {"work/gone", corpus.Absent},
		{"work/.", one}, {"work/lost", corpus.Unreadable}, {"work/asked", corpus.Any}, {"work/zero", ""}, {"work/was", one}, {"work/was", corpus.Absent},
	})
	want := fmt.Sprintf("%s work/.\n%s work/a-\n%s work/a/c\nunreadable work/asked\n%s work/b\nunreadable work/lost\nunreadable work/zero\n", one, one, two, two)
	if string(s.Text()) != want || s.Len() != 7 || s.Unread() != 3 || s.Root() != hash(want) {
		t.Errorf("%s\nwant\n%s", s.Text(), want)
	}
	for object, state := range map[corpus.Object]corpus.State{
		"work/b": two, "work/gone": corpus.Absent, "work/lost": corpus.Unreadable, "work/lost/below/it": corpus.Unreadable,
		"work/a/c/d": corpus.Absent, "work/other": corpus.Absent, "work/lostless": corpus.Absent, "": corpus.Absent,
	} {
		if got := s.State(object); got != state {
			t.Errorf("%s is %s, want %s", object, got, state)
		}
	}
	var zero corpus.Snapshot
	if zero.Len() != 0 || len(zero.Text()) != 0 || zero.State("work/a") != corpus.Absent || zero.Root() != hash("") {
		t.Error("the zero snapshot is not empty")
	}
}

func TestParseRefuses(t *testing.T) {
	d := string(one)
	for what, text := range map[string]string{
		"no end":          d + " work/a",
		"no name":         d + "\n",
		"empty name":      d + " \n",
		"no state":        " work/a\n",
		"an empty line":   "\n",
		"any":             "any work/a\n",
		"other state":     d[1:] + " work/a\n",
		"two spaces":      d + "  work/a\n",
		"no corpus":       d + " a\n",
		"dots":            d + " work/../a\n",
		"other spelling":  d + ` work/\x41` + "\n",
		"a raw byte":      d + " work/\xff\n",
		"carriage return": d + " work/a\r\n",
		"twice":           d + " work/a\n" + d + " work/a\n",
		"order":           d + " work/b\n" + d + " work/a\n",
	} {
		if _, err := corpus.Parse([]byte(text)); !errors.Is(err, corpus.ErrSnapshot) {
			t.Errorf("%s: %v", what, err)
		}
	}
	_, err := corpus.Parse([]byte(d + " work/a\nx\n"))
	if err == nil || !strings.Contains(err.Error(), "line 2") {
		t.Errorf("%v does not name the line", err)
	}
}

func entries() *rapid.Generator[[]corpus.Entry] {
	object := rapid.Map(rapid.OneOf(filePath(), rapid.SampledFrom([]string{"a", "a/b", "b", "."})), func(p string) corpus.Object { return corpus.Name("work", p) })
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) corpus.Entry {
		s := rapid.SampledFrom([]corpus.State{corpus.Absent, corpus.Unreadable, one, two})
		return corpus.Entry{Object: object.Draw(t, "object"), State: s.Draw(t, "state")}
	}), 0, 8)
}

func TestSnapshotText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := entries().Draw(t, "entries")
		s := corpus.NewSnapshot(list)
		read, err := corpus.Parse(s.Text())
		if err != nil || !slices.Equal(read, s.Entries()) {
			t.Fatalf("%v, %v", read, err)
		}
		for _, e := range s.Entries() {
			if s.State(e.Object) != e.State || e.State == corpus.Absent {
				t.Fatalf("%v", e)
			}
		}
		if again := corpus.NewSnapshot(read); again.Root() != s.Root() {
			t.Fatal("read again, it is another")
		}
	})
}

func TestDiffAndApply(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before, after := corpus.NewSnapshot(entries().Draw(t, "before")), corpus.NewSnapshot(entries().Draw(t, "after"))
		changes := corpus.Diff(before, after)
		forth, back := make([]corpus.Entry, len(changes)), make([]corpus.Entry, len(changes))
		for i, c := range changes {
			forth[i], back[i] = corpus.Entry{Object: c.Object, State: c.After}, corpus.Entry{Object: c.Object, State: c.Before}
			if c.Nothing() || i > 0 && changes[i-1].Object >= c.Object {
				t.Fatalf("%v", changes)
			}
		}
		if before.Apply(forth).Root() != after.Root() || after.Apply(back).Root() != before.Root() {
			t.Fatalf("%v", changes)
		}
		if delta, err := corpus.Parse(corpus.Format(forth)); err != nil || !slices.Equal(delta, forth) && len(forth) > 0 {
			t.Fatalf("%v, %v", delta, err)
		}
		for _, c := range corpus.Diff(after, after) {
			if c.Before != corpus.Unreadable || c.After != corpus.Unreadable {
				t.Fatalf("%v differs from itself", c)
			}
		}
	})
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(""))
	f.Add([]byte("absent work/a\n" + string(one) + " work/b c\nunreadable work/d\\\\\\xff\n"))
	f.Add([]byte(string(one) + " work/.\n" + string(two) + " work/.\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		read, err := corpus.Parse(text)
		if err != nil {
			if !errors.Is(err, corpus.ErrSnapshot) || read != nil {
				t.Errorf("%v, %v", read, err)
			}
			return
		}
		if written := corpus.Format(read); string(written) != string(text) {
			t.Errorf("%q was read and written as %q", text, written)
		}
		if s := corpus.NewSnapshot(read); s.Len() > len(read) {
			t.Errorf("%d entries became %d", len(read), s.Len())
		}
	})
}

// The root is that of the whole text, however long it and its lines are.
func TestRootOfMuch(t *testing.T) {
	var entries []corpus.Entry
	for i, long := range []int{1, 4000, 4030, 4096, 20_000} {
		for j := range 6 {
			name := corpus.Name("work", strings.Repeat("n", long)+strings.Repeat("x", i*j))
			entries = append(entries, corpus.Entry{Object: name, State: corpus.State(strings.Repeat("a", 64))})
			s := corpus.NewSnapshot(entries)
			if text := string(s.Text()); s.Root() != hash(text) || s.Root() == hash(text[1:]) {
				t.Fatalf("of %d entries, %d bytes", s.Len(), len(text))
			}
		}
	}
}
