package canonical

import "reflect"

// Raw is a JSON value kept as its RFC 8785 form, for a member whose shape is
// somebody else's. Only Parse and NewRaw make one, so a Raw that is not zero is
// canonical. Two are == exactly when they are the same JSON value.
//
// The zero Raw holds nothing: Marshal refuses it unless the field is omitted.
// As a member of a struct it may be any value but null; inside it null is
// allowed, as for Check.
type Raw struct {
	text  string
	depth int // how deep arrays and objects nest in it
}

// NewRaw checks data like Check and keeps its canonical form. The errors are
// those of Transform.
func NewRaw(data []byte, lim Limits) (Raw, error) {
	d, err := read(data, nil, reflect.Value{}, lim)
	if err != nil {
		return Raw{}, err
	}
	text, err := d.form(data)
	if err == nil && len(text) > lim.bytes() {
		err = tooLarge(lim.bytes())
	}
	if err != nil {
		return Raw{}, err
	}
	return Raw{text: string(text), depth: d.deepest}, nil
}

// String returns the canonical JSON, "" for the zero Raw.
func (r Raw) String() string { return r.text }

// IsZero reports whether r holds nothing.
func (r Raw) IsZero() bool { return r.text == "" }
