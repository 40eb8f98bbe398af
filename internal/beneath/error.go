package beneath

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"syscall"
)

// Reason is a closed token that says why something was refused; see the package's list.
type Reason string

// The reasons. There are no others.
const (
	FileLink       Reason = "file-link"
	FileSpecial    Reason = "file-special"
	FileMount      Reason = "file-mount"
	FileChanging   Reason = "file-changing"
	FileTooLarge   Reason = "file-too-large"
	FileName       Reason = "file-name"
	TooManyEntries Reason = "too-many-entries"
	NotADirectory  Reason = "not-a-directory"
	NotAFile       Reason = "not-a-file"
	NotFound       Reason = "not-found"
	NoAccess       Reason = "no-access"
	ReadFailed     Reason = "read-failed"
)

// advice is what to do next, per reason.
var advice = map[Reason]string{
	FileLink:       "put a copy of what it points to in its place",
	FileSpecial:    "remove it; only regular files and directories are read",
	FileMount:      "unmount it, or put a copy of its content in its place",
	FileChanging:   "try again when nothing writes there",
	FileTooLarge:   "make it smaller, or remove it",
	FileName:       "rename it",
	TooManyEntries: "remove what does not belong there",
	NotADirectory:  "name a directory",
	NotAFile:       "name a file",
	NotFound:       "check the spelling",
	NoAccess:       "grant read permission to the user this runs as",
	ReadFailed:     "check the disk and try again",
}

// Error says which path was refused and why. Err, if any, is the operating system's error, so that
// errors.Is(err, fs.ErrNotExist) and the like work.
type Error struct {
	Reason Reason
	Path   string // as the directory was opened, plus the names below it; raw
	Detail string // what was found there; printable
	Err    error
}

// Error is one printable line: where, the reason, what was found, what to do.
func (e *Error) Error() string {
	return fmt.Sprintf("%s: %s: %s; %s", printable(e.Path), e.Reason, e.Detail, advice[e.Reason])
}

// Unwrap gives the operating system's error.
func (e *Error) Unwrap() error { return e.Err }

var (
	errChanged   = errors.New("it changed while it was read")
	errLongLink  = errors.New("a link's text is longer than allowed")
	errManyAttrs = errors.New("more extended attributes than allowed")
	errMount     = errors.New("another file system or a bind mount starts there")
)

// manyError is a directory with more entries than the bound it carries.
type manyError int

func (m manyError) Error() string { return fmt.Sprintf("more than %d entries", int(m)) }

var reasons = []struct {
	err    error
	reason Reason
}{
	{errChanged, FileChanging},
	{errMount, FileMount},
	{syscall.EXDEV, FileMount},
	{syscall.ELOOP, FileLink},
	{syscall.ENXIO, FileSpecial},
	{syscall.ENODEV, FileSpecial},
	{syscall.ENOTDIR, NotADirectory},
	{syscall.EISDIR, NotAFile},
	{syscall.ENAMETOOLONG, FileName},
	{syscall.EILSEQ, FileName},
	{syscall.EAGAIN, FileChanging}, // somebody holds a lease on it
	{syscall.ESTALE, FileChanging},
	{fs.ErrNotExist, NotFound},
	{fs.ErrPermission, NoAccess},
}

// refusal gives an error of the operating system its reason.
func refusal(path string, err error) *Error {
	e := &Error{Reason: ReadFailed, Path: path, Err: err}
	if bare, ok := errors.AsType[*fs.PathError](err); ok {
		e.Err = bare.Err // its path is only the last component
	}
	e.Detail = printable(e.Err.Error())
	if _, ok := errors.AsType[manyError](err); ok {
		e.Reason, e.Err = TooManyEntries, nil
		return e
	}
	for _, r := range reasons {
		if errors.Is(err, r.err) {
			e.Reason = r.reason
			break
		}
	}
	return e
}

func tooLarge(path string, size, max int64) *Error {
	return &Error{Reason: FileTooLarge, Path: path, Detail: fmt.Sprintf("%d bytes, more than the %d allowed", size, max)}
}

// printable is s, quoted unless every character of it shows.
func printable(s string) string {
	hidden := func(r rune) bool { return !strconv.IsPrint(r) || r == '\uFFFD' }
	if strings.ContainsFunc(s, hidden) {
		return strconv.QuoteToASCII(s)
	}
	return s
}
