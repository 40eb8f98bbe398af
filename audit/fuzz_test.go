package audit_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"testing"

	"golang.org/x/mod/sumdb/note"

	"github.com/iff-run/iff/audit"
	"github.com/iff-run/iff/audit/audittest"
	"github.com/iff-run/iff/internal/trusttest"
	"github.com/iff-run/iff/record"
)

// shortLog is a closed log of a few calls in memory, and its lines.
func shortLog(t testing.TB) (*audittest.Memory, []byte) {
	t.Helper()
	m := &audittest.Memory{}
	l := create(t, m, rarely())
	for i := range 3 {
		_, err := l.Append(context.Background(), call(i)...)
		must(t, err)
		_, err = l.Checkpoint(context.Background())
		must(t, err)
	}
	must(t, l.Rotate(context.Background(), logKeys()[1]))
	_, err := l.Append(context.Background(), call(3)[:3]...)
	must(t, err)
	must(t, l.Close())
	var data []byte
	must(t, m.Edit(0, func(b []byte) []byte { data = bytes.Clone(b); return b }))
	return m, data
}

// spelled is the text of a checkpoint, written by other means than the package's.
func spelled(c audit.Checkpoint) string {
	return fmt.Sprintf("%s\n%d\n%s\nchain %x\nstate %x\n", c.Origin, c.Size, base64.StdEncoding.EncodeToString(c.Root[:]), c.Chain[:], c.State[:])
}

// A text that is signed is taken only if it is the one spelling of a checkpoint; a note that was changed is not taken.
func FuzzOpenCheckpoint(f *testing.F) {
	good := spelled(audit.Checkpoint{Origin: origin, Size: 7, Root: record.Hash{1}, Chain: record.Hash{2}, State: record.Hash{3}})
	f.Add(good, 0, byte(1))
	f.Add(strings.Replace(good, "\n7\n", "\n07\n", 1), 3, byte(0))
	f.Add(strings.Replace(good, "chain", "Chain", 1), 100, byte(128))
	f.Add(good+"more\n", 100, byte(3))
	f.Add(strings.Replace(good, "7", "-7", 1), 1, byte(3))
	f.Add(strings.Replace(good, "7", "9223372036854775808", 1), 1, byte(3))
	key := trusttest.NewKey(1)
	v, err := audit.Verifier(origin, key.Public())
	must(f, err)
	f.Fuzz(func(t *testing.T, text string, at int, flip byte) {
		data, err := note.Sign(&note.Note{Text: text}, noteKey{v, key})
		if err != nil {
			return
		}
		c, err := audit.OpenCheckpoint(data, v)
		if (err == nil) != (c.Size > 0) || err == nil && spelled(c) != text {
			t.Fatalf("%q: %+v, %v", text, c, err)
		}
		if err != nil && reasonOf(err) == "" {
			t.Fatalf("no reason: %v", err)
		}
		if unsigned, err2 := audit.ReadCheckpoint(data); (err2 == nil) != (err == nil) || err == nil && unsigned != c {
			t.Fatalf("%q: opened %+v, %v; read %+v, %v", text, c, err, unsigned, err2)
		}
		if flip == 0 || len(data) == 0 {
			return
		}
		changed := bytes.Clone(data)
		changed[abs(at)%len(data)] ^= flip
		if c, err := audit.OpenCheckpoint(changed, v); err == nil {
			t.Fatalf("%q: %+v", changed, c)
		}
	})
}

func abs(n int) int { return max(n, -(n + 1)) }

// A receipt has one spelling, and proves only what is in the log.
func FuzzParseReceipt(f *testing.F) {
	m, data := shortLog(f)
	store, err := m.Open()
	must(f, err)
	defer store.Close()
	view, err := audit.Read(context.Background(), store, pin(), rarely(), logKeys()[1].Public())
	must(f, err)
	lines := bytes.Split(bytes.TrimSuffix(data, []byte("\n")), []byte("\n"))
	_, signed := view.Newest()
	for seq := range signed {
		r, err := view.Receipt(context.Background(), seq)
		must(f, err)
		f.Add(r.Marshal())
	}
	v1, err := audit.Verifier(origin, logKeys()[0].Public())
	must(f, err)
	v2, err := audit.Verifier(origin, logKeys()[1].Public())
	must(f, err)
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := audit.ParseReceipt(data)
		if err != nil {
			if reasonOf(err) != audit.ProofInvalid {
				t.Fatal(err)
			}
			return
		}
		if back := r.Marshal(); !bytes.Equal(back, data) {
			t.Fatalf("%q is written as %q", data, back)
		}
		if c, err := r.Check(v1, v2); err == nil && (r.Seq >= c.Size || r.Seq >= int64(len(lines)) || record.Leaf(lines[r.Seq]) != r.Leaf) {
			t.Fatalf("it proves %d %s", r.Seq, r.Leaf)
		} else if err != nil && reasonOf(err) == "" {
			t.Fatal(err)
		}
	})
}

// Whatever lies where the snapshot was, the log opens as if there were none.
func FuzzSnapshot(f *testing.F) {
	m, _ := shortLog(f)
	good := kept(f, m, "snapshot")
	f.Add(good)
	f.Add([]byte(nil))
	head, state, _ := bytes.Cut(good, []byte("\n"))
	f.Add(head)
	f.Add(state)
	f.Add(bytes.Replace(good, []byte(`"offset":`), []byte(`"offset":1`), 1))
	f.Add(bytes.Replace(good, []byte(`"blockOffset":0`), []byte(`"blockOffset":400`), 1))
	f.Add(bytes.Replace(good, []byte(`"edge":[`), []byte(`"edge":["",`), 1))
	f.Add(bytes.Replace(good, []byte(`"size":`), []byte(`"size":1`), 1))
	f.Add(bytes.Replace(good, []byte(`"fence":0`), []byte(`"fence":9`), 1))
	want := foundWith(f, m.Copy(), nil)
	f.Fuzz(func(t *testing.T, data []byte) {
		if got := foundWith(t, m.Copy(), data); got != want {
			t.Fatalf("%s, without a snapshot %s", got, want)
		}
	})
}

// foundWith is what opening finds with a snapshot.
func foundWith(t testing.TB, m *audittest.Memory, snapshot []byte) string {
	t.Helper()
	keep(t, m, "snapshot", snapshot)
	store, err := m.Open()
	must(t, err)
	l, found, err := openLog(context.Background(), store, rarely())
	must(t, err)
	defer l.Close()
	v := l.View()
	r, err := v.Receipt(context.Background(), 3)
	must(t, err)
	return fmt.Sprint(v.Size(), l.State().Digest(), found.Torn, len(found.InDoubt), string(r.Marshal()))
}

// Verifying and opening arbitrary bytes: nothing is taken that would be written otherwise, and what opens holds.
func FuzzVerifyLog(f *testing.F) {
	_, good := shortLog(f)
	f.Add(good, false)
	f.Add(good, true)
	f.Add(append(bytes.Clone(good), "\x00\xff\n{"...), false)
	f.Add(good[:len(good)-1], false)
	f.Add(bytes.Replace(good, []byte("\n"), []byte("\n\n"), 1), false)
	f.Add(bytes.ReplaceAll(good, []byte("opencode"), []byte("opencodex")), true)
	f.Add(bytes.ReplaceAll(good, []byte("approve"), []byte("deny")), true)
	f.Add(bytes.ReplaceAll(good, []byte(`"kind":"executed"`), []byte(`"kind":"committed"`)), true)
	f.Add([]byte("\n"), false)
	base, _ := shortLog(f)
	keep(f, base, "snapshot", nil)
	f.Fuzz(func(t *testing.T, data []byte, chained bool) {
		if chained {
			data = inOrder(data)
		}
		for bytes.HasSuffix(data, []byte("\n\n")) {
			data = data[:len(data)-1] // this store has no room behind its lines
		}
		m := base.Copy()
		must(t, m.Edit(0, func([]byte) []byte { return bytes.Clone(data) }))
		holds := verifiedBytes(t, m, data)
		store, err := m.Open()
		must(t, err)
		l, found, err := openLog(t.Context(), store, rarely())
		if (err == nil && found.Torn == 0) != holds {
			t.Fatalf("verified: %v; opened: %+v, %v", holds, found, err)
		}
		if err != nil {
			if reasonOf(err) == "" {
				t.Fatal(err)
			}
			return
		}
		must(t, l.Close())
		must(t, m.Edit(0, func(b []byte) []byte { data = bytes.Clone(b); return b }))
		if !verifiedBytes(t, m, data) {
			t.Fatal("it opened, and what it is then does not hold")
		}
	})
}

// verifiedBytes verifies a log and says whether it holds; then its bytes must be those that a writer would have written.
func verifiedBytes(t *testing.T, m *audittest.Memory, data []byte) bool {
	t.Helper()
	store, err := m.Open()
	must(t, err)
	rep, err := audit.Verify(t.Context(), store, audit.VerifyOptions{Pin: pin(), Workers: 1})
	must(t, errors.Join(err, store.Close()))
	if !rep.Holds() {
		return false
	}
	var back []byte
	for line := range bytes.Lines(bytes.TrimRight(data, "\n")) {
		r, err := record.ParseLine(string(bytes.TrimSuffix(line, []byte("\n"))))
		must(t, err)
		again, err := r.Line()
		must(t, err)
		back = append(append(back, again...), '\n')
	}
	if string(bytes.TrimRight(data, "\n")) != string(bytes.TrimRight(back, "\n")) {
		t.Fatalf("it holds, and would be written otherwise:\n%q\n%q", data, back)
	}
	return true
}

// inOrder gives each line that is a record its number, hash and batch, so that what the fuzzer changes is not found by them alone.
func inOrder(data []byte) []byte {
	var out []byte
	var prev record.Hash
	seq := int64(0)
	for line := range bytes.Lines(data) {
		text := bytes.TrimSuffix(line, []byte("\n"))
		r, err := record.ParseLine(string(text))
		if err == nil {
			r.Seq, r.Batch, r.Prev = seq, seq, prev
			text, err = r.Line()
		}
		if err != nil {
			out = append(out, line...)
			continue
		}
		prev = record.Leaf(text)
		seq++
		out = append(append(out, text...), '\n')
	}
	return out
}
