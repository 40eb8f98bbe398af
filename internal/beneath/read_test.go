package beneath

import (
	"errors"
	"io"
	"syscall"
	"testing"
	"time"
)

// script is a file whose looks and reads are told in advance.
type script struct {
	looks []info // one per stat
	reads []string
	fail  error // what every read answers when set
	calls int
}

func (s *script) stat() (info, error) {
	i := s.looks[0]
	s.looks = s.looks[1:]
	return i, nil
}

// ReadAt serves the first read of byte 0 from the first content, the second from the second and so on.
func (s *script) ReadAt(p []byte, off int64) (int, error) {
	s.calls++
	if s.fail != nil {
		return 0, s.fail
	}
	if off == 0 && len(p) > 0 && s.calls > 1 && len(s.reads) > 1 {
		s.reads = s.reads[1:]
	}
	if off >= int64(len(s.reads[0])) {
		return 0, io.EOF
	}
	n := copy(p, s.reads[0][off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (s *script) Close() error { return nil }

func (s *script) xattrs(xattrQuery) ([]Xattr, error) { return nil, nil }

func TestReadUnchanged(t *testing.T) {
	at := func(age time.Duration) moment {
		when := time.Now().Add(-age)
		return moment{when.Unix(), int64(when.Nanosecond())}
	}
	old := info{stamp: Stamp{1, 2, at(time.Hour), at(time.Hour)}, kind: Regular, mode: 0o100644, links: 1, size: 4}
	with := func(change func(*info)) info {
		i := old
		change(&i)
		return i
	}
	fresh := with(func(i *info) { i.stamp.ctime = at(0) })
	ahead := with(func(i *info) { i.stamp.ctime = at(-time.Hour) })
	same := []info{old, old}
	disk := errors.New("disk")

	for what, c := range map[string]struct {
		before info
		script script
		want   error
	}{
		"steady":                         {old, script{looks: same, reads: []string{"data"}}, nil},
		"another file opened":            {old, script{looks: []info{with(func(i *info) { i.stamp.ino++ }), old}, reads: []string{"data"}}, errChanged},
		"a device opened":                {old, script{looks: []info{with(func(i *info) { i.kind = Device })}, fail: errors.New("a device was read")}, errChanged},
		"another device number":          {old, script{looks: []info{old, with(func(i *info) { i.stamp.dev++ })}, reads: []string{"data"}}, errChanged},
		"written, size":                  {old, script{looks: []info{old, with(func(i *info) { i.size++ })}, reads: []string{"data"}}, errChanged},
		"written, mtime by a nanosecond": {old, script{looks: []info{old, with(func(i *info) { i.stamp.mtime.nsec++ })}, reads: []string{"data"}}, errChanged},
		"written, mtime put back":        {old, script{looks: []info{old, with(func(i *info) { i.stamp.ctime.nsec++ })}, reads: []string{"data"}}, errChanged},
		"made executable":                {old, script{looks: []info{old, with(func(i *info) { i.mode |= 0o111 })}, reads: []string{"data"}}, errChanged},
		"linked":                         {old, script{looks: []info{old, with(func(i *info) { i.links++ })}, reads: []string{"data"}}, errChanged},
		"shorter than it says":           {old, script{looks: same, reads: []string{"dat"}}, errChanged},
		"longer than it says":            {old, script{looks: same, reads: []string{"data+"}}, errChanged},
		"read error":                     {old, script{looks: same, fail: disk}, disk},
		"fresh, twice the same":          {fresh, script{looks: []info{fresh, fresh}, reads: []string{"data", "data"}}, nil},
		"fresh, then other":              {fresh, script{looks: []info{fresh, fresh}, reads: []string{"data", "dat2"}}, errChanged},
		"fresh, then shorter":            {fresh, script{looks: []info{fresh, fresh}, reads: []string{"data", "dat"}}, errChanged},
		"from the future, then other":    {ahead, script{looks: []info{ahead, ahead}, reads: []string{"data", "dat2"}}, errChanged},
	} {
		data, err := readUnchanged(&c.script, c.before)
		if !errors.Is(err, c.want) || (err == nil) != (string(data) == "data") {
			t.Errorf("%s: %q, %v, want error %v", what, data, err, c.want)
		}
	}
}

// window is a directory whose only name is one thing when it is looked at and another when it is opened.
type window struct {
	handle
	looks []info // in order; none left is not found
	open  error
}

func (w *window) lstat(string) (info, error) {
	if len(w.looks) == 0 {
		return info{}, syscall.ENOENT
	}
	i := w.looks[0]
	w.looks = w.looks[1:]
	return i, nil
}

func (w *window) file(string) (object, error) { return nil, w.open }
func (w *window) dir(string) (handle, error)  { return nil, w.open }

func TestRefusedInTheWindow(t *testing.T) {
	regular, link, dir, fifo := info{kind: Regular}, info{kind: Link}, info{kind: Directory}, info{kind: FIFO}
	for what, c := range map[string]struct {
		looks []info
		open  error
		want  Reason
	}{
		"taken away":               {[]info{regular}, syscall.ENOENT, FileChanging},
		"a link now":               {[]info{regular, link}, syscall.ELOOP, FileLink},
		"a link, said differently": {[]info{regular, link}, syscall.EMLINK, FileLink},
		"a link for a moment":      {[]info{regular, regular}, syscall.ELOOP, FileChanging},
		"a socket for a moment":    {[]info{regular, regular}, syscall.ENXIO, FileChanging},
		"a FIFO now":               {[]info{regular, fifo}, syscall.ENXIO, FileSpecial},
		"a directory now":          {[]info{regular, dir}, syscall.EISDIR, NotAFile},
		"denied":                   {[]info{regular, regular}, syscall.EACCES, NoAccess},
		"a mount":                  {[]info{regular, regular}, syscall.EXDEV, FileMount},
		"a bad disk":               {[]info{regular, regular}, syscall.EIO, ReadFailed},
	} {
		d := &Dir{h: &window{looks: c.looks, open: c.open}, path: "d"}
		_, err := d.ReadFile("f", 10)
		wantReason(t, what, err, c.want)
	}
	for what, c := range map[string]struct {
		looks []info
		open  error
		want  Reason
	}{
		"absent":              {nil, syscall.ENOENT, NotFound},
		"a link":              {[]info{link}, syscall.ENOTDIR, FileLink},
		"a file":              {[]info{regular}, syscall.ENOTDIR, NotADirectory},
		"a file for a moment": {[]info{dir}, syscall.ENOTDIR, FileChanging},
		"a link for a moment": {[]info{dir}, syscall.ELOOP, FileChanging},
	} {
		d := &Dir{h: &window{looks: c.looks, open: c.open}, path: "d"}
		_, err := d.Dir("sub")
		wantReason(t, what, err, c.want)
	}
}

func TestListedTwice(t *testing.T) {
	if err := sortEntries([]Entry{{"b", Regular}, {"a", Regular}, {"b", Link}}); !errors.Is(err, errChanged) {
		t.Errorf("a name listed twice: %v", err)
	}
}
