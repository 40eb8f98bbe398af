package beneath

import "cmp"

// Stream is an open regular file that is read in pieces, of any size. The zero value is not usable. It may be read by several
// goroutines at once; Close may not run beside anything.
type Stream struct {
	f      object
	before info
	dir    *Dir // of which only the path counts, for errors
	name   string
}

// Stream opens the child file name, which must still be what before says of it: file-changing if it is not. The caller
// closes it. Who has read to the end asks [Stream.Unchanged].
// Reasons: file-name, file-link, file-special, file-mount, file-changing, not-a-file, no-access, read-failed.
func (d *Dir) Stream(name string, before Facts) (*Stream, error) {
	if err := d.check(name); err != nil {
		return nil, err
	}
	if before.Kind != Regular {
		return nil, refuseKind(d.below(name), before.Kind, Regular)
	}
	if before.Mount {
		return nil, refusal(d.below(name), errMount)
	}
	s, err := d.stream(name)
	if err != nil {
		return nil, err
	}
	if s.before.facts() != before {
		_ = s.Close()
		return nil, refusal(d.below(name), errChanged)
	}
	return &s, nil
}

// StreamListed opens the child name of which a listing says that it is a regular file, and saves the look that [Dir.Stream]
// wants. What was opened decides: anything else is refused before it is read. Of what a listing says there is much, so the
// Stream is the caller's own memory.
// Reasons: those of Stream, and not-found.
func (d *Dir) StreamListed(name string) (Stream, Facts, error) {
	if err := d.check(name); err != nil {
		return Stream{}, Facts{}, err
	}
	s, err := d.stream(name)
	if err != nil {
		return Stream{}, Facts{}, err
	}
	if s.before.kind != Regular {
		_ = s.Close()
		return Stream{}, Facts{}, refuseKind(d.below(name), s.before.kind, Regular)
	}
	return s, s.before.facts(), nil
}

// stream opens whatever lies under a name now and looks at it.
func (d *Dir) stream(name string) (Stream, error) {
	f, err := d.h.file(name)
	if err != nil {
		return Stream{}, d.refuseOpen(d.below(name), name, Regular, err)
	}
	opened, err := f.stat()
	if err != nil {
		_ = f.Close()
		return Stream{}, refusal(d.below(name), err)
	}
	return Stream{f: f, before: opened, dir: d, name: name}, nil
}

// ReadAt reads like [io.ReaderAt]: the error at the end of the file is io.EOF.
func (s *Stream) ReadAt(p []byte, off int64) (int, error) { return s.f.ReadAt(p, off) }

// ReadSome is ReadAt that asks once and may give less than there is; at the end of the file that is nothing and io.EOF.
func (s *Stream) ReadSome(p []byte, off int64) (int, error) {
	if f, ok := s.f.(interface {
		readSome([]byte, int64) (int, error)
	}); ok {
		return f.readSome(p, off)
	}
	n, err := s.f.ReadAt(p, off)
	if n > 0 {
		err = nil
	}
	return n, err
}

// Recent says that the file changed so shortly before it was opened that a further change may leave its times as they are:
// then two readings must agree, and even so [Stream.Unchanged] must hold.
func (s *Stream) Recent() bool { return s.before.recent() }

// Unchanged looks again: file-changing unless the file is what it was when it was opened.
func (s *Stream) Unchanged() error {
	after, err := s.f.stat()
	if err != nil || after != s.before {
		return refusal(s.dir.below(s.name), cmp.Or(err, errChanged))
	}
	return nil
}

// Xattrs reads the extended attributes whose names are wanted, in no order, at most max bytes of names and values; see
// [Dir.Xattrs].
func (s *Stream) Xattrs(wanted func(name string) bool, max int) ([]Xattr, error) {
	attrs, err := s.f.xattrs(xattrQuery{wanted, max})
	if err != nil {
		return nil, refusal(s.dir.below(s.name), err)
	}
	return attrs, nil
}

// Close releases the file.
func (s *Stream) Close() error { return s.f.Close() }
