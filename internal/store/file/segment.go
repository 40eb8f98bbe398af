package file

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

const (
	segmentDigits = 20
	segmentSuffix = ".jsonl"
)

// segmentName is the name of the segment that begins with the line numbered first.
func segmentName(first int64) string {
	return fmt.Sprintf("%0*d%s", segmentDigits, first, segmentSuffix)
}

// segments picks the segments out of the sorted names of a directory.
func segments(names []string) ([]int64, error) {
	var firsts []int64
	for _, name := range names {
		digits, ok := strings.CutSuffix(name, segmentSuffix)
		if !ok || len(digits) != segmentDigits || strings.Trim(digits, "0123456789") != "" {
			continue
		}
		first, err := strconv.ParseInt(digits, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("%q: named like a segment, with a number that no line has; move it out of the log's directory", name)
		}
		firsts = append(firsts, first)
	}
	return firsts, nil
}

// scanBytes is how much is looked at at once in search of the last line.
const scanBytes = 64 << 10

// place is how far a segment goes.
type place struct {
	end    int64 // behind the last line, or what else is there
	size   int64 // behind the room
	torn   bool  // what is before the end has no newline of its own
	soiled bool  // a power cut turned some of the room into zeros
}

// blankByte is what room is made of, or turns into.
func blankByte(c byte) bool { return c == '\n' || c == 0 }

// lastLine finds the end of a segment, by going back over the room. What comes before the room is not judged.
func lastLine(r io.ReaderAt, size int64) (place, error) {
	buf := make([]byte, min(scanBytes, size))
	p := place{size: size}
	next := byte(0) // the one behind what was looked at
	for at := size; at > 0; {
		part := buf[:min(int64(len(buf)), at)]
		at -= int64(len(part))
		if err := readFull(r, part, at); err != nil {
			return place{}, err
		}
		for i := len(part) - 1; i >= 0; i-- {
			if !blankByte(part[i]) {
				p.end, p.torn = at+int64(i)+1, next != '\n'
				if !p.torn {
					p.end++
				}
				return p, nil
			}
			p.soiled = p.soiled || part[i] == 0
			next = part[i]
		}
	}
	return p, nil
}

// reader is an open segment.
type reader interface {
	io.ReaderAt
	Size() (int64, error)
}

// measure is how far the last segment goes. A writer that cuts room off meanwhile makes it look again.
func measure(r reader) (p place, err error) {
	for range mostLooks {
		var size int64
		if size, err = r.Size(); err == nil {
			p, err = lastLine(r, size)
		}
		if !errors.Is(err, io.ErrUnexpectedEOF) {
			break
		}
	}
	return p, err
}

// mostLooks bounds that: a segment is sealed once, but a full disk may be tried again and again.
const mostLooks = 10

// readFull reads len(p) bytes at off, or fails.
func readFull(r io.ReaderAt, p []byte, off int64) error {
	n, err := r.ReadAt(p, off)
	if n == len(p) {
		return nil
	}
	if err == io.EOF || err == nil {
		err = io.ErrUnexpectedEOF
	}
	return err
}
