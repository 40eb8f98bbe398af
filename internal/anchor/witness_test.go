package anchor

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/iff-run/iff/internal/witness/witnesstest"
)

// TestWitness is the ordinary course, over a real connection.
func TestWitness(t *testing.T) {
	l := grown(12)
	w := newWitness(t, l)
	server := httptest.NewServer(w)
	defer server.Close()
	d := newDisk(t)
	open := func() Anchor {
		a, err := Open(Spec{Place: server.URL + "/", Key: w.VerifierKey()}, logOf(l), Options{FS: d, Dir: copies})
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	a := open()
	if a.Name() != keyName || stands(t, a) != -1 {
		t.Errorf("%s", a.Name())
	}
	for _, size := range []int64{3, 3, 9} {
		mustPut(t, a, l, size)
		if stands(t, a) != size {
			t.Errorf("it stands at %d", stands(t, a))
		}
	}
	if err := d.Remove(a.(*witnessAnchor).copy); err != nil { // learns where the witness stands
		t.Fatal(err)
	}
	mustPut(t, open(), l, 11)
	v, ok, err := a.Newest(t.Context())
	if err != nil || !ok || v.Time.IsZero() || v.Root != l.Root(11) || v.Offline != nil {
		t.Errorf("%+v %v", v, err)
	}
	server.Close()
	v, ok, err = a.Newest(t.Context())
	if err != nil || !ok || v.Size != 11 || v.Time.IsZero() || reasonOf(t, v.Offline) != Unreachable {
		t.Errorf("%+v %v", v, err)
	}
	if err := a.Put(t.Context(), l.Checkpoint(12), extend(l, 12)); reasonOf(t, err) != Unreachable {
		t.Errorf("%v", err)
	}
}

// TestWitnessKnowsBetter: a log that went back or forked is found out by the witness even where the home forgot everything.
func TestWitnessKnowsBetter(t *testing.T) {
	l := grown(12)
	fork := l.Fork(3)
	fork.Grow(12, "other")
	for what, c := range map[string]struct {
		log  *witnesstest.Log
		size int64
		want Reason
	}{
		"goes on":                     {l, 12, ""},
		"cut back":                    {l, 4, Rollback},
		"cut back and rewritten":      {fork, 8, Rollback},
		"rewritten, of the same size": {fork, 9, Forked},
		"rewritten and grown":         {fork, 12, Forked},
	} {
		for _, remembers := range []bool{true, false} {
			t.Run(fmt.Sprint(what, ", copy ", remembers), func(t *testing.T) {
				d, w := newDisk(t), newWitness(t, l)
				a := clientOf(t, d, l, w.VerifierKey(), w)
				mustPut(t, a, l, 9)
				if !remembers {
					losing(t, d)()
				}
				err := a.Put(t.Context(), c.log.Checkpoint(c.size), extend(c.log, c.size))
				if reasonOf(t, err) != c.want {
					t.Fatalf("%v", err)
				}
				var e *Error
				if errors.As(err, &e) && !bytes.Contains(e.Held, []byte("\n9\n"+l.Root(9).String())) {
					t.Errorf("evidence %q", e.Held)
				}
			})
		}
	}
}

// TestWitnessForgets: a witness that was set back, or begun anew with its key, is noticed.
func TestWitnessForgets(t *testing.T) {
	l := grown(12)
	w := newLiar(t)
	d := newDisk(t)
	a := clientOf(t, d, l, w.vkey, w)
	mustPut(t, a, l, 5)
	earlier := w.last
	mustPut(t, a, l, 9)
	w.last = earlier
	v, _, err := a.Newest(t.Context())
	if err != nil || v.Size != 9 || reasonOf(t, v.Offline) != Gone {
		t.Errorf("%+v %v", v, err)
	}
	a.client.http.Transport = within{says(409, "text/x.tlog.size", "5\n")}
	if err := a.Put(t.Context(), l.Checkpoint(12), extend(l, 12)); reasonOf(t, err) != Gone {
		t.Errorf("%v", err)
	}
	w.last = nil // or it never had such a page
	a.client.http.Transport = within{w}
	v, _, err = a.Newest(t.Context())
	if err != nil || v.Size != 9 || reasonOf(t, v.Offline) != Refused {
		t.Errorf("%+v %v", v, err)
	}
	fork := l.Fork(3)
	fork.Grow(12, "other")
	_, w.last = cosign(fork.Request(0, 9), w.signer)
	if _, _, err := a.Newest(t.Context()); reasonOf(t, err) != Forked {
		t.Errorf("it vouches for a fork: %v", err)
	}
}

// TestFalseClaim: a witness that says the log was changed, and whose own newest checkpoint says otherwise, is at fault itself.
func TestFalseClaim(t *testing.T) {
	l := grown(12)
	good := newLiar(t)
	_, whole := cosign(l.Request(0, 5), good.signer)
	for what, claim := range map[string]http.Handler{
		"cut back":             says(409, size409, "11\n"),
		"rewritten":            says(422, "", "no"),
		"rewritten, same size": says(409, size409, "9\n"),
	} {
		a := clientOf(t, newDisk(t), l, good.vkey, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPost {
				claim.ServeHTTP(rw, r)
				return
			}
			_, _ = rw.Write(whole)
		}))
		err := a.Put(t.Context(), l.Checkpoint(9), extend(l, 9))
		var e *Error
		if reasonOf(t, err) != Invalid || !errors.As(errors.Unwrap(err), &e) || e.Held != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestCosignatureTime: the clock of a bubble begins in 2000, so what is signed outside is from its future, and the reverse long
// past.
func TestCosignatureTime(t *testing.T) {
	l := grown(9)
	w := newLiar(t)
	now, wholeNow := cosign(l.Request(0, 9), w.signer)
	var past []byte
	put := func(t *testing.T, line []byte) error {
		a := clientOf(t, newDisk(t), l, w.vkey, says(200, "", string(line)))
		return a.Put(t.Context(), l.Checkpoint(9), nil)
	}
	synctest.Test(t, func(t *testing.T) {
		if err := put(t, now); reasonOf(t, err) != BadTime {
			t.Errorf("from the future: %v", err)
		}
		a := clientOf(t, newDisk(t), l, w.vkey, says(200, "", string(wholeNow)))
		if _, _, err := a.Newest(t.Context()); reasonOf(t, err) != BadTime {
			t.Errorf("newest from the future: %v", err)
		}
		past, _ = cosign(l.Request(0, 9), w.signer)
		for _, c := range []struct {
			later time.Duration
			want  Reason
		}{{skew, ""}, {time.Second, BadTime}} {
			time.Sleep(c.later)
			if err := put(t, past); reasonOf(t, err) != c.want {
				t.Errorf("%v later: %v", c.later, err)
			}
		}
	})
	if err := put(t, past); reasonOf(t, err) != BadTime {
		t.Errorf("from the past: %v", err)
	}
}

// TestSlowWitness: one that does not answer in time is out of reach, whatever it waits with.
func TestSlowWitness(t *testing.T) {
	for what, answer := range map[string]string{
		"accepts and says nothing": "",
		"half a header":            "HTTP/1.1 200 OK\r\nContent-Le",
		"half a body":              "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc",
	} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := grown(9)
				d, w := newDisk(t), newWitness(t, l)
				a, err := Open(Spec{Place: local, Key: w.VerifierKey()}, logOf(l), Options{FS: d, Dir: copies})
				if err != nil {
					t.Fatal(err)
				}
				transport := a.(*witnessAnchor).client.http.Transport.(*http.Transport)
				transport.DialContext = func(context.Context, string, string) (net.Conn, error) { return answering(answer), nil }
				start := time.Now()
				if err := a.Put(t.Context(), l.Checkpoint(9), nil); reasonOf(t, err) != Unreachable {
					t.Errorf("%v", err)
				}
				if took := time.Since(start); took != callTime {
					t.Errorf("it took %v", took)
				}
			})
		})
	}
}

// answering is a connection that swallows a request, answers so much and then waits.
func answering(text string) net.Conn {
	ours, theirs := net.Pipe()
	go func() {
		_, _ = theirs.Read(make([]byte, 1))
		go func() { _, _ = io.WriteString(theirs, text) }()
		_, _ = io.Copy(io.Discard, theirs)
	}()
	return ours
}

// publicOf is the key in a witness's verifier key.
func publicOf(vkey string) []byte {
	key, err := base64.StdEncoding.DecodeString(strings.SplitN(vkey, "+", 3)[2])
	if err != nil {
		panic(err)
	}
	return key[1:]
}

// TestTLS: a certificate of nobody is not believed; with a trusted one all works.
func TestTLS(t *testing.T) {
	l := grown(9)
	w := newWitness(t, l)
	server := httptest.NewUnstartedServer(w)
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	defer server.Close()
	a, err := Open(Spec{Place: server.URL, Key: w.VerifierKey()}, logOf(l), Options{FS: newDisk(t), Dir: copies})
	if err != nil {
		t.Fatal(err)
	}
	var unknown x509.UnknownAuthorityError
	if err := a.Put(t.Context(), l.Checkpoint(9), nil); reasonOf(t, err) != Unreachable || !errors.As(err, &unknown) {
		t.Errorf("%v", err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	a.(*witnessAnchor).client.http.Transport.(*http.Transport).TLSClientConfig = &tls.Config{RootCAs: roots}
	mustPut(t, a, l, 9)
}

// TestRequest: what is sent is what tlog-witness has, and says nothing of the machine.
func TestRequest(t *testing.T) {
	l := grown(9)
	w := newWitness(t, l)
	var heads []http.Header
	var bodies [][]byte
	a := clientOf(t, newDisk(t), l, w.VerifierKey(), http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		body := readBody(r)
		heads, bodies = append(heads, r.Header), append(bodies, body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		w.ServeHTTP(rw, r)
	}))
	mustPut(t, a, l, 5)
	mustPut(t, a, l, 9)
	if want := l.Request(5, 9); len(bodies) != 2 || !bytes.Equal(bodies[1], want) {
		t.Errorf("%q", bodies)
	}
	for name, values := range heads[0] {
		if name == "User-Agent" && values[0] != "iff" || name != "User-Agent" && name != "Content-Type" {
			t.Errorf("%s: %q", name, values)
		}
	}
	c, err := newClient("https://witness.example")
	if err != nil || c.http.Transport.(*http.Transport).Proxy != nil || c.http.Jar != nil {
		t.Errorf("a proxy from the environment, or cookies: %v", err)
	}
}

func TestLoopbackOnly(t *testing.T) {
	for address, ok := range map[string]bool{
		"127.0.0.1:80": true, "127.9.9.9:80": true, "[::1]:80": true, "[::ffff:127.0.0.1]:80": true,
		"10.0.0.1:80": false, "[::]:80": false, "0.0.0.0:80": false, "[::ffff:10.0.0.1]:80": false, "localhost:80": false, "": false,
	} {
		if err := loopbackOnly("tcp", address, nil); (err == nil) != ok {
			t.Errorf("%s: %v", address, err)
		}
	}
}

// TestOpenRefuses has the places that are none.
func TestOpenRefuses(t *testing.T) {
	l := grown(1)
	w := newWitness(t, l)
	vkey := w.VerifierKey()
	asEd25519, err := note.NewEd25519VerifierKey(keyName, publicOf(vkey))
	if err != nil {
		t.Fatal(err)
	}
	weak, err := note.NewEd25519VerifierKey(keyName, append([]byte{1}, make([]byte, 31)...))
	if err != nil {
		t.Fatal(err)
	}
	for spec, ok := range map[Spec]bool{
		{}:                                    false,
		{Place: "/a/b"}:                       true,
		{Place: "a/b"}:                        false,
		{Place: "~/b"}:                        false,
		{Place: "/a/"}:                        false,
		{Place: "/a/../b"}:                    false,
		{Place: "/a/b", Key: vkey}:            false,
		{Place: "file:///a"}:                  false,
		{"https://w.example", vkey}:           true,
		{"https://w.example:8443/w/1/", vkey}: true,
		{"https://w.example", asEd25519}:      true,
		{"https://w.example", ""}:             false,
		{"https://w.example", "x"}:            false,
		{"https://w.example", weak}:           false,
		{"https://w.example", vkey + "A"}:     false,
		{"https://w.example", "x" + vkey}:     false,
		{"https://w.example", strings.Replace(vkey, "+", "+f", 1)}: false,
		{"https://u:p@w.example", vkey}:                            false,
		{"https://w.example/?a=b", vkey}:                           false,
		{"https://w.example/?", vkey}:                              false,
		{"https://w.example/#a", vkey}:                             false,
		{"https://", vkey}:                                         false,
		{"https://:8443", vkey}:                                    false,
		{"https://w.example:port", vkey}:                           false,
		{"ftp://w.example", vkey}:                                  false,
		{"http://w.example", vkey}:                                 false,
		{"http://127.0.0.1.example", vkey}:                         false,
		{"http://10.0.0.1", vkey}:                                  false,
		{"http://127.0.0.1:8080", vkey}:                            true,
		{"http://localhost:8080/x", vkey}:                          true,
		{"http://[::1]:8080", vkey}:                                true,
	} {
		_, err := Open(spec, logOf(l), Options{FS: newDisk(t), Dir: copies})
		if (err == nil) != ok || !ok && reasonOf(t, err) != PlaceInvalid {
			t.Errorf("%q: %v", spec, err)
		}
	}
	for _, o := range []Options{{}, {FS: newDisk(t)}, {Dir: copies}} {
		if _, err := Open(Spec{Place: elsewhere}, logOf(l), o); err == nil {
			t.Errorf("%+v is enough", o)
		}
	}
}
