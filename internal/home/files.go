package home

import (
	"path/filepath"
	"strings"

	"github.com/iff-run/iff/audit"
	"github.com/iff-run/iff/internal/durable"
	"github.com/iff-run/iff/internal/keyfile"
	"github.com/iff-run/iff/internal/store/file"
	"github.com/iff-run/iff/trust"
)

// LogFiles is the log of a home as it lies there, before anything of it was
// read: for verifying a log with which the home does not open. Close Store.
type LogFiles struct {
	Dir   string // of the log
	Store audit.Store
	Pin   audit.Pin
	// Keys are those that the home has for the log, oldest first.
	Keys []trust.PublicKey
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
	out := &LogFiles{Dir: filepath.Join(h.dir, logDir), Pin: h.config.pin()}
	if out.Keys, err = h.LogKeys(); err != nil {
		return nil, err
	}
	out.Store, err = file.OpenRead(h.fsys, out.Dir)
	return out, logMissing(out.Dir, err)
}

// LogKeys are the public keys that the home has for its log, oldest first: the
// one that the configuration names, and those that took its place.
func (h *Home) LogKeys() ([]trust.PublicKey, error) {
	out := []trust.PublicKey{h.config.pin().Key}
	for epoch := int64(1); ; epoch++ {
		path := strings.TrimSuffix(h.logKeyPath(epoch), ".key") + ".pub"
		if !exists(path) {
			return out, nil
		}
		key, _, err := keyfile.ReadPublic(path)
		if err != nil {
			return nil, err
		}
		if key != out[0] {
			out = append(out, key)
		}
	}
}
