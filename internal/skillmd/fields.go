package skillmd

import (
	"iter"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// Lengths that the specification allows, in characters.
const (
	MaxName          = 64
	maxDescription   = 1024
	maxCompatibility = 500
)

// fields takes in the fields of the frontmatter, a mapping or nil.
func (p *parser) fields(n *yaml.Node) error {
	var name, description *yaml.Node
	for key, value := range pairs(n) {
		switch key.Value {
		case "name":
			name = value
		case "description":
			description = value
		case "license":
			p.doc.License = p.text(key, value)
		case "compatibility":
			p.doc.Compatibility = p.text(key, value)
			p.length(CompatibilityLong, key, value, p.doc.Compatibility, maxCompatibility)
		case "metadata":
			p.metadata(key, value)
		case "allowed-tools":
			p.tools(key, value)
		case "<<":
			p.find(Deviation, MergeKey, key.Line, key.Column, "a merge key is not followed; write the fields out")
		default:
			p.find(Note, UnknownField, key.Line, key.Column, "the specification has no field %s", quote(key.Value))
		}
	}
	p.name(name)
	return p.description(n, description)
}

// pairs yields the keys and values of a mapping, aliases followed; none for nil.
func pairs(n *yaml.Node) iter.Seq2[*yaml.Node, *yaml.Node] {
	return func(yield func(key, value *yaml.Node) bool) {
		if n == nil {
			return
		}
		for i := 0; i+1 < len(n.Content); i += 2 {
			if !yield(n.Content[i], follow(n.Content[i+1])) {
				return
			}
		}
	}
}

// scalars yields the scalars below n as they are written, once each.
func scalars(n *yaml.Node) iter.Seq[*yaml.Node] {
	return func(yield func(*yaml.Node) bool) { walk(n, yield) }
}

func walk(n *yaml.Node, yield func(*yaml.Node) bool) bool {
	if n.Kind == yaml.ScalarNode {
		return yield(n)
	}
	for _, child := range n.Content {
		if !walk(child, yield) {
			return false
		}
	}
	return true
}

// text returns the value of a field that is to be text, "" if it is a list or a
// mapping.
func (p *parser) text(key, value *yaml.Node) string {
	if value.Kind != yaml.ScalarNode {
		p.find(Deviation, FieldType, value.Line, value.Column, "%s is %s, not text; it is left out", key.Value, typeName(value))
		return ""
	}
	if value.Tag != "!!str" && value.Tag != "!!null" {
		p.find(Deviation, FieldType, value.Line, value.Column, "%s is %s, not text; put quotes around it", key.Value, typeName(value))
	}
	if value.Tag == "!!null" {
		return ""
	}
	return strings.TrimSpace(value.Value)
}

// typeName says what a value is for a sentence.
func typeName(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.SequenceNode:
		return "a list"
	case n.Kind == yaml.MappingNode:
		return "a mapping"
	case n.Tag == "!!int" || n.Tag == "!!float":
		return "a number"
	case n.Tag == "!!bool":
		return "true or false"
	case n.Tag == "!!timestamp":
		return "a date"
	case n.Tag == "!!null":
		return "empty"
	}
	return "of type " + escape(n.Tag)
}

func (p *parser) length(kind Kind, key, value *yaml.Node, text string, most int) {
	if n := utf8.RuneCountInString(text); n > most {
		p.find(Deviation, kind, value.Line, value.Column, "%s has %d characters, more than %d", key.Value, n, most)
	}
}

// name takes in the name; value is nil if there is none.
func (p *parser) name(value *yaml.Node) {
	key := &yaml.Node{Value: "name"}
	line, column := 0, 0
	if value != nil {
		line, column = value.Line, value.Column
		p.doc.Name = p.text(key, value)
	}
	name := p.doc.Name
	if name == "" {
		p.doc.Name = p.directory
		p.find(Deviation, NameMissing, line, column, "there is no name; the directory's, %s, is taken", quote(p.directory))
		return
	}
	p.length(NameTooLong, key, value, name, MaxName)
	short := name
	if runes := []rune(name); len(runes) > MaxName {
		short = strings.TrimRight(string(runes[:MaxName]), "-")
	}
	if !ValidName(short) {
		p.find(Deviation, NameCharacters, line, column,
			"the name %s has more than small letters, digits and single hyphens between them", quote(name))
	} else if !ascii(name) {
		p.find(Note, NameNotASCII, line, column, "the name %s is not ASCII, which some readers require", quote(name))
	}
	if p.directory != "" && name != p.directory {
		p.find(Deviation, NameDirectory, line, column, "the name %s differs from the directory's, %s", quote(name), quote(p.directory))
	}
}

func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// description takes in the description of the frontmatter fields; value is nil
// if there is none.
func (p *parser) description(fields, value *yaml.Node) error {
	missing := &Error{DescriptionMissing, 0, "there is no description; add one that says what the skill does and when to use it"}
	key := &yaml.Node{Value: "description"}
	if value == nil {
		for other := range pairs(fields) {
			if strings.EqualFold(other.Value, key.Value) {
				missing.Line, missing.Detail = other.Line, "the field "+quote(other.Value)+" is not description; write it in small letters"
			}
		}
		return missing
	}
	missing.Line = value.Line
	if value.Kind != yaml.ScalarNode {
		missing.Detail = "the description is " + typeName(value) + ", not text; put quotes around it"
		return missing
	}
	if p.doc.Description = p.text(key, value); p.doc.Description == "" {
		missing.Detail = "the description is empty; say what the skill does and when to use it"
		return missing
	}
	p.length(DescriptionLong, key, value, p.doc.Description, maxDescription)
	return nil
}

// metadata takes in the leaves below the field metadata.
func (p *parser) metadata(key, value *yaml.Node) {
	if value.Kind != yaml.MappingNode {
		if value.Tag != "!!null" {
			p.find(Deviation, FieldType, value.Line, value.Column, "metadata is %s, not a mapping; it is left out", typeName(value))
		}
		return
	}
	odd := 0
	for _, v := range pairs(value) {
		if v.Kind != yaml.ScalarNode || v.Tag != "!!str" {
			odd++
		}
	}
	if odd > 0 {
		p.find(Deviation, MetadataNotText, key.Line, key.Column, "%s of the metadata is not text", plural(odd, "value"))
	}
	p.leaves("", value)
}

func (p *parser) leaves(path string, n *yaml.Node) {
	switch n = follow(n); n.Kind {
	case yaml.MappingNode:
		for key, value := range pairs(n) {
			p.leaves(path+"."+key.Value, value)
		}
	case yaml.SequenceNode:
		for i, value := range n.Content {
			p.leaves(path+"."+strconv.Itoa(i), value)
		}
	case yaml.ScalarNode:
		p.doc.Metadata = append(p.doc.Metadata, Entry{strings.TrimPrefix(path, "."), n.Value, n.Line})
	}
}
