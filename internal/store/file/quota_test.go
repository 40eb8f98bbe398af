package file

import (
	"io/fs"
	"sync"
	"syscall"

	"github.com/iff-run/iff/internal/durable"
)

// quota is a file system with room for so many bytes more. Writing over what is there takes none.
type quota struct {
	durable.FS
	mu   sync.Mutex
	free int64 // unlimited if negative
}

func newQuota(fsys durable.FS) *quota { return &quota{FS: fsys, free: -1} }

func (q *quota) set(free int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.free = free
}

// take gives as much of n as there is.
func (q *quota) take(n int64) int64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.free < 0 || n <= 0 {
		return n
	}
	n = min(n, q.free)
	q.free -= n
	return n
}

func (q *quota) giveBack(n int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.free >= 0 {
		q.free += max(0, n)
	}
}

func (q *quota) Create(path string, perm fs.FileMode) (durable.File, error) {
	f, err := q.FS.Create(path, perm)
	return quotaFile{f, q}, err
}

func (q *quota) OpenAt(path string) (durable.FileAt, error) {
	f, err := q.FS.OpenAt(path)
	return quotaFileAt{f, q}, err
}

func (q *quota) Remove(path string) error {
	r, err := q.FS.Open(path)
	if err != nil {
		return q.FS.Remove(path)
	}
	size, _ := r.Size()
	_ = r.Close()
	err = q.FS.Remove(path)
	if err == nil {
		q.giveBack(size)
	}
	return err
}

type quotaFile struct {
	durable.File
	quota *quota
}

func (f quotaFile) Write(p []byte) (int, error) {
	granted := f.quota.take(int64(len(p)))
	n, err := f.File.Write(p[:granted])
	if err == nil && n < len(p) {
		err = syscall.ENOSPC
	}
	return n, err
}

type quotaFileAt struct {
	durable.FileAt
	quota *quota
}

func (f quotaFileAt) WriteAt(p []byte, off int64) (int, error) {
	size, err := f.Size()
	if err != nil {
		return 0, err
	}
	inside := min(max(0, size-off), int64(len(p)))
	granted := f.quota.take(int64(len(p)) - inside)
	n, err := f.FileAt.WriteAt(p[:inside+granted], off)
	if err == nil && n < len(p) {
		err = syscall.EDQUOT
	}
	return n, err
}

func (f quotaFileAt) Truncate(to int64) error {
	size, err := f.Size()
	if err == nil {
		err = f.FileAt.Truncate(to)
	}
	if err == nil {
		f.quota.giveBack(size - to)
	}
	return err
}
