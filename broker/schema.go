package broker

import (
	"fmt"

	"github.com/cedar-policy/cedar-go/types"
	"github.com/cedar-policy/cedar-go/x/exp/schema"
	"github.com/cedar-policy/cedar-go/x/exp/schema/ast"
	"github.com/cedar-policy/cedar-go/x/exp/schema/validate"

	"github.com/iff-run/iff/capability"
	"github.com/iff-run/iff/level"
)

// The entity types.
const (
	typeAction  = types.EntityType("Action")
	typeAgent   = types.EntityType("Agent")
	typeLevel   = types.EntityType("Level")
	typeProfile = types.EntityType("Profile")
	typePath    = types.EntityType("Path")
	typeHost    = types.EntityType("Host")
	typeDomain  = types.EntityType("Domain")
	typeTool    = types.EntityType("Tool")
	typeName    = types.EntityType("Name")
	typeArgv    = types.EntityType("Argv")
	typeAmount  = types.EntityType("Amount")
)

// resourceType is what a class of calls acts on.
func resourceType(c capability.Capability) types.EntityType {
	switch c.Shape() {
	case capability.PathShape:
		return typePath
	case capability.HostShape:
		return typeHost
	case capability.ArgvShape:
		return typeArgv
	case capability.AmountShape:
		return typeAmount
	}
	if c == capability.ToolInvoke {
		return typeTool
	}
	return typeName
}

// attributesOf are the attributes of what calls act on.
func attributesOf(t types.EntityType) ast.RecordType {
	text, number := given(ast.String()), given(ast.Long())
	switch t {
	case typePath:
		return ast.RecordType{"corpus": text, "path": text, "name": text}
	case typeHost:
		return ast.RecordType{"name": text, "port": number, "address": {Type: ast.IPAddr(), Optional: true}}
	case typeTool:
		return ast.RecordType{"server": text, "name": text}
	case typeName:
		return ast.RecordType{"name": text}
	case typeArgv:
		return ast.RecordType{"program": text, "line": text, "args": given(ast.Set(ast.String())), "count": number}
	case typeAmount:
		return ast.RecordType{"unit": text, "value": given(ast.Decimal())}
	}
	return nil
}

// entityTypes are what a policy may speak of. Paths are in directories, hosts in
// domains.
func entityTypes(u *uses) ast.Entities {
	out := ast.Entities{"Agent": {}, "Domain": {ParentTypes: []ast.EntityTypeRef{ast.EntityType(typeDomain)}}}
	for _, t := range []types.EntityType{typePath, typeHost, typeTool, typeName, typeArgv, typeAmount} {
		e := ast.Entity{Shape: attributesOf(t)}
		if u != nil {
			e.Shape = only(e.Shape, u.resource[t])
		}
		switch t {
		case typePath:
			e.ParentTypes = []ast.EntityTypeRef{ast.EntityType(typePath)}
		case typeHost:
			e.ParentTypes = []ast.EntityTypeRef{ast.EntityType(typeDomain)}
		}
		out[ast.Ident(t)] = e
	}
	return out
}

func only(all ast.RecordType, names []types.String) ast.RecordType {
	out := ast.RecordType{}
	for _, n := range names {
		out[n] = all[n]
	}
	return out
}

// contextType is what is known of a call beside its target.
func contextType() ast.RecordType {
	text, number := given(ast.String()), given(ast.Long())
	return ast.RecordType{
		"level":   given(ast.EntityType(typeLevel)),
		"profile": given(ast.EntityType(typeProfile)),
		"skill":   text, "signer": text, "skillVersion": number, "skillLevel": given(ast.EntityType(typeLevel)),
		"guarded": given(ast.Bool()),
		"mark":    text, "sink": text,
		"op": text, "method": text, "via": text,
		"size": number, "changes": number, "creates": number, "deletes": number, "unknown": number,
	}
}

func given(t ast.IsType) ast.Attribute { return ast.Attribute{Type: t} }

// levels are the values of Level, lowest first.
func levels() []types.String {
	var out []types.String
	for l := level.Unverified; l <= level.Formal; l++ {
		out = append(out, types.String(l.String()))
	}
	return out
}

func profiles() []types.String { return []types.String{"strict", "dev"} }

// newSchema is made from the vocabulary: an action for each token, in the group
// of its effect. With uses it is the part of the schema that they ask for.
func newSchema(u *uses) *schema.Schema {
	actions := ast.Actions{}
	for _, e := range []capability.Effect{capability.None, capability.Reversible, capability.Irreversible} {
		actions[types.String(e.String())] = ast.Action{}
	}
	for _, r := range capability.Vocabulary() {
		var context ast.IsType = ast.Type("Context")
		if u != nil {
			context = only(contextType(), u.context[r.Capability])
		}
		actions[types.String(r.Token)] = ast.Action{
			Parents: []ast.ParentRef{ast.ParentRefFromID(types.String(r.Effect.String()))},
			AppliesTo: &ast.AppliesTo{
				Principals: []ast.EntityTypeRef{ast.EntityType(typeAgent)},
				Resources:  []ast.EntityTypeRef{ast.EntityType(resourceType(r.Capability))},
				Context:    context,
			},
		}
	}
	return schema.NewSchemaFromAST(&ast.Schema{
		Entities:    entityTypes(u),
		Enums:       ast.Enums{"Level": {Values: levels()}, "Profile": {Values: profiles()}},
		Actions:     actions,
		CommonTypes: ast.CommonTypes{"Context": {Type: contextType()}},
	})
}

// Schema is the schema that policies are held against, as Cedar writes one.
func Schema() []byte {
	text, err := newSchema(nil).MarshalCedar()
	if err != nil {
		return nil // a schema of this package can be written: a test holds it
	}
	return text
}

func newValidator(u *uses) (*validate.Validator, error) {
	s, err := newSchema(u).Resolve()
	if err != nil {
		return nil, fmt.Errorf("bug: the schema does not hold together: %w", err)
	}
	return validate.New(s, validate.WithStrict()), nil
}
