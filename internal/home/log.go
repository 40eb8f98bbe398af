package home

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/iff-run/iff/audit"
	"github.com/iff-run/iff/internal/anchor"
	"github.com/iff-run/iff/internal/durable"
	"github.com/iff-run/iff/internal/keyfile"
	"github.com/iff-run/iff/internal/store/file"
	"github.com/iff-run/iff/record"
	"github.com/iff-run/iff/trust"
)

const (
	logDir       = "log"
	logKeyPrefix = "log-" // of the names of the log's keys; the epoch follows

	// lockPatience is how long a verb waits for another one to finish.
	lockPatience = 10 * time.Second
	lockRetry    = 20 * time.Millisecond
)

// newOrigin names a log as no other is named.
func newOrigin() (string, error) {
	var b [12]byte
	if _, err := rand.Read(b[:]); err != nil {
		return "", err
	}
	return "iff/log/" + hex.EncodeToString(b[:]), nil
}

func logKeyName(epoch int64) string { return logKeyPrefix + strconv.FormatInt(epoch, 10) }

// openStore opens the log's store for writing, waiting for a while for a verb
// that has it.
func openStore(ctx context.Context, fsys durable.FS, dir string) (*file.Store, error) {
	for deadline := time.Now().Add(lockPatience); ; {
		s, err := file.Open(fsys, dir, nil)
		var busy *durable.BusyError
		if !errors.As(err, &busy) {
			return s, logMissing(dir, err)
		}
		if time.Now().After(deadline) || ctx.Err() != nil {
			return nil, &Error{Reason: Busy, Path: dir, Detail: "held by " + busy.Holder + "; wait for it to end", Err: err}
		}
		select {
		case <-ctx.Done():
		case <-time.After(lockRetry):
		}
	}
}

func logMissing(dir string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return &audit.Error{Reason: audit.LogEmpty, Detail: dir + " is gone, so nothing says what was seen before; restore it", Err: err}
	}
	if errors.Is(err, fs.ErrPermission) {
		return &Error{Reason: Unreadable, Path: dir, Detail: err.Error() + "; this verb writes to the home", Err: err}
	}
	return err
}

// openLog takes the lock, if the home is opened to write, and reads the log.
// Nothing is changed yet: first everything else has to hold.
func (h *Home) openLog(ctx context.Context) error {
	dir := filepath.Join(h.dir, logDir)
	var err error
	if h.mode != Read {
		if h.lines, err = openStore(ctx, h.fsys, dir); err != nil {
			return err
		}
	}
	if err := h.openAnchors(); err != nil {
		return err
	}
	// Asked before the log is read: a log that grows meanwhile is not cut back.
	vouched, err := h.vouched(ctx)
	if err != nil {
		return err
	}
	if h.mode == Read {
		if h.lines, err = file.OpenRead(h.fsys, dir); err != nil {
			return logMissing(dir, err)
		}
	}
	if h.view, err = audit.Read(ctx, h.lines, h.config.pin(), h.logOptions(), h.logKeys.public()...); err != nil {
		return err
	}
	for _, v := range vouched {
		if err := h.view.Hold(ctx, Anchored(v)); err != nil {
			return err
		}
	}
	return nil
}

// startLog opens the log that was read for writing.
func (h *Home) startLog(ctx context.Context) error {
	if err := durable.Sweep(h.fsys, filepath.Join(h.dir, keysDir)); err != nil {
		return &Error{Reason: Unreadable, Path: keysDir, Detail: err.Error(), Err: err}
	}
	keys, unread, err := h.privateLogKeys()
	if err != nil {
		return err
	}
	var signers []trust.Signer
	for _, k := range keys {
		signers = append(signers, k.key)
	}
	opts := h.logOptions()
	h.set = anchor.NewSet(context.WithoutCancel(ctx), h.anchors, anchor.SetOptions{Grace: anchorGrace})
	opts.Published = h.publish
	l, found, err := audit.Open(ctx, h.lines, h.config.pin(), opts, signers...)
	if err != nil {
		return errors.Join(err, unread)
	}
	h.log, h.recovered = l, found
	return h.eraseKeys(keys)
}

func (h *Home) logOptions() audit.Options { return audit.Options{Now: h.now, Progress: h.progress} }

func (h *Home) logKeyPath(epoch int64, half string) string {
	return filepath.Join(h.dir, keysDir, logKeyName(epoch)+half)
}

// privateLogKey is the private half of a key of the log that lies in the home.
type privateLogKey struct {
	epoch int64
	key   *keyfile.Key
}

// privateLogKeys opens the private halves that are there: one, or two while one
// takes the other's place. unread says of which that was not possible.
func (h *Home) privateLogKeys() (keys []privateLogKey, unread, err error) {
	epochs, err := h.logEpochs(".key")
	for _, e := range epochs {
		k, err := keyfile.Open(h.logKeyPath(e, ".key"), nil)
		if err != nil {
			unread = errors.Join(unread, err)
			continue
		}
		keys = append(keys, privateLogKey{e, k})
	}
	return keys, unread, err
}

// logEpochs lists the numbers of the log's keys of which a half is in the home.
func (h *Home) logEpochs(half string) ([]int64, error) {
	names, err := os.ReadDir(filepath.Join(h.dir, keysDir))
	if err != nil {
		return nil, &Error{Reason: Unreadable, Path: keysDir, Detail: err.Error(), Err: err}
	}
	var out []int64
	for _, e := range names {
		text, ok := strings.CutPrefix(strings.TrimSuffix(e.Name(), half), logKeyPrefix)
		n, err := strconv.ParseInt(text, 10, 64)
		if ok && err == nil && e.Name() == logKeyName(n)+half {
			out = append(out, n)
		}
	}
	slices.Sort(out)
	return out, nil
}

// eraseKeys removes the private keys that the log does not sign with, and what
// a rotation that was killed left of a key that never came to be used.
func (h *Home) eraseKeys(keys []privateLogKey) error {
	_, present, epoch := h.log.State().Log()
	kept := int64(0)
	for _, k := range keys {
		if k.key.Public().String() == present {
			kept = k.epoch
			continue
		}
		if err := h.fsys.Remove(h.logKeyPath(k.epoch, ".key")); err != nil {
			return fmt.Errorf("erase the log's old key: %w", err)
		}
	}
	public, err := h.logEpochs(".pub")
	for _, e := range public {
		if e > epoch && e != kept {
			err = errors.Join(err, h.fsys.Remove(h.logKeyPath(e, ".pub")))
		}
	}
	return err
}

// RotateLogKey gives the log a new signing key and erases the one before. What
// that one signed still verifies, for the log has the change, signed by both.
func (h *Home) RotateLogKey(ctx context.Context) (KeyInfo, error) {
	if h.log == nil {
		return KeyInfo{}, errReading
	}
	_, _, epoch := h.log.State().Log()
	key, err := keyfile.Generate()
	if err != nil {
		return KeyInfo{}, err
	}
	before, _, err := h.privateLogKeys()
	if err != nil {
		return KeyInfo{}, err
	}
	name := logKeyName(epoch + 1)
	if err := key.WritePublic(h.fsys, h.logKeyPath(epoch+1, ".pub"), name); err != nil {
		return KeyInfo{}, err
	}
	if err := key.WritePlain(h.fsys, h.logKeyPath(epoch+1, ".key")); err != nil {
		return KeyInfo{}, errors.Join(err, h.fsys.Remove(h.logKeyPath(epoch+1, ".pub")))
	}
	if err := h.logKeys.add(key.Public()); err != nil {
		return KeyInfo{}, err
	}
	if err := h.log.Rotate(ctx, key); err != nil {
		return KeyInfo{}, err
	}
	return KeyInfo{Name: name, Public: key.Public(), Private: true}, h.eraseKeys(before)
}

var errReading = errors.New("bug: the home was opened for reading")

// append records what was done. It needs a home opened for writing.
func (h *Home) append(ctx context.Context, bodies ...record.Body) error {
	if h.log == nil {
		return errReading
	}
	entries := make([]record.Entry, len(bodies))
	for i, b := range bodies {
		entries[i] = record.Of(b)
	}
	_, err := h.log.Append(ctx, entries...)
	return err
}

// State is what the log says.
func (h *Home) State() *record.State {
	if h.log != nil {
		return h.log.State()
	}
	return h.view.State()
}

// Log is the open log; nil if the home was opened for reading.
func (h *Home) Log() *audit.Log { return h.log }

// View is the log for reading. In a home opened for writing it is the log at
// its newest checkpoint.
func (h *Home) View() *audit.View {
	if h.log != nil {
		return h.log.View()
	}
	return h.view
}

// LogStore is where the log lies, for reading.
func (h *Home) LogStore() audit.Store { return h.lines }

// Recovered is what opening found that a crash had left in the log.
func (h *Home) Recovered() audit.Recovered { return h.recovered }
