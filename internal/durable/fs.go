package durable

import (
	"fmt"
	"io"
	"io/fs"
)

// TempPrefix begins the name of every temporary file this package makes.
const TempPrefix = ".iff-tmp-"

// FS is what durable stores need of a file system and nothing else; [OS] is the real one. Errors match fs.ErrExist,
// fs.ErrNotExist and fs.ErrPermission where they mean that. None of the methods repeats a failed call.
type FS interface {
	// Create makes a new file for writing; if the name exists, even as a dangling link, it fails with fs.ErrExist.
	// The file has exactly the permission bits of perm; each write goes to its end.
	Create(path string, perm fs.FileMode) (File, error)
	// OpenAppend opens an existing regular file; each write goes to its end. Links at path are not followed.
	OpenAppend(path string) (File, error)
	// OpenAt opens an existing regular file to write at offsets. Links at path are not followed.
	OpenAt(path string) (FileAt, error)
	// Open opens an existing regular file for reading. Links at path are not followed; a FIFO is not waited for.
	Open(path string) (Reader, error)
	// List is the names in a directory, sorted; more than 2^20 are ErrTooLarge.
	List(path string) ([]string, error)
	// Rename gives old the name new, atomically taking the place of a file there. Both lie in one directory.
	Rename(old, new string) error
	// Link gives the file old a second name; if new exists it fails with fs.ErrExist.
	Link(old, new string) error
	// Remove takes away the name of a file, or an empty directory.
	Remove(path string) error
	// Mkdir makes a directory with exactly the permission bits of perm; if path exists it fails with fs.ErrExist.
	Mkdir(path string, perm fs.FileMode) error
	// SyncDir puts on the disk which names the directory holds.
	SyncDir(path string) error
	// Lock takes the exclusive lock that the file at path stands for, until Close or until the process ends. The file is made with
	// the permission bits 0600 if it is not there; links are not followed. If somebody holds the lock, this process
	// included, the answer is a [*BusyError], at once. If the file is removed or replaced meanwhile it is a [*LostError].
	Lock(path string) (Lock, error)
}

// Lock is a lock that was taken.
type Lock interface {
	// Held is nil if the file at the path of the lock is the one that is locked. Otherwise it is a [*LostError], after Close one of
	// fs.ErrClosed.
	Held() error
	// Close gives the lock up.
	Close() error
}

// File is a file open for writing.
type File interface {
	io.Writer
	// Size is the file's length in bytes.
	Size() (int64, error)
	// Truncate cuts the file to size bytes.
	Truncate(size int64) error
	// Sync puts on the disk what the file holds, but not its name.
	Sync() error
	Close() error
}

// FileAt is a file open for writing at offsets. The methods may run beside each other; Sync covers every write and
// truncation that returned before it was called, whoever made it, and promises nothing of the others.
type FileAt interface {
	// WriteAt puts p at off; what lies between the old end and off becomes zeros. If fewer bytes than p are written there
	// is an error.
	io.WriterAt
	// Size is the file's length in bytes.
	Size() (int64, error)
	// Truncate cuts the file to size bytes, or lengthens it by zeros.
	Truncate(size int64) error
	// Sync puts on the disk what the file holds, but not its name.
	Sync() error
	Close() error
}

// Reader is a file open for reading. What is written meanwhile is seen.
type Reader interface {
	io.ReaderAt
	// Size is the file's length in bytes.
	Size() (int64, error)
	Close() error
}

// BusyError says that a lock is held.
type BusyError struct {
	Path   string
	Holder string // "process 4711", or "unknown"; the zero value means unknown
}

// Error says who holds the lock and what to do.
func (e *BusyError) Error() string {
	holder := e.Holder
	if holder == "" || holder == unknownHolder {
		holder = "another process"
	}
	return fmt.Sprintf("%q: locked by %s; wait for it to end, or end it", e.Path, holder)
}

// LostError says that a lock may keep nobody out any more: the file that stands for it, or a directory above it, was removed,
// moved or replaced. Somebody else can have the lock that is at Path now. Stop writing.
type LostError struct {
	Path string
	Err  error // why Path cannot be looked at; nil if what is locked is not there
}

// Error says what was lost and what to do.
func (e *LostError) Error() string {
	why := "the file that was locked is not there any more"
	if e.Err != nil {
		why = fmt.Sprintf("whether the file that was locked is still there cannot be seen (%v)", e.Err)
	}
	return fmt.Sprintf("%q: %s, so another process may have the lock; find out who removed or moved it, then start again", e.Path, why)
}

// Unwrap gives the file system's error, if there is one.
func (e *LostError) Unwrap() error { return e.Err }

// SyncError says that the disk did not confirm what was written. It is fatal: what the disk holds is unknown until the next
// start, and a further sync would lie. Stop, do not repeat, do not acknowledge. Err is the file system's error.
type SyncError struct {
	Path string // the file or directory that was synced
	Err  error
}

// Error says what is unknown and what to do.
func (e *SyncError) Error() string {
	return fmt.Sprintf("%q: the disk did not confirm what was written (%v), so what it holds is unknown; stop, check the disk, start again", e.Path, e.Err)
}

// Unwrap gives the file system's error.
func (e *SyncError) Unwrap() error { return e.Err }

// TailError says that an Append failed and part of its data could not be cut off again. The file is good up to Good; nothing may
// be appended until it is cut there. Err joins the error of the write and that of the cut.
type TailError struct {
	Path string
	Good int64 // bytes from the start
	Err  error
}

// Error says where the good part ends and what to do.
func (e *TailError) Error() string {
	return fmt.Sprintf("%q: unfinished data lie behind byte %d and could not be cut off (%v); append nothing, start again to repair it", e.Path, e.Good, e.Err)
}

// Unwrap gives the file system's errors.
func (e *TailError) Unwrap() error { return e.Err }
