package broker

import (
	"maps"
	"slices"

	"github.com/cedar-policy/cedar-go/types"

	"github.com/iff-run/iff/approval"
	"github.com/iff-run/iff/internal/visible"
)

// Fact is one thing that a rule can ask of a question.
type Fact struct {
	Name  string // as a rule writes it
	Value string // as Cedar writes it, escaped for a terminal
}

// Facts are all that a policy can know of a question: who, what, on what, and the
// attributes, by name.
func Facts(q approval.Question) ([]Fact, error) {
	targets, err := targetsOf(&q)
	if err != nil {
		return nil, err
	}
	t := targets[0]
	out := []Fact{
		shownFact("principal", types.NewEntityUID(typeAgent, types.String(q.Agent))),
		shownFact("action", types.NewEntityUID(typeAction, types.String(t.Capability().String()))),
		shownFact("resource", types.NewEntityUID(resourceType(t.Capability()), types.String(t.String()))),
	}
	for _, name := range slices.Sorted(maps.Keys(attributesOf(resourceType(t.Capability())))) {
		v, err := attribute(t, name)
		if err != nil {
			return nil, err
		}
		if v != nil {
			out = append(out, shownFact("resource."+string(name), v))
		}
	}
	f := &facts{&q, hintsOf(q.Envelope.Arguments())}
	for _, name := range slices.Sorted(maps.Keys(contextType())) {
		v, err := f.fact(name)
		if err != nil {
			return nil, err
		}
		out = append(out, shownFact("context."+string(name), v))
	}
	return out, nil
}

func shownFact(name string, v types.Value) Fact {
	return Fact{name, visible.Escape(string(v.MarshalCedar()))}
}
