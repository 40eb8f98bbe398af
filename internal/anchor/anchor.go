package anchor

import (
	"context"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/iff-run/iff/internal/durable"
	"github.com/iff-run/iff/internal/visible"
)

// Anchor is a place outside the log that remembers checkpoints. Errors are *[Error]. It may be used by several goroutines.
type Anchor interface {
	// Name is for people and records, such as "file /mnt/x/iff.checkpoint" or "witness.example/w1".
	Name() string
	// Put gives it a newer checkpoint, a signed note. nil means that the anchor holds it, durably.
	Put(ctx context.Context, checkpoint []byte, extend Extend) error
	// Newest is the newest checkpoint that it vouches for; false if it has none yet.
	Newest(ctx context.Context) (Vouched, bool, error)
}

// Extend proves that the log of size old is a prefix of the one whose checkpoint goes with it: the consistency proof of RFC 6962
// section 2.1.2. It is asked only for sizes above 0 and below that of the checkpoint, and only if the anchor needs it.
type Extend func(ctx context.Context, old int64) ([]tlog.Hash, error)

// Vouched is a checkpoint that an anchor holds, its signatures checked.
type Vouched struct {
	By     string // the name of the anchor
	Note   []byte // the signed note, with the cosignature if the anchor is a witness
	Origin string
	Size   int64
	Root   tlog.Hash
	Time   time.Time // of the cosignature; zero if there is none
	// Offline is nil if the anchor itself answered just now. Otherwise it says why it did not, and the checkpoint is from the
	// copy that the home keeps; who can write to the home can set that back.
	Offline error
}

// Log is the log whose checkpoints are anchored.
type Log struct {
	Origin string
	// Keys knows the log's keys, those before a rotation too, and no others. It is asked each time, so it may learn new ones.
	Keys note.Verifiers
}

// Spec is an anchor as the configuration has it. The zero value is refused.
type Spec struct {
	// Place is an absolute path, or the http or https address below which a witness has add-checkpoint.
	Place string
	// Key is the verifier key of the witness (tlog-cosignature, Ed25519: type 4, or type 1 for one that is published so); empty for
	// a file.
	Key string
}

// Options are what anchors need beside their Spec.
type Options struct {
	// FS is the file system. nil is refused.
	FS durable.FS
	// Dir is where copies of what the anchors hold are kept. Put makes it (mode 0700) if it is not there; its parent must exist.
	Dir string
}

// Open makes an anchor from its configuration. It asks and writes nothing yet. An error has the reason anchor-place.
func Open(spec Spec, log Log, opts Options) (Anchor, error) {
	if log.Origin == "" || log.Keys == nil || opts.FS == nil || opts.Dir == "" {
		return nil, &Error{Reason: PlaceInvalid, Anchor: spec.Place, Detail: "the log, file system or directory of copies is not given"}
	}
	b := &base{log: log, fsys: opts.FS, copy: filepath.Join(opts.Dir, copyName(spec))}
	if strings.HasPrefix(spec.Place, "https://") || strings.HasPrefix(spec.Place, "http://") {
		return openWitness(spec, b)
	}
	return openFile(spec, b)
}

func openFile(spec Spec, b *base) (Anchor, error) {
	b.name = "file " + visible.Escape(spec.Place)
	switch {
	case !filepath.IsAbs(spec.Place) || filepath.Clean(spec.Place) != spec.Place:
		return nil, b.fail(PlaceInvalid, nil, "the place is neither an absolute path nor an address; write it so: /mnt/disk/iff.checkpoint or https://witness.example")
	case spec.Key != "":
		return nil, b.fail(PlaceInvalid, nil, "a file has no key; leave the key out, or give the address of the witness")
	}
	return &fileAnchor{base: b, path: spec.Place}, nil
}
