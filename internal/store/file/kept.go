package file

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/iff-run/iff/internal/durable"
)

// longestName of what is kept under a name.
const longestName = 80

// keptPath is where a name is kept, if it may be used now.
func (s *Store) keptPath(ctx context.Context, name string, writing bool) (string, error) {
	if err := s.usable(ctx, writing); err != nil {
		return "", err
	}
	if name == "" || len(name) > longestName || name == lockName || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
		return "", fmt.Errorf("%q: no name for a part of the log; use 1 to %d of a-z, 0-9 and -, and not %s", name, longestName, lockName)
	}
	if writing {
		if err := s.owned(); err != nil {
			return "", err
		}
	}
	return filepath.Join(s.dir, name), nil
}

// Load gives what was last saved under a name of 1 to 80 characters a-z, 0-9 and -; nothing if nothing was. More than limit bytes
// are durable.ErrTooLarge.
func (s *Store) Load(ctx context.Context, name string, limit int) ([]byte, error) {
	s.kept.Lock()
	defer s.kept.Unlock()
	path, err := s.keptPath(ctx, name, false)
	if err != nil {
		return nil, err
	}
	r, err := s.fsys.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer r.Close()
	size, err := r.Size()
	if err != nil {
		return nil, err
	}
	if size > int64(limit) {
		return nil, fmt.Errorf("%q: %d bytes, at most %d are read: %w", path, size, limit, durable.ErrTooLarge)
	}
	data := make([]byte, size)
	n, err := r.ReadAt(data, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return data[:n], nil
}

// Save replaces what is kept under a name, durably and as a whole. An error does not end the taking of batches, unless it
// is a [*durable.LostError].
func (s *Store) Save(ctx context.Context, name string, data []byte) error {
	s.kept.Lock()
	defer s.kept.Unlock()
	path, err := s.keptPath(ctx, name, true)
	if err != nil {
		return err
	}
	return durable.WriteFile(s.fsys, path, data, fileMode)
}

// Extend writes data at an offset of what is kept under a name, and cuts off what was behind. Nothing is synced: after a crash the
// name holds anything, and whoever loads it must know by other means whether it is right. An offset behind the
// end is refused.
func (s *Store) Extend(ctx context.Context, name string, at int64, data []byte) (err error) {
	s.kept.Lock()
	defer s.kept.Unlock()
	path, err := s.keptPath(ctx, name, true)
	if err != nil {
		return err
	}
	f, err := s.openKept(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	size, err := f.Size()
	if err != nil {
		return err
	}
	if at < 0 || at > size {
		return fmt.Errorf("%q: byte %d lies outside of its %d bytes", path, at, size)
	}
	if n, err := f.WriteAt(data, at); err != nil || n < len(data) {
		return errors.Join(err, fmt.Errorf("%q: %d of %d bytes were written at %d", path, n, len(data), at))
	}
	if end := at + int64(len(data)); end < size {
		return f.Truncate(end)
	}
	return nil
}

func (s *Store) openKept(path string) (durable.FileAt, error) {
	f, err := s.fsys.OpenAt(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return f, err
	}
	made, err := s.fsys.Create(path, fileMode)
	if err == nil {
		err = made.Close()
	}
	if err != nil {
		return nil, err
	}
	return s.fsys.OpenAt(path)
}
