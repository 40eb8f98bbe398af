package anchor

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/iff-run/iff/internal/durable"
)

// fileAnchor is an anchor that is a file elsewhere.
type fileAnchor struct {
	*base
	path string
}

// follower is base.follow. Tests replace it by wrong ones.
type follower func(ctx context.Context, held, given head, extend Extend) ([]tlog.Hash, error)

// Put replaces the checkpoint in the file by one that extends it.
func (f *fileAnchor) Put(ctx context.Context, checkpoint []byte, extend Extend) error {
	return f.put(ctx, checkpoint, extend, f.follow)
}

func (f *fileAnchor) put(ctx context.Context, checkpoint []byte, extend Extend, follow follower) error {
	f.putting.Lock()
	defer f.putting.Unlock()
	if f.broken != nil {
		return f.broken
	}
	return f.remember(f.replace(ctx, checkpoint, extend, follow), nil)
}

func (f *fileAnchor) replace(ctx context.Context, checkpoint []byte, extend Extend, follow follower) error {
	given, err := f.opened("what was handed in", checkpoint, nil)
	if err != nil {
		return err
	}
	held, ok, err := f.read()
	if err != nil {
		return err
	}
	copied, had, err := f.kept(nil)
	if err != nil {
		return err
	}
	for _, h := range []head{held, copied} {
		if _, err := follow(ctx, h, given, extend); err != nil {
			return err
		}
	}
	if had && (!ok || held.size < copied.size) {
		return f.gone(held, ok, copied)
	}
	if err := ctx.Err(); err != nil {
		return f.fail(Unreachable, err, "%v", err)
	}
	if !bytes.Equal(held.note, given.note) {
		if err := f.write(f.path, given.note, 0o644); err != nil {
			return err
		}
	}
	if bytes.Equal(copied.note, given.note) {
		return nil
	}
	return f.keep(given.note)
}

// Newest is what the file holds.
func (f *fileAnchor) Newest(context.Context) (Vouched, bool, error) { return f.newest(nil, f.read) }

// read gives the checkpoint in the file; false if the directory is there and the file is not.
func (f *fileAnchor) read() (head, bool, error) {
	data, err := readAll(f.fsys, f.path)
	if errors.Is(err, fs.ErrNotExist) {
		dir := filepath.Dir(f.path)
		if _, err := f.fsys.List(dir); err != nil {
			return head{}, false, f.fail(Unreachable, err, "its directory %q cannot be read: %v; make it, or mount the disk", dir, err)
		}
		return head{}, false, nil
	}
	if errors.Is(err, durable.ErrTooLarge) || errors.Is(err, durable.ErrNotRegular) {
		return head{}, false, f.fail(Invalid, err, "it is not a checkpoint: %v", err)
	}
	if err != nil {
		return head{}, false, f.fail(Unreachable, err, "it cannot be read: %v", err)
	}
	h, err := f.opened(fmt.Sprintf("what stands in %q", f.path), data, nil)
	return h, err == nil, err
}
