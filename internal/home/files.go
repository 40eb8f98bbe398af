package home

import (
	"path/filepath"
	"slices"

	"golang.org/x/mod/sumdb/note"

	"github.com/iff-run/iff/audit"
	"github.com/iff-run/iff/internal/anchor"
	"github.com/iff-run/iff/internal/durable"
	"github.com/iff-run/iff/internal/store/file"
)

// LogFiles is the log of a home as it lies there, before anything of it was
// read: for verifying a log with which the home does not open. Close Store.
type LogFiles struct {
	Dir     string // of the log
	Store   audit.Store
	Pin     audit.Pin
	Keys    []note.Verifier // of the log, as far as the home has them
	Anchors []anchor.Anchor
}

// OpenLogFiles reads the configuration of the home at dir and opens its log for
// reading. The options' file system is used.
func OpenLogFiles(dir string, opts Options) (*LogFiles, error) {
	opts = opts.orDefault()
	h := &Home{dir: dir, fsys: opts.FS, now: opts.Now}
	if err := h.checkDirectory(); err != nil {
		return nil, err
	}
	data, _, err := durable.ReadFile(filepath.Join(h.dir, configFile), maxConfig)
	if err != nil {
		return nil, &Error{Reason: Unreadable, Path: configFile, Detail: err.Error(), Err: err}
	}
	if h.config, err = parseConfig(data); err != nil {
		return nil, err
	}
	if err := h.openAnchors(); err != nil {
		return nil, err
	}
	out := &LogFiles{Dir: h.LogDir(), Pin: h.config.pin(), Keys: h.LogKeys(), Anchors: h.anchors}
	store, err := file.OpenRead(h.fsys, out.Dir)
	if err != nil {
		return nil, logMissing(out.Dir, err)
	}
	out.Store = store
	return out, nil
}

// LogDir is the directory of the log.
func (h *Home) LogDir() string { return filepath.Join(h.dir, logDir) }

// LogKeys are the keys that the log signs or signed with, as far as the home
// has them: the one that the configuration names, and those that took its place.
func (h *Home) LogKeys() []note.Verifier {
	h.logKeys.mu.Lock()
	defer h.logKeys.mu.Unlock()
	return slices.Clone(h.logKeys.list)
}
