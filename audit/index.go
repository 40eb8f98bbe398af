package audit

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/iff-run/iff/record"
)

// The index is kept beside the log so that proofs need not read all of it: for
// each 256 records the node of the tree over them and where their first line
// begins. It is not trusted: what is proved with it is checked against a signed
// root, and where that fails the index is made anew from the lines.

// indexName is what the index is kept under in a store.
const indexName = "index"

// indexEntry stands for one block of records.
type indexEntry struct {
	node record.Hash
	at   Position
}

const (
	entryBytes = 32 + 8 + 8
	// maxIndex bounds what is read: 5 billion records.
	maxIndex = 1 << 30
)

func appendEntry(dst []byte, e indexEntry) []byte {
	dst = append(dst, e.node[:]...)
	dst = binary.BigEndian.AppendUint64(dst, uint64(e.at.Segment))
	return binary.BigEndian.AppendUint64(dst, uint64(e.at.Offset))
}

func parseIndex(data []byte) []indexEntry {
	out := make([]indexEntry, 0, len(data)/entryBytes)
	for ; len(data) >= entryBytes; data = data[entryBytes:] {
		e := indexEntry{at: Position{int64(binary.BigEndian.Uint64(data[32:])), int64(binary.BigEndian.Uint64(data[40:]))}}
		copy(e.node[:], data)
		out = append(out, e)
	}
	return out
}

// errIndex says that the index is not of the lines.
var errIndex = errors.New("the index is not of these lines")

// maxLeaves bounds the blocks whose leaf hashes are remembered.
const maxLeaves = 64

// nodes gives the stored hashes of a tree as package tlog asks for them: from
// the index above blockLevel, from the lines below.
type nodes struct {
	ctx    context.Context // of the present question; tlog's interface takes none
	store  Store
	blocks []indexEntry // of whole blocks
	tail   Position     // where the lines behind them begin
	levels [][]record.Hash
	leaves map[int64][]record.Hash // leaf hashes of the blocks that were read
}

func newNodes(store Store, blocks []indexEntry, tail Position) *nodes {
	n := &nodes{store: store, blocks: blocks, tail: tail, leaves: make(map[int64][]record.Hash)}
	level := make([]record.Hash, len(blocks))
	for i, b := range blocks {
		level[i] = b.node
	}
	for len(level) > 0 {
		n.levels = append(n.levels, level)
		above := make([]record.Hash, len(level)/2)
		for i := range above {
			above[i] = node(level[2*i], level[2*i+1])
		}
		level = above
	}
	return n
}

// of says whether the nodes are those of a tree, its last, incomplete block
// too.
func (n *nodes) of(t *tree) bool {
	at := int64(0)
	for i, level := 0, 62; level >= 0; level-- {
		if t.size>>level&1 == 0 {
			continue
		}
		h, err := n.hash(level, at>>level)
		if err != nil || h != t.edge[i] {
			return false
		}
		at += 1 << level
		i++
	}
	return true
}

// ReadHashes implements tlog.HashReader.
func (n *nodes) ReadHashes(indexes []int64) ([]tlog.Hash, error) {
	out := make([]tlog.Hash, len(indexes))
	for i, x := range indexes {
		level, at := tlog.SplitStoredHashIndex(x)
		h, err := n.hash(level, at)
		if err != nil {
			return nil, err
		}
		out[i] = tlog.Hash(h)
	}
	return out, nil
}

func (n *nodes) hash(level int, at int64) (record.Hash, error) {
	if level >= blockLevel {
		if l := level - blockLevel; l < len(n.levels) && at < int64(len(n.levels[l])) {
			return n.levels[l][at], nil
		}
		return record.Hash{}, fmt.Errorf("node %d of level %d: %w", at, level, errIndex)
	}
	block := at << level / blockSize
	leaves, err := n.block(block)
	if err != nil {
		return record.Hash{}, err
	}
	from := at<<level - block*blockSize
	if from+1<<level > int64(len(leaves)) {
		return record.Hash{}, fmt.Errorf("record %d: %w", block*blockSize+int64(len(leaves)), errIndex)
	}
	var t tree
	for _, l := range leaves[from : from+1<<level] {
		t.push(0, l)
	}
	return t.root(), nil
}

// start is where the lines of a block begin.
func (n *nodes) start(block int64) (Position, error) {
	switch {
	case block < int64(len(n.blocks)):
		return n.blocks[block].at, nil
	case block == int64(len(n.blocks)):
		return n.tail, nil
	}
	return Position{}, fmt.Errorf("block %d: %w", block, errIndex)
}

// block reads the leaf hashes of one block.
func (n *nodes) block(block int64) ([]record.Hash, error) {
	if leaves, ok := n.leaves[block]; ok {
		return leaves, nil
	}
	from, err := n.start(block)
	if err != nil {
		return nil, err
	}
	var leaves []record.Hash
	var whole tree
	for l, err := range linesFrom(n.ctx, n.store, from) {
		if err != nil {
			return nil, fmt.Errorf("block %d: %w: %w", block, errIndex, err)
		}
		leaves = append(leaves, record.Leaf(l.data))
		whole.push(0, leaves[len(leaves)-1])
		if len(leaves) == blockSize {
			break
		}
	}
	if block < int64(len(n.blocks)) && whole.root() != n.blocks[block].node {
		return nil, fmt.Errorf("block %d: %w", block, errIndex)
	}
	if len(n.leaves) == maxLeaves {
		clear(n.leaves)
	}
	n.leaves[block] = leaves
	return leaves, nil
}
