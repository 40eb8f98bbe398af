package witness

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/iff-run/iff/internal/durable/durabletest"
	"github.com/iff-run/iff/internal/witness/witnesstest"
)

var hash44 = tlog.Hash{1, 2, 3}.String()

func TestParseRequest(t *testing.T) {
	for body, want := range map[string]string{
		"old 0\n\nnote":                  "0 0 note",
		"old 7\n" + hash44 + "\n\nnote":  "7 1 note",
		"old 1152921504606846976\n\n":    "1152921504606846976 0 ",
		"old 0\n\n\nnote":                "0 0 \nnote",
		"":                               "line 1",
		"old 5":                          "line 1",
		"old\n\n":                        "line 1",
		"old  5\n\n":                     "line 1",
		"old 5 \n\n":                     "line 1",
		"Old 5\n\n":                      "line 1",
		"\nold 5\n\n":                    "line 1",
		"old 05\n\n":                     "line 1",
		"old 00\n\n":                     "line 1",
		"old +5\n\n":                     "line 1",
		"old -5\n\n":                     "line 1",
		"old 5_0\n\n":                    "line 1",
		"old 0x5\n\n":                    "line 1",
		"old ٥\n\n":                      "line 1",
		"old 1152921504606846977\n\n":    "line 1",
		"old 18446744073709551616\n\n":   "line 1",
		"old 5\r\n\r\n":                  "line 1",
		"old 5\n":                        "line 2",
		"old 5\nAAAA\n\n":                "line 2",
		"old 5\n" + hash44:               "line 2",
		"old 5\n" + hash44 + "\n":        "line 3",
		"old 5\n" + hash44 + " \n\n":     "line 2",
		"old 5\n" + hash44[:43] + "\n\n": "line 2",
		"old 5\n" + strings.Replace(hash44, "=", "A", 1) + "\n\n":   "line 2",
		"old 5\n" + strings.Replace(hash44, "A=", "B=", 1) + "\n\n": "line 2", // bits behind the last byte
	} {
		r, err := parseRequest([]byte(body))
		got := fmt.Sprintf("%d %d %s", r.old, len(r.proof), r.note)
		if err != nil {
			got, _, _ = strings.Cut(err.Error(), " is ")
			got, _, _ = strings.Cut(got, ":")
			got, _, _ = strings.Cut(got, " has ")
		}
		if got != want {
			t.Errorf("%q: %q, %v", body, got, err)
		}
	}
}

func TestParseNote(t *testing.T) {
	l, other := witnesstest.New(origin), witnesstest.New("other").VerifierKey()
	root := l.Root(0).String()
	for text, ok := range map[string]bool{
		"o\n0\n" + root + "\n":                                 true,
		"o\n0\n" + root + "\nmore\nlines\n":                    true,
		"an origin with spaces\n5\n" + root + "\n":             true,
		"o\n1152921504606846976\n" + root + "\n":               true,
		"o\n1152921504606846977\n" + root + "\n":               false,
		"o\n18446744073709551615\n" + root + "\n":              false,
		"o\n00\n" + root + "\n":                                false,
		"o\n+1\n" + root + "\n":                                false,
		"o\n-1\n" + root + "\n":                                false,
		"o\n\n" + root + "\n":                                  false,
		"\n0\n" + root + "\n":                                  false,
		"o\n0\n":                                               false,
		"o\n0\nAAAA\n":                                         false,
		"o\n0\n" + root[:43] + "\n":                            false,
		"o\n0\n" + strings.Replace(root, "U=", "V=", 1) + "\n": false, // bits behind the last byte
		"o\n0\n" + root + "\n\nmore\n":                         false,
		"o\n0\n" + root + "\nmore\n\n":                         false,
		"o\n0\n" + root + "\nmore\n\nmore\n":                   false,
	} {
		if _, err := parseNote(l.Sign(text)); (err == nil) != ok {
			t.Errorf("%q: %v", text, err)
		}
	}
	for _, msg := range []string{"", "\n", "text\n", "o\n0\n" + root + "\n\n", other, "o\n0\n" + root + "\n\n— o AAAA\n"} {
		if _, err := parseNote([]byte(msg)); err == nil {
			t.Errorf("%q is taken for a note", msg)
		}
	}
}

// FuzzRequest: what is accepted has one spelling, judging ends whatever sizes a note names, and what is cosigned is one of the
// texts that the log signed.
func FuzzRequest(f *testing.F) {
	l := grown(12)
	signed := [][]byte{l.Checkpoint(5), l.Checkpoint(12), l.Checkpoint(9, "chain 00")}
	f.Add(witnesstest.Request(0, nil, signed[0]))
	f.Add(witnesstest.Request(0, nil, signed[1]))
	f.Add(witnesstest.Request(0, nil, signed[2]))
	f.Add(l.Request(5, 9))
	f.Add([]byte("old 1152921504606846976\n\no\n1152921504606846976\n" + hash44 + "\n\n— o AAAAAAAA\n"))
	f.Add([]byte("old 1\n" + hash44 + "\n\no\n1152921504606846975\n" + hash44 + "\nx\n\n— o AAAAAAAA\n— p AAAAAAAA\n"))
	f.Add([]byte("old 0\n\n\n\n\n"))
	w, err := Open(durabletest.New(), dir, Options{Name: name, Logs: []string{l.VerifierKey()}})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { w.Close() })
	f.Fuzz(func(t *testing.T, body []byte) {
		forgetful := steps{judge, func(_ *Witness, _ string, cosigned []byte) error {
			text, _, _ := bytes.Cut(cosigned, []byte("\n\n"))
			if !slices.ContainsFunc(signed, func(s []byte) bool { return bytes.HasPrefix(s, append(text, "\n\n"...)) }) {
				t.Fatalf("the log did not sign %q", text)
			}
			return errors.New("forgotten")
		}}
		if _, e := w.cosign(forgetful, body); e.Outcome == Cosigned {
			t.Fatal("cosigned and not kept")
		}
		r, err := parseRequest(body)
		if err != nil {
			return
		}
		if again := witnesstest.Request(r.old, r.proof, r.note); !bytes.Equal(again, body) {
			t.Fatalf("%q is read as %q", body, again)
		}
		given, err := parseNote(r.note)
		if err != nil {
			return
		}
		if !bytes.HasPrefix(r.note, fmt.Appendf(nil, "%s\n%d\n%v\n", given.origin, given.size, given.root)) {
			t.Fatalf("%q is read as %v", r.note, given)
		}
		for _, held := range []int64{0, 1, r.old, given.size} {
			o := judge(head{given.origin, held, given.root}, given, r.old, r.proof)
			if o == Cosigned && (held != r.old || held > given.size) {
				t.Fatalf("cosigned from %d to %d", held, given.size)
			}
		}
	})
}
