package home

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/iff-run/iff/capability"
	"github.com/iff-run/iff/internal/canonical"
)

// SchemaID names the JSON schema of iff.toml.
const SchemaID = "https://iff.run/schema/iff.schema.json"

// Schema is the JSON schema (draft 2020-12) of iff.toml: its tables, and the
// spelling of each value. What settings say together, and what labels and
// directories there are, it does not know.
func Schema() ([]byte, error) {
	var m schemaMaker
	n := m.of(reflect.TypeFor[settings](), "")
	n.Schema, n.ID = "https://json-schema.org/draft/2020-12/schema", SchemaID
	n.Title = "iff.toml, the configuration of iff"
	if m.err != nil {
		return nil, m.err
	}
	return canonical.Pretty(n)
}

// node is a schema.
type node struct {
	Schema        string                   `json:"$schema,omitempty"`
	ID            string                   `json:"$id,omitempty"`
	Title         string                   `json:"title,omitempty"`
	Description   string                   `json:"description,omitempty"`
	Type          string                   `json:"type,omitempty"`
	Properties    map[string]canonical.Raw `json:"properties,omitempty"`
	Required      []string                 `json:"required,omitempty"`
	OneOf         []canonical.Raw          `json:"oneOf,omitempty"`
	Others        canonical.Raw            `json:"additionalProperties,omitzero"`
	PropertyNames canonical.Raw            `json:"propertyNames,omitzero"`
	Items         canonical.Raw            `json:"items,omitzero"`
	MinItems      int                      `json:"minItems,omitzero"`
	MaxItems      int                      `json:"maxItems,omitzero"`
	MaxProperties int                      `json:"maxProperties,omitzero"`
	UniqueItems   bool                     `json:"uniqueItems,omitzero"`
	MinLength     int                      `json:"minLength,omitzero"`
	Minimum       int                      `json:"minimum,omitzero"`
	Maximum       int                      `json:"maximum,omitzero"`
	Pattern       string                   `json:"pattern,omitempty"`
	Not           canonical.Raw            `json:"not,omitzero"`
	Enum          []string                 `json:"enum,omitempty"`
}

// schemaMaker makes nodes of the types of the tables. It keeps the first error.
type schemaMaker struct{ err error }

func (m *schemaMaker) raw(v any) canonical.Raw {
	text, err := canonical.Marshal(v)
	if err == nil {
		var out canonical.Raw
		if out, err = canonical.NewRaw(text, canonical.Limits{}); err == nil {
			return out
		}
	}
	m.err = errors.Join(m.err, err)
	return canonical.Raw{}
}

// of is the schema of a type, form that of its text.
func (m *schemaMaker) of(t reflect.Type, form string) node {
	switch t = plainType(t); {
	case t == reflect.TypeFor[askText]():
		return m.ask()
	case t.Kind() == reflect.Struct:
		return m.table(t)
	case t.Kind() == reflect.Map:
		return m.mapping(t, form)
	case t.Kind() == reflect.Slice:
		repeats := form == "" || form == "word" || form == "template"
		return node{Type: "array", Items: m.raw(m.of(t.Elem(), form)), UniqueItems: !repeats}
	case t.Kind() == reflect.Bool:
		return node{Type: "boolean"}
	case t.Kind() == reflect.Int:
		return node{Type: "integer", Minimum: 1, Maximum: maxConnections}
	}
	n := m.text(form)
	n.Type = "string"
	return n
}

func (m *schemaMaker) table(t reflect.Type) node {
	out := node{Type: "object", Others: m.raw(false), Properties: make(map[string]canonical.Raw)}
	for name, f := range fieldsOf(t) {
		n := m.of(f.Type, f.Tag.Get("form"))
		n.Description = f.Tag.Get("doc")
		if most, err := strconv.Atoi(f.Tag.Get("most")); err == nil && n.Type == "object" {
			n.MaxProperties = most
		} else if err == nil {
			n.MaxItems = most
		}
		if out.Properties[name] = m.raw(n); f.Tag.Get("need") != "" {
			out.Required = append(out.Required, name)
		}
	}
	slices.Sort(out.Required)
	if one, ok := t.FieldByName("_"); ok {
		for name := range strings.FieldsSeq(one.Tag.Get("one")) {
			out.OneOf = append(out.OneOf, m.raw(node{Required: []string{name}}))
		}
	}
	return out
}

// mapping is that of tables by name, or of texts by name.
func (m *schemaMaker) mapping(t reflect.Type, form string) node {
	name := node{Pattern: `^[a-z0-9-]{1,32}$`}
	switch form {
	case "env":
		name = node{Pattern: `^[A-Za-z_][A-Za-z0-9_]*$`}
	case "template":
		name = node{Pattern: `^[a-z_]+$`}
	}
	return node{Type: "object", Others: m.raw(m.of(t.Elem(), form)), PropertyNames: m.raw(name)}
}

// ask is one word, or a chain.
func (m *schemaMaker) ask() node {
	chain := []string{string(AskPolicy), string(AskWebhook), string(AskInbox)}
	list := node{Type: "array", Items: m.raw(node{Type: "string", Enum: chain}), MinItems: 1, MaxItems: len(chain), UniqueItems: true}
	return node{OneOf: []canonical.Raw{m.raw(node{Type: "string", Enum: append(chain, askNobody)}), m.raw(list)}}
}

// text is how a text is spelled.
func (m *schemaMaker) text(form string) node {
	switch form {
	case "", "env", "word":
		return node{}
	case "profile":
		return node{Enum: []string{string(Dev), string(Strict)}}
	case "capability":
		return node{Enum: upstreamTokens()}
	case "reach":
		return node{Enum: []string{ReachExact, ReachBounded, ReachOpaque}}
	case "op":
		return node{Enum: slices.Concat(readings(), changes())}
	case "mapping":
		return node{Enum: Mappings()}
	case "relay":
		return node{Enum: relays()}
	case "local":
		return node{MinLength: 1, Not: m.raw(node{Pattern: `^/|(^|/)\.\.?(/|$)|//|/$`})}
	}
	pattern, ok := map[string]string{
		"label": `.`, "pattern": `^[^/]`, "some": `.`,
		"path":     `^(/|~/)`,
		"url":      `^(https://[^/?#@\\ ]+|http://(localhost|127(\.[0-9]{1,3}){3}|\[::1\])(:[0-9]+)?)([/?][^#\\ ]*)?$`,
		"pin":      `^sha256/[A-Za-z0-9+/]{43}=$`,
		"time":     `^([0-9]+(\.[0-9]*)?(ns|us|µs|ms|s|m|h))+$`,
		"size":     `^[0-9]+(KiB|MiB|GiB)$`,
		"host":     `^(\*\.)?[a-z0-9.-]+(:([0-9]{1,5}|\*))?$|^\[[0-9a-f:]+\](:([0-9]{1,5}|\*))?$`,
		"listen":   `^(127(\.[0-9]{1,3}){3}|\[::1\]):[0-9]{1,5}$`,
		"prefix":   `^[A-Za-z0-9_.-]{0,32}$`,
		"tool":     `^[A-Za-z0-9_.-]{1,128}$`,
		"template": `^([^{}]|\{[A-Za-z0-9_-]+\})+$`,
		"user":     `^[A-Za-z0-9._][A-Za-z0-9._-]{0,31}$`,
		"control":  `^(/|~/)[^#]+(#[^,]+(,[^,]+)*)?$`,
	}[form]
	if !ok {
		m.err = errors.Join(m.err, fmt.Errorf("bug: no text of iff.toml is called %s", form))
	}
	return node{Pattern: pattern}
}

// upstreamTokens are the capabilities that a tool of an upstream may be.
func upstreamTokens() []string {
	var out []string
	for _, row := range capability.Vocabulary() {
		if row.Capability != capability.FSWriteRev {
			out = append(out, row.Token)
		}
	}
	return out
}

// settingsOf lists the settings of a table of iff.toml, by the names that lead
// to it, sorted.
func settingsOf(table []string) []string {
	t := reflect.TypeFor[settings]()
	for _, name := range table {
		switch t = elemType(t); t.Kind() {
		case reflect.Map:
			t = t.Elem()
		case reflect.Struct:
			t = fieldsOf(t)[name].Type
		}
		if t == nil {
			return nil
		}
	}
	var out []string
	if t = elemType(t); t.Kind() == reflect.Struct {
		for name := range fieldsOf(t) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// plainType is what a pointer leads to.
func plainType(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Pointer {
		return t.Elem()
	}
	return t
}

// elemType is what a pointer or a list leads to.
func elemType(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	return t
}

// fieldsOf are the fields of a table by the names that they have in the file,
// those of embedded ones included.
func fieldsOf(t reflect.Type) map[string]reflect.StructField {
	out := make(map[string]reflect.StructField)
	for _, f := range reflect.VisibleFields(t) {
		name, ok := f.Tag.Lookup("toml")
		if ok && name != "-" {
			out[name] = f
		}
	}
	return out
}
