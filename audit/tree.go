package audit

import (
	"crypto/sha256"
	"slices"

	"github.com/iff-run/iff/record"
)

// blockLevel is the level of the tree whose nodes the index keeps: each stands
// for 256 leaves.
const (
	blockLevel = 8
	blockSize  = 1 << blockLevel
)

// tree is the right edge of an RFC 6962 tree: the roots of its complete
// subtrees, largest first. The zero value is the empty tree.
type tree struct {
	size int64
	edge []record.Hash
}

// node is the RFC 6962 hash of two neighbours.
func node(left, right record.Hash) record.Hash {
	var b [1 + 2*sha256.Size]byte
	b[0] = 1
	copy(b[1:], left[:])
	copy(b[1+sha256.Size:], right[:])
	return sha256.Sum256(b[:])
}

// push appends a complete subtree of 1<<level leaves. The size must be a
// multiple of that. It returns the node of blockLevel that this completed, if
// it did.
func (t *tree) push(level int, h record.Hash) (block record.Hash, done bool) {
	size := t.size + 1<<level
	block, done = h, level == blockLevel
	for n := t.size >> level; n&1 == 1; n >>= 1 {
		last := len(t.edge) - 1
		h = node(t.edge[last], h)
		t.edge = t.edge[:last]
		if level++; level == blockLevel {
			block, done = h, true
		}
	}
	t.edge, t.size = append(t.edge, h), size
	return block, done
}

// root is the root of the whole tree. That of the empty tree is the hash of
// nothing.
func (t *tree) root() record.Hash {
	if len(t.edge) == 0 {
		return sha256.Sum256(nil)
	}
	last := len(t.edge) - 1
	h := t.edge[last]
	for i := last - 1; i >= 0; i-- {
		h = node(t.edge[i], h)
	}
	return h
}

func (t *tree) clone() tree { return tree{size: t.size, edge: slices.Clone(t.edge)} }

// fits says whether the edge has as many nodes as a tree of that size.
func (t *tree) fits() bool {
	n := 0
	for s := t.size; s > 0; s >>= 1 {
		n += int(s & 1)
	}
	return t.size >= 0 && n == len(t.edge)
}

// piece is a complete subtree within a run of leaves.
type piece struct {
	level int
	hash  record.Hash
}

// run hashes leaves that begin anywhere in the tree into as few pieces as their
// place allows, none above blockLevel.
type run struct {
	next   int64 // index of the next leaf
	pieces []piece
}

func (r *run) add(leaf record.Hash) {
	p := piece{hash: leaf}
	for at := r.next; at&1 == 1 && p.level < blockLevel && len(r.pieces) > 0; at >>= 1 {
		last := len(r.pieces) - 1
		if r.pieces[last].level != p.level {
			break
		}
		p = piece{p.level + 1, node(r.pieces[last].hash, p.hash)}
		r.pieces = r.pieces[:last]
	}
	r.pieces = append(r.pieces, p)
	r.next++
}
