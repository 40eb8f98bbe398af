package anchor

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/transparency-dev/formats/log"
	cosignature "github.com/transparency-dev/formats/note"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

const (
	// maxNote bounds a checkpoint with its signatures.
	maxNote = 64 << 10
	// maxSize bounds the size of a log. Above 2^62 package tlog looks for a power of two for ever.
	maxSize = 1 << 60
	// skew is how far a cosignature's time may be from the clock here.
	skew = 10 * time.Minute
)

// head is a checkpoint whose signatures were checked. The zero value stands for none.
type head struct {
	size int64
	root tlog.Hash
	text string
	sigs []note.Signature // the ones that were checked
	note []byte           // as it was read
	time time.Time        // of the cosignature, if one was asked for
}

// parse reads the text of a checkpoint: origin, size and root, each in its one spelling, then extension lines.
func parse(text string) (origin string, h head, err error) {
	var c log.Checkpoint
	rest, err := c.Unmarshal([]byte(text))
	switch {
	case err != nil:
		err = errors.New("it has no origin, size and root on a line each")
	case len(c.Hash) != tlog.HashSize:
		err = fmt.Errorf("the root has %d bytes, not %d", len(c.Hash), tlog.HashSize)
	case !strings.HasPrefix(text, string(c.Marshal())):
		err = errors.New("the size or root is not in its one spelling")
	case c.Size > maxSize:
		err = errors.New("the size is larger than 2^60")
	case bytes.HasPrefix(rest, []byte("\n")) || bytes.Contains(rest, []byte("\n\n")):
		err = errors.New("an extension line is empty")
	}
	if err != nil {
		return "", head{}, err
	}
	return c.Origin, head{size: int64(c.Size), root: tlog.Hash(c.Hash), text: text}, nil
}

// unsigned reads a note without looking at who signed it.
func unsigned(msg []byte) (origin string, h head, err error) {
	if len(msg) > maxNote {
		return "", head{}, fmt.Errorf("it has more than %d bytes", maxNote)
	}
	_, err = note.Open(msg, nil)
	var unverified *note.UnverifiedNoteError
	if !errors.As(err, &unverified) {
		return "", head{}, errors.New("it is not a signed note")
	}
	return parse(unverified.Note.Text)
}

// opened reads a checkpoint of the log and checks the log's signature and, unless cosigner is nil, the witness's. what says for
// an error which one it is.
func (b *base) opened(what string, msg []byte, cosigner note.Verifier) (head, error) {
	origin, h, err := unsigned(msg)
	if err != nil {
		return head{}, b.fail(Invalid, err, "%s is not a checkpoint: %v", what, err)
	}
	if origin != b.log.Origin {
		return head{}, b.fail(OtherLog, nil, "%s is of the log %.100q; use another place for each log", what, origin)
	}
	n, err := note.Open(msg, b.log.Keys)
	if err != nil {
		return head{}, b.fail(BadSignature, err, "%s is not signed by a key of this log: %v", what, err)
	}
	h.note, h.sigs = bytes.Clone(msg), n.Sigs
	if cosigner == nil {
		return h, nil
	}
	sig, at, err := b.cosigned(what, msg, cosigner)
	h.sigs, h.time = append(h.sigs, sig), at
	return h, err
}

// cosigned checks a witness's signature over a note, and that its time is not in the future.
func (b *base) cosigned(what string, msg []byte, cosigner note.Verifier) (note.Signature, time.Time, error) {
	n, err := note.Open(msg, note.VerifierList(cosigner))
	if err != nil {
		return note.Signature{}, time.Time{}, b.fail(BadSignature, err, "%s is not cosigned by %s: %v", what, cosigner.Name(), err)
	}
	at, err := cosignature.CoSigV1Timestamp(n.Sigs[0])
	if err != nil || at.Unix() <= 0 || at.After(time.Now().Add(skew)) {
		return note.Signature{}, time.Time{}, b.fail(BadTime, err, "%s is cosigned at %s, which is in the future or before 1970; set the clock, or ask the operator of the witness to", what, at.UTC().Format(time.RFC3339))
	}
	return n.Sigs[0], at, nil
}
