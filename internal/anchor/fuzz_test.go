package anchor

import (
	"fmt"
	"strings"
	"testing"

	"golang.org/x/mod/sumdb/note"

	"github.com/iff-run/iff/internal/witness/witnesstest"
)

// FuzzAnswer: whatever a witness answers, what is accepted is the checkpoint that was sent with both signatures, and a size is
// accepted in one spelling.
func FuzzAnswer(f *testing.F) {
	l := grown(12)
	w := newLiar(f)
	line, whole := cosign(l.Request(0, 9), w.signer)
	f.Add(line)
	f.Add(whole)
	f.Add(append(append([]byte("— other.example/w2 AAAAAAAA\n"), line...), line...))
	f.Add(append([]byte("\n"), line...))
	f.Add([]byte("12\n"))
	f.Add([]byte("012\n"))
	a := clientOf(f, newDisk(f), l, w.vkey, w)
	given, err := a.opened("it", l.Checkpoint(9), nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, answer []byte) {
		if n, err := parseStands(reply{409, size409, answer}); err == nil && string(answer) != fmt.Sprintf("%d\n", n) {
			t.Fatalf("%q is read as %d", answer, n)
		}
		cosigned, err := a.cosignature(answer, given)
		if err != nil {
			return
		}
		h, err := a.opened("it", cosigned, a.key)
		if err != nil || h.text != given.text || len(h.sigs) != 2 {
			t.Fatalf("%q gives %q: %v", answer, cosigned, err)
		}
	})
}

// FuzzNote: what is believed of a file is one of the checkpoints that the log signed.
func FuzzNote(f *testing.F) {
	l := grown(12)
	texts := map[string]bool{}
	add := func(log *witnesstest.Log, size int64, extension ...string) {
		msg := log.Checkpoint(size, extension...)
		f.Add(msg)
		if log == l {
			n, err := note.Open(msg, note.VerifierList(l.Verifier()))
			if err != nil {
				f.Fatal(err)
			}
			texts[n.Text] = true
		}
	}
	impostor := witnesstest.New(origin)
	impostor.Grow(3, "leaf")
	add(l, 5)
	add(l, 12, "chain 00", "state 11")
	add(impostor, 3)
	f.Add([]byte("o\n1152921504606846977\n" + strings.Repeat("A", 43) + "=\n\n— o AAAAAAAA\n"))
	b := mustFile(f, newDisk(f), l).base
	f.Fuzz(func(t *testing.T, msg []byte) {
		_, h, err := unsigned(msg)
		if err == nil && !strings.Contains(h.text, fmt.Sprintf("\n%d\n%v\n", h.size, h.root)) {
			t.Fatalf("%q is read as %v", msg, h)
		}
		if h, err := b.opened("it", msg, nil); err == nil && !texts[h.text] {
			t.Fatalf("the log did not sign %q", h.text)
		}
	})
}
