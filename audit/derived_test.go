package audit_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/iff-run/iff/audit"
	"github.com/iff-run/iff/internal/durable/durabletest"
	"github.com/iff-run/iff/internal/store/file"
)

// Payloads beside the log: what is gone, longer, shorter or another is found.
func TestBlobTampered(t *testing.T) {
	v := newVictim(t, origin, 0)
	tried := 0
	for name, data := range v.files {
		if !strings.HasPrefix(name, "blob-") {
			continue
		}
		tried++
		for what, other := range map[string][]byte{"gone": nil, "longer": append(bytes.Clone(data), 0), "shorter": data[1:], "changed": append([]byte{data[0] ^ 1}, data[1:]...)} {
			f := v.clone()
			if f[name] = other; other == nil {
				delete(f, name)
			}
			if rep := v.report(t, f); rep.Holds() || rep.Problem.Reason != audit.BlobMissing {
				t.Errorf("%s: %+v", what, rep.Problem)
			}
		}
	}
	if tried != 3 {
		t.Errorf("%d payloads", tried)
	}
}

// Whatever is done to the snapshot or the index, the log opens and proves as before; or it says that it was cut back.
func TestDerivedTampered(t *testing.T) {
	t.Parallel()
	v := longVictim(t)
	want := v.proofs(t, v.files)
	for _, name := range []string{"snapshot", "index"} {
		data := v.files[name]
		if len(data) == 0 {
			t.Fatalf("there is no %s", name)
		}
		step := max(1, len(data)/(40/sparser))
		if *everything {
			step = 1
		}
		for at := 0; at < len(data); at += step {
			f := v.clone()
			f[name][at] ^= 1 << (at % 8)
			if err := v.same(t, f, want); err != nil {
				t.Errorf("byte %d of the %s changed: %v", at, name, err)
			}
			f[name] = data[:at]
			if err := v.same(t, f, want); err != nil {
				t.Errorf("the %s cut at %d: %v", name, at, err)
			}
		}
	}
	for what, snapshot := range v.fields() {
		f := v.clone()
		f["snapshot"] = snapshot
		if err := v.same(t, f, want); err != nil {
			t.Errorf("snapshot with %s: %v", what, err)
		}
	}
}

// longVictim is a log with an index.
func longVictim(t testing.TB) *victim {
	t.Helper()
	disk := durabletest.New()
	store, err := file.Create(disk, "/log", &file.Options{SegmentBytes: 100_000})
	must(t, err)
	l, err := audit.Create(t.Context(), store, begin(), logKeys()[0], rarely())
	must(t, err)
	for i := range 200 {
		_, err := l.Append(t.Context(), call(i)...)
		must(t, err)
		if i == 150 {
			_, err := l.Checkpoint(t.Context())
			must(t, err)
		}
	}
	_, err = l.Append(t.Context(), call(1000)[:3]...) // in doubt
	must(t, err)
	must(t, l.Close())
	return &victim{files: filesOf(t, disk)}
}

// fields are snapshots with one number of the head replaced.
func (v *victim) fields() map[string][]byte {
	out := map[string][]byte{}
	text := string(v.files["snapshot"])
	for _, field := range []string{"batch", "blockOffset", "blockSegment", "offset", "segment"} {
		for _, value := range []string{"-1", "0", "1", "100", "9007199254740992"} {
			i := strings.Index(text, `"`+field+`":`) + len(field) + 3
			end := i + strings.IndexAny(text[i:], ",}")
			out[field+" "+value] = []byte(text[:i] + value + text[end:])
		}
	}
	return out
}

var proved = []int64{0, 1, 255, 256, 511, 600, 767, 768, 800}

// proofs opens the log for reading and gives receipts of some records, and then for writing.
func (v *victim) proofs(t testing.TB, f files) []string {
	t.Helper()
	out, err := v.tryProofs(t, f)
	must(t, err)
	return out
}

func (v *victim) tryProofs(t testing.TB, f files) (out []string, err error) {
	t.Helper()
	disk := f.disk(t)
	read, err := file.OpenRead(disk, "/log")
	if err != nil {
		return nil, err
	}
	view, err := audit.Read(t.Context(), read, pin(), rarely(), logKeys()[0].Public())
	if err != nil {
		return nil, err
	}
	prove := func(v *audit.View) error {
		for _, seq := range proved {
			r, err := v.Receipt(t.Context(), seq)
			if err != nil {
				return err
			}
			s, err := v.Find(t.Context(), seq)
			if err != nil {
				return err
			}
			out = append(out, string(r.Marshal()), string(s.Line))
		}
		return nil
	}
	if err := prove(view); err != nil {
		return nil, fmt.Errorf("read: %w", err)
	}
	store, err := file.Open(disk, "/log", nil)
	if err != nil {
		return nil, err
	}
	l, found, err := openLog(t.Context(), store, rarely())
	if err != nil {
		return nil, err
	}
	out = append(out, fmt.Sprint(found.Torn, len(found.InDoubt), l.State().Digest()))
	if err := prove(l.View()); err != nil {
		return nil, errors.Join(fmt.Errorf("opened: %w", err), l.Close())
	}
	return out, l.Close()
}

func (v *victim) same(t testing.TB, f files, want []string) error {
	t.Helper()
	got, err := v.tryProofs(t, f)
	if err != nil {
		return err
	}
	if !slices.Equal(got, want) {
		return errors.New("it proves something else")
	}
	return nil
}
