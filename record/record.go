package record

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"
)

// Kind names what happened. The set is closed.
type Kind string

// Body is the typed content of a record. Only this package implements it.
type Body interface {
	Kind() Kind
	encode(*codec)
	decode(*codec) Body // reads what encode writes, into a copy
}

// MaxLine bounds a line, in bytes without the newline.
const MaxLine = 64 << 10

// MaxID bounds the ids of sessions and requests, in bytes.
const MaxID = 128

// Hash is a SHA-256. Its text is lower-case hex.
type Hash [sha256.Size]byte

// String is the hash in hex.
func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// Entry is a record before it has a place in a log. The zero value is refused.
type Entry struct {
	Session string // id, may be empty
	Request string // id, may be empty
	Body    Body
}

// Of is the entry of what belongs to no session.
func Of(b Body) Entry { return Entry{Body: b} }

// Mark is the place that a record got in a log.
type Mark struct {
	Seq  int64
	Hash Hash // of its line, as leaf
}

// Sink takes records. Append returns nil only when all of them are durable, in
// order and next to one another; on an error the caller must not act on what
// it wanted to record.
type Sink interface {
	Append(ctx context.Context, entries ...Entry) ([]Mark, error)
}

// Record is one entry in its place. Lines are read and written by
// [ParseLine] and [Record.Line]; a log writes them with [Encoded.AppendLine].
type Record struct {
	Seq     int64
	Batch   int64 // sequence number of the first record of its batch
	Time    time.Time
	Session string
	Request string
	Prev    Hash // leaf hash of the line before
	Body    Body
}

// Leaf is the RFC 6962 leaf hash of a line without its newline.
func Leaf(line []byte) Hash {
	var h Hasher
	return h.Leaf(line)
}

// Hasher makes leaf hashes, one after the other. The zero value is ready. It
// is not safe for concurrent use.
type Hasher struct{ buf []byte }

// Leaf is the leaf hash of a line without its newline.
func (h *Hasher) Leaf(line []byte) Hash {
	if h.buf == nil {
		h.buf = make([]byte, 1, max(1<<10, len(line)+1)) // the first byte is that of a leaf, 0
	}
	h.buf = append(h.buf[:1], line...)
	return sha256.Sum256(h.buf)
}

// Encoded is an entry of which all but its place is written. It is made by
// [Encode] by whoever appends, so that the owner of the log's head has little
// left to do.
type Encoded struct {
	Kind    Kind
	Body    Body
	Session string
	Request string
	middle  []byte // body and kind
}

// overhead is at least what a line has besides body, kind, session and request.
const overhead = 240

var (
	// ErrTooLong says that a record does not fit in a line. What makes it long
	// belongs in the blob store.
	ErrTooLong = errors.New("record-too-long")
	// ErrLine says that bytes are not a line as this package writes it.
	ErrLine = errors.New("record-invalid")
)

// Encode writes the parts of an entry that do not depend on its place. It
// fails with [ErrTooLong], or if the entry has no body or a body that cannot be
// written, such as one with a number beyond 2^53 or an unknown token.
func Encode(e Entry) (Encoded, error) {
	// A pointer to a body has the methods of the body, and is none.
	if e.Body == nil || reflect.TypeOf(e.Body).Kind() == reflect.Pointer {
		return Encoded{}, fmt.Errorf("record without a body: %w", ErrLine)
	}
	kind := e.Body.Kind()
	// Most middles have room beside what writes them.
	w := new(struct {
		codec
		room [768]byte
	})
	c := &w.codec
	c.writing, c.out = true, append(w.room[:0], `"body":`...)
	e.Body.encode(c)
	if c.err != nil {
		return Encoded{}, fmt.Errorf("record %s: %w", kind, c.err)
	}
	if !isID(e.Session) || !isID(e.Request) {
		return Encoded{}, fmt.Errorf("record %s: id of session or request: not up to %d of A-Z a-z 0-9 . _ : -: %w", kind, MaxID, ErrLine)
	}
	if c.altered { // what counts is what the line says
		again := codec{in: string(c.out[len(`"body":`):])}
		e.Body = decode(kind, &again)
	}
	c.out = append(append(append(c.out, `,"kind":"`...), kind...), '"')
	out := Encoded{Kind: kind, Body: e.Body, Session: e.Session, Request: e.Request, middle: c.out}
	if n := out.size(); n > MaxLine {
		return Encoded{}, fmt.Errorf("record %s: %d bytes, at most %d: %w", kind, n, MaxLine, ErrTooLong)
	}
	return out, nil
}

// size is an upper bound of the line's length.
func (e *Encoded) size() int { return len(e.middle) + len(e.Session) + len(e.Request) + overhead }

// Size is an upper bound of the length of the line, with its newline.
func (e *Encoded) Size() int { return e.size() + 1 }

// AppendLine writes the whole line, without a newline, in its place.
func (e *Encoded) AppendLine(dst []byte, seq, batch int64, prev Hash, when Stamp) []byte {
	dst = append(dst, `{"batch":`...)
	dst = appendInt(dst, batch)
	dst = append(dst, ',')
	dst = append(dst, e.middle...)
	dst = append(dst, `,"prevHash":"`...)
	dst = hex.AppendEncode(dst, prev[:])
	dst = append(dst, `","request":"`...)
	dst = append(dst, e.Request...)
	dst = append(dst, `","seq":`...)
	dst = appendInt(dst, seq)
	dst = append(dst, `,"session":"`...)
	dst = append(dst, e.Session...)
	dst = append(dst, `","time":"`...)
	dst = append(dst, when...)
	return append(dst, `"}`...)
}

// Line encodes a record as its line, without the newline.
func (r Record) Line() ([]byte, error) {
	e, err := Encode(Entry{Session: r.Session, Request: r.Request, Body: r.Body})
	if err != nil {
		return nil, err
	}
	return e.AppendLine(nil, r.Seq, r.Batch, r.Prev, StampOf(r.Time)), nil
}

// ParseLine reads one line without its newline, strictly: it is the exact
// inverse of [Record.Line], and whatever that does not write is refused with
// [ErrLine]. Strings of the record share memory with line.
func ParseLine(line string) (r Record, err error) {
	c := new(codec)
	kind, err := c.head(line, &r, new(lastStamp))
	if err == nil {
		r.Body = decode(kind, c)
		err = c.whole(kind)
	}
	if err != nil {
		return Record{}, err
	}
	return r, nil
}

// whole says what is wrong with a body that was read, which ends the input.
func (c *codec) whole(kind Kind) error {
	if c.end(); c.err != nil {
		return fmt.Errorf("kind %q: %w", string(kind), c.err)
	}
	return nil
}

// lastStamp is the time that was read last: the records of a batch share it.
type lastStamp struct {
	text string
	time time.Time
}

// head reads all of a line but its body, at which c is left.
func (c *codec) head(line string, r *Record, stamp *lastStamp) (Kind, error) {
	if len(line) > MaxLine {
		return "", fmt.Errorf("%w: %d bytes, at most %d", ErrLine, len(line), MaxLine)
	}
	// The kind says how to read the body and stands behind it, so the fields
	// behind the body are read from the end.
	t := tail{rest: line}
	when := t.fixed(`,"time":"`, len(timeFormat), "}")
	r.Session = t.quoted(`,"session":"`, "")
	r.Seq = t.number(`,"seq":`)
	r.Request = t.quoted(`,"request":"`, "")
	prev := t.fixed(`,"prevHash":"`, 2*len(r.Prev), "")
	kind := Kind(t.quoted(`,"kind":"`, ""))
	*c = codec{in: t.rest}
	c.open()
	c.int("batch", &r.Batch)
	c.key("body")
	ok := true
	if when != stamp.text {
		if stamp.time, ok = parseStamp(when); ok {
			stamp.text = when
		}
	}
	r.Time = stamp.time
	if t.bad || !ok || len(prev) != 2*len(r.Prev) || !readHex(&r.Prev, prev) {
		return "", fmt.Errorf("%w: not the fields of a record, in canonical form", ErrLine)
	}
	if r.Seq < 0 || r.Batch < 0 || r.Batch > r.Seq || !isID(r.Session) || !isID(r.Request) {
		return "", fmt.Errorf("%w: seq, batch, session or request out of range", ErrLine)
	}
	return kind, nil
}

// tail reads the fields of a line from its end.
type tail struct {
	rest string // what was not read
	bad  bool
}

// quoted takes a field off whose value needs no escapes. before is all from the
// comma to the opening quote; after stands behind the closing one.
func (t *tail) quoted(before, after string) string {
	end := len(t.rest) - len(after) - 1
	if t.bad || end < 0 || t.rest[end] != '"' || t.rest[end+1:] != after {
		t.bad = true
		return ""
	}
	return t.value(before, strings.LastIndexByte(t.rest[:end], '"')+1, end)
}

// value takes off what begins with before and ends with the value from start.
func (t *tail) value(before string, start, end int) string {
	at := start - len(before)
	if t.bad || at < 0 || t.rest[at:start] != before {
		t.bad = true
		return ""
	}
	value := t.rest[start:end]
	t.rest = t.rest[:at]
	return value
}

// fixed is quoted for a value of known length.
func (t *tail) fixed(before string, n int, after string) string {
	end := len(t.rest) - len(after) - 1
	if t.bad || end < n || t.rest[end] != '"' || t.rest[end+1:] != after {
		t.bad = true
		return ""
	}
	return t.value(before, end-n, end)
}

func (t *tail) number(before string) int64 {
	start := strings.LastIndexByte(t.rest, ':') + 1
	n, size := readInt(t.rest[start:])
	if size == 0 || start+size != len(t.rest) {
		t.bad = true
	}
	t.value(before, start, len(t.rest))
	return n
}

// isID says whether s may stand for a session or request: up to MaxID of the
// characters A-Z a-z 0-9 . _ : - and so never one that needs an escape.
func isID(s string) bool {
	if len(s) > MaxID {
		return false
	}
	for i := range len(s) {
		c := s[i]
		if (c|0x20 < 'a' || c|0x20 > 'z') && (c < '-' || c > ':' || c == '/') && c != '_' {
			return false
		}
	}
	return true
}
