package broker

import (
	"maps"
	"slices"

	"github.com/cedar-policy/cedar-go/types"
	"github.com/cedar-policy/cedar-go/x/exp/ast"

	"github.com/iff-run/iff/capability"
)

// uses is what the rules of a policy ask for. Of a call only that is made ready
// and held against the schema: most of what is known bears on no rule.
type uses struct {
	context  map[capability.Capability][]types.String // sorted
	resource map[types.EntityType][]types.String      // sorted
	places   map[types.EntityUID]types.EntityUIDSet   // literals that something may be in, and those that they are in
	hints    map[capability.Capability]bool           // the arguments are looked into
}

// newUses notes the places that rules name.
func newUses(rules ruleSet) uses {
	u := uses{
		context: map[capability.Capability][]types.String{}, resource: map[types.EntityType][]types.String{},
		places: map[types.EntityUID]types.EntityUIDSet{}, hints: map[capability.Capability]bool{},
	}
	f := newFinder()
	for _, r := range rules {
		f.find(r.node)
	}
	for at := range f.places {
		u.places[at] = types.EntityUIDSet{}
	}
	for at := range u.places {
		u.places[at] = u.within(placeAbove(at))
	}
	return u
}

// add notes what the rules of each class ask for.
func (u *uses) add(byClass map[capability.Capability]ruleSet) {
	for c, rules := range byClass {
		f := newFinder()
		for _, name := range u.resource[resourceType(c)] {
			f.resource[name] = true
		}
		for _, r := range rules {
			f.find(r.node)
		}
		if f.everything {
			for name := range contextType() {
				f.context[name] = true
			}
			for name := range attributesOf(resourceType(c)) {
				f.resource[name] = true
			}
		}
		maps.DeleteFunc(f.context, func(name types.String, _ bool) bool { _, ok := contextType()[name]; return !ok })
		maps.DeleteFunc(f.resource, func(name types.String, _ bool) bool { _, ok := attributesOf(resourceType(c))[name]; return !ok })
		u.context[c], u.resource[resourceType(c)] = slices.Sorted(maps.Keys(f.context)), slices.Sorted(maps.Keys(f.resource))
		u.hints[c] = f.context["op"] || f.context["method"] || f.context["via"]
	}
}

// within are the places that rules name, from one upwards.
func (u *uses) within(at types.EntityUID) types.EntityUIDSet {
	var all []types.EntityUID
	for ; !at.IsZero(); at = placeAbove(at) {
		if _, ok := u.places[at]; ok {
			all = append(all, at)
		}
	}
	if all == nil {
		return types.EntityUIDSet{}
	}
	return types.NewEntityUIDSet(all...)
}

// finder collects what expressions ask for.
type finder struct {
	context, resource map[types.String]bool
	places            map[types.EntityUID]bool
	everything        bool // one speaks of the context or the resource as a whole
}

func newFinder() finder {
	return finder{context: map[types.String]bool{}, resource: map[types.String]bool{}, places: map[types.EntityUID]bool{}}
}

func (f *finder) find(n ast.IsNode) {
	ast.Inspect(ast.NewNode(n), func(n ast.IsNode) bool {
		switch n := n.(type) {
		case ast.NodeTypeAccess:
			return f.attribute(n.StrOpNode)
		case ast.NodeTypeHas:
			return f.attribute(n.StrOpNode)
		case ast.NodeTypeEquals:
			return f.sides(n.Left, n.Right)
		case ast.NodeTypeNotEquals:
			return f.sides(n.Left, n.Right)
		case ast.NodeTypeIn:
			return f.sides(n.Left, n.Right)
		case ast.NodeTypeIs:
			return f.sides(n.Left)
		case ast.NodeTypeIsIn:
			return f.sides(n.Left, n.Entity)
		case ast.NodeTypeVariable:
			f.everything = f.everything || n.Name == "context" || n.Name == "resource"
		case ast.NodeValue:
			f.value(n.Value)
		}
		return true
	})
}

// attribute notes one that is read; it says whether to look further into n.
func (f *finder) attribute(n ast.StrOpNode) bool {
	switch {
	case isVariable(n.Arg, "context"):
		f.context[n.Value] = true
	case isVariable(n.Arg, "resource"):
		f.resource[n.Value] = true
	default:
		return true
	}
	return false
}

// sides looks into the parts of a comparison. A resource that stands there itself
// is compared by its id.
func (f *finder) sides(all ...ast.IsNode) bool {
	for _, n := range all {
		if !isVariable(n, "resource") {
			f.find(n)
		}
	}
	return false
}

func (f *finder) value(v types.Value) {
	switch v := v.(type) {
	case types.EntityUID:
		if v.Type == typePath || v.Type == typeDomain {
			f.places[v] = true
		}
	case types.Set:
		for e := range v.All() {
			f.value(e)
		}
	}
}
