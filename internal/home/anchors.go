package home

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/iff-run/iff/audit"
	"github.com/iff-run/iff/internal/anchor"
	"github.com/iff-run/iff/internal/keyfile"
	"github.com/iff-run/iff/internal/store/file"
	"github.com/iff-run/iff/internal/visible"
	"github.com/iff-run/iff/record"
	"github.com/iff-run/iff/trust"
)

const (
	anchorsDir = "anchors" // copies of what the anchors hold

	// anchorGrace is how long closing a home waits for an anchor that does not
	// answer.
	anchorGrace = 2 * time.Second
)

// openAnchors makes the anchors that the configuration names.
func (h *Home) openAnchors() error {
	keys, err := h.knownLogKeys()
	if err != nil {
		return err
	}
	h.logKeys = keys
	for i, a := range h.config.Log.Anchors {
		if h.inHome(a.Place) {
			return configError(fmt.Sprintf("log.anchor %d: %s lies in the home, where whoever cuts the log back can write; name a place elsewhere", i+1, visible.Escape(a.Place)))
		}
		opened, err := anchor.Open(anchor.Spec{Place: a.Place, Key: a.Key}, anchor.Log{Origin: h.config.Log.Origin, Keys: keys},
			anchor.Options{FS: h.fsys, Dir: filepath.Join(h.dir, anchorsDir)})
		if err != nil {
			return configError(fmt.Sprintf("log.anchor %d: %s", i+1, err))
		}
		h.anchors = append(h.anchors, opened)
	}
	return nil
}

// inHome says whether a path leads into the home.
func (h *Home) inHome(place string) bool {
	dir, err := filepath.EvalSymlinks(filepath.Dir(place))
	if err != nil {
		return false // not there: the anchor says so
	}
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if same(dir, h.dir) {
			return true
		}
	}
	return false
}

func same(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

// logKeys knows every key that the log signs or signed with. It may learn a new
// one while anchors ask it.
type logKeys struct {
	origin string
	mu     sync.Mutex // guards what follows
	list   []note.Verifier
	keys   []trust.PublicKey
}

func (k *logKeys) public() []trust.PublicKey {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Clone(k.keys)
}

func (k *logKeys) add(key trust.PublicKey) error {
	v, err := audit.Verifier(k.origin, key)
	if err != nil {
		return configError("log.origin: " + err.Error())
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.list, k.keys = append(k.list, v), append(k.keys, key)
	return nil
}

// Verifier implements note.Verifiers.
func (k *logKeys) Verifier(name string, hash uint32) (note.Verifier, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, v := range k.list {
		if v.Name() == name && v.KeyHash() == hash {
			return v, nil
		}
	}
	return nil, &note.UnknownVerifierError{Name: name, KeyHash: hash}
}

// knownLogKeys are the pinned key and those whose public half is in the home.
func (h *Home) knownLogKeys() (*logKeys, error) {
	k := &logKeys{origin: h.config.Log.Origin}
	if err := k.add(h.config.pin().Key); err != nil {
		return nil, err
	}
	paths, err := filepath.Glob(filepath.Join(h.dir, keysDir, logKeyPrefix+"*.pub"))
	if err != nil {
		return nil, err
	}
	for _, path := range paths {
		key, _, err := keyfile.ReadPublic(path)
		if err != nil {
			return nil, err
		}
		if key == h.config.pin().Key {
			continue
		}
		if err := k.add(key); err != nil {
			return nil, err
		}
	}
	return k, nil
}

// publish hands the newest checkpoint to the anchors.
func (h *Home) publish(v *audit.View) {
	note, size := v.Newest()
	// Every anchor asks for itself, perhaps when the log is closed already.
	_ = h.set.Publish(note, func(ctx context.Context, old int64) ([]tlog.Hash, error) {
		store, err := file.OpenRead(h.fsys, filepath.Join(h.dir, logDir))
		if err != nil {
			return nil, err
		}
		proof, err := v.In(store).Consistency(ctx, old, size)
		return proof, errors.Join(err, store.Close())
	})
}

// vouched is what the anchors held when this home last heard of them, so that
// opening does not wait for a network. An anchor that is out of reach stops
// nothing, for it may be back tomorrow. One that holds or answers what it should
// not stops everything: that is what somebody would have it do who wants it not
// to be looked at.
func (h *Home) vouched(ctx context.Context) ([]anchor.Vouched, error) {
	offline, cancel := context.WithCancel(ctx)
	cancel()
	var out []anchor.Vouched
	for _, a := range h.anchors {
		v, ok, err := a.Newest(offline)
		var refused *anchor.Error
		switch {
		case errors.As(err, &refused) && (refused.Reason == anchor.Unreachable || refused.Reason == anchor.Unwritable):
			h.missed = errors.Join(h.missed, err)
		case err != nil:
			return nil, err
		case ok:
			out = append(out, v)
		}
	}
	return out, nil
}

// Anchored is a checkpoint that an anchor holds, as package audit takes it.
func Anchored(v anchor.Vouched) audit.Anchored {
	return audit.Anchored{By: v.By, Size: v.Size, Root: record.Hash(v.Root), Time: v.Time}
}

// Anchors are the places outside that remember this log's checkpoints.
func (h *Home) Anchors() []anchor.Anchor { return h.anchors }

// Unanchored says, once the home is closed, which anchors do not hold the
// newest checkpoint, and why; nil if all do.
func (h *Home) Unanchored() error { return h.missed }
