package anchor

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"

	"github.com/iff-run/iff/internal/durable"
	"github.com/iff-run/iff/internal/durable/durabletest"
	"github.com/iff-run/iff/internal/witness/witnesstest"
)

// changed is a witness, and what a home has kept of it, to which a log of size 9 is offered.
type changed struct {
	copy  []byte // nil if there is none
	claim http.Handler
	page  http.Handler // its newest checkpoint
	want  Reason
	kept  []byte // then
}

// changes has witnesses that say or show that the log was changed, and some that show nothing of it.
func changes(t *testing.T) (*witnesstest.Log, *liar, map[string]changed) {
	l, good := grown(12), newLiar(t)
	fork, impostor := l.Fork(3), witnesstest.New(origin)
	fork.Grow(12, "other")
	impostor.Grow(12, "leaf")
	cosigned := func(log *witnesstest.Log, size int64) []byte {
		_, out := cosign(log.Request(0, size), good.signer)
		return out
	}
	page := func(msg []byte) http.Handler { return says(200, "", string(msg)) }
	no422, no409 := says(422, "", "no"), says(409, size409, "10\n")
	none := says(404, "", "")
	five, four, seven, nine, ten := cosigned(l, 5), cosigned(fork, 4), cosigned(fork, 7), cosigned(fork, 9), cosigned(l, 10)
	out := map[string]changed{
		"cut back, no copy":                 {nil, no409, page(ten), Rollback, ten},
		"cut back":                          {five, no409, page(ten), Rollback, ten},
		"rewritten, no copy":                {nil, no422, page(seven), Forked, seven},
		"rewritten":                         {five, no422, page(seven), Forked, seven},
		"rewritten, of the same size":       {five, says(409, size409, "9\n"), page(nine), Forked, nine},
		"rewritten, and the copy is larger": {five, no422, page(four), Forked, five},
		"rewritten, and as large":           {five, no422, page(cosigned(fork, 5)), Forked, five},
		"found from the copy":               {ten, no422, page(cosigned(fork, 12)), Rollback, ten},
		"false":                             {five, no422, page(cosigned(l, 6)), Invalid, five},
		"false, no copy":                    {nil, no409, page(five), Invalid, nil},
	}
	for what, unproven := range map[string]http.Handler{
		"shows nothing":                 none,
		"is out of order":               says(500, "", string(ten)),
		"shows what it has not signed":  page(l.Checkpoint(10)),
		"shows what the log has not":    page(cosigned(impostor, 10)),
		"shows a claim":                 page([]byte("10\n")),
		"shows a damaged checkpoint":    page(bytes.Replace(ten, []byte("\n10\n"), []byte("\n11\n"), 1)),
		"shows a checkpoint elsewhere":  says(307, "", string(ten)),
		"shows a checkpoint of another": page(bytes.Replace(ten, []byte(origin), []byte(origin+"0"), 1)),
	} {
		out["says cut back and "+what] = changed{five, no409, unproven, Rollback, five}
		out["says cut back and "+what+", no copy"] = changed{nil, no409, unproven, Rollback, nil}
		out["says rewritten and "+what] = changed{five, no422, unproven, Forked, five}
	}
	return l, good, out
}

// putter is Put, or a wrong one.
type putter func(ctx context.Context, w *witnessAnchor, checkpoint []byte, extend Extend) error

// offer gives the log to the witness and says how what happens differs from what should.
func (c changed) offer(t *testing.T, l *witnesstest.Log, good *liar, put putter) error {
	d := newDisk(t)
	a := clientOf(t, d, l, good.vkey, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			c.claim.ServeHTTP(rw, r)
			return
		}
		c.page.ServeHTTP(rw, r)
	}))
	if c.copy != nil {
		if err := a.keep(c.copy); err != nil {
			t.Fatal(err)
		}
	}
	if got := reasonOf(t, put(t.Context(), a, l.Checkpoint(9), extend(l, 9))); got != c.want {
		return fmt.Errorf("the answer is %s", got)
	}
	if got, _ := d.ReadFile(a.copy); !bytes.Equal(got, c.kept) {
		return fmt.Errorf("the copy is %q", got)
	}
	offline, cancel := context.WithCancel(t.Context())
	cancel()
	v, ok, err := clientOf(t, d.Reopen(), l, good.vkey, good).Newest(offline)
	if c.kept == nil && reasonOf(t, err) == Unreachable {
		return nil
	}
	if err != nil || !ok || !bytes.Equal(v.Note, c.kept) || reasonOf(t, v.Offline) != Unreachable {
		return fmt.Errorf("offline it gives %q (%v, %w)", v.Note, v.Offline, err)
	}
	return nil
}

func putRightly(ctx context.Context, w *witnessAnchor, checkpoint []byte, extend Extend) error {
	return w.Put(ctx, checkpoint, extend)
}

// TestProofIsKept: what a witness has signed against the log is the copy from then on; what it only says is not.
func TestProofIsKept(t *testing.T) {
	l, good, cases := changes(t)
	for what, c := range cases {
		if err := c.offer(t, l, good, putRightly); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestProofIsKeptCatches(t *testing.T) {
	l, good, cases := changes(t)
	// after is Put that keeps what it should not.
	after := func(keep func(ctx context.Context, w *witnessAnchor, given []byte, e *Error) error) putter {
		return func(ctx context.Context, w *witnessAnchor, checkpoint []byte, extend Extend) error {
			err := w.put(ctx, checkpoint, extend)
			var e *Error
			if errors.As(err, &e) && (e.Reason == Rollback || e.Reason == Forked) {
				if failed := keep(ctx, w, checkpoint, e); failed != nil {
					t.Fatal(failed)
				}
			}
			return err
		}
	}
	for what, bug := range map[string]putter{
		"nothing is kept": after(func(context.Context, *witnessAnchor, []byte, *Error) error { return nil }),
		"a claim is kept": after(func(_ context.Context, w *witnessAnchor, given []byte, e *Error) error {
			if e.Held == nil {
				return w.keep(given)
			}
			return w.remember(e, w.key).(*Error).Err
		}),
		"what the witness shows is kept, signed or not": after(func(ctx context.Context, w *witnessAnchor, _ []byte, e *Error) error {
			r, err := w.call(ctx, http.MethodGet, "/checkpoint/x", nil)
			if err != nil || r.status != http.StatusOK || e.Held != nil {
				return w.remember(e, w.key).(*Error).Err
			}
			return w.keep(r.body)
		}),
		"the proof last found is kept": after(func(_ context.Context, w *witnessAnchor, _ []byte, e *Error) error {
			if e.Held == nil {
				return nil
			}
			return w.keep(e.Held)
		}),
		"the wrong claim in an error is kept": func(ctx context.Context, w *witnessAnchor, checkpoint []byte, extend Extend) error {
			err := w.Put(ctx, checkpoint, extend)
			var wrong *Error
			if errors.As(errors.Unwrap(err), &wrong) && wrong.Reason != "" {
				return errors.Join(err, w.keep(checkpoint))
			}
			return err
		},
	} {
		var caught error
		for name, c := range cases {
			if err := c.offer(t, l, good, bug); err != nil {
				caught = fmt.Errorf("%s: %w", name, err)
			}
		}
		if caught == nil {
			t.Errorf("%s: not caught", what)
		}
		t.Logf("%s: %.200v", what, caught)
	}
}

// TestFileProofIsKept: so it is with a file, which the next start may not find again.
func TestFileProofIsKept(t *testing.T) {
	l := grown(12)
	fork, impostor := l.Fork(3), witnesstest.New(origin)
	fork.Grow(12, "other")
	impostor.Grow(12, "leaf")
	for what, c := range map[string]struct {
		copy, holds []byte
		want        Reason
		kept        []byte
	}{
		"cut back":                          {l.Checkpoint(5), l.Checkpoint(10), Rollback, l.Checkpoint(10)},
		"cut back, no copy":                 {nil, l.Checkpoint(10), Rollback, l.Checkpoint(10)},
		"rewritten":                         {l.Checkpoint(5), fork.Checkpoint(7), Forked, fork.Checkpoint(7)},
		"rewritten, no copy":                {nil, fork.Checkpoint(9), Forked, fork.Checkpoint(9)},
		"rewritten, and the copy is larger": {l.Checkpoint(5), fork.Checkpoint(4), Forked, l.Checkpoint(5)},
		"rewritten, and as large":           {l.Checkpoint(5), fork.Checkpoint(5), Forked, l.Checkpoint(5)},
		"not signed by the log":             {l.Checkpoint(5), impostor.Checkpoint(10), BadSignature, l.Checkpoint(5)},
		"no checkpoint":                     {nil, []byte("10\n"), Invalid, nil},
	} {
		d := newDisk(t)
		f := mustFile(t, d, l)
		place(t, d, elsewhere, c.holds)
		if c.copy != nil {
			if err := f.keep(c.copy); err != nil {
				t.Fatal(err)
			}
		}
		if err := f.Put(t.Context(), l.Checkpoint(9), extend(l, 9)); reasonOf(t, err) != c.want {
			t.Errorf("%s: %v", what, err)
		}
		if got, _ := d.ReadFile(f.copy); !bytes.Equal(got, c.kept) {
			t.Errorf("%s: the copy is %q", what, got)
		}
		if err := d.Remove(elsewhere); err != nil {
			t.Fatal(err)
		}
		if v, _, err := mustFile(t, d, l).Newest(t.Context()); err != nil || !bytes.Equal(v.Note, c.kept) {
			t.Errorf("%s: it gives %q, %v", what, v.Note, err)
		}
	}
}

// TestProofCannotBeKept: the error is the same, and says that too; after a sync that failed nothing more is taken.
func TestProofCannotBeKept(t *testing.T) {
	l := grown(12)
	d := newDisk(t)
	f := mustFile(t, d, l)
	place(t, d, elsewhere, l.Checkpoint(10))
	d.Arm(durabletest.Fault{At: 0, Mode: durabletest.FailLost})
	err := f.Put(t.Context(), l.Checkpoint(9), extend(l, 9))
	var e, cause *Error
	if !errors.As(err, &e) || e.Reason != Rollback || e.Held == nil || !errors.As(e.Err, &cause) || cause.Reason != Unwritable {
		t.Errorf("%v", err)
	}
	mustPut(t, f, l, 11)
}

// A proof that was told of is there after any crash; before, the copy is the old one or the proof.
func TestProofMatrix(t *testing.T) {
	l, good := grown(12), newLiar(t)
	_, five := cosign(l.Request(0, 5), good.signer)
	_, ten := cosign(l.Request(0, 10), good.signer)
	run := func(under func(durable.FS) durable.FS) (int, error) {
		told := false
		var a *witnessAnchor
		open := func(d durable.FS) *witnessAnchor {
			return clientOf(t, d, l, good.vkey, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodPost {
					says(409, size409, "10\n").ServeHTTP(rw, r)
					return
				}
				_, _ = rw.Write(ten)
			}))
		}
		prepare := func(d durable.FS) error {
			a = open(under(d))
			return errors.Join(makeDirs(d), a.keep(five))
		}
		body := func(durable.FS) error {
			var e *Error
			err := a.Put(context.Background(), l.Checkpoint(9), extend(l, 9))
			told = errors.As(err, &e) && e.Reason == Rollback && e.Err == nil
			return err
		}
		return durabletest.Matrix(prepare, body, func(c *durabletest.Case) error {
			d := c.Disk
			if c.Survival == "" {
				d = d.Reopen()
			}
			h, ok, err := open(d).kept(a.key)
			if err != nil || !ok || h.size != 10 && (told || h.size != 5) {
				return fmt.Errorf("told %v, and the copy is of size %d: %w", told, h.size, err)
			}
			return nil
		})
	}
	cases, err := run(plain)
	if err != nil {
		t.Error(err)
	}
	t.Logf("%d cases", cases)
	for what, under := range map[string]func(durable.FS) durable.FS{
		"data":  func(f durable.FS) durable.FS { return unsynced{f, true, false} },
		"names": func(f durable.FS) durable.FS { return unsynced{f, false, true} },
	} {
		if _, err := run(under); err == nil {
			t.Errorf("%s not synced: not caught", what)
		}
	}
}
