package skillmd

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// FileName is the name under which [Parse] reports findings.
const FileName = "SKILL.md"

// MaxFindings is how many findings of one file are kept; one more then counts
// the rest.
const MaxFindings = 200

// Class says what a finding is about. The zero value is not a class.
type Class string

// The classes.
const (
	Deviation Class = "deviation" // from the Agent Skills specification
	Hazard    Class = "hazard"    // a reader does not see what the agent reads
	Note      Class = "note"      // worth a look
)

// Kind names what was found. The set is closed; the package comment has the
// table. The zero value is not a kind.
type Kind string

// Deviations from the specification and notes about it.
const (
	NameMissing       Kind = "name-missing"
	NameCharacters    Kind = "name-characters"
	NameTooLong       Kind = "name-too-long"
	NameDirectory     Kind = "name-directory"
	NameNotASCII      Kind = "name-not-ascii"
	DescriptionLong   Kind = "description-too-long"
	CompatibilityLong Kind = "compatibility-too-long"
	FieldType         Kind = "field-type"
	MetadataNotText   Kind = "metadata-not-text"
	ToolsCommas       Kind = "allowed-tools-commas"
	ToolsList         Kind = "allowed-tools-list"
	ToolsUnbalanced   Kind = "allowed-tools-unbalanced"
	ToolsTooMany      Kind = "allowed-tools-too-many"
	UnknownField      Kind = "unknown-field"
	MergeKey          Kind = "merge-key"
	UnquotedValue     Kind = "unquoted-value"
	TabIndent         Kind = "tab-indent"
	ByteOrderMark     Kind = "byte-order-mark"
	Delimiter         Kind = "delimiter"
	LineEndings       Kind = "line-endings"
	BodyLong          Kind = "body-long"
	BodyEmpty         Kind = "body-empty"
)

// Hazards, and notes of the same kinds where they are in the open.
const (
	HiddenTag         Kind = "hidden-tag"
	BidiControl       Kind = "bidi-control"
	ZeroWidth         Kind = "zero-width"
	VariationSelector Kind = "variation-selector"
	PrivateUse        Kind = "private-use"
	ControlCharacter  Kind = "control-character"
	InvalidByte       Kind = "invalid-byte"
	Unassigned        Kind = "unassigned"
	MixedScript       Kind = "mixed-script"
	LookAlike         Kind = "look-alike"
	OffScreen         Kind = "off-screen"
	LongLine          Kind = "long-line"
	Blob              Kind = "blob"
	HTMLComment       Kind = "html-comment"
	HiddenHTML        Kind = "hidden-html"
	HiddenMarkdown    Kind = "hidden-markdown"
	MoreFindings      Kind = "more-findings"
)

// Finding is one thing that a person who decides about a skill should know.
type Finding struct {
	Class  Class  `json:"class"`
	Kind   Kind   `json:"kind"`
	File   string `json:"file"`   // as given, not escaped
	Line   int    `json:"line"`   // 1-based; 0 for the whole file
	Column int    `json:"column"` // 1-based, in characters; 0 for the whole line
	Detail string `json:"detail"` // one line, escaped for display
}

// tally counts findings that were not kept.
type tally map[counted]int

type counted struct {
	class Class
	kind  Kind
}

// limit sorts findings by position and keeps at most MaxFindings of them: first
// one of each kind, then hazards, then what comes first. What is dropped is
// counted, together with what was never made, in a last finding.
func limit(file string, all []Finding, more tally) []Finding {
	slices.SortStableFunc(all, byPosition)
	if len(all) > MaxFindings {
		all = choose(all, more)
	}
	if len(more) == 0 {
		return all
	}
	return append(all, more.finding(file))
}

func byPosition(a, b Finding) int {
	return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
}

func choose(all []Finding, more tally) []Finding {
	seen := map[Kind]bool{}
	var ranked [3][]Finding
	for _, f := range all {
		rank := 2
		if !seen[f.Kind] {
			rank, seen[f.Kind] = 0, true
		} else if f.Class == Hazard {
			rank = 1
		}
		ranked[rank] = append(ranked[rank], f)
	}
	all = slices.Concat(ranked[:]...)
	for _, f := range all[MaxFindings:] {
		more[counted{f.Class, f.Kind}]++
	}
	all = all[:MaxFindings]
	slices.SortStableFunc(all, byPosition)
	return all
}

func (t tally) finding(file string) Finding {
	class, total := Note, 0
	var parts []string
	for _, c := range slices.SortedFunc(maps.Keys(t), byClass) {
		total += t[c]
		parts = append(parts, fmt.Sprintf("%d %s %s", t[c], c.class, c.kind))
		if c.class == Hazard {
			class = Hazard
		}
	}
	return Finding{class, MoreFindings, file, 0, 0, fmt.Sprintf("%d more: %s", total, strings.Join(parts, ", "))}
}

func byClass(a, b counted) int {
	return cmp.Or(cmp.Compare(a.class, b.class), cmp.Compare(a.kind, b.kind))
}
