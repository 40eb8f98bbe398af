// Package witnesstest has logs in memory for tests of whatever cosigns, anchors or checks checkpoints: they grow, sign, prove, and
// fork, which real ones must not.
package witnesstest

import (
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

// Log is a log in memory. Make one with [New]. Reading is safe from several goroutines, growing is not.
type Log struct {
	origin, skey, vkey string
	hashes             []tlog.Hash // as tlog stores them
	size               int64
}

// New is an empty log with a new key.
func New(origin string) *Log {
	skey, vkey, err := note.GenerateKey(rand.Reader, origin)
	must(err)
	return &Log{origin: origin, skey: skey, vkey: vkey}
}

// Origin is the first line of its checkpoints.
func (l *Log) Origin() string { return l.origin }

// VerifierKey is the public key as signed-note has it.
func (l *Log) VerifierKey() string { return l.vkey }

// Verifier checks its signatures.
func (l *Log) Verifier() note.Verifier {
	v, err := note.NewVerifier(l.vkey)
	must(err)
	return v
}

// Size is the number of leaves.
func (l *Log) Size() int64 { return l.size }

// Grow adds leaves until there are size. Logs with the same leaves in the same places are given by the same words.
func (l *Log) Grow(size int64, word string) {
	for l.size < size {
		more, err := tlog.StoredHashes(l.size, fmt.Appendf(nil, "%s %d", word, l.size), l)
		must(err)
		l.hashes = append(l.hashes, more...)
		l.size++
	}
}

// Fork is a log with the same key and the first leaves of l, to grow otherwise.
func (l *Log) Fork(at int64) *Log {
	f := *l
	f.size, f.hashes = at, slices.Clone(l.hashes[:tlog.StoredHashCount(at)])
	return &f
}

// Rotate gives the log another key from now on and returns the key before.
func (l *Log) Rotate() (before string) {
	before = l.vkey
	var err error
	l.skey, l.vkey, err = note.GenerateKey(rand.Reader, l.origin)
	must(err)
	return before
}

// ReadHashes is that of tlog.HashReader.
func (l *Log) ReadHashes(indexes []int64) ([]tlog.Hash, error) {
	out := make([]tlog.Hash, len(indexes))
	for i, at := range indexes {
		out[i] = l.hashes[at]
	}
	return out, nil
}

// Root is that of the tree of the first leaves.
func (l *Log) Root(size int64) tlog.Hash {
	h, err := tlog.TreeHash(size, l)
	must(err)
	return h
}

// Prove gives the consistency proof, nothing from size 0.
func (l *Log) Prove(old, size int64) []tlog.Hash {
	if old == 0 {
		return nil
	}
	p, err := tlog.ProveTree(size, old, l)
	must(err)
	return p
}

// Checkpoint is a signed checkpoint over the first leaves, with extension lines, if any, each without its newline.
func (l *Log) Checkpoint(size int64, extension ...string) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%d\n%v\n", l.origin, size, l.Root(size))
	for _, line := range extension {
		b.WriteString(line + "\n")
	}
	return l.Sign(b.String())
}

// Sign signs any text.
func (l *Log) Sign(text string) []byte {
	s, err := note.NewSigner(l.skey)
	must(err)
	msg, err := note.Sign(&note.Note{Text: text}, s)
	must(err)
	return msg
}

// Request is the body of an add-checkpoint request for the first leaves, with the right proof.
func (l *Log) Request(old, size int64) []byte {
	return Request(old, l.Prove(old, size), l.Checkpoint(size))
}

// Request is the body of an add-checkpoint request.
func Request(old int64, proof []tlog.Hash, checkpoint []byte) []byte {
	b := fmt.Appendf(nil, "old %d\n", old)
	for _, h := range proof {
		b = append(base64.StdEncoding.AppendEncode(b, h[:]), '\n')
	}
	return append(append(b, '\n'), checkpoint...)
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
