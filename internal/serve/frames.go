package serve

import (
	"bufio"
	"errors"
	"io"
	"os"
	"time"
)

var (
	errTooLarge = errors.New("a longer line than is read") // what is left of it will be skipped
	errFlood    = errors.New("a longer line than is skipped")
	errLate     = errors.New("a line was not ended in time")
	errIdle     = errors.New("no line came in time")
)

// source is where lines come from.
type source interface {
	io.Reader
	SetReadDeadline(time.Time) error
}

// frames cuts a stream into lines. It never holds more than one of at most most bytes, and what the reader buffers.
type frames struct {
	from   source
	r      *bufio.Reader
	most   int           // of a line without its newline
	skips  int           // how much of a longer one is thrown away before errFlood
	within time.Duration // from the first byte of a line to its newline, skipped or not
	idle   time.Time     // until when the first byte must be there; zero is never

	line     []byte // valid until the next call of next
	skipping bool
}

// keep is how large a buffer stays when a line was long.
const keep = 64 << 10

func newFrames(from source, most, skips int, within time.Duration) *frames {
	return &frames{from: from, r: bufio.NewReaderSize(from, 16<<10), most: most, skips: skips, within: within}
}

// next is the next line without its newline. After errTooLarge one may go on.
func (f *frames) next() ([]byte, error) {
	if f.skipping {
		if err := f.skip(); err != nil {
			return nil, err
		}
	}
	if cap(f.line) > keep {
		f.line = nil
	}
	f.line = f.line[:0]
	if err := f.begin(); err != nil {
		return nil, err
	}
	for {
		part, err := f.r.ReadSlice('\n')
		if n := len(part); err == nil {
			part = part[:n-1]
		}
		if len(f.line)+len(part) > f.most {
			f.skipping = err != nil
			return nil, errTooLarge
		}
		f.line = append(f.line, part...)
		switch {
		case err == nil:
			return f.line, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, late(err, errLate)
		}
	}
}

// begin waits for the first byte of a line and starts its clock.
func (f *frames) begin() error {
	if !f.idle.IsZero() && time.Now().After(f.idle) {
		return errIdle
	}
	if f.r.Buffered() == 0 {
		if err := f.from.SetReadDeadline(f.idle); err != nil {
			return err
		}
		if _, err := f.r.Peek(1); err != nil {
			return late(err, errIdle)
		}
	}
	if f.within == 0 {
		return nil
	}
	return f.from.SetReadDeadline(time.Now().Add(f.within))
}

func (f *frames) skip() error {
	for n := 0; n <= f.skips; {
		part, err := f.r.ReadSlice('\n')
		n += len(part)
		switch {
		case err == nil:
			f.skipping = false
			return nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return late(err, errLate)
		}
	}
	return errFlood
}

func late(err, meant error) error {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return meant
	}
	return err
}
