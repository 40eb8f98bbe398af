package canonical

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// Parse reads one JSON document into the value that into points to, or refuses
// it with an *Error. What into held before does not matter: it is replaced on
// success and untouched on error. The data is not changed and not kept. An into
// that is not a non-nil pointer to a supported type gives an error that wraps
// ErrType.
func Parse(data []byte, into any, lim Limits) error {
	target := reflect.ValueOf(into)
	if target.Kind() != reflect.Pointer || target.IsNil() {
		return fmt.Errorf("%w: Parse needs a pointer to store into, not %T", ErrType, into)
	}
	p, err := planFor(target.Type().Elem())
	if err != nil {
		return err
	}
	fresh := reflect.New(p.typ).Elem()
	if _, err := read(data, p, fresh, lim); err != nil {
		return err
	}
	target.Elem().Set(fresh)
	return nil
}

// Check refuses, with an *Error, what no Go type could take: everything the
// package documentation lists under "Any document". The value may be of any
// type, null included.
func Check(data []byte, lim Limits) error {
	_, err := read(data, nil, reflect.Value{}, lim)
	return err
}

// read is one pass over the document. Without a plan it checks; with one it
// also stores into v.
func read(data []byte, p *plan, v reflect.Value, lim Limits) (*decoder, error) {
	if len(data) > lim.bytes() {
		return nil, tooLarge(lim.bytes())
	}
	if bytes.HasPrefix(data, []byte("\ufeff")) {
		return nil, &Error{Reason: ByteOrderMark, Detail: "the document begins with a byte order mark; remove its first three bytes"}
	}
	d := &decoder{data: data, source: *bytes.NewBuffer(data), mostDepth: lim.depth()}
	d.tokens.Reset(&d.source, jsontext.AllowDuplicateNames(true))
	if err := d.value(p, v); err != nil {
		return nil, err
	}
	return d, d.end()
}

func tooLarge(most int) error {
	return &Error{Reason: TooLarge, Offset: int64(most), Detail: fmt.Sprintf("the document has more than %d bytes; make it smaller", most)}
}

// decoder walks over the tokens of one document. The tokenizer knows the
// grammar, UTF-8 and surrogates; keys are compared here, because it neither
// knows about case nor says where a key began.
type decoder struct {
	data      []byte
	source    bytes.Buffer // of data, for tokens
	tokens    jsontext.Decoder
	taken     int64 // where the token read last ends
	other     bool  // something is not written as in the canonical form
	keys      keys
	unescaped []byte
	depth     int
	deepest   int
	mostDepth int
}

// value reads the next value. A nil plan takes anything and stores nothing.
func (d *decoder) value(p *plan, v reflect.Value) error {
	next := d.tokens.PeekKind()
	if p != nil && next != 'n' {
		switch p.kind {
		case kindPointer:
			v.Set(reflect.New(p.elem.typ))
			return d.value(p.elem, v.Elem())
		case kindRaw:
			return d.raw(v)
		}
	}
	if next == '{' || next == '[' {
		return d.composite(p, v, next)
	}
	text, err := d.tokens.ReadValue()
	if err != nil {
		return d.syntax(err)
	}
	d.took(len(text))
	switch next {
	case '"':
		d.other = d.other || !plainText(text)
		return d.text(p, v, text)
	case '0':
		d.other = d.other || !plainNumber(text)
		return d.number(p, v, text)
	case 't', 'f':
		return d.truth(p, v, text)
	case 'n':
		if p == nil {
			return nil
		}
		return d.wrongType(p, len(text), "null")
	default:
		return d.syntax(nil)
	}
}

// composite reads an object or array.
func (d *decoder) composite(p *plan, v reflect.Value, next jsontext.Kind) error {
	if _, err := d.tokens.ReadToken(); err != nil {
		return d.syntax(err)
	}
	d.took(1)
	start := d.taken - 1
	if d.depth++; d.depth > d.mostDepth {
		return d.refuse(TooDeep, start, fmt.Sprintf("nested deeper than %d levels; make it flatter", d.mostDepth))
	}
	d.deepest = max(d.deepest, d.depth)
	var err error
	switch {
	case next == '{' && p != nil && p.kind == kindStruct:
		err = d.structure(p, v, start)
	case next == '{' && (p == nil || p.kind == kindMap):
		err = d.mapping(p, v)
	case next == '[' && (p == nil || p.kind == kindSlice):
		err = d.slice(p, v)
	case next == '[' && p.kind == kindArray:
		err = d.array(p, v, start)
	case next == '{':
		err = d.wrongType(p, 1, "an object")
	default:
		err = d.wrongType(p, 1, "an array")
	}
	d.depth--
	return err
}

// name reads the next key of an object, or its end. The key is valid until the
// next call.
func (d *decoder) name() (key []byte, at int64, more bool, err error) {
	switch d.tokens.PeekKind() {
	case '"':
		quoted, err := d.tokens.ReadValue()
		if err != nil {
			return nil, 0, false, d.syntax(err)
		}
		d.took(len(quoted))
		d.other = d.other || !plainText(quoted)
		return d.unquote(quoted), d.start(len(quoted)), true, nil
	case '}':
		_, err := d.tokens.ReadToken()
		if err != nil {
			err = d.syntax(err)
		}
		d.took(1)
		return nil, 0, false, err
	default:
		_, err := d.tokens.ReadToken()
		return nil, 0, false, d.syntax(err)
	}
}

// another reports whether an array has one more element; otherwise it reads
// its end.
func (d *decoder) another() (bool, error) {
	if d.tokens.PeekKind() != ']' {
		return true, nil
	}
	if _, err := d.tokens.ReadToken(); err != nil {
		return false, d.syntax(err)
	}
	d.took(1)
	return false, nil
}

// unquote takes a string that the tokenizer has accepted. The result is valid
// until the next call.
func (d *decoder) unquote(quoted []byte) []byte {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return quoted[1 : len(quoted)-1]
	}
	d.unescaped, _ = jsontext.AppendUnquote(d.unescaped[:0], quoted)
	return d.unescaped
}

// end refuses anything but white space after the document.
func (d *decoder) end() error {
	at := d.tokens.InputOffset()
	rest := bytes.TrimLeft(d.data[at:], " \t\r\n")
	if len(rest) == 0 {
		d.other = d.other || at < int64(len(d.data))
		return nil
	}
	return &Error{
		Reason: TrailingBytes,
		Offset: int64(len(d.data) - len(rest)),
		Detail: "something follows the end of the document; remove it",
	}
}

// start is where the token of that length, just read, begins.
func (d *decoder) start(length int) int64 { return d.tokens.InputOffset() - int64(length) }

// refuse names the value read last.
func (d *decoder) refuse(reason Reason, at int64, detail string) error {
	return &Error{Reason: reason, Offset: at, Field: string(d.tokens.StackPointer()), Detail: detail}
}

// syntax turns an error of the tokenizer into ours. The reason is read off the
// bytes that it points at, for it does not export one.
func (d *decoder) syntax(err error) error {
	e := &Error{Reason: Syntax, Offset: int64(len(d.data)), Detail: "the document is empty; write one JSON value"}
	var cause *jsontext.SyntacticError
	if !errors.As(err, &cause) {
		return e
	}
	e.Field = string(cause.JSONPointer)
	at := min(max(cause.ByteOffset, 0), int64(len(d.data)))
	rest := d.data[at:]
	if r, size := utf8.DecodeRune(rest); r == utf8.RuneError && size == 1 {
		e.Reason, e.Offset, e.Detail = BadUTF8, at, "these bytes are not UTF-8; save the document as UTF-8"
		return e
	}
	if errors.Is(cause.Err, io.ErrUnexpectedEOF) {
		e.Detail = "the document ends before its value does; is it cut off?"
		return e
	}
	e.Offset, e.Detail = at, seen(cause.Err.Error())+"; write JSON as in RFC 8259"
	inString := strings.Contains(cause.Err.Error(), "surrogate")
	if inString && len(rest) > 3 && rest[0] == '\\' && rest[1] == 'u' && rest[2]|0x20 == 'd' && rest[3] >= '8' {
		e.Reason, e.Detail = LoneSurrogate, "half of a surrogate pair is no character; write the character itself"
	}
	return e
}
