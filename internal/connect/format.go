package connect

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
)

// format edits texts of one syntax.
type format interface {
	parse(text string) (tree, error)
	raw(text string, path []string) (string, bool)
	setRaw(text string, path []string, raw string) (string, error)
	set(text string, path []string, v any) (string, error)
	add(text string, path []string, more []string) (string, error)
	remove(text string, path []string) (string, error)
	drop(text string, path []string, less []string) (string, error)
}

// op is one thing that a configuration file has to say.
type op struct {
	path []string
	add  bool // of an array: that these items are in it, besides others
	last bool // of an object in JSON: that the value is its last member
	v    any
}

// set says that a value is at a path.
func set(v any, path ...string) op { return op{path: path, v: v} }

// last says that a value is at a path, behind all other members of its object.
func last(v any, path ...string) op { return op{path: path, last: true, v: v} }

// with says that the array at a path holds items.
func with(items []string, path ...string) op { return op{path: path, add: true, v: items} }

// missing are the items of an array that are not there yet.
func (o op) missing(t tree) []string {
	have := items(t, o.path...)
	var out []string
	for _, item := range o.v.([]string) {
		if !slices.Contains(have, item) && !slices.Contains(out, item) {
			out = append(out, item)
		}
	}
	return out
}

// holds says whether a file says what the op wants.
func (o op) holds(t tree) bool {
	v, ok := at(t, o.path...)
	if o.add {
		return len(o.missing(t)) == 0 && ok
	}
	return ok && reflect.DeepEqual(v, meaning(o.v))
}

// absent is how many members of the path, from its end, are not there.
func (o op) absent(t tree) int {
	for n := len(o.path); n > 0; n-- {
		if _, ok := at(t, o.path[:n]...); ok {
			return len(o.path) - n
		}
	}
	return len(o.path)
}

// fits says that nothing but an object is above the value, and no other value where
// items are to be added: what is there would be lost.
func (o op) fits(t tree) error {
	for n := 1; n < len(o.path); n++ {
		if v, ok := at(t, o.path[:n]...); ok {
			if _, object := v.(tree); !object {
				return fmt.Errorf("%s is no object", byHandName(o.path[:n]))
			}
		}
	}
	v, ok := at(t, o.path...)
	if _, array := v.([]any); o.add && ok && !array {
		return fmt.Errorf("%s is no array", byHandName(o.path))
	}
	return nil
}

// apply is what a file means with the op done.
func (o op) apply(t tree) tree {
	v := meaning(o.v)
	if o.add {
		have, _ := at(t, o.path...)
		array, _ := have.([]any)
		array = slices.Clone(array)
		for _, item := range o.missing(t) {
			array = append(array, item)
		}
		v = array
	}
	return put(t, o.path, v)
}

func put(t tree, path []string, v any) tree {
	out := maps.Clone(t)
	if out == nil {
		out = tree{}
	}
	if len(path) == 1 {
		out[path[0]] = v
		return out
	}
	below, _ := out[path[0]].(tree)
	out[path[0]] = put(below, path[1:], v)
	return out
}

// edit is what was done to a file, so that it can be taken back.
type edit struct {
	Path  []string `json:"path"`            // of the value
	Added []string `json:"added,omitempty"` // items put into an array; empty if the value was set
	New   string   `json:"new,omitempty"`   // the text that was written
	Old   string   `json:"old,omitempty"`   // the text that was there
	Made  int      `json:"made,omitempty"`  // how many of the path's members, from its end, were not there
}

// perform does an op on a text. It gives no edit if there was nothing to do.
func perform(f format, text string, o op) (string, *edit, error) {
	t, err := f.parse(text)
	if j, ok := f.(jsonFormat); ok && err == nil && o.last && j.misplaced(text, o.path) {
		return move(j, text, t, o)
	}
	if err != nil || o.holds(t) {
		return text, nil, err
	}
	if err := errors.Join(o.fits(t), inline(f, text, o.path)); err != nil {
		return "", nil, err
	}
	e := &edit{Path: o.path, Made: o.absent(t)}
	old, had := f.raw(text, o.path)
	if e.Made == 0 && !had {
		return "", nil, errUneasy // as an inline table, say
	}
	if e.Made == 0 {
		e.Old = old
	}
	var out string
	v, _ := at(t, o.path...)
	if _, array := v.([]any); o.add && array {
		e.Added = o.missing(t)
		e.Old = ""
		out, err = f.add(text, o.path, e.Added)
	} else {
		out, err = f.set(text, o.path, o.v)
	}
	if err != nil {
		return "", nil, err
	}
	after, err := f.parse(out)
	if err != nil || !reflect.DeepEqual(after, o.apply(t)) {
		return "", nil, errors.Join(errUneasy, err)
	}
	if len(e.Added) == 0 {
		e.New, _ = f.raw(out, o.path)
	}
	return out, e, nil
}

// move does an op whose value is there, but in front of others. The edit is that of
// the object, whose order undoing gives back.
func move(f jsonFormat, text string, t tree, o op) (string, *edit, error) {
	object := o.path[:len(o.path)-1]
	e := &edit{Path: object}
	e.Old, _ = f.raw(text, object)
	out, err := f.remove(text, o.path)
	if err == nil {
		out, err = f.set(out, o.path, o.v)
	}
	if err != nil {
		return "", nil, err
	}
	after, err := f.parse(out)
	if err != nil || !reflect.DeepEqual(after, o.apply(t)) || f.misplaced(out, o.path) {
		return "", nil, errors.Join(errUneasy, err)
	}
	e.New, _ = f.raw(out, object)
	return out, e, nil
}

// takeBack undoes an edit, if the value is still what was written; kept says that
// it is not, and was left alone.
func takeBack(f format, text string, e edit) (out string, kept bool, err error) {
	t, err := f.parse(text)
	if err != nil {
		return text, true, err
	}
	if _, ok := at(t, e.Path...); !ok {
		return text, false, nil
	}
	if len(e.Added) > 0 {
		if out, err = f.drop(text, e.Path, e.Added); err == nil {
			_, err = f.parse(out)
		}
		return out, err != nil, err
	}
	if now, ok := f.raw(text, e.Path); ok != (e.New != "") || ok && !sameText(f, now, e.New) {
		return text, true, nil
	}
	if e.Made == 0 {
		out, err = f.setRaw(text, e.Path, e.Old)
		return out, false, err
	}
	if out, err = f.remove(text, e.Path); err != nil {
		return text, true, err
	}
	for n := len(e.Path) - 1; n > len(e.Path)-e.Made; n-- { // what was made to hold it
		t, err := f.parse(out)
		if err != nil {
			return text, true, err
		}
		v, ok := at(t, e.Path[:n]...)
		if object, isObject := v.(tree); !ok || !isObject || len(object) > 0 {
			break
		}
		if out, err = f.remove(out, e.Path[:n]); err != nil {
			return text, true, err
		}
	}
	return out, false, nil
}

// sameText says whether two texts of values mean the same.
func sameText(f format, a, b string) bool {
	if a == b {
		return true
	}
	if _, ok := f.(tomlFormat); ok {
		x, errX := f.parse("v = " + a)
		y, errY := f.parse("v = " + b)
		return errX == nil && errY == nil && reflect.DeepEqual(x, y)
	}
	x, errX := f.parse(`{"v":` + a + `}`)
	y, errY := f.parse(`{"v":` + b + `}`)
	return errX == nil && errY == nil && reflect.DeepEqual(x, y)
}
