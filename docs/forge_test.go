package docs_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/iff-run/iff/internal/trusttest"
	"github.com/iff-run/iff/record"
)

// forged is a log in the hands of somebody who can hash, and who may have keys.
type forged struct {
	*testing.T
	records []record.Record
	starts  []int // the first record of each segment
}

func forge(t *testing.T, s segments) *forged {
	t.Helper()
	f := &forged{T: t}
	for _, name := range s.names() {
		part := segments{name: s[name]}.lines()
		if len(part) > 0 {
			f.starts = append(f.starts, len(f.records))
		}
		for _, line := range part {
			r, err := record.ParseLine(line)
			must(t, err)
			f.records = append(f.records, r)
		}
	}
	return f
}

// segments writes the records down as they are, in segments of their true
// names.
func (f *forged) segments() segments {
	out := segments{}
	for i, start := range f.starts {
		end := len(f.records)
		if i+1 < len(f.starts) {
			end = f.starts[i+1]
		}
		var data []byte
		for j := start; j < end; j++ {
			data = append(append(data, f.line(j)...), '\n')
		}
		out[name(start)] = data
	}
	return out
}

func (f *forged) line(i int) []byte {
	f.Helper()
	line, err := f.records[i].Line()
	must(f.T, err)
	return line
}

// signer makes the signature lines of a note's text; was is the note that
// stood there.
type signer func(text, was string) string

// signed signs with keys, of which the first is in use until a change.
func signed(key byte) signer {
	return func(text, _ string) string { return sign(text, trusttest.NewKey(key)) }
}

// kept keeps the signature that there was.
func kept(_, was string) string { return was[strings.LastIndex(was, "\n\n")+2:] }

// rechain makes the records hold together again, from one on: numbers, batches
// and hashes; and the checkpoints too if sign is not nil.
func (f *forged) rechain(from int, sign signer) {
	f.Helper()
	var state record.State
	var leaves []record.Hash
	for i := range f.records {
		r := &f.records[i]
		if i >= from {
			f.place(r, i, leaves)
			if c, ok := r.Body.(record.Checkpoint); ok && sign != nil {
				own, _, _ := state.Log()
				text := noteText(own, leaves, state.Digest())
				r.Body = record.Checkpoint{Note: text + "\n" + sign(text, c.Note)}
			}
		}
		leaves = append(leaves, record.Leaf(f.line(i)))
		state.Apply(*r)
	}
}

func (f *forged) place(r *record.Record, i int, leaves []record.Hash) {
	r.Seq, r.Batch, r.Prev = int64(i), int64(i), record.Hash{}
	if i > 0 {
		r.Prev = leaves[i-1]
	}
}

// cut forgets the records from one on.
func (f *forged) cut(from int) {
	f.records = f.records[:from]
	f.starts = slices.DeleteFunc(f.starts, func(start int) bool { return start >= from })
}

// find is the number of the nth record of a kind, the last one if n is
// negative.
func (f *forged) find(kind record.Kind, n int) int {
	f.Helper()
	var at []int
	for i, r := range f.records {
		if r.Body.Kind() == kind {
			at = append(at, i)
		}
	}
	if n < 0 {
		n += len(at)
	}
	return at[n]
}

// note is the text of a checkpoint, section 8 of log-format.md.
func noteText(origin string, leaves []record.Hash, state record.Hash) string {
	root := rootOf(leaves)
	return fmt.Sprintf("%s\n%d\n%s\nchain %s\nstate %s\n", origin, len(leaves), base64Of(root[:]), leaves[len(leaves)-1], state)
}

// sign is the signature line of a note's text: C2SP signed-note.
func sign(text string, key trusttest.Key) string {
	name, _, _ := strings.Cut(text, "\n")
	id := sha256.Sum256(append([]byte(name+"\n\x01"), key.Public().Bytes()...))
	sig, err := key.SignMessage([]byte(text))
	if err != nil {
		panic(err)
	}
	return "— " + name + " " + base64Of(append(id[:4], sig[:]...)) + "\n"
}

// rootOf is the definition of RFC 6962 section 2.1, over leaf hashes.
func rootOf(leaves []record.Hash) record.Hash {
	switch len(leaves) {
	case 0:
		return sha256.Sum256(nil)
	case 1:
		return leaves[0]
	}
	k := 1
	for 2*k < len(leaves) {
		k *= 2
	}
	left, right := rootOf(leaves[:k]), rootOf(leaves[k:])
	return sha256.Sum256(slices.Concat([]byte{1}, left[:], right[:]))
}

func leavesOf(lines []string) []record.Hash {
	var out []record.Hash
	for _, l := range lines {
		out = append(out, sha256.Sum256([]byte("\x00"+l)))
	}
	return out
}

// replaceOne replaces what stands exactly once.
func replaceOne(t testing.TB, data []byte, old, text string) []byte {
	t.Helper()
	if bytes.Count(data, []byte(old)) != 1 {
		t.Fatalf("%q stands %d times", old, bytes.Count(data, []byte(old)))
	}
	return bytes.Replace(data, []byte(old), []byte(text), 1)
}

func base64Of(b []byte) string { return base64.StdEncoding.EncodeToString(b) }

func fromBase64(text string) []byte {
	b, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		panic(err)
	}
	return b
}
