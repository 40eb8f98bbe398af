package witness

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/transparency-dev/formats/log"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

// maxSize bounds the size of a log. Above 2^62 package tlog looks for a power of two for ever.
const maxSize = 1 << 60

// head is what a checkpoint says of a log.
type head struct {
	origin string
	size   int64
	root   tlog.Hash
}

// parseNote reads a signed note that is a checkpoint, without looking at who signed it.
func parseNote(msg []byte) (head, error) {
	_, err := note.Open(msg, nil)
	var unverified *note.UnverifiedNoteError
	if !errors.As(err, &unverified) {
		return head{}, errors.New("what follows the empty line is not a signed note")
	}
	return parseText(unverified.Note.Text)
}

// parseText reads the text of a note: origin, size and root, each in its one spelling, then extension lines.
func parseText(text string) (head, error) {
	var c log.Checkpoint
	rest, err := c.Unmarshal([]byte(text))
	if err != nil {
		return head{}, errors.New("the note is not a checkpoint: an origin, a size and a root, each on its line")
	}
	switch {
	case len(c.Hash) != tlog.HashSize:
		return head{}, fmt.Errorf("the root of the checkpoint has %d bytes, not %d", len(c.Hash), tlog.HashSize)
	case !strings.HasPrefix(text, string(c.Marshal())):
		return head{}, errors.New("the size or root of the checkpoint is not in its one spelling")
	case c.Size > maxSize:
		return head{}, errors.New("the size of the checkpoint is larger than 2^60")
	case bytes.HasPrefix(rest, []byte("\n")) || bytes.Contains(rest, []byte("\n\n")):
		return head{}, errors.New("an extension line of the checkpoint is empty")
	}
	return head{c.Origin, int64(c.Size), tlog.Hash(c.Hash)}, nil
}

// none is the head of a log of which nothing was seen: the empty tree.
func none(origin string) head { return head{origin: origin, root: tlog.Hash(sha256.Sum256(nil))} }

// nameOf is the name that a log has in files and addresses.
func nameOf(origin string) string {
	sum := sha256.Sum256([]byte(origin))
	return hex.EncodeToString(sum[:])
}
