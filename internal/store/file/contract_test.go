package file

import (
	"errors"
	"io/fs"
	"path/filepath"
	"testing"

	"github.com/iff-run/iff/audit"
	"github.com/iff-run/iff/audit/audittest"
	"github.com/iff-run/iff/internal/durable"
	"github.com/iff-run/iff/internal/durable/durabletest"
)

// small has everything happen often: room is prepared, segments end.
var small = Options{SegmentBytes: 20_000, Pad: 7000, PadAfter: 3000}

func TestContractOS(t *testing.T) {
	for what, opts := range map[string]*Options{"as programs use it": nil, "small": &small} {
		t.Run(what, func(t *testing.T) {
			audittest.Run(t, func(t *testing.T) audittest.Target {
				q, dir := newQuota(durable.OS()), filepath.Join(t.TempDir(), "log")
				return audittest.Target{
					Open:     func() (audit.Store, error) { return openOrCreate(q, dir, opts) },
					Kill:     func(s audit.Store) { abandon(t, s.(*Store)) },
					Free:     q.set,
					Segments: opts != nil,
				}
			})
		})
	}
}

// On the disk that loses power a kill is the end of the machine, and each time something else of what was not synced survives.
func TestContractDisk(t *testing.T) {
	audittest.Run(t, func(t *testing.T) audittest.Target {
		q, kills := newQuota(durabletest.New()), 0
		return audittest.Target{
			Open: func() (audit.Store, error) { return openOrCreate(q, "/log", &small) },
			Kill: func(audit.Store) {
				survivals := durabletest.Survivals()
				q.FS = q.FS.(*durabletest.Disk).Restart(survivals[kills%len(survivals)])
				kills++
			},
			Free:     q.set,
			Segments: true,
		}
	})
}

func openOrCreate(fsys durable.FS, dir string, opts *Options) (audit.Store, error) {
	s, err := Open(fsys, dir, opts)
	if errors.Is(err, fs.ErrNotExist) {
		s, err = Create(fsys, dir, opts)
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

// abandon leaves a store as the end of the process would.
func abandon(t *testing.T, s *Store) {
	t.Helper()
	s.owner.Lock()
	defer s.owner.Unlock()
	s.closed = true
	err := s.lock.Close()
	if s.tail != nil {
		err = errors.Join(err, s.tail.file.Close())
	}
	if err != nil {
		t.Error(err)
	}
}
