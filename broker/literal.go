package broker

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/cedar-policy/cedar-go/types"
	"github.com/cedar-policy/cedar-go/x/exp/ast"

	"github.com/iff-run/iff/capability"
	"github.com/iff-run/iff/internal/visible"
)

// checkLiterals refuses names in a rule that no call can have: a rule with one
// never matches, and a forbid that never does is worse than none.
func checkLiterals(r rule) error {
	var found error
	ast.Inspect(ast.NewNode(r.node), func(n ast.IsNode) bool {
		if found == nil {
			found = checkNode(n)
		}
		return found == nil
	})
	var e *Error
	if errors.As(found, &e) {
		e.File, e.Line = r.file, r.line
	}
	return found
}

func checkNode(n ast.IsNode) error {
	switch n := n.(type) {
	case ast.NodeValue:
		return checkLiteral(n.Value)
	case ast.NodeTypeLike:
		if attributeOf(n.Arg) == "path" {
			return checkPathPattern(n.Value)
		}
	case ast.NodeTypeEquals:
		return checkPathText(n.BinaryNode)
	case ast.NodeTypeNotEquals:
		return checkPathText(n.BinaryNode)
	}
	return nil
}

// checkLiteral looks at one value, and into sets.
func checkLiteral(v types.Value) error {
	if set, ok := v.(types.Set); ok {
		for e := range set.All() {
			if err := checkLiteral(e); err != nil {
				return err
			}
		}
	}
	uid, ok := v.(types.EntityUID)
	if !ok {
		return nil
	}
	id := string(uid.ID)
	switch uid.Type {
	case typeLevel:
		return oneOf(uid, levels())
	case typeProfile:
		return oneOf(uid, profiles())
	case typeDomain:
		return checkDomain(uid, id)
	case typeAgent:
		if id == "" {
			return literalError("Agent::\"\" is nobody", "name the agent, as in iff status")
		}
		return nil
	}
	return checkTarget(uid)
}

// checkTarget looks at a literal that is what calls act on.
func checkTarget(uid types.EntityUID) error {
	id := string(uid.ID)
	class := map[types.EntityType]capability.Capability{
		typePath: capability.FSRead, typeHost: capability.NetEgress, typeTool: capability.ToolInvoke,
		typeName: capability.Publish, typeArgv: capability.SpawnProc, typeAmount: capability.Pay,
	}[uid.Type]
	if class == 0 {
		return nil
	}
	_, err := capability.ParseTarget(class, id)
	var e *capability.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &e) && e.Canonical != "":
		return literalError(shownUID(uid)+" is not how a target is spelled", fmt.Sprintf("write %s::%q", uid.Type, visible.Escape(e.Canonical)))
	}
	return literalError(shownUID(uid)+" is no target: "+visible.Escape(err.Error()), "spell it as a grant does; see docs/policy.md")
}

func oneOf(uid types.EntityUID, values []types.String) error {
	if slices.Contains(values, uid.ID) {
		return nil
	}
	words := make([]string, len(values))
	for i, v := range values {
		words[i] = string(v)
	}
	return literalError("there is no "+shownUID(uid), "one of "+strings.Join(words, ", "))
}

func checkDomain(uid types.EntityUID, name string) error {
	t, err := capability.Host(name, 443)
	if _, ip := netip.ParseAddr(name); err == nil && ip != nil {
		if host, _, _ := t.Host(); host == name {
			return nil
		}
	}
	return literalError(shownUID(uid)+" is no domain name", `write it in lower case, without port or wildcard, as in Domain::"example.com"`)
}

func shownUID(uid types.EntityUID) string { return visible.Escape(uid.String()) }

func literalError(detail, remedy string) error {
	return &Error{Reason: PolicyLiteral, Detail: detail, Remedy: remedy}
}

const pathRemedy = `a path is relative to the root of its corpus, as in "reports/2026.md"; better: resource in Path::"reports"`

// checkPathText refuses to compare resource.path with what is no path.
func checkPathText(n ast.BinaryNode) error {
	for _, side := range [][2]ast.IsNode{{n.Left, n.Right}, {n.Right, n.Left}} {
		v, ok := side[1].(ast.NodeValue)
		text, isText := types.String(""), false
		if ok {
			text, isText = v.Value.(types.String)
		}
		// Host and Tool have no attribute path, so it is one of a Path.
		if attributeOf(side[0]) != "path" || !isText {
			continue
		}
		if _, err := capability.Path(capability.FSRead, capability.DefaultCorpus, string(text)); err != nil {
			return literalError(fmt.Sprintf("no path is %q", visible.Escape(string(text))), pathRemedy)
		}
	}
	return nil
}

// checkPathPattern refuses a pattern that no path can match.
func checkPathPattern(p types.Pattern) error {
	text := string(p.MarshalCedar())
	inner := strings.Trim(text, `"`)
	bad := strings.HasPrefix(inner, "/") || strings.HasPrefix(inner, "./") || strings.HasPrefix(inner, "../") || strings.HasSuffix(inner, "/")
	for _, part := range []string{"//", "/./", "/../"} {
		bad = bad || strings.Contains(inner, part)
	}
	if bad {
		return literalError("no path is like "+visible.Escape(text), pathRemedy)
	}
	return nil
}

// attributeOf is the name of the attribute of the resource that n reads; empty if
// it reads none.
func attributeOf(n ast.IsNode) string {
	a, ok := n.(ast.NodeTypeAccess)
	if !ok || !isVariable(a.Arg, "resource") {
		return ""
	}
	return string(a.Value)
}

func isVariable(n ast.IsNode, name types.String) bool {
	v, ok := n.(ast.NodeTypeVariable)
	return ok && v.Name == name
}

// mentions says whether one of the variables stands anywhere in n.
func mentions(n ast.IsNode, names ...types.String) bool {
	found := false
	ast.Inspect(ast.NewNode(n), func(n ast.IsNode) bool {
		if v, ok := n.(ast.NodeTypeVariable); ok && slices.Contains(names, v.Name) {
			found = true
		}
		return !found
	})
	return found
}
