package broker

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/cedar-policy/cedar-go/types"
	"github.com/cedar-policy/cedar-go/x/exp/ast"
	"github.com/cedar-policy/cedar-go/x/exp/eval"

	"github.com/iff-run/iff/capability"
	"github.com/iff-run/iff/internal/visible"
)

// facets are what is tied in every way in which an expression can have a value.
type facets uint8

const (
	tiedTarget facets = 1 << iota // which one it is
	tiedUnit                      // of an amount
	tiedMost                      // how much it can be
	_

	untied  facets = 0
	noWay   facets = 0xff // there is none
	tiedAll        = tiedTarget | tiedUnit | tiedMost
)

func (f facets) never() bool { return f == noWay }

// enough says whether what is tied leaves no arbitrary target.
func (f facets) enough(c capability.Capability) bool {
	if c.Shape() == capability.AmountShape {
		return f&(tiedUnit|tiedMost) == tiedUnit|tiedMost
	}
	return f&tiedTarget != 0
}

// way is what is tied where an expression is true, and where it is false.
type way struct{ yes, no facets }

// walk goes through and, or, not and if, and asks leaf for the rest.
func walk(n ast.IsNode, leaf func(ast.IsNode) way) way {
	switch n := n.(type) {
	case ast.NodeTypeAnd:
		l, r := walk(n.Left, leaf), walk(n.Right, leaf)
		return way{l.yes | r.yes, l.no & (l.yes | r.no)}
	case ast.NodeTypeOr:
		l, r := walk(n.Left, leaf), walk(n.Right, leaf)
		return way{l.yes & (l.no | r.yes), l.no | r.no}
	case ast.NodeTypeNot:
		w := walk(n.Arg, leaf)
		return way{w.no, w.yes}
	case ast.NodeTypeIfThenElse:
		c, t, e := walk(n.If, leaf), walk(n.Then, leaf), walk(n.Else, leaf)
		return way{(c.yes | t.yes) & (c.no | e.yes), (c.yes | t.no) & (c.no | e.no)}
	}
	return leaf(n)
}

// ties says what a rule ties where it matches calls of a class. noWay: it never
// does.
func (p *Policy) ties(r rule, c capability.Capability) facets {
	kind := resourceType(c)
	env := eval.Env{Entities: &entities{places: p.uses.places, actions: p.actions}, Action: types.NewEntityUID(typeAction, types.String(c.String()))}
	return walk(r.node, func(n ast.IsNode) way {
		if constant(n) {
			return known(n, env)
		}
		return tieLeaf(n, kind)
	}).yes
}

// known is the way of an expression without unknowns.
func known(n ast.IsNode, env eval.Env) way {
	v, err := eval.Eval(n, env)
	b, ok := v.(types.Boolean)
	switch {
	case err != nil || !ok:
		return way{}
	case bool(b):
		return way{untied, noWay}
	}
	return way{noWay, untied}
}

// tieLeaf knows the comparisons that tie a resource of one type. Every other ties
// nothing.
func tieLeaf(n ast.IsNode, kind types.EntityType) way {
	switch n := n.(type) {
	case ast.NodeTypeEquals:
		return way{yes: tieEqual(n.BinaryNode, kind)}
	case ast.NodeTypeNotEquals:
		return way{no: tieEqual(n.BinaryNode, kind)}
	case ast.NodeTypeIn:
		if isVariable(n.Left, "resource") {
			return way{yes: tieIn(n.Right)}
		}
	case ast.NodeTypeIs:
		if isVariable(n.Left, "resource") {
			return tieIs(n.EntityType == kind)
		}
	case ast.NodeTypeIsIn:
		if isVariable(n.Left, "resource") {
			return way{yes: tieIs(n.EntityType == kind).yes | tieIn(n.Entity)}
		}
	case ast.NodeTypeLike:
		if name := attributeOf(n.Arg); tight(string(kind)+"."+name, patternParts(n.Value)) {
			return way{yes: tieAttribute(name, kind)}
		}
	case ast.NodeTypeContains:
		if constant(n.Left) {
			return way{yes: tieAttribute(attributeOf(n.Right), kind)}
		}
	case ast.NodeTypeExtensionCall:
		return tieCall(n)
	}
	return way{}
}

// constant says whether n is the same for every call of a class. What a call is
// compared with must be: an agent can make two parts of a call alike.
func constant(n ast.IsNode) bool { return !mentions(n, "principal", "resource", "context") }

func tieIs(same bool) way {
	if same {
		return way{untied, noWay}
	}
	return way{noWay, untied}
}

func tieEqual(n ast.BinaryNode, kind types.EntityType) facets {
	one, other := n.Left, n.Right
	if !constant(other) {
		one, other = other, one
	}
	switch {
	case !constant(other):
		return untied
	case isVariable(one, "resource"):
		return tiedAll
	}
	return tieAttribute(attributeOf(one), kind)
}

// tieAttribute says what an attribute ties that has one of few values. Those that
// many unrelated targets share, such as a port, tie nothing.
func tieAttribute(name string, kind types.EntityType) facets {
	switch string(kind) + "." + name {
	case "Path.path", "Path.name", "Host.name", "Host.address", "Tool.server", "Tool.name", "Name.name", "Argv.program", "Argv.line":
		return tiedTarget
	case "Amount.unit":
		return tiedUnit
	case "Amount.value":
		return tiedMost
	}
	return untied
}

// tieIn ties unless one of the places is a whole corpus or a top-level domain.
func tieIn(n ast.IsNode) facets {
	switch n := n.(type) {
	case ast.NodeValue:
		if narrow(n.Value) {
			return tiedAll
		}
	case ast.NodeTypeSet:
		for _, e := range n.Elements {
			if tieIn(e) == untied {
				return untied
			}
		}
		return tiedAll
	}
	return untied
}

func narrow(v types.Value) bool {
	switch v := v.(type) {
	case types.EntityUID:
		id := string(v.ID)
		switch v.Type {
		case typePath:
			return id != "." && !strings.HasSuffix(id, ":.")
		case typeDomain:
			return strings.Contains(id, ".")
		}
		return true
	case types.Set:
		for e := range v.All() {
			if !narrow(e) {
				return false
			}
		}
		return true
	}
	return false
}

// tieCall knows what bounds an amount from above, and ranges of addresses.
func tieCall(n ast.NodeTypeExtensionCall) way {
	if len(n.Args) == 1 && n.Name == "isLoopback" && attributeOf(n.Args[0]) == "address" {
		return way{yes: tiedTarget}
	}
	if len(n.Args) != 2 {
		return way{}
	}
	left, right := attributeOf(n.Args[0]) == "value", attributeOf(n.Args[1]) == "value"
	switch {
	case !constant(n.Args[0]) && !constant(n.Args[1]):
	case left && (n.Name == "lessThan" || n.Name == "lessThanOrEqual"), right && (n.Name == "greaterThan" || n.Name == "greaterThanOrEqual"):
		return way{yes: tiedMost}
	case left && (n.Name == "greaterThan" || n.Name == "greaterThanOrEqual"), right && (n.Name == "lessThan" || n.Name == "lessThanOrEqual"):
		return way{no: tiedMost}
	case n.Name == "isInRange" && attributeOf(n.Args[0]) == "address" && narrowRange(n.Args[1]):
		return way{yes: tiedTarget}
	}
	return way{}
}

// narrowRange says whether a range of addresses is written out, and is at most
// what one network has.
func narrowRange(n ast.IsNode) bool {
	const least4, least6 = 8, 16 // bits that are the same in all
	if !constant(n) {
		return false
	}
	v, err := eval.Eval(n, eval.Env{})
	ip, ok := v.(types.IPAddr)
	if err != nil || !ok {
		return false
	}
	bits := ip.Prefix().Bits()
	return ip.IsIPv4() && bits >= least4 || ip.IsIPv6() && bits >= least6
}

// tight says whether a pattern of an attribute, in the parts between its
// wildcards, has enough written out where it counts. Of a host that is the end,
// from a dot on, with two labels or more: whoever wants to be reached chooses what
// is before. Of a path it is the beginning, to a slash at least, or the kind of
// file; of a command line the program and the beginning of what it is to do. Of other names it is
// two characters at the beginning, one of them a letter or digit.
func tight(attribute string, parts []string) bool {
	first, last := parts[0], parts[len(parts)-1]
	if len(parts) == 1 {
		return first != ""
	}
	switch attribute {
	case "Host.name":
		return strings.HasPrefix(last, ".") && strings.Count(last, ".") >= 2 && !strings.HasSuffix(last, ".")
	case "Path.path":
		return strings.IndexByte(first, '/') > 0 || first == "" && len(last) > 2 && last[0] == '.' // or the end, from a dot on
	case "Argv.line":
		word, rest, _ := strings.Cut(first, " ")
		return word != "" && rest != ""
	case "Argv.program", "Path.name":
		return false
	}
	return len(first) >= 2 && strings.ContainsFunc(first, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
}

// patternParts are the texts between the wildcards; those at the ends may be
// empty. An escaped character stands as one letter.
func patternParts(p types.Pattern) []string {
	text := strings.TrimSuffix(strings.TrimPrefix(string(p.MarshalCedar()), `"`), `"`)
	parts, part := []string{}, strings.Builder{}
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '*':
			parts = append(parts, part.String())
			part.Reset()
		case c == '\\' && strings.HasPrefix(text[i:], `\u{`):
			i += strings.IndexByte(text[i:], '}')
			part.WriteByte('_')
		case c == '\\':
			i++
			part.WriteByte('_')
		default:
			part.WriteByte(c)
		}
	}
	return append(parts, part.String())
}

// checkWildcards refuses permits of irreversible capabilities for arbitrary
// targets.
func (p *Policy) checkWildcards() error {
	for _, row := range capability.Vocabulary() {
		if row.Effect != capability.Irreversible {
			continue
		}
		for _, r := range p.byClass[row.Capability] {
			if r.permits() && !p.ties(r, row.Capability).enough(row.Capability) {
				return wildcard(r, row, "no condition ties the target")
			}
		}
		if err := p.probe(row); err != nil {
			return err
		}
	}
	return nil
}

func wildcard(r rule, row capability.Row, why string) error {
	remedy := map[capability.Shape]string{
		capability.PathShape:   `name where, in the permit itself: resource in Path::"reports"`,
		capability.HostShape:   `name where, in the permit itself: resource in Domain::"example.com"`,
		capability.ArgvShape:   `name what, in the permit itself: resource.program == "git" && resource.line like "git log *"`,
		capability.AmountShape: `name unit and limit, in the permit itself: resource.unit == "usd" && resource.value.lessThanOrEqual(decimal("20.0"))`,
		capability.NameShape:   `name which, in the permit itself: resource.name == "..."`,
	}[row.Shape]
	return &Error{
		Reason: PolicyWildcard, File: r.file, Line: r.line, Remedy: remedy,
		Detail: fmt.Sprintf("it permits %s, which is %s, for arbitrary targets: %s", row.Token, row.Effect, visible.Escape(why)),
	}
}
