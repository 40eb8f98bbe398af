package canonical

import (
	"bytes"
	"encoding"
	"fmt"
	"reflect"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/gowebpki/jcs"
)

// Transform checks a document and returns its RFC 8785 form. Two documents
// have the same form exactly when they are the same JSON value. The result is
// within the limits too: expanding an exponent may make it TooLarge. Errors are
// those of Check.
func Transform(data []byte, lim Limits) ([]byte, error) {
	return AppendTransform(nil, data, lim)
}

// AppendTransform is Transform that appends the form to dst, which may not share
// memory with data. On an error it returns nil.
func AppendTransform(dst, data []byte, lim Limits) ([]byte, error) {
	d, err := read(data, nil, reflect.Value{}, lim)
	if err != nil {
		return nil, err
	}
	out, err := d.form(data)
	if err == nil && len(out) > lim.bytes() {
		err = tooLarge(lim.bytes())
	}
	if err != nil {
		return nil, err
	}
	return append(dst, out...), nil
}

// form is the canonical form of what was read last, data itself where that is it.
// Reading comes first because the canonicalizer alone is too kind: it rounds
// numbers, 1e400 to the largest float64.
func (d *decoder) form(data []byte) ([]byte, error) {
	if !d.other {
		return data, nil
	}
	out := jsontext.Value(bytes.Clone(data))
	if err := out.Canonicalize(); err != nil {
		return nil, &Error{Reason: Syntax, Detail: "two readers disagree about the document", Err: err}
	}
	return out, nil
}

// Marshal returns the RFC 8785 form of a Go value. It follows the same types
// and tags as Parse, and refuses what Parse would refuse: bad UTF-8, numbers a
// float64 does not hold, nil pointers that are not omitted, keys of a map that
// differ only in case, nesting deeper than the default limit (so that a value
// that contains itself ends). Nil slices are [] and nil maps {}. An error is
// an *Error with Offset -1, or wraps ErrType.
func Marshal(v any) ([]byte, error) {
	return AppendMarshal(make([]byte, 0, 512), v)
}

// AppendMarshal is Marshal that appends the form to dst. On an error it returns nil.
func AppendMarshal(dst []byte, v any) ([]byte, error) {
	from := reflect.ValueOf(v)
	if !from.IsValid() {
		return nil, fmt.Errorf("%w: nil has no type; pass a value", ErrType)
	}
	p, err := planFor(from.Type())
	if err != nil {
		return nil, err
	}
	e := encoder{out: dst}
	if err := e.value(p, from); err != nil {
		return nil, err
	}
	return e.out, nil
}

// Pretty returns the same value as Marshal, for files that people review: keys
// in canonical order, an indent of two spaces, a newline at the end. The errors
// are those of Marshal.
func Pretty(v any) ([]byte, error) {
	compact, err := Marshal(v)
	if err != nil {
		return nil, err
	}
	out, err := jsontext.AppendFormat(nil, compact, jsontext.WithIndent("  "))
	if err != nil {
		return nil, fmt.Errorf("canonical: indent: %w", err)
	}
	return append(out, '\n'), nil
}

// encoder appends the canonical form of one value.
type encoder struct {
	out   []byte
	keys  keys
	depth int
}

func (e *encoder) value(p *plan, v reflect.Value) error {
	switch p.kind {
	case kindString:
		return e.text(v.String())
	case kindBool:
		e.out = strconv.AppendBool(e.out, v.Bool())
		return nil
	case kindInt:
		return e.token(func(b []byte) []byte { return strconv.AppendInt(b, v.Int(), 10) })
	case kindUint:
		return e.token(func(b []byte) []byte { return strconv.AppendUint(b, v.Uint(), 10) })
	case kindFloat:
		return e.float(v.Float())
	case kindText:
		return e.marshaled(p, v)
	case kindPointer:
		if v.IsNil() {
			return refuse(WrongType, "a nil pointer has no JSON form; set it, or let the field be omitted")
		}
		return e.value(p.elem, v.Elem())
	default:
		return e.composite(p, v)
	}
}

// composite appends what can nest.
func (e *encoder) composite(p *plan, v reflect.Value) error {
	levels := 1
	if p.kind == kindRaw {
		levels = pointer(v).(*Raw).depth
	}
	if e.depth+levels > defaultDepth {
		return refuse(TooDeep, fmt.Sprintf("nested deeper than %d levels; make it flatter", defaultDepth))
	}
	e.depth += levels
	err := e.nested(p, v)
	e.depth -= levels
	return err
}

func (e *encoder) nested(p *plan, v reflect.Value) error {
	switch p.kind {
	case kindRaw:
		text := pointer(v).(*Raw).text
		if text == "" {
			return refuse(WrongType, "a zero Raw has no JSON form; set it, or let the field be omitted")
		}
		e.out = append(e.out, text...)
		return nil
	case kindSlice, kindArray:
		return e.array(p, v)
	case kindMap:
		return e.mapping(p, v)
	case kindStruct:
		return e.structure(p, v)
	default:
		return unsupported(p.typ, "it has no JSON form")
	}
}

func (e *encoder) structure(p *plan, v reflect.Value) error {
	e.out = append(e.out, '{')
	first := true
	for _, n := range p.inKeysOrder {
		f := &p.fields[n]
		member := v.Field(f.index)
		if (f.omitEmpty || f.omitZero) && f.omits(member) {
			continue
		}
		if !first {
			e.out = append(e.out, ',')
		}
		first = false
		e.out = append(e.out, f.quoted...)
		if err := e.value(f.plan, member); err != nil {
			return within(f.name, err)
		}
	}
	e.out = append(e.out, '}')
	return nil
}

func (e *encoder) mapping(p *plan, v reflect.Value) error {
	names := make([]string, 0, v.Len())
	for iter := v.MapRange(); iter.Next(); {
		names = append(names, iter.Key().String())
	}
	slices.SortFunc(names, compareKeys)
	key, elem := reflect.New(p.typ.Key()).Elem(), reflect.New(p.elem.typ).Elem()
	scope := e.keys.open()
	e.out = append(e.out, '{')
	for i, name := range names {
		if i > 0 {
			e.out = append(e.out, ',')
		}
		if err := e.text(name); err != nil {
			return err
		}
		if e.keys.add(&scope, []byte(name)) != "" {
			return within(name, refuse(CaseKey, "the map has this key in another case too; keep one"))
		}
		e.out = append(e.out, ':')
		key.SetString(name)
		elem.Set(v.MapIndex(key))
		if err := e.value(p.elem, elem); err != nil {
			return within(name, err)
		}
	}
	e.keys.close(&scope)
	e.out = append(e.out, '}')
	return nil
}

func (e *encoder) array(p *plan, v reflect.Value) error {
	e.out = append(e.out, '[')
	for i := range v.Len() {
		if i > 0 {
			e.out = append(e.out, ',')
		}
		if err := e.value(p.elem, v.Index(i)); err != nil {
			return within(strconv.Itoa(i), err)
		}
	}
	e.out = append(e.out, ']')
	return nil
}

func (e *encoder) text(s string) error {
	if PlainPrefix(s) == len(s) {
		e.out = append(append(append(e.out, '"'), s...), '"')
		return nil
	}
	out, err := jsontext.AppendQuote(e.out, s)
	if err != nil {
		return refuse(BadUTF8, "the string is not UTF-8; encode it, in base64 for instance")
	}
	e.out = out
	return nil
}

// marshaled appends the string that the type's MarshalText gives.
func (e *encoder) marshaled(p *plan, v reflect.Value) error {
	if !p.marshals {
		return unsupported(p.typ, "it has UnmarshalText but no MarshalText")
	}
	text, err := pointer(v).(encoding.TextMarshaler).MarshalText()
	if err != nil {
		return &Error{Reason: InvalidValue, Offset: -1, Detail: "the value has no text", Err: err}
	}
	return e.text(string(text))
}

// token appends an integer. Its decimal digits are its canonical form if it is
// a float64 at all, for those below 1e21 are written without an exponent.
func (e *encoder) token(write func([]byte) []byte) error {
	start := len(e.out)
	e.out = write(e.out)
	if _, ok := readNumber(e.out[start:]); !ok {
		return refuse(NumberInexact, inexact)
	}
	return nil
}

func (e *encoder) float(f float64) error {
	text, err := jcs.NumberToJSON(f)
	if err != nil {
		return refuse(NumberInexact, "it is not a finite number")
	}
	if _, ok := readNumber([]byte(text)); !ok || 1/f < 0 && f == 0 {
		return refuse(NumberInexact, inexact)
	}
	e.out = append(e.out, text...)
	return nil
}

// pointer is the value's address, which methods with pointer receivers need, or that
// of a copy if it has none.
func pointer(v reflect.Value) any {
	if !v.CanAddr() {
		addressed := reflect.New(v.Type()).Elem()
		addressed.Set(v)
		v = addressed
	}
	return v.Addr().Interface()
}

// omits reports whether the tag leaves the value out.
func (f *field) omits(v reflect.Value) bool {
	if f.omitEmpty {
		switch v.Kind() {
		case reflect.Struct: // never empty
		case reflect.Slice, reflect.Map, reflect.Array, reflect.String:
			if v.Len() == 0 {
				return true
			}
		default:
			if v.IsZero() {
				return true
			}
		}
	}
	if f.omitZero && f.zeroer {
		return pointer(v).(interface{ IsZero() bool }).IsZero()
	}
	return f.omitZero && v.IsZero()
}

func refuse(reason Reason, detail string) error {
	return &Error{Reason: reason, Offset: -1, Detail: detail}
}

// within puts a step in front of the place an error names.
func within(name string, err error) error {
	if e, ok := err.(*Error); ok {
		e.Field = pointerToken(name) + e.Field
	}
	return err
}
