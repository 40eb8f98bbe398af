package canonical

import (
	"encoding"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// kind is how a Go type appears in JSON. The zero value is none of them.
type kind uint8

const (
	kindString kind = iota + 1
	kindBool
	kindInt
	kindUint
	kindFloat
	kindText // a string, through UnmarshalText and MarshalText
	kindRaw  // any value, kept as its canonical bytes
	kindPointer
	kindSlice
	kindArray
	kindMap
	kindStruct
)

// mostFields lets a set of fields be one word.
const mostFields = 64

// plan is what is known of a Go type. It is not changed once planFor has
// returned it.
type plan struct {
	kind        kind
	typ         reflect.Type
	elem        *plan // of pointers, slices, arrays, maps
	marshals    bool  // kindText: has MarshalText
	unmarshals  bool  // kindText: has UnmarshalText
	fields      []field
	byName      map[string]int // number in fields
	byFold      map[string]int // the same by folded name
	mandatory   uint64         // bit i: fields[i] must be there
	inKeysOrder []int          // numbers in fields, by canonical key order
}

// field is one member of a struct.
type field struct {
	name      string
	quoted    []byte // "name":
	index     int
	plan      *plan
	omitEmpty bool
	omitZero  bool
	zeroer    bool // has IsZero
}

// plans caches what planFor found, by reflect.Type. It is the only variable
// state of the package: a memo of immutable values that depend on nothing but
// the type, so its order of filling cannot be observed.
var plans sync.Map

var (
	textMarshaler   = reflect.TypeFor[encoding.TextMarshaler]()
	textUnmarshaler = reflect.TypeFor[encoding.TextUnmarshaler]()
	jsonMarshaler   = reflect.TypeFor[interface{ MarshalJSON() ([]byte, error) }]()
	jsonUnmarshaler = reflect.TypeFor[interface{ UnmarshalJSON([]byte) error }]()
	isZeroer        = reflect.TypeFor[interface{ IsZero() bool }]()
	rawType         = reflect.TypeFor[Raw]()
)

// planFor returns the plan of a type, or an error that wraps ErrType.
func planFor(t reflect.Type) (*plan, error) {
	if p, ok := plans.Load(t); ok {
		return p.(*plan), nil
	}
	p, err := planner{}.plan(t)
	if err != nil {
		return nil, err
	}
	known, _ := plans.LoadOrStore(t, p)
	return known.(*plan), nil
}

// planner holds the plans under way, so that a type may refer to itself.
type planner map[reflect.Type]*plan

func (b planner) plan(t reflect.Type) (*plan, error) {
	if p, ok := b[t]; ok {
		return p, nil
	}
	p := &plan{typ: t}
	b[t] = p
	switch {
	case t == rawType:
		p.kind = kindRaw
		return p, nil
	case t.Kind() == reflect.Pointer:
		p.kind = kindPointer
		return p, b.element(p)
	}
	pointer := reflect.PointerTo(t)
	p.marshals, p.unmarshals = pointer.Implements(textMarshaler), pointer.Implements(textUnmarshaler)
	if p.marshals || p.unmarshals {
		p.kind = kindText
		return p, nil
	}
	if pointer.Implements(jsonMarshaler) || pointer.Implements(jsonUnmarshaler) {
		return nil, unsupported(t, "it brings its own JSON; give it MarshalText and UnmarshalText instead")
	}
	return p, b.composite(p)
}

// composite handles the types without methods of their own.
func (b planner) composite(p *plan) error {
	switch p.typ.Kind() {
	case reflect.String:
		p.kind = kindString
	case reflect.Bool:
		p.kind = kindBool
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		p.kind = kindInt
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		p.kind = kindUint
	case reflect.Float64:
		p.kind = kindFloat
	case reflect.Slice:
		p.kind = kindSlice
		return b.element(p)
	case reflect.Array:
		p.kind = kindArray
		return b.element(p)
	case reflect.Map:
		p.kind = kindMap
		return b.element(p)
	case reflect.Struct:
		p.kind = kindStruct
		return b.structure(p)
	default:
		return unsupported(p.typ, "use a string, bool, int, uint, float64, slice, array, map, struct, pointer or Raw")
	}
	return nil
}

// element plans what a pointer, slice, array or map holds.
func (b planner) element(p *plan) error {
	if p.kind == kindMap {
		key := p.typ.Key()
		pointer := reflect.PointerTo(key)
		if key.Kind() != reflect.String || pointer.Implements(textMarshaler) || pointer.Implements(textUnmarshaler) {
			return unsupported(p.typ, "the keys of a map must be plain strings")
		}
	}
	elem, err := b.plan(p.typ.Elem())
	if err != nil {
		return err
	}
	if (p.kind == kindSlice || p.kind == kindArray) && elem.kind == kindUint && elem.typ.Kind() == reflect.Uint8 {
		return unsupported(p.typ, "bytes have no JSON form; use a string or a type with MarshalText and UnmarshalText")
	}
	if p.kind == kindPointer && elem.kind == kindPointer {
		return unsupported(p.typ, "a pointer to a pointer says nothing that a pointer does not")
	}
	p.elem = elem
	return nil
}

func (b planner) structure(p *plan) error {
	p.byName, p.byFold = map[string]int{}, map[string]int{}
	for i := range p.typ.NumField() {
		sf := p.typ.Field(i)
		f, ok, err := b.field(p.typ, sf)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		if len(p.fields) == mostFields {
			return unsupported(p.typ, fmt.Sprintf("it has more than %d fields", mostFields))
		}
		f.index = i
		n := len(p.fields)
		folded := string(appendFolded(nil, []byte(f.name)))
		if _, ok := p.byFold[folded]; ok {
			return unsupported(p.typ, fmt.Sprintf("two fields are named %q, case apart", f.name))
		}
		p.byName[f.name], p.byFold[folded] = n, n
		if !f.omitEmpty && !f.omitZero {
			p.mandatory |= 1 << n
		}
		p.fields = append(p.fields, f)
		p.inKeysOrder = append(p.inKeysOrder, n)
	}
	slices.SortFunc(p.inKeysOrder, func(a, b int) int { return compareKeys(p.fields[a].name, p.fields[b].name) })
	return nil
}

// field reads one struct field and its tag; it reports false if the field has
// no place in JSON.
func (b planner) field(t reflect.Type, sf reflect.StructField) (field, bool, error) {
	tag, tagged := sf.Tag.Lookup("json")
	if tag == "-" || !sf.IsExported() && !sf.Anonymous {
		return field{}, false, nil
	}
	name, options, _ := strings.Cut(tag, ",")
	f := field{name: name}
	switch {
	case sf.Anonymous && (!tagged || name == "" || !sf.IsExported()):
		return f, false, unsupported(t, fmt.Sprintf("the embedded %s needs a json tag with a name", sf.Name))
	case name == "":
		f.name = sf.Name
	case !utf8.ValidString(name):
		return f, false, unsupported(t, fmt.Sprintf("the tag of %s is not UTF-8", sf.Name))
	}
	for options != "" {
		var option string
		option, options, _ = strings.Cut(options, ",")
		switch option {
		case "omitempty":
			f.omitEmpty = true
		case "omitzero":
			f.omitZero = true
		default:
			return f, false, unsupported(t, fmt.Sprintf("the tag of %s has the option %q", sf.Name, option))
		}
	}
	elem, err := b.plan(sf.Type)
	if err != nil {
		return f, false, fmt.Errorf("%w, in field %s of %s", err, sf.Name, t)
	}
	f.plan = elem
	f.zeroer = reflect.PointerTo(sf.Type).Implements(isZeroer)
	quoted, err := jsontext.AppendQuote(nil, f.name)
	f.quoted = append(quoted, ':')
	return f, true, err
}

func unsupported(t reflect.Type, why string) error {
	return fmt.Errorf("%w: %s: %s", ErrType, t, why)
}
