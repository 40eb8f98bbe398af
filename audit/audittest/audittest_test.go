package audittest

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/iff-run/iff/audit"
)

func TestMemory(t *testing.T) {
	t.Run("one segment", func(t *testing.T) {
		Run(t, func(*testing.T) Target { return new(Memory).Target() })
	})
	t.Run("segments", func(t *testing.T) {
		Run(t, func(*testing.T) Target { return (&Memory{SegmentBytes: 10_000}).Target() })
	})
}

func TestMemoryBefore(t *testing.T) {
	fatal := errors.New("the disk is gone")
	var fails error
	m := &Memory{Before: func(context.Context, audit.Batch) error { return fails }}
	s, err := m.Open()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Open(); err == nil {
		t.Error("opened twice")
	}
	for i, want := range []error{nil, audit.ErrFull, nil, fatal, fatal, fatal} {
		fails = want
		if i == 5 {
			fails = nil // an error that was final stays
		}
		if err := s.Append(t.Context(), audit.Batch{First: int64(i), Lines: Line(int64(i))}); !errors.Is(err, want) {
			t.Errorf("append %d: %v", i, err)
		}
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if err := m.Edit(0, bytes.ToUpper); err != nil {
		t.Error(err)
	}
	c := m.Copy()
	if err := m.Edit(0, func([]byte) []byte { return nil }); err != nil {
		t.Error(err)
	}
	if s, err = c.Open(); err != nil {
		t.Fatal(err)
	}
	want := bytes.TrimRight(bytes.ToUpper(slices.Concat(Line(0), Line(2))), "\n")
	if got, err := ReadAll(t.Context(), s); err != nil || !bytes.Equal(got, want) {
		t.Errorf("the copy holds %d bytes, not %d: %v", len(got), len(want), err)
	}
}

// limited is a writer that takes so many acknowledgements.
type limited struct {
	bytes.Buffer
	left int
}

func (l *limited) Write(p []byte) (int, error) {
	if l.left--; l.left < 0 {
		return 0, errors.New("enough")
	}
	return l.Buffer.Write(p)
}

func TestPour(t *testing.T) {
	m := &Memory{SegmentBytes: 5000}
	s, err := m.Open()
	if err != nil {
		t.Fatal(err)
	}
	acks := &limited{left: 50}
	if err := Pour(t.Context(), s, 0, acks); err == nil || err.Error() != "enough" {
		t.Fatal(err)
	}
	acked := Acked(acks.Bytes())
	next, at, err := Poured(t.Context(), s, acked)
	if err != nil || at != s.End() || next <= acked {
		t.Errorf("line %d is next at %v, the end is %v, %d acknowledged: %v", next, at, s.End(), acked, err)
	}
	// What is torn behind is left out; what was acknowledged is missed.
	torn := audit.Batch{First: next, Lines: []byte("torn\n")}
	if err := s.Append(t.Context(), torn); err != nil {
		t.Fatal(err)
	}
	if again, place, err := Poured(t.Context(), s, next); err != nil || again != next || place != at {
		t.Errorf("with a torn line: %d, %v, %v", again, place, err)
	}
	if _, _, err := Poured(t.Context(), s, next+1); err == nil {
		t.Error("a line that is missing is not missed")
	}
	if n := Acked(acks.Bytes()[:13]); n < 1 || n > acked || Acked(nil) != 0 {
		t.Errorf("acknowledged: %d", n)
	}
}

func TestReadAllRefuses(t *testing.T) {
	block := func(segment, offset int64, data string) audit.Block {
		return audit.Block{At: audit.Position{Segment: segment, Offset: offset}, Data: []byte(data)}
	}
	for what, blocks := range map[string][]audit.Block{
		"empty block":             {block(0, 0, "")},
		"gap":                     {block(0, 0, "0 a\n"), block(0, 5, "1 b\n")},
		"overlap":                 {block(0, 0, "0 a\n"), block(0, 3, "1 b\n")},
		"backwards":               {block(3, 0, "3 a\n"), block(2, 0, "2 b\n")},
		"begins late":             {block(0, 0, "0 a\n"), block(1, 1, "1 b\n")},
		"misnamed":                {block(0, 0, "0 a\n"), block(2, 0, "1 b\n")},
		"torn, and the part goes": {block(0, 0, "0 a"), block(0, 3, "1 b\n")},
		"too long":                {block(0, 0, strings.Repeat("0 a\n", aboutMegabyte))},
	} {
		if _, err := ReadAll(t.Context(), given{blocks: blocks}); err == nil {
			t.Errorf("%s: not refused", what)
		}
	}
	torn := given{blocks: []audit.Block{block(0, 0, "0 a"), block(1, 0, "1 b\n"), block(1, 4, "2 c")}}
	if got, err := ReadAll(t.Context(), torn); err != nil || string(got) != "0 a1 b\n2 c" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestCheckNamesDiffer(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range checks {
		if seen[c.name] {
			t.Errorf("%q twice", c.name)
		}
		seen[c.name] = true
	}
}
