package witness

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	cosignature "github.com/transparency-dev/formats/note"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/iff-run/iff/internal/durable/durabletest"
	"github.com/iff-run/iff/internal/witness/witnesstest"
)

func post(w http.Handler, body []byte) *httptest.ResponseRecorder {
	rec := httptest.NewRecorder()
	w.ServeHTTP(rec, httptest.NewRequest(http.MethodPost, "/add-checkpoint", bytes.NewReader(body)))
	return rec
}

// TestAddCheckpoint has each answer of tlog-witness, to a witness that has cosigned size 5.
func TestAddCheckpoint(t *testing.T) {
	l, stranger := grown(12), witnesstest.New("iff/log/stranger")
	stranger.Grow(12, "leaf")
	fork := l.Fork(3)
	fork.Grow(12, "other")
	impostor := witnesstest.New(origin)
	impostor.Grow(12, "leaf")
	proof := l.Prove(5, 9)
	long := make([]tlog.Hash, 64)
	for _, c := range []struct {
		what   string
		body   []byte
		status int
		answer string // exactly; "" is a cosignature for 200, any sentence for others
	}{
		{"extends", l.Request(5, 9), 200, ""},
		{"same again", l.Request(5, 5), 200, ""},
		{"extension lines", witnesstest.Request(5, proof, l.Checkpoint(9, "chain 00", "state 11")), 200, ""},
		{"older", l.Request(3, 4), 409, "5\n"},
		{"asks for the size", witnesstest.Request(0, nil, l.Checkpoint(9)), 409, "5\n"},
		{"old size too large", l.Request(6, 9), 409, "5\n"},
		{"fork of the same size", witnesstest.Request(5, nil, fork.Checkpoint(5)), 409, "5\n"},
		{"fork of the same size with a proof", witnesstest.Request(5, proof, fork.Checkpoint(5)), 409, "5\n"},
		{"fork that is larger", witnesstest.Request(5, fork.Prove(5, 9), fork.Checkpoint(9)), 422, ""},
		{"no proof", witnesstest.Request(5, nil, l.Checkpoint(9)), 422, ""},
		{"proof of another size", witnesstest.Request(5, l.Prove(5, 8), l.Checkpoint(9)), 422, ""},
		{"proof with one hash more", witnesstest.Request(5, append(proof[:len(proof):len(proof)], proof[0]), l.Checkpoint(9)), 422, ""},
		{"proof for the same size", witnesstest.Request(5, proof, l.Checkpoint(5)), 422, ""},
		{"63 proof lines", witnesstest.Request(5, long[:63], l.Checkpoint(9)), 422, ""},
		{"64 proof lines", witnesstest.Request(5, long, l.Checkpoint(9)), 400, ""},
		{"another log", stranger.Request(0, 9), 404, ""},
		{"another key", impostor.Request(5, 9), 403, ""},
		{"text changed", bytes.Replace(l.Request(5, 9), []byte("\n9\n"), []byte("\n10\n"), 1), 403, ""},
		{"old larger than new", witnesstest.Request(10, nil, l.Checkpoint(9)), 400, ""},
		{"empty", nil, 400, ""},
		{"no checkpoint", []byte("old 5\n\n"), 400, ""},
		{"carriage returns", bytes.ReplaceAll(l.Request(5, 9), []byte("\n"), []byte("\r\n")), 400, ""},
		{"large", append(l.Request(5, 9), bytes.Repeat([]byte("— x AAAAAAA=\n"), 6000)...), 413, ""},
	} {
		t.Run(c.what, func(t *testing.T) {
			w := opened(t, durabletest.New(), l.VerifierKey())
			mustCosign(t, w, l, 0, 5)
			before := w.Newest(origin)
			rec := post(w, c.body)
			if rec.Code != c.status || c.answer != "" && rec.Body.String() != c.answer {
				t.Fatalf("%d %q", rec.Code, rec.Body)
			}
			wantType := plainText
			if c.status == 409 {
				wantType = "text/x.tlog.size"
			}
			if got := rec.Header().Get("Content-Type"); got != wantType {
				t.Errorf("type %q", got)
			}
			if c.status != 200 {
				if !bytes.Equal(before, w.Newest(origin)) {
					t.Error("a refused request changed what is remembered")
				}
				return
			}
			_, checkpoint, _ := bytes.Cut(c.body, []byte("\n\n"))
			isCosigned(t, w, append(checkpoint, rec.Body.Bytes()...))
		})
	}
}

// isCosigned checks a note the way that a client does.
func isCosigned(t *testing.T, w *Witness, msg []byte) time.Time {
	t.Helper()
	v, err := cosignature.NewVerifierForCosignatureV1(w.VerifierKey())
	if err != nil {
		t.Fatal(err)
	}
	n, err := note.Open(msg, note.VerifierList(v))
	if err != nil {
		t.Fatalf("%v: %s", err, msg)
	}
	at, err := cosignature.CoSigV1Timestamp(n.Sigs[0])
	if err != nil {
		t.Fatal(err)
	}
	return at
}

func TestEmptyLog(t *testing.T) {
	l := grown(3)
	w := opened(t, durabletest.New(), l.VerifierKey())
	if o, _ := ask(w, witnesstest.Request(0, nil, l.Sign(origin+"\n0\n"+l.Root(3).String()+"\n"))); o != Forked {
		t.Errorf("an empty tree with a wrong root: %s", o)
	}
	if o, _ := ask(w, witnesstest.Request(0, l.Prove(1, 2), l.Checkpoint(0))); o != Unproven {
		t.Errorf("an empty tree with a proof: %s", o)
	}
	mustCosign(t, w, l, 0, 0)
	if o, _ := ask(w, witnesstest.Request(0, l.Prove(1, 3), l.Checkpoint(3))); o != Unproven {
		t.Errorf("a proof from size 0: %s", o)
	}
	mustCosign(t, w, l, 0, 3)
	if o, out := ask(w, l.Request(0, 0)); o != Conflict || string(out) != "3\n" {
		t.Errorf("back to the empty tree: %s %s", o, out)
	}
}

func TestCosignsAgainWithNewTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := grown(3)
		w := opened(t, durabletest.New(), l.VerifierKey())
		var times []time.Time
		for _, old := range []int64{0, 3} {
			mustCosign(t, w, l, old, 3)
			times = append(times, isCosigned(t, w, w.Newest(origin)))
			time.Sleep(90 * time.Second)
		}
		if d := times[1].Sub(times[0]); d != 90*time.Second {
			t.Errorf("the second cosignature is %v later", d)
		}
	})
}

// Signatures that are not the log's own are not kept, so nobody can have the witness publish their text.
func TestForeignSignaturesAreDropped(t *testing.T) {
	l := grown(3)
	w := opened(t, durabletest.New(), l.VerifierKey())
	mustAnswer := post(w, append(l.Request(0, 3), "— buy.example/now AAAAAAAA\n"...))
	if mustAnswer.Code != 200 || strings.Contains(string(w.Newest(origin)), "buy") {
		t.Errorf("%d: %s", mustAnswer.Code, w.Newest(origin))
	}
}

func TestRotatedKeys(t *testing.T) {
	l := grown(9)
	first := l.Request(0, 3)
	before := l.Rotate()
	w := opened(t, durabletest.New(), before, l.VerifierKey(), before)
	if o, out := ask(w, first); o != Cosigned {
		t.Fatalf("%s: %s", o, out)
	}
	mustCosign(t, w, l, 3, 9)
}

func TestPages(t *testing.T) {
	l := grown(5)
	w := opened(t, durabletest.New(), l.VerifierKey())
	get := func(method, path string) *httptest.ResponseRecorder {
		rec := httptest.NewRecorder()
		w.ServeHTTP(rec, httptest.NewRequest(method, path, nil))
		return rec
	}
	newest := "/checkpoint/" + nameOf(origin)
	if rec := get("GET", newest); rec.Code != 404 {
		t.Errorf("nothing cosigned yet: %d", rec.Code)
	}
	mustCosign(t, w, l, 0, 5)
	rec := get("GET", newest)
	isCosigned(t, w, rec.Body.Bytes())
	if n, err := note.Open(rec.Body.Bytes(), note.VerifierList(l.Verifier())); err != nil || !strings.HasPrefix(n.Text, origin+"\n5\n") {
		t.Errorf("%v", err)
	}
	page := get("GET", "/").Body.String()
	for _, want := range []string{w.VerifierKey(), l.VerifierKey(), origin, nameOf(origin), "\nsize 5\n"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q: %s", want, page)
		}
	}
	for _, c := range []struct {
		method, path string
		status       int
	}{
		{"GET", "/checkpoint/" + strings.ToUpper(nameOf(origin)), 404}, {"GET", "/checkpoint/", 404}, {"GET", newest + "/", 404},
		{"GET", "/checkpoint/" + nameOf("other"), 404}, {"GET", "/add-checkpoint", 405}, {"POST", "/", 405}, {"POST", newest, 405},
		{"PUT", "/add-checkpoint", 405}, {"GET", "/../etc/passwd", 404}, {"POST", "//add-checkpoint", 404},
		{"POST", "/add-checkpoint/", 404}, {"GET", "/key", 404}, {"HEAD", "/", 405},
	} {
		if rec := get(c.method, c.path); rec.Code != c.status {
			t.Errorf("%s %s: %d", c.method, c.path, rec.Code)
		}
	}
}

func TestEventTells(t *testing.T) {
	l := grown(12)
	fork := l.Fork(2)
	fork.Grow(12, "other")
	var events []Event
	w := openedWith(t, durabletest.New(), Options{Name: name, Logs: []string{l.VerifierKey()}, Event: func(e Event) { events = append(events, e) }})
	for _, body := range [][]byte{l.Request(0, 5), l.Request(5, 9), fork.Request(9, 9), l.Request(3, 10), []byte("junk")} {
		post(w, body)
	}
	var got strings.Builder
	for _, e := range events {
		fmt.Fprintf(&got, "%s %d %d %v %v|", e.Outcome, e.Held, e.Size, e.Evidence != "", e.Err)
	}
	if got.String() != "cosigned 0 5 false <nil>|cosigned 5 9 false <nil>|forked 9 9 true <nil>|conflict 9 10 false <nil>|malformed 0 0 false <nil>|" {
		t.Error(got.String())
	}
}

// A body that breaks off is not a request.
func TestBrokenBody(t *testing.T) {
	l := grown(3)
	w := opened(t, durabletest.New(), l.VerifierKey())
	rec := httptest.NewRecorder()
	body := io.MultiReader(bytes.NewReader(l.Request(0, 3)), failing{})
	w.ServeHTTP(rec, httptest.NewRequest(http.MethodPost, "/add-checkpoint", body))
	if rec.Code != 400 || w.Newest(origin) != nil {
		t.Errorf("%d", rec.Code)
	}
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }
