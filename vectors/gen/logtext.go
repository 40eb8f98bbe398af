package main

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"github.com/iff-run/iff/internal/trusttest"
	"github.com/iff-run/iff/record"
	"github.com/iff-run/iff/trust"
)

const logOrigin = "iff/log/0123456789abcdef01234567"

// logText is a log that is made by hand, for what package audit would not
// write.
type logText struct {
	lines  []string
	leaves []record.Hash
	state  record.State
	batch  int64
	key    trusttest.Key
	signed int // records under the newest checkpoint
}

func newLogBody() record.Init {
	return record.Init{
		LogKey: trusttest.NewKey(trusttest.LogKey).Public().String(), Operator: "me", Origin: logOrigin, Profile: "dev",
		Root: rootKey().Public().Fingerprint(), Scheme: "default", TrustDigest: strings.Repeat("d", 64),
	}
}

func newLog() *logText {
	l := &logText{key: trusttest.NewKey(trusttest.LogKey)}
	l.add(record.Of(newLogBody()))
	return l
}

// add appends a batch.
func (l *logText) add(entries ...record.Entry) {
	l.batch = int64(len(l.lines))
	for _, e := range entries {
		r := l.next(e.Body)
		r.Batch, r.Session, r.Request = l.batch, e.Session, e.Request
		l.put(r)
	}
}

// next is a record in its place, a batch of its own.
func (l *logText) next(b record.Body) record.Record {
	n := int64(len(l.lines))
	r := record.Record{Seq: n, Batch: n, Time: trusttest.Now, Body: b}
	if n > 0 {
		r.Prev = l.leaves[n-1]
	}
	return r
}

// put appends a record as it is.
func (l *logText) put(r record.Record) {
	line := must(r.Line())
	l.lines, l.leaves = append(l.lines, string(line)), append(l.leaves, record.Leaf(line))
	l.state.Apply(must(record.ParseLine(string(line)))) // what a reader sees
}

func (l *logText) bytes() []byte { return []byte(strings.Join(l.lines, "\n") + "\n") }

// anchor is what somebody outside has seen of the log at a size.
func (l *logText) anchor(size int) string {
	root := treeRoot(l.leaves[:size])
	return fmt.Sprintf("%d %s", size, base64Of(root[:]))
}

// noteText is a checkpoint before it is signed.
type noteText struct {
	lines []string
	key   trusttest.Key
}

func (l *logText) note() noteText {
	root := treeRoot(l.leaves)
	return noteText{key: l.key, lines: []string{
		logOrigin, fmt.Sprint(len(l.leaves)), base64Of(root[:]), "chain " + l.leaves[len(l.leaves)-1].String(), "state " + l.state.Digest().String(),
	}}
}

// signed is the note of docs/log-format.md, section 7.
func (n noteText) signed() string {
	text := strings.Join(n.lines, "\n") + "\n"
	id := sha256.Sum256(append([]byte(logOrigin+"\n\x01"), n.key.Public().Bytes()...))
	sig := must(n.key.SignMessage([]byte(text)))
	return text + "\n— " + logOrigin + " " + base64Of(append(id[:4], sig[:]...)) + "\n"
}

func (l *logText) checkpoint() {
	n := len(l.lines)
	l.add(record.Of(record.Checkpoint{Note: l.note().signed()}))
	l.signed = n
}

// rotation is the change of key of section 9.
func (l *logText) rotation(next trusttest.Key) record.KeyRotated {
	_, old, epoch := l.state.Log()
	b := record.KeyRotated{Epoch: epoch + 1, Old: old, New: next.Public().String()}
	message := fmt.Sprintf("%s\n%d\n%s\n%s\n%s\n", logOrigin, b.Epoch, b.Old, b.New, l.leaves[len(l.leaves)-1])
	sign := func(k trusttest.Key) string {
		sig := must(k.SignMessage(trust.Message(trust.DomainLogKey, []byte(message))))
		return base64Of(sig[:])
	}
	b.OldSignature, b.NewSignature = sign(l.key), sign(next)
	return b
}

func (l *logText) rotate(next trusttest.Key) {
	l.add(record.Of(l.rotation(next)))
	l.key = next
}

// receipt proves a record under the checkpoint of a size, which key signed.
func (l *logText) receipt(index, size int, key trusttest.Key) string {
	part := &logText{leaves: l.leaves[:size], key: key}
	for _, line := range l.lines[:size] {
		part.state.Apply(must(record.ParseLine(line)))
	}
	out := fmt.Sprintf("c2sp.org/tlog-proof@v1\nextra %s\nindex %d\n", base64Of(l.leaves[index][:]), index)
	for _, h := range pathOf(index, part.leaves) {
		out += base64Of(h[:]) + "\n"
	}
	return out + "\n" + part.note().signed()
}

// split is the number of leaves left of the top of a tree, RFC 6962 section 2.1.
func split(n int) int {
	k := 1
	for 2*k < n {
		k *= 2
	}
	return k
}

func treeRoot(leaves []record.Hash) record.Hash {
	if len(leaves) == 1 {
		return leaves[0]
	}
	k := split(len(leaves))
	left, right := treeRoot(leaves[:k]), treeRoot(leaves[k:])
	return sha256.Sum256(slices.Concat([]byte{1}, left[:], right[:]))
}

// pathOf is the inclusion proof of RFC 6962 section 2.1.1.
func pathOf(index int, leaves []record.Hash) []record.Hash {
	if len(leaves) == 1 {
		return nil
	}
	if k := split(len(leaves)); index < k {
		return append(pathOf(index, leaves[:k]), treeRoot(leaves[k:]))
	} else {
		return append(pathOf(index-k, leaves[k:]), treeRoot(leaves[:k]))
	}
}
