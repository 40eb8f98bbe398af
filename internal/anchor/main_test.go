package anchor

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	"go.uber.org/goleak"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/iff-run/iff/internal/durable"
	"github.com/iff-run/iff/internal/durable/durabletest"
	"github.com/iff-run/iff/internal/witness"
	"github.com/iff-run/iff/internal/witness/witnesstest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	origin    = "iff/log/0123456789abcdef"
	keyName   = "witness.example/w1"
	elsewhere = "/elsewhere/iff.checkpoint"
	copies    = "/home/anchors"
	local     = "http://127.0.0.1:1" // what the address of a witness is called that a test reaches without a network
)

func grown(size int64) *witnesstest.Log {
	l := witnesstest.New(origin)
	l.Grow(size, "leaf")
	return l
}

func logOf(l *witnesstest.Log) Log {
	return Log{Origin: l.Origin(), Keys: note.VerifierList(l.Verifier())}
}

// extend is the right proof for a checkpoint.
func extend(l *witnesstest.Log, size int64) Extend {
	return func(_ context.Context, old int64) ([]tlog.Hash, error) { return l.Prove(old, size), nil }
}

// newDisk has the directories that anchors need.
func newDisk(t testing.TB) *durabletest.Disk {
	t.Helper()
	d := durabletest.New()
	if err := makeDirs(d); err != nil {
		t.Fatal(err)
	}
	d.Settle()
	return d
}

func makeDirs(d durable.FS) error {
	return errors.Join(d.Mkdir("/home", 0o700), d.Mkdir("/elsewhere", 0o755))
}

func openedFile(d durable.FS, l *witnesstest.Log) (*fileAnchor, error) {
	a, err := Open(Spec{Place: elsewhere}, logOf(l), Options{FS: d, Dir: copies})
	if err != nil {
		return nil, err
	}
	return a.(*fileAnchor), nil
}

func mustFile(t testing.TB, d durable.FS, l *witnesstest.Log) *fileAnchor {
	t.Helper()
	f, err := openedFile(d, l)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// within answers requests by a handler, without a network.
type within struct{ http.Handler }

func (w within) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	rec := httptest.NewRecorder()
	w.ServeHTTP(rec, r)
	return rec.Result(), nil
}

// newWitness is a witness in memory that knows a log.
func newWitness(t testing.TB, l *witnesstest.Log) *witness.Witness {
	t.Helper()
	w, err := witness.Open(durabletest.New(), "/w", witness.Options{Name: keyName, Logs: []string{l.VerifierKey()}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return w
}

// clientOf is an anchor whose witness has the key and is reached by h.
func clientOf(t testing.TB, d durable.FS, l *witnesstest.Log, vkey string, h http.Handler) *witnessAnchor {
	t.Helper()
	a, err := Open(Spec{Place: local, Key: vkey}, logOf(l), Options{FS: d, Dir: copies})
	if err != nil {
		t.Fatal(err)
	}
	w := a.(*witnessAnchor)
	w.client.http.Transport = within{h}
	return w
}

func reasonOf(t testing.TB, err error) Reason {
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

// mustPut has an anchor take a checkpoint.
func mustPut(t testing.TB, a Anchor, l *witnesstest.Log, size int64) {
	t.Helper()
	if err := a.Put(t.Context(), l.Checkpoint(size), extend(l, size)); err != nil {
		t.Fatalf("size %d: %v", size, err)
	}
}

// stands is the size of the newest checkpoint that an anchor itself gives, -1 if none.
func stands(t testing.TB, a Anchor) int64 {
	t.Helper()
	v, ok, err := a.Newest(t.Context())
	if err != nil || v.Offline != nil {
		t.Fatalf("%v %v", err, v.Offline)
	}
	if !ok {
		return -1
	}
	if v.Origin != origin || v.By != a.Name() {
		t.Fatalf("%+v", v)
	}
	return v.Size
}
