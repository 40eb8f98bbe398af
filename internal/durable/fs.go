package durable

import (
	"fmt"
	"io"
	"io/fs"
)

// TempPrefix begins the name of every temporary file this package makes.
const TempPrefix = ".iff-tmp-"

// FS is what durable writing needs of a file system and nothing else; [OS] is the real one. Errors match fs.ErrExist,
// fs.ErrNotExist and fs.ErrPermission where they mean that. None of the methods repeats a failed call.
//
// A store that needs more (preallocation, reading back) asks for it by an interface of its own that an FS or File may
// also have, so that this one stays small.
type FS interface {
	// Create makes a new file for writing; if the name exists, even as a dangling link, it fails with fs.ErrExist.
	// The file has exactly the permission bits of perm; each write goes to its end.
	Create(path string, perm fs.FileMode) (File, error)
	// OpenAppend opens an existing regular file; each write goes to its end. Links at path are not followed.
	OpenAppend(path string) (File, error)
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
