package beneath

import (
	"errors"
	"io"
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

func TestListedTwice(t *testing.T) {
	if err := sortEntries([]Entry{{"b", Regular}, {"a", Regular}, {"b", Link}}); !errors.Is(err, errChanged) {
		t.Errorf("a name listed twice: %v", err)
	}
}
