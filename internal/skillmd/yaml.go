package skillmd

import (
	"errors"
	"fmt"
	"io"
	"sort"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// yaml reads the frontmatter as one YAML document that is a mapping, nil if it
// is empty. If that fails it is tried once more with the commonest faults
// repaired.
func (p *parser) yaml() (*yaml.Node, error) {
	document, err := decodeYAML(p.front)
	if err != nil {
		repaired, findings := repair(p.front)
		if len(findings) == 0 {
			return nil, p.yamlError(err)
		}
		var still error
		if document, still = decodeYAML(repaired); still != nil {
			return nil, p.yamlError(err)
		}
		p.findings = append(p.findings, findings...)
	}
	if document == nil || document.Kind == yaml.ScalarNode && document.Tag == "!!null" {
		return nil, nil
	}
	if document.Kind != yaml.MappingNode {
		return nil, &Error{FrontmatterInvalid, document.Line, `the frontmatter is not a list of fields; write "name: ..." and "description: ..." each on its own line`}
	}
	return document, check(document)
}

// decodeYAML returns the content of the only document in s, nil if it has none.
// The library builds nodes without following aliases. It reports faults of its
// own by panicking; those are faults of the input here.
func decodeYAML(s string) (content *yaml.Node, err error) {
	defer func() {
		if v := recover(); v != nil {
			content, err = nil, fmt.Errorf("%v", v)
		}
	}()
	decoder := yaml.NewDecoder(strings.NewReader(s))
	var first, second yaml.Node
	if err := decoder.Decode(&first); err != nil {
		if errors.Is(err, io.EOF) {
			err = nil
		}
		return nil, err
	}
	switch err := decoder.Decode(&second); {
	case err == nil:
		return nil, fmt.Errorf("yaml: line %d: a second document begins", second.Line)
	case !errors.Is(err, io.EOF):
		return nil, err
	}
	if len(first.Content) != 1 {
		return nil, nil
	}
	return first.Content[0], nil
}

// yamlError turns "yaml: line 3: problem" into an Error.
func (p *parser) yamlError(err error) *Error {
	text, line := strings.TrimPrefix(err.Error(), "yaml: "), 0
	if rest, ok := strings.CutPrefix(text, "line "); ok {
		if number, problem, ok := strings.Cut(rest, ": "); ok {
			if n, err := strconv.Atoi(number); err == nil {
				text, line = problem, n
			}
		}
	}
	return &Error{FrontmatterInvalid, p.faultLine(line),
		"the frontmatter is not valid YAML: " + escape(text) + "; quote values that contain punctuation"}
}

// faultLine corrects the line that the library gives for a fault: it counts some
// from 0, and often means the start of all fields. The fault is in the first
// field with which the frontmatter up to there cannot be read.
func (p *parser) faultLine(line int) int {
	const most = 8 << 10 // what is longer is not worth reading a dozen times
	if len(p.front) > most {
		return line
	}
	starts, offsets := []int{1}, []int{0} // lines and offsets at which fields begin
	offset, row := 0, 0
	for text := range strings.Lines(p.front) {
		if row++; letter(text[0]) {
			starts, offsets = append(starts, row), append(offsets, offset)
		}
		offset += len(text)
	}
	offsets = append(offsets, offset)
	i := sort.Search(len(starts), func(i int) bool {
		_, err := decodeYAML(p.front[:offsets[i+1]])
		return err != nil
	})
	if i == len(starts) {
		return line
	}
	last := starts[i] + strings.Count(strings.TrimRight(p.front[offsets[i]:offsets[i+1]], "\n"), "\n")
	return min(max(line, starts[i]), last)
}

// check refuses what a document must not have before anything walks it: too
// much once aliases are followed, keys that are no text, keys that come twice, a
// NUL written as an escape.
func check(document *yaml.Node) error {
	c := checker{nodes: maxNodes, bytes: MaxBytes}
	return c.node(document, maxDepth)
}

// checker holds what is left of the budget.
type checker struct{ nodes, bytes int }

func (c *checker) node(n *yaml.Node, depth int) error {
	c.nodes--
	c.bytes -= len(n.Value)
	switch {
	case depth == 0:
		return invalid(n, "the frontmatter is nested more than %d deep; flatten it", maxDepth)
	case c.nodes < 0:
		return invalid(n, "the frontmatter has more than %d values, aliases followed; shorten it", maxNodes)
	case c.bytes < 0:
		return invalid(n, "the frontmatter has more than %d bytes, aliases followed; shorten it", MaxBytes)
	case strings.Contains(n.Value, "\x00"):
		return &Error{NUL, n.Line, "a value has a NUL, written as an escape; remove it"}
	case n.Kind == yaml.AliasNode:
		return c.node(n.Alias, depth-1)
	case n.Kind == yaml.MappingNode:
		if err := keys(n); err != nil {
			return err
		}
	}
	for _, child := range n.Content {
		if err := c.node(child, depth-1); err != nil {
			return err
		}
	}
	return nil
}

func keys(n *yaml.Node) error {
	seen := make(map[string]int, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		if key.Kind != yaml.ScalarNode {
			return invalid(key, "a field name is not text; quote it")
		}
		if len(key.Value) > maxKey {
			return invalid(key, "a field name has more than %d bytes; shorten it", maxKey)
		}
		if line, ok := seen[key.Value]; ok {
			return invalid(key, "the field %s is already on line %d; remove one", quote(key.Value), line)
		}
		seen[key.Value] = key.Line
	}
	return nil
}

func invalid(n *yaml.Node, format string, args ...any) error {
	return &Error{FrontmatterInvalid, n.Line, fmt.Sprintf(format, args...)}
}

// follow returns what an alias stands for; check has made sure that it ends.
func follow(n *yaml.Node) *yaml.Node {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return n
}

// unseen reports the hazards of values that escapes in the YAML keep out of the
// text itself: a "\u202e" is plain to a reader of the file, but not to anyone
// who reads the value. found are the hazards of the text.
func (p *parser) unseen(n *yaml.Node, found []Finding) {
	if n == nil || !strings.Contains(p.front, `\`) {
		return
	}
	type place struct {
		kind Kind
		line int
	}
	known := map[place]bool{}
	for _, f := range found {
		known[place{f.Kind, f.Line}] = true
	}
	for n := range scalars(n) {
		if n.Style&yaml.DoubleQuotedStyle == 0 {
			continue
		}
		for _, f := range Hazards(FileName, n.Value) {
			if f.Class == Hazard && !known[place{f.Kind, n.Line}] {
				p.find(Hazard, f.Kind, n.Line, n.Column, "in the value as YAML reads it: %s", f.Detail)
			}
		}
	}
}
