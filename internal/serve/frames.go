package serve

import (
	"bufio"
	"errors"
	"io"
	"os"
	"sync/atomic"
	"time"
)

var (
	errTooLarge = errors.New("a longer line than is read") // what is left of it will be skipped
	errFlood    = errors.New("a longer line than is skipped")
	errLate     = errors.New("a line was not ended in time")
	errIdle     = errors.New("no line came in time")
	errCrowded  = errors.New("too many long lines at once") // what is left of it will be skipped
)

// Room is how many bytes of long lines may be held at once by all connections together that share it.
type Room struct {
	most int64
	used atomic.Int64
}

// NewRoom makes room for that many bytes.
func NewRoom(bytes int) *Room { return &Room{most: int64(bytes)} }

// Take takes room, if there is as much. No Room at all has any.
func (r *Room) Take(n int) bool {
	if r == nil {
		return true
	}
	if r.used.Add(int64(n)) > r.most {
		r.used.Add(-int64(n))
		return false
	}
	return true
}

// Give gives it back.
func (r *Room) Give(n int) {
	if r != nil {
		r.used.Add(-int64(n))
	}
}

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
	room   *Room         // for lines longer than keep; nil has no end

	line     []byte // valid until the next call of next
	head     []byte // of the last line that was too long, the first endBytes of it
	tail     []byte // and the last, once it was skipped
	taken    int    // of room
	skipping bool
}

// keep is how large a buffer stays when a line was long.
const keep = 64 << 10

func newFrames(from source, most, skips int, within time.Duration) *frames {
	return &frames{from: from, r: bufio.NewReaderSize(from, 16<<10), most: most, skips: skips, within: within}
}

// next is the next line without its newline. After errTooLarge one may go on.
func (f *frames) next() ([]byte, error) {
	f.drop()
	if f.skipping {
		if err := f.skip(); err != nil {
			return nil, err
		}
	}
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
			f.head = append(f.head[:0], f.line[:min(len(f.line), endBytes)]...)
			f.tail = last(append(f.tail[:0], f.line[max(0, len(f.line)-endBytes):]...), part)
			f.drop()
			return nil, errTooLarge
		}
		if len(f.line)+len(part) > keep {
			if !f.room.Take(len(part)) {
				f.skipping = err != nil
				f.drop()
				return nil, errCrowded
			}
			f.taken += len(part)
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

// drop lets go of the line.
func (f *frames) drop() {
	if cap(f.line) > keep {
		f.line = nil
	}
	f.line = f.line[:0]
	f.room.Give(f.taken)
	f.taken = 0
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
		f.tail = last(f.tail, part)
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

// endBytes is how much of the ends of a line that is too long is kept: enough to
// say whose it was.
const endBytes = 512

// last is the end of what is behind the other.
func last(tail, part []byte) []byte {
	part = part[max(0, len(part)-endBytes):]
	tail = append(tail[:0], tail[max(0, len(tail)+len(part)-endBytes):]...)
	return append(tail, part...)
}

func late(err, meant error) error {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return meant
	}
	return err
}
