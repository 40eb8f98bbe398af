package audit

import (
	"fmt"

	"github.com/transparency-dev/formats/proof"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/iff-run/iff/record"
)

// Receipt proves that one record is in a log: whoever keeps it can show later
// that the log had it, even if the log has not. Its text is a C2SP tlog-proof
// (c2sp.org/tlog-proof) whose extra data are the leaf hash.
type Receipt struct {
	Seq   int64
	Leaf  record.Hash // SHA-256(0x00 || line)
	Proof tlog.RecordProof
	Note  []byte // signed checkpoint
}

// maxReceipt bounds the text of a receipt, in bytes.
const maxReceipt = maxNote + 8<<10

// Marshal is the text of a receipt.
func (r Receipt) Marshal() []byte {
	p := proof.TLogProof{Index: uint64(r.Seq), Checkpoint: r.Note, ExtraData: r.Leaf[:]}
	for _, h := range r.Proof {
		p.Hashes = append(p.Hashes, h)
	}
	return p.Marshal()
}

// ParseReceipt reads the text of a receipt and refuses any other spelling,
// reason proof-invalid. It proves nothing before it is checked.
func ParseReceipt(data []byte) (Receipt, error) {
	invalid := func(why string, err error) (Receipt, error) {
		return Receipt{}, &Error{Reason: ProofInvalid, Detail: why, Err: err}
	}
	if len(data) > maxReceipt {
		return invalid(fmt.Sprintf("a receipt has at most %d bytes", maxReceipt), nil)
	}
	var p proof.TLogProof
	if err := p.Unmarshal(data); err != nil {
		return invalid("it is not a tlog-proof", err)
	}
	if len(p.ExtraData) != len(record.Hash{}) || p.Index > 1<<53 || len(p.Hashes) > 63 {
		return invalid("it names no leaf, or a record that no log has", nil)
	}
	r := Receipt{Seq: int64(p.Index), Leaf: record.Hash(p.ExtraData), Note: p.Checkpoint}
	for _, h := range p.Hashes {
		r.Proof = append(r.Proof, h)
	}
	if string(r.Marshal()) != string(data) {
		return invalid("it is not in its one spelling", nil)
	}
	return r, nil
}

// Check checks a receipt against the keys of the log that it is to be of, and
// gives the checkpoint. The error is an *Error: note-signature, note-invalid or
// proof-invalid.
func (r Receipt) Check(verifiers ...note.Verifier) (Checkpoint, error) {
	c, err := OpenCheckpoint(r.Note, verifiers...)
	if err != nil {
		return c, err
	}
	if err := tlog.CheckRecord(r.Proof, c.Size, tlog.Hash(c.Root), r.Seq, tlog.Hash(r.Leaf)); err != nil {
		return c, &Error{Reason: ProofInvalid, Detail: fmt.Sprintf("record %d is not in the log of %d records that the checkpoint is of", r.Seq, c.Size), Err: err}
	}
	return c, nil
}
