package witness

import (
	"bytes"
	"errors"
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/mod/sumdb/note"

	"github.com/iff-run/iff/internal/durable"
	"github.com/iff-run/iff/internal/durable/durabletest"
	"github.com/iff-run/iff/internal/witness/witnesstest"
)

// reasonOf is the reason of an error of Open, "" for none.
func reasonOf(t *testing.T, err error) Reason {
	t.Helper()
	if err == nil {
		return ""
	}
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("not an *Error: %v", err)
	}
	return e.Reason
}

// used is a disk on which a witness has cosigned a log, and the options to open it.
func used(t *testing.T) (*durabletest.Disk, Options) {
	t.Helper()
	l := grown(5)
	opts := Options{Name: name, Logs: []string{l.VerifierKey()}}
	d := durabletest.New()
	w := openedWith(t, d, opts)
	mustCosign(t, w, l, 0, 5)
	w.Close()
	d.Settle()
	return d, opts
}

// put makes a file hold something else.
func put(t *testing.T, d *durabletest.Disk, path string, data []byte) {
	t.Helper()
	if err := durable.WriteFile(d, path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

var statePath = dir + "/logs/" + nameOf(origin) + ".note"

func tryOpen(d durable.FS, opts Options) error {
	w, err := Open(d, dir, opts)
	if err == nil {
		w.Close()
	}
	return err
}

func TestPermissions(t *testing.T) {
	d, _ := used(t)
	for path, want := range map[string]fs.FileMode{
		dir: fs.ModeDir | 0o700, dir + "/logs": fs.ModeDir | 0o700, dir + "/evidence": fs.ModeDir | 0o700,
		dir + "/key": 0o600, dir + "/origins": 0o600, statePath: 0o600, dir + "/lock": 0o600,
	} {
		if mode, err := d.Mode(path); err != nil || mode != want {
			t.Errorf("%s: %v %v", path, mode, err)
		}
	}
}

// TestDamage: a witness never starts from anything but what it has cosigned, by the same key. What may be damaged unnoticed is
// the log's own signature, which the cosignature does not cover.
func TestDamage(t *testing.T) {
	for path, want := range map[string]Reason{statePath: StateLost, dir + "/key": KeyInvalid} {
		d, opts := used(t)
		good, err := d.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		refused := 0
		try := func(what string, at int, bad []byte) {
			put(t, d, path, bad)
			if got := reasonOf(t, starts(d, opts)); got == want {
				refused++
			} else if got != "" {
				t.Errorf("%s %s at byte %d: %q", path, what, at, got)
			}
		}
		for i := range good {
			bad := bytes.Clone(good)
			bad[i] ^= 1 << (i % 8)
			try("changed", i, bad)
			try("cut", i, good[:i])
		}
		if logSignature := 150; refused < 2*len(good)-logSignature {
			t.Errorf("%s: only %d of %d damages are noticed", path, refused, 2*len(good))
		}
		put(t, d, path, bytes.Repeat([]byte("x\n"), maxNote))
		if got := reasonOf(t, starts(d, opts)); got == "" {
			t.Errorf("%s of any size is read", path)
		}
		if err := d.Remove(path); err != nil {
			t.Fatal(err)
		}
		if got := reasonOf(t, starts(d, opts)); got != want {
			t.Errorf("%s is gone: %q", path, got)
		}
		put(t, d, path, good)
		if err := starts(d, opts); err != nil {
			t.Errorf("%s restored: %v", path, err)
		}
	}
}

var errOther = errors.New("it starts from something else")

// starts opens the witness of used, and sees that it stands where it stood.
func starts(d durable.FS, opts Options) error {
	w, err := Open(d, dir, opts)
	if err != nil {
		return err
	}
	defer w.Close()
	if l := w.logs[origin]; l.held != (head{origin, 5, grown(5).Root(5)}) || w.Name() != name {
		return errOther
	}
	return nil
}

func TestForgetting(t *testing.T) {
	l := grown(5)
	t.Run("state of a log that is not given any more", func(t *testing.T) {
		d, opts := used(t)
		opts.Logs = nil
		if err := tryOpen(d, opts); err != nil {
			t.Error(err)
		}
		if err := d.Remove(statePath); err != nil {
			t.Fatal(err)
		}
		err := tryOpen(d, opts)
		if reasonOf(t, err) != StateLost || !strings.Contains(err.Error(), statePath) || !strings.Contains(err.Error(), "restore") {
			t.Errorf("%v", err)
		}
	})
	t.Run("state of another witness", func(t *testing.T) {
		d, opts := used(t)
		other, _ := used(t)
		data, _ := other.ReadFile(statePath)
		put(t, d, statePath, data)
		if err := tryOpen(d, opts); reasonOf(t, err) != StateLost {
			t.Error(err)
		}
	})
	t.Run("state of another log", func(t *testing.T) {
		d, opts := used(t)
		second := witnesstest.New("second")
		second.Grow(9, "leaf")
		w := openedWith(t, d, Options{Logs: append(opts.Logs, second.VerifierKey())})
		mustCosign(t, w, second, 0, 9)
		w.Close()
		data, _ := d.ReadFile(dir + "/logs/" + nameOf("second") + ".note")
		put(t, d, statePath, data)
		if err := tryOpen(d, opts); reasonOf(t, err) != StateLost {
			t.Error(err)
		}
	})
	t.Run("origins", func(t *testing.T) {
		d, opts := used(t)
		for _, text := range []string{"junk\n", nameOf(origin), strings.ToUpper(nameOf(origin)) + "\n", "\n", nameOf("gone") + "\n"} {
			put(t, d, dir+"/origins", []byte(text))
			if got := reasonOf(t, tryOpen(d, opts)); got != StateLost {
				t.Errorf("%q: %q", text, got)
			}
		}
		// Cut between the two files: the state is there, and becomes known.
		if err := d.Remove(dir + "/origins"); err != nil {
			t.Fatal(err)
		}
		if err := tryOpen(d, opts); err != nil {
			t.Error(err)
		}
		if data, err := d.ReadFile(dir + "/origins"); string(data) != nameOf(origin)+"\n" {
			t.Errorf("%q %v", data, err)
		}
	})
	t.Run("goes on after a restart", func(t *testing.T) {
		d := durabletest.New()
		w := opened(t, d, l.VerifierKey())
		mustCosign(t, w, l, 0, 3)
		vkey := w.VerifierKey()
		w.Close()
		w = openedWith(t, d, Options{Logs: []string{l.VerifierKey()}})
		if o, out := ask(w, l.Request(0, 5)); o != Conflict || string(out) != "3\n" {
			t.Errorf("%s %s", o, out)
		}
		if w.VerifierKey() != vkey || w.Name() != name {
			t.Errorf("another key: %s", w.VerifierKey())
		}
		mustCosign(t, w, l, 3, 5)
	})
}

func TestOpenRefuses(t *testing.T) {
	l := grown(1)
	identity := append([]byte{1}, make([]byte, 31)...) // anybody can sign for it
	for what, c := range map[string]struct {
		opts Options
		want Reason
	}{
		"no name":         {Options{}, KeyInvalid},
		"name with space": {Options{Name: "a b"}, KeyInvalid},
		"name with plus":  {Options{Name: "a+b"}, KeyInvalid},
		"name with line":  {Options{Name: "a\nb"}, KeyInvalid},
		"hidden name":     {Options{Name: "a\u202eb"}, KeyInvalid},
		"empty vkey":      {Options{Name: name, Logs: []string{""}}, LogInvalid},
		"private key":     {Options{Name: name, Logs: []string{"PRIVATE+KEY+x+00000000+AAAA"}}, LogInvalid},
		"wrong id":        {Options{Name: name, Logs: []string{strings.Replace(l.VerifierKey(), "+", "+0", 1)}}, LogInvalid},
		"weak key":        {Options{Name: name, Logs: []string{vkeyOf("weak", identity)}}, LogInvalid},
	} {
		if got := reasonOf(t, tryOpen(durabletest.New(), c.opts)); got != c.want {
			t.Errorf("%s: %q", what, got)
		}
	}
	d, opts := used(t)
	opts.Name = "witness.example/other"
	if got := reasonOf(t, tryOpen(d, opts)); got != KeyInvalid {
		t.Errorf("another name: %q", got)
	}
}

func TestOneWitnessADirectory(t *testing.T) {
	d, opts := used(t)
	w := openedWith(t, d, opts)
	err := tryOpen(d, opts)
	var busy *durable.BusyError
	if reasonOf(t, err) != Busy || !errors.As(err, &busy) {
		t.Errorf("%v", err)
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	if err := w.Close(); err != nil {
		t.Errorf("a second Close: %v", err)
	}
	if o, _ := ask(w, grown(9).Request(0, 9)); o == Cosigned {
		t.Error("a closed witness cosigns")
	}
	if err := tryOpen(d, opts); err != nil {
		t.Error(err)
	}
}

// TestDiskRefuses: a full disk is answered with 500 and heals; a failed sync does not heal.
func TestDiskRefuses(t *testing.T) {
	l := grown(9)
	d := durabletest.New()
	w := opened(t, d, l.VerifierKey())
	mustCosign(t, w, l, 0, 3)
	d.Arm(durabletest.Fault{At: 1, Mode: durabletest.ShortFull})
	if rec := post(w, l.Request(3, 5)); rec.Code != 500 || !strings.Contains(rec.Body.String(), "nothing was cosigned") {
		t.Errorf("%d %s", rec.Code, rec.Body)
	}
	mustCosign(t, w, l, 3, 5)
	d.Arm(durabletest.Fault{At: 2, Mode: durabletest.FailLost})
	for range 3 {
		if rec := post(w, l.Request(5, 7)); rec.Code != 500 {
			t.Errorf("%d %s", rec.Code, rec.Body)
		}
	}
	var lost *durable.SyncError
	if _, e := w.cosign(right(), l.Request(5, 7)); !errors.As(e.Err, &lost) || !errors.Is(e.Err, syscall.EIO) || reasonOf(t, e.Err) != Stopped {
		t.Errorf("%v", e.Err)
	}
	if !bytes.Contains(w.Newest(origin), []byte("\n5\n")) {
		t.Errorf("%s", w.Newest(origin))
	}
	w.Close()
	w = opened(t, d, l.VerifierKey())
	mustCosign(t, w, l, 5, 7)
}

func TestEvidence(t *testing.T) {
	l := grown(40)
	d := durabletest.New()
	w := opened(t, d, l.VerifierKey())
	mustCosign(t, w, l, 0, 5)
	for i := range maxEvidence + 3 {
		fork := l.Fork(2)
		fork.Grow(5, string(rune('a'+i)))
		for range 2 { // the second time nothing new is kept
			_, e := w.cosign(right(), witnesstest.Request(5, nil, fork.Checkpoint(5)))
			if e.Outcome != Forked || (e.Evidence != "") != (i < maxEvidence) || (e.Err != nil) != (i >= maxEvidence) {
				t.Fatalf("%d: %+v", i, e)
			}
			if e.Evidence == "" {
				continue
			}
			given, err := d.ReadFile(e.Evidence)
			if err != nil || !bytes.Equal(given, fork.Checkpoint(5)) {
				t.Errorf("%q %v", given, err)
			}
			held, err := d.ReadFile(strings.TrimSuffix(e.Evidence, givenEnd) + heldEnd)
			if err != nil || !bytes.Equal(held, w.Newest(origin)) {
				t.Errorf("%q %v", held, err)
			}
		}
	}
	// The other kind has room of its own, also after a restart.
	_, e := w.cosign(right(), witnesstest.Request(5, nil, l.Checkpoint(9)))
	if e.Outcome != Unproven || e.Evidence == "" {
		t.Errorf("%+v", e)
	}
	w.Close()
	w = opened(t, d, l.VerifierKey())
	fork := l.Fork(1)
	fork.Grow(5, "late")
	if _, e := w.cosign(right(), witnesstest.Request(5, nil, fork.Checkpoint(5))); e.Outcome != Forked || e.Evidence != "" {
		t.Errorf("%+v", e)
	}
	if names, _ := d.List(dir + "/evidence"); len(names) != 2*maxEvidence+2 {
		t.Errorf("%d files", len(names))
	}
	// What proves nothing about the log is not kept.
	for _, body := range [][]byte{l.Request(3, 4), witnesstest.Request(5, l.Prove(5, 9), l.Checkpoint(5)), witnesstest.Request(9, nil, l.Checkpoint(5))} {
		if _, e := w.cosign(right(), body); e.Evidence != "" || e.Err != nil || e.Outcome == Cosigned {
			t.Errorf("%+v", e)
		}
	}
}

func TestEvidenceDiskFails(t *testing.T) {
	l := grown(9)
	d := durabletest.New()
	w := opened(t, d, l.VerifierKey())
	mustCosign(t, w, l, 0, 5)
	fork := l.Fork(2)
	fork.Grow(5, "other")
	d.Arm(durabletest.Fault{At: 1, Mode: durabletest.FailLost}) // the write
	_, e := w.cosign(right(), witnesstest.Request(5, nil, fork.Checkpoint(5)))
	if e.Outcome != Forked || e.Evidence != "" || e.Err == nil {
		t.Errorf("%+v", e)
	}
	mustCosign(t, w, l, 5, 6)
	d.Arm(durabletest.Fault{At: 2, Mode: durabletest.FailLost}) // the sync
	fork.Grow(6, "other")
	if _, e := w.cosign(right(), witnesstest.Request(6, nil, fork.Checkpoint(6))); e.Outcome != Forked || e.Err == nil {
		t.Errorf("%+v", e)
	}
	if o, _ := ask(w, l.Request(6, 7)); o != NotStored {
		t.Errorf("it goes on with a disk that does not confirm: %s", o)
	}
}

// vkeyOf spells a log's verifier key.
func vkeyOf(name string, public []byte) string {
	vkey, err := note.NewEd25519VerifierKey(name, public)
	if err != nil {
		panic(err)
	}
	return vkey
}
