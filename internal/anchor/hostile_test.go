package anchor

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	cosignature "github.com/transparency-dev/formats/note"
	"golang.org/x/mod/sumdb/note"

	"github.com/iff-run/iff/internal/witness/witnesstest"
)

// says is a server that always gives the same answer.
func says(status int, kind, body string) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Type", kind)
		rw.Header().Set("Location", "http://127.0.0.1:1/elsewhere")
		rw.WriteHeader(status)
		_, _ = io.WriteString(rw, body)
	})
}

const size409 = "text/x.tlog.size"

// TestHostileWitness has every answer that is not a cosignature. None is taken for one, and nothing is kept.
func TestHostileWitness(t *testing.T) {
	l := grown(12)
	good := newLiar(t)
	line := func(log *witnesstest.Log, size int64, signer note.Signer) string {
		out, _ := cosign(log.Request(0, size), signer)
		return string(out)
	}
	sameName := func() note.Signer {
		skey, _, err := note.GenerateKey(rand.Reader, keyName)
		if err != nil {
			t.Fatal(err)
		}
		s, err := cosignature.NewSignerForCosignatureV1(skey)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}()
	mine := line(l, 9, good.signer)
	name, sig, _ := strings.Cut(mine, " "+keyName+" ")
	damaged := name + " " + keyName + " " + sig[:30] + "A" + sig[31:]
	if damaged == mine {
		damaged = name + " " + keyName + " " + sig[:30] + "B" + sig[31:]
	}
	toggle := 0
	for what, c := range map[string]struct {
		h    http.Handler
		want Reason
	}{
		"cosigns":                      {says(200, "", mine), ""},
		"unknown cosigners beside":     {says(200, "", line(l, 9, sameName)+mine), ""},
		"another key of the same name": {says(200, "", line(l, 9, sameName)), BadSignature},
		"another checkpoint":           {says(200, "", line(l, 8, good.signer)), BadSignature},
		"damaged":                      {says(200, "", damaged), BadSignature},
		"damaged, then right":          {says(200, "", damaged+mine), BadSignature},
		"empty":                        {says(200, "", ""), Invalid},
		"no newline":                   {says(200, "", strings.TrimSuffix(mine, "\n")), Invalid},
		"carriage return":              {says(200, "", strings.TrimSuffix(mine, "\n")+"\r\n"), Invalid},
		"another text":                 {says(200, "", "more text\n\n"+mine), Invalid},
		"an empty line before":         {says(200, "", "\n"+mine), Invalid},
		"a whole checkpoint":           {says(200, "", string(l.Checkpoint(9))+mine), Invalid},
		"HTML":                         {says(200, "text/html", "<html>login</html>"), Invalid},
		"large":                        {says(200, "", strings.Repeat(mine, 1000)), Invalid},
		"endless":                      {http.HandlerFunc(endless), Invalid},
		"redirect":                     {says(307, "", ""), Refused},
		"moved":                        {says(301, "", mine), Refused},
		"not modified":                 {says(304, "", ""), Refused},
		"400":                          {says(400, "", "no"), Refused},
		"401":                          {says(401, "", "no"), Refused},
		"403":                          {says(403, "", "no"), Refused},
		"404":                          {says(404, "text/html", "<html>"), Refused},
		"202 with a cosignature":       {says(202, "", mine), Refused},
		"422":                          {says(422, "", "no"), Forked},
		"429":                          {says(429, "", "slow"), Unreachable},
		"500":                          {says(500, "", mine), Unreachable},
		"503":                          {says(503, "", ""), Unreachable},
		"409 larger":                   {says(409, size409, "10\n"), Rollback},
		"409 where it was":             {says(409, size409, "0\n"), Invalid},
		"409 of our size twice":        {says(409, size409, "9\n"), Forked},
		"409 smaller twice":            {says(409, size409, "4\n"), Invalid},
		"409 of another kind":          {says(409, "text/plain", "4\n"), Invalid},
		"409 with a charset":           {says(409, size409+"; charset=utf-8", "10\n"), Rollback},
		"409 without newline":          {says(409, size409, "4"), Invalid},
		"409 with zeros":               {says(409, size409, "04\n"), Invalid},
		"409 with a sign":              {says(409, size409, "+4\n"), Invalid},
		"409 negative":                 {says(409, size409, "-4\n"), Invalid},
		"409 with two lines":           {says(409, size409, "4\n4\n"), Invalid},
		"409 with HTML":                {says(409, size409, "<html>"), Invalid},
		"409 out of range":             {says(409, size409, "9223372036854775807\n"), Invalid},
		"409 that changes": {http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			toggle++
			says(409, size409, fmt.Sprintf("%d\n", 3+toggle%2)).ServeHTTP(rw, r)
		}), Refused},
		"hangs up": {http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }), Unreachable},
	} {
		t.Run(what, func(t *testing.T) {
			server := httptest.NewServer(c.h)
			defer server.Close()
			d := newDisk(t)
			a, err := Open(Spec{Place: server.URL, Key: good.vkey}, logOf(l), Options{FS: d, Dir: copies})
			if err != nil {
				t.Fatal(err)
			}
			if err := a.Put(t.Context(), l.Checkpoint(9), extend(l, 9)); reasonOf(t, err) != c.want {
				t.Errorf("%v", err)
			}
			if names, _ := d.List(copies); (len(names) > 0) != (c.want == "") {
				t.Errorf("kept: %v", names)
			}
		})
	}
}

func endless(rw http.ResponseWriter, r *http.Request) {
	for r.Context().Err() == nil {
		if _, err := rw.Write(bytes.Repeat([]byte("x"), 4096)); err != nil {
			return
		}
	}
}

// TestHostileNewest has what a witness may give as its newest checkpoint.
func TestHostileNewest(t *testing.T) {
	l := grown(12)
	good := newLiar(t)
	other := witnesstest.New("iff/log/other")
	other.Grow(9, "leaf")
	impostor := witnesstest.New(origin)
	impostor.Grow(9, "leaf")
	whole := func(log *witnesstest.Log, size int64) string {
		_, out := cosign(log.Request(0, size), good.signer)
		return string(out)
	}
	for what, c := range map[string]struct {
		h        http.Handler
		withCopy Reason // of Newest, or of its Offline
		without  Reason
		offline  bool
	}{
		"good":           {says(200, "", whole(l, 12)), "", "", false},
		"not cosigned":   {says(200, "", string(l.Checkpoint(12))), BadSignature, BadSignature, false},
		"another log":    {says(200, "", whole(other, 9)), OtherLog, OtherLog, false},
		"another key":    {says(200, "", whole(impostor, 9)), BadSignature, BadSignature, false},
		"HTML":           {says(200, "text/html", "<html>"), Invalid, Invalid, false},
		"large":          {says(200, "", strings.Repeat("x\n", maxNote)), Invalid, Invalid, false},
		"redirect":       {says(302, "", ""), Refused, Refused, true},
		"none":           {says(404, "", ""), Refused, "", true},
		"not such verbs": {says(405, "", ""), Refused, Refused, true},
		"500":            {says(500, "", ""), Unreachable, Unreachable, true},
	} {
		t.Run(what, func(t *testing.T) {
			d := newDisk(t)
			a := clientOf(t, d, l, good.vkey, good)
			mustPut(t, a, l, 5)
			a.client.http.Transport = within{c.h}
			v, ok, err := a.Newest(t.Context())
			if c.offline {
				if err != nil || !ok || v.Size != 5 {
					t.Errorf("%+v %v", v, err)
				}
				err = v.Offline
			}
			if reasonOf(t, err) != c.withCopy {
				t.Errorf("%v", err)
			}
			losing(t, d)()
			if _, _, err := a.Newest(t.Context()); reasonOf(t, err) != c.without {
				t.Errorf("without a copy: %v", err)
			}
		})
	}
}
