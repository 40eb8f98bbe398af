package canonical

import (
	"bytes"
	"encoding"
	"fmt"
	"math/bits"
	"reflect"
)

// structure reads the rest of an object that began at start.
func (d *decoder) structure(p *plan, v reflect.Value, start int64) error {
	var seen uint64
	for {
		name, at, more, err := d.name()
		if err != nil {
			return err
		}
		if !more {
			return d.missing(p, seen, start)
		}
		n, ok := p.byName[string(name)]
		if !ok {
			return d.unknown(p, name, at)
		}
		if seen&(1<<n) != 0 {
			return d.clash(DuplicateKey, at)
		}
		seen |= 1 << n
		f := &p.fields[n]
		if err := d.value(f.plan, v.Field(f.index)); err != nil {
			return err
		}
	}
}

// missing refuses an object that lacks a mandatory field; it names the first.
func (d *decoder) missing(p *plan, seen uint64, start int64) error {
	lacking := p.mandatory &^ seen
	if lacking == 0 {
		return nil
	}
	return &Error{
		Reason: MissingField,
		Offset: start,
		Field:  string(d.tokens.StackPointer()) + pointerToken(p.fields[bits.TrailingZeros64(lacking)].name),
		Detail: "the object lacks this field; add it",
	}
}

// unknown refuses a key that is no field of the struct.
func (d *decoder) unknown(p *plan, name []byte, at int64) error {
	if n, ok := p.byFold[string(appendFolded(nil, name))]; ok {
		return d.refuse(CaseKey, at, fmt.Sprintf("the field is called %q; keys are exact in case", p.fields[n].name))
	}
	return d.refuse(UnknownField, at, "there is no such field; remove it or correct its name")
}

// clash refuses a key because of another in the same object.
func (d *decoder) clash(reason Reason, at int64) error {
	if reason == DuplicateKey {
		return d.refuse(reason, at, "the object has this key twice; keep one")
	}
	return d.refuse(reason, at, "the object has this key in another case too; keep one")
}

// mapping reads the rest of an object into a map, or checks it.
func (d *decoder) mapping(p *plan, v reflect.Value) error {
	var key, elem reflect.Value
	if p != nil {
		v.Set(reflect.MakeMap(p.typ))
		key, elem = reflect.New(p.typ.Key()).Elem(), reflect.New(p.elem.typ).Elem()
	}
	scope := d.keys.open()
	for {
		name, at, more, err := d.name()
		if err != nil {
			return err
		}
		if !more {
			d.keys.close(&scope)
			return nil
		}
		if reason := d.keys.add(&scope, name); reason != "" {
			return d.clash(reason, at)
		}
		d.other = d.other || !d.keys.ordered(&scope)
		if p == nil {
			if err := d.value(nil, v); err != nil {
				return err
			}
			continue
		}
		key.SetString(string(name))
		elem.SetZero()
		if err := d.value(p.elem, elem); err != nil {
			return err
		}
		v.SetMapIndex(key, elem)
	}
}

// slice reads the rest of an array into a slice, or checks it.
func (d *decoder) slice(p *plan, v reflect.Value) error {
	if p != nil {
		v.Set(reflect.MakeSlice(p.typ, 0, 0))
	}
	for n := 0; ; n++ {
		if more, err := d.another(); err != nil || !more {
			return err
		}
		if p == nil {
			if err := d.value(nil, v); err != nil {
				return err
			}
			continue
		}
		v.Grow(1)
		v.SetLen(n + 1)
		if err := d.value(p.elem, v.Index(n)); err != nil {
			return err
		}
	}
}

// array reads the rest of an array that began at start; its length is fixed.
func (d *decoder) array(p *plan, v reflect.Value, start int64) error {
	for n := 0; ; n++ {
		more, err := d.another()
		if err != nil {
			return err
		}
		if !more && n == v.Len() {
			return nil
		}
		if !more || n == v.Len() {
			return d.length(v.Len(), start, more && n > 0)
		}
		if err := d.value(p.elem, v.Index(n)); err != nil {
			return err
		}
	}
}

// length refuses an array; inside says that the value read last is one of its
// elements.
func (d *decoder) length(want int, start int64, inside bool) error {
	field := d.tokens.StackPointer()
	if inside {
		field = field.Parent()
	}
	return &Error{
		Reason: WrongType,
		Offset: start,
		Field:  string(field),
		Detail: fmt.Sprintf("the array must have exactly %d elements", want),
	}
}

// raw checks the next value and keeps its canonical form.
func (d *decoder) raw(v reflect.Value) error {
	before := d.tokens.InputOffset()
	deepest := d.deepest
	d.deepest, d.other = d.depth, false
	if err := d.value(nil, reflect.Value{}); err != nil {
		return err
	}
	text, err := d.form(bytes.TrimLeft(d.data[before:d.tokens.InputOffset()], " \t\r\n:,"))
	if err != nil {
		return err
	}
	*v.Addr().Interface().(*Raw) = Raw{text: string(text), depth: d.deepest - d.depth}
	d.deepest = max(d.deepest, deepest)
	return nil
}

// text stores a string, or hands it to the type's UnmarshalText.
func (d *decoder) text(p *plan, v reflect.Value, quoted []byte) error {
	switch {
	case p == nil:
		return nil
	case p.kind == kindString:
		v.SetString(string(d.unquote(quoted)))
		return nil
	case p.kind != kindText:
		return d.wrongType(p, len(quoted), "a string")
	case !p.unmarshals:
		return unsupported(p.typ, "it has MarshalText but no UnmarshalText")
	}
	err := v.Addr().Interface().(encoding.TextUnmarshaler).UnmarshalText(bytes.Clone(d.unquote(quoted)))
	if err == nil {
		return nil
	}
	return &Error{
		Reason: InvalidValue,
		Offset: d.start(len(quoted)),
		Field:  string(d.tokens.StackPointer()),
		Detail: "the string is not one this field takes",
		Err:    err,
	}
}

// number stores a number; what no float64 holds is refused whatever the type.
func (d *decoder) number(p *plan, v reflect.Value, token []byte) error {
	n, ok := readNumber(token)
	if !ok {
		return d.refuse(NumberInexact, d.start(len(token)), inexact)
	}
	if p == nil {
		return nil
	}
	switch p.kind {
	case kindFloat:
		v.SetFloat(n.float)
	case kindInt:
		i, ok := n.int64()
		if !ok || v.OverflowInt(i) {
			return d.wrongType(p, len(token), "another number")
		}
		v.SetInt(i)
	case kindUint:
		u, ok := n.uint64()
		if !ok || v.OverflowUint(u) {
			return d.wrongType(p, len(token), "another number")
		}
		v.SetUint(u)
	default:
		return d.wrongType(p, len(token), "a number")
	}
	return nil
}

const inexact = "a 64-bit floating point number does not hold exactly this number; use fewer digits or a string"

// truth stores true or false.
func (d *decoder) truth(p *plan, v reflect.Value, token []byte) error {
	switch {
	case p == nil:
	case p.kind == kindBool:
		v.SetBool(token[0] == 't')
	default:
		return d.wrongType(p, len(token), "true or false")
	}
	return nil
}

// wrongType refuses the token just read, of that length.
func (d *decoder) wrongType(p *plan, length int, got string) error {
	return d.refuse(WrongType, d.start(length), fmt.Sprintf("this is %s; it must be %s", got, p.wants()))
}

// wants says in JSON's words what the type takes.
func (p *plan) wants() string {
	switch p.kind {
	case kindString, kindText:
		return "a string"
	case kindBool:
		return "true or false"
	case kindInt, kindUint:
		return "a whole number in the range of " + p.typ.Kind().String()
	case kindFloat:
		return "a number"
	case kindSlice, kindArray:
		return "an array"
	case kindMap, kindStruct:
		return "an object"
	case kindPointer:
		return p.elem.wants()
	default:
		return "a value other than null"
	}
}
