package audit

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strings"

	tlogformat "github.com/transparency-dev/formats/log"
	"golang.org/x/mod/sumdb/note"

	"github.com/iff-run/iff/record"
	"github.com/iff-run/iff/trust"
)

// Checkpoint is what a log commits to at one size: the tree's root, the end of
// the chain and the folded state. Its note is a C2SP checkpoint
// (c2sp.org/tlog-checkpoint) with two extension lines, "chain" and "state".
type Checkpoint struct {
	Origin string
	Size   int64 // records; at least 1
	Root   record.Hash
	Chain  record.Hash // leaf of record Size-1
	State  record.Hash // digest of the state folded from all records before
}

// maxNote bounds a note with its signatures, in bytes.
const maxNote = 16 << 10

func (c Checkpoint) text() string {
	head := tlogformat.Checkpoint{Origin: c.Origin, Size: uint64(c.Size), Hash: c.Root[:]}.Marshal()
	return string(head) + "chain " + c.Chain.String() + "\nstate " + c.State.String() + "\n"
}

// parseCheckpoint reads the text of a note and refuses any other spelling.
func parseCheckpoint(text string) (Checkpoint, error) {
	var t tlogformat.Checkpoint
	var c Checkpoint
	rest, err := t.Unmarshal([]byte(text))
	if err != nil {
		return c, fmt.Errorf("%s: %w", NoteInvalid, err)
	}
	lines := strings.SplitN(string(rest), "\n", 3)
	if len(lines) != 3 || !unhex(&c.Chain, lines[0], "chain ") || !unhex(&c.State, lines[1], "state ") || t.Size > 1<<53 || len(t.Hash) != len(c.Root) {
		return c, fmt.Errorf("%s: it has no chain and state", NoteInvalid)
	}
	c.Origin, c.Size, c.Root = t.Origin, int64(t.Size), record.Hash(t.Hash)
	if c.text() != text || c.Size < 1 {
		return c, fmt.Errorf("%s: not in its one spelling", NoteInvalid)
	}
	return c, nil
}

func unhex(h *record.Hash, line, prefix string) bool {
	text, ok := strings.CutPrefix(line, prefix)
	n, err := hex.Decode(h[:], []byte(text[:min(len(text), 2*len(h))]))
	return ok && err == nil && n == len(h) && len(text) == 2*len(h)
}

// noteSigner signs notes with a log's key.
type noteSigner struct {
	note.Verifier
	key trust.Signer
}

func (s noteSigner) Sign(msg []byte) ([]byte, error) {
	sig, err := s.key.SignMessage(msg)
	return sig[:], err
}

// Verifier checks notes of the log origin that key signed.
func Verifier(origin string, key trust.PublicKey) (note.Verifier, error) {
	text, err := VerifierKey(origin, key)
	if err != nil {
		return nil, err
	}
	return note.NewVerifier(text)
}

// VerifierKey is a log's key as C2SP signed-note writes it, for witnesses and
// others who check its checkpoints.
func VerifierKey(origin string, key trust.PublicKey) (string, error) {
	return note.NewEd25519VerifierKey(origin, key.Bytes())
}

// sign makes the note of a checkpoint and checks it, so that a faulty key is
// noticed before anyone keeps the note.
func (c Checkpoint) sign(key trust.Signer) (string, error) {
	v, err := Verifier(c.Origin, key.Public())
	if err != nil {
		return "", fmt.Errorf("sign checkpoint: %w", err)
	}
	out, err := note.Sign(&note.Note{Text: c.text()}, noteSigner{v, key})
	if err != nil {
		return "", fmt.Errorf("sign checkpoint: %w", err)
	}
	if _, err := OpenCheckpoint(out, v); err != nil {
		return "", fmt.Errorf("sign checkpoint: the key made a signature that does not verify: %w", err)
	}
	return string(out), nil
}

// OpenCheckpoint reads a signed note that at least one of the verifiers
// vouches for. The error is an *Error.
func OpenCheckpoint(data []byte, verifiers ...note.Verifier) (Checkpoint, error) {
	if len(data) > maxNote {
		return Checkpoint{}, &Error{Reason: NoteInvalid, Detail: fmt.Sprintf("a checkpoint has at most %d bytes", maxNote)}
	}
	n, err := note.Open(data, note.VerifierList(verifiers...))
	if err != nil {
		return Checkpoint{}, &Error{Reason: NoteSignature, Detail: "the checkpoint is not signed by the log's key", Err: err}
	}
	c, err := parseCheckpoint(n.Text)
	if err != nil {
		return Checkpoint{}, &Error{Reason: NoteInvalid, Detail: "the checkpoint is signed, but is not one of a log of ours", Err: err}
	}
	return c, nil
}

// ParseKey reads a public key as records have it, padded standard base64.
func ParseKey(text string) (trust.PublicKey, error) {
	var k trust.PublicKey
	err := k.UnmarshalText([]byte(text))
	return k, err
}

// rotation is what both keys sign when a log changes its key.
func rotation(origin string, epoch int64, previous, next string, chain record.Hash) []byte {
	return fmt.Appendf(nil, "%s\n%d\n%s\n%s\n%s\n", origin, epoch, previous, next, chain)
}

// checkRotation says whether a rotation record was signed by both keys, at its
// place in the chain.
func checkRotation(origin string, b record.KeyRotated, chain record.Hash) bool {
	message := rotation(origin, b.Epoch, b.Old, b.New, chain)
	return verified(b.Old, b.OldSignature, message) && verified(b.New, b.NewSignature, message)
}

func verified(key, signature string, message []byte) bool {
	k, err := ParseKey(key)
	if err != nil {
		return false
	}
	var sig trust.Signature
	raw, err := base64.StdEncoding.Strict().DecodeString(signature)
	if err != nil || len(raw) != len(sig) {
		return false
	}
	copy(sig[:], raw)
	return trust.Verify(k, trust.DomainLogKey, message, sig)
}
