package witness

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"golang.org/x/mod/sumdb/note"

	"github.com/iff-run/iff/internal/durable"
)

const (
	maxKeyFile = 4 << 10
	// maxNote is a note that came in a body, and a cosignature.
	maxNote    = maxBody + 4<<10
	maxOrigins = 4 << 20 // 64 thousand logs
	// nameLength is that of nameOf.
	nameLength = 64
)

func unreadable(path string, err error) error {
	return &Error{Unreadable, path, err.Error() + "; check its owner and permissions, and the disk", err}
}

// makeDirectory makes a directory, or makes sure that its name is durable.
func (w *Witness) makeDirectory(path string) error {
	if err := durable.Mkdir(w.fsys, path, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return unreadable(path, err)
	}
	return nil
}

// load reads the directory, which is locked.
func (w *Witness) load(name string) error {
	for _, dir := range []string{w.dir, w.path("logs"), w.path("evidence")} {
		if err := w.makeDirectory(dir); err != nil {
			return err
		}
		if err := durable.Sweep(w.fsys, dir); err != nil {
			return unreadable(dir, err)
		}
	}
	if err := w.loadListed(); err != nil {
		return err
	}
	if err := w.loadKey(name); err != nil {
		return err
	}
	if err := w.loadLogs(); err != nil {
		return err
	}
	return w.countEvidence()
}

// loadKey reads the key, or makes it if there is nothing that another key has cosigned.
func (w *Witness) loadKey(name string) error {
	path := w.path("key")
	data, err := w.read(path, maxKeyFile)
	if errors.Is(err, fs.ErrNotExist) {
		data, err = w.makeKey(path, name)
	}
	if err != nil {
		return err
	}
	w.key, err = parseSigner(strings.TrimSuffix(string(data), "\n"))
	if err != nil {
		return &Error{KeyInvalid, path, err.Error() + "; restore it from a copy", err}
	}
	if name != "" && name != w.Name() {
		return &Error{KeyInvalid, path, fmt.Sprintf("the key has the name %q; use that name, or another directory", w.Name()), nil}
	}
	return nil
}

func (w *Witness) makeKey(path, name string) ([]byte, error) {
	files, err := w.fsys.List(w.path("logs"))
	if err != nil {
		return nil, unreadable(w.path("logs"), err)
	}
	if len(files)+len(w.listed) > 0 {
		return nil, &Error{KeyInvalid, path, "it is gone, and this witness has cosigned; restore it from a copy", nil}
	}
	skey, err := newSignerKey(name)
	if err == nil {
		_, err = parseSigner(skey)
	}
	if err != nil {
		return nil, &Error{KeyInvalid, path, fmt.Sprintf("a new witness cannot be named %q (%v); give a name such as witness.example/w1", name, err), err}
	}
	data := []byte(skey + "\n")
	if err := durable.WriteNew(w.fsys, path, data, 0o600); err != nil {
		return nil, unreadable(path, err)
	}
	return data, nil
}

// loadListed reads the names of the logs that have a checkpoint.
func (w *Witness) loadListed() error {
	path := w.path("origins")
	data, err := w.read(path, maxOrigins)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(data)) {
		name, ended := strings.CutSuffix(line, "\n")
		if !ended || len(name) != nameLength || strings.Trim(name, "0123456789abcdef") != "" {
			return &Error{StateLost, path, fmt.Sprintf("line %d is not the name of a log; restore the file from a copy", len(w.listed)+1), nil}
		}
		w.listed = append(w.listed, name)
	}
	slices.Sort(w.listed)
	return nil
}

// loadLogs reads what was cosigned, also for logs that are not given any more.
func (w *Witness) loadLogs() error {
	names := slices.Clone(w.listed)
	for _, origin := range w.origins() {
		names = append(names, nameOf(origin))
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		if err := w.loadLog(name); err != nil {
			return err
		}
	}
	return nil
}

func (w *Witness) loadLog(name string) error {
	path := w.statePath(name)
	data, err := w.read(path, maxNote)
	_, listed := slices.BinarySearch(w.listed, name)
	if errors.Is(err, fs.ErrNotExist) && !listed {
		return nil // nothing was cosigned yet
	}
	if errors.Is(err, fs.ErrNotExist) {
		return &Error{StateLost, path, "it is gone, so this witness does not know what it cosigned last; " + restore, err}
	}
	if err != nil {
		return err
	}
	held, err := w.readState(name, data)
	if err != nil {
		return &Error{StateLost, path, err.Error() + "; " + restore, err}
	}
	if l := w.logs[held.origin]; l != nil {
		l.held, l.note = held, data
	}
	if listed {
		return nil
	}
	return w.list(name) // the machine stopped between the two files
}

// restore is what to do when a witness has forgotten.
const restore = "restore exactly what was there, or retire this witness and make a new one in another directory"

// readState checks what a state file holds.
func (w *Witness) readState(name string, data []byte) (head, error) {
	n, err := note.Open(data, note.VerifierList(w.key.verifier))
	if err != nil {
		return head{}, fmt.Errorf("it is not a checkpoint that this witness cosigned: %w", err)
	}
	held, err := parseText(n.Text)
	if err == nil && nameOf(held.origin) != name {
		err = errors.New("it is a checkpoint of another log")
	}
	return held, err
}

// keep makes the cosigned checkpoint of a log durable. The lock is held.
func (w *Witness) keep(origin string, cosigned []byte) error {
	name := nameOf(origin)
	if err := durable.WriteFile(w.fsys, w.statePath(name), cosigned, 0o600); err != nil {
		return err
	}
	if _, listed := slices.BinarySearch(w.listed, name); listed {
		return nil
	}
	return w.list(name)
}

// list adds a name to the file origins, after the log's own file is there.
func (w *Witness) list(name string) error {
	at, _ := slices.BinarySearch(w.listed, name)
	next := slices.Insert(slices.Clone(w.listed), at, name)
	if err := durable.WriteFile(w.fsys, w.path("origins"), []byte(strings.Join(next, "\n")+"\n"), 0o600); err != nil {
		return err
	}
	w.listed = next
	return nil
}

func (w *Witness) statePath(name string) string { return w.path("logs", name+".note") }

// read reads a whole file of at most max bytes. An error that is fs.ErrNotExist is as it came; others are *Error.
func (w *Witness) read(path string, max int64) ([]byte, error) {
	f, err := w.fsys.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if err != nil {
		return nil, unreadable(path, err)
	}
	defer f.Close()
	var b bytes.Buffer
	n, err := b.ReadFrom(io.NewSectionReader(f, 0, max+1))
	if err != nil {
		return nil, unreadable(path, err)
	}
	if n > max {
		return nil, &Error{StateLost, path, fmt.Sprintf("it has more than %d bytes; %s", max, restore), nil}
	}
	return b.Bytes(), nil
}
