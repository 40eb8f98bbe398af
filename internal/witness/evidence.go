package witness

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"golang.org/x/mod/sumdb/note"

	"github.com/iff-run/iff/internal/durable"
)

// maxEvidence is how many contradicting checkpoints of one kind are kept of one log.
const maxEvidence = 16

const (
	shortName = 16 // hex digits
	givenEnd  = ".given"
	heldEnd   = ".held"
)

// evidencePrefix begins the names of what is kept of one log for one outcome.
func evidencePrefix(origin string, o Outcome) string {
	return nameOf(origin)[:shortName] + "-" + string(o) + "-"
}

// countEvidence counts what is there.
func (w *Witness) countEvidence() error {
	dir := w.path("evidence")
	names, err := w.fsys.List(dir)
	if err != nil {
		return unreadable(dir, err)
	}
	for origin, l := range w.logs {
		for _, o := range []Outcome{Forked, Unproven} {
			for _, name := range names {
				if strings.HasPrefix(name, evidencePrefix(origin, o)) && strings.HasSuffix(name, givenEnd) {
					l.evidence[o]++
				}
			}
		}
	}
	return nil
}

// keepEvidence keeps a checkpoint that contradicts the newest cosigned one, and that one, and gives the path of the first. The
// lock is held.
func (w *Witness) keepEvidence(l *logState, o Outcome, signed *note.Note) (string, error) {
	given, err := note.Sign(signed) // only the signatures that were verified
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(given)
	base := w.path("evidence", evidencePrefix(l.held.origin, o)+hex.EncodeToString(sum[:])[:shortName])
	if f, err := w.fsys.Open(base + givenEnd); err == nil {
		return base + givenEnd, f.Close()
	}
	if l.evidence[o] >= maxEvidence {
		return "", fmt.Errorf("%d checkpoints that contradict this log are kept already; move them away from %q and look at them", maxEvidence, w.path("evidence"))
	}
	if l.note != nil {
		if err := w.watch(durable.WriteFile(w.fsys, base+heldEnd, l.note, 0o600)); err != nil {
			return "", err
		}
	}
	if err := w.watch(durable.WriteFile(w.fsys, base+givenEnd, given, 0o600)); err != nil {
		return "", err
	}
	l.evidence[o]++
	return base + givenEnd, nil
}
