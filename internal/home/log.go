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

// openLog opens the log to write, or to read it.
func (h *Home) openLog(ctx context.Context, mode Mode) error {
	dir := filepath.Join(h.dir, logDir)
	epochs, err := h.logEpochs()
	if err == nil {
		err = h.openAnchors()
	}
	if err != nil {
		return err
	}
	if mode == Read {
		return h.readLog(ctx, dir, epochs)
	}
	store, err := openStore(ctx, h.fsys, dir)
	if err != nil {
		return err
	}
	// Only now: whoever held the log before may have changed its key.
	if epochs, err = h.logEpochs(); err != nil {
		return errors.Join(err, store.Close())
	}
	var keys []trust.Signer
	for _, e := range epochs {
		k, err := keyfile.Open(h.logKeyPath(e), nil)
		if err != nil {
			return errors.Join(err, store.Close())
		}
		keys = append(keys, k)
	}
	opts := h.logOptions()
	h.set = anchor.NewSet(context.WithoutCancel(ctx), h.anchors, anchor.SetOptions{Grace: anchorGrace})
	opts.Published = h.publish
	l, found, err := audit.Open(ctx, store, h.config.pin(), opts, keys...)
	if err != nil {
		return errors.Join(err, store.Close())
	}
	h.log, h.lines, h.recovered = l, store, found
	if err := h.eraseKeys(epochs); err != nil {
		return err
	}
	return h.hold(ctx)
}

func (h *Home) readLog(ctx context.Context, dir string, epochs []int64) error {
	store, err := file.OpenRead(h.fsys, dir)
	if err != nil {
		return logMissing(dir, err)
	}
	var present trust.PublicKey
	if n := len(epochs); n > 0 {
		if present, _, err = keyfile.ReadPublic(strings.TrimSuffix(h.logKeyPath(epochs[n-1]), ".key") + ".pub"); err != nil {
			return errors.Join(err, store.Close())
		}
	}
	v, err := audit.Read(ctx, store, h.config.pin(), present, h.logOptions())
	if err != nil {
		return errors.Join(err, store.Close())
	}
	h.view, h.lines = v, store
	return h.hold(ctx)
}

func (h *Home) logOptions() audit.Options { return audit.Options{Now: h.now, Progress: h.progress} }

func (h *Home) logKeyPath(epoch int64) string {
	return filepath.Join(h.dir, keysDir, logKeyName(epoch)+".key")
}

// logEpochs lists the log keys that are in the home, ascending: one, or two
// while one takes the other's place.
func (h *Home) logEpochs() ([]int64, error) {
	names, err := os.ReadDir(filepath.Join(h.dir, keysDir))
	if err != nil {
		return nil, &Error{Reason: Unreadable, Path: keysDir, Detail: err.Error(), Err: err}
	}
	var out []int64
	for _, e := range names {
		text, ok := strings.CutPrefix(strings.TrimSuffix(e.Name(), ".key"), logKeyPrefix)
		n, err := strconv.ParseInt(text, 10, 64)
		if ok && err == nil && e.Name() == logKeyName(n)+".key" {
			out = append(out, n)
		}
	}
	slices.Sort(out)
	return out, nil
}

// eraseKeys removes the private keys that the log does not sign with: those
// before the present one, and one that was made and never put to use.
func (h *Home) eraseKeys(epochs []int64) error {
	_, _, present := h.log.State().Log()
	for _, e := range epochs {
		if e == present {
			continue
		}
		if err := h.fsys.Remove(h.logKeyPath(e)); err != nil {
			return fmt.Errorf("erase the log's old key: %w", err)
		}
		if e > present {
			_ = h.fsys.Remove(strings.TrimSuffix(h.logKeyPath(e), ".key") + ".pub")
		}
	}
	return nil
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
	name := logKeyName(epoch + 1)
	path := filepath.Join(h.dir, keysDir, name)
	if err := key.WritePublic(h.fsys, path+".pub", name); err != nil {
		return KeyInfo{}, err
	}
	if err := key.WritePlain(h.fsys, path+".key"); err != nil {
		return KeyInfo{}, err
	}
	if err := h.logKeys.add(key.Public()); err != nil {
		return KeyInfo{}, err
	}
	if err := h.log.Rotate(ctx, key); err != nil {
		return KeyInfo{}, err
	}
	return KeyInfo{Name: name, Public: key.Public(), Private: true}, h.eraseKeys([]int64{epoch})
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
