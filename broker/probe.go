package broker

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/cedar-policy/cedar-go/types"
	"github.com/cedar-policy/cedar-go/x/exp/ast"
	"github.com/cedar-policy/cedar-go/x/exp/eval"

	"github.com/iff-run/iff/capability"
)

// probes is how many targets are drawn for each irreversible capability.
const probes = 32

// probe looks for two unrelated targets that the permits could approve.
func (p *Policy) probe(row capability.Row) error {
	var first string
	drawn := newDrawer(p.digest, row.Token)
	for i := range probes {
		t := drawn.target(row.Capability, i)
		r, ok := p.couldPermit(t)
		if !ok {
			continue
		}
		if first != "" {
			return wildcard(r, row, fmt.Sprintf("the permits together hold for %s and for %s, drawn at random", first, t))
		}
		first = t.String()
	}
	return nil
}

// couldPermit finds a permit that could hold for a target, for some agent in some
// context.
func (p *Policy) couldPermit(t capability.Target) (rule, bool) {
	resource, err := p.uses.resourceOf(t)
	if err != nil {
		return rule{}, false
	}
	env := eval.Env{
		Entities: &entities{resource, p.uses.places, p.actions}, Resource: resource.UID,
		Action: types.NewEntityUID(typeAction, types.String(t.Capability().String())),
	}
	for _, r := range p.byClass[t.Capability()] {
		if !r.permits() {
			continue
		}
		w := walk(r.node, func(n ast.IsNode) way {
			if mentions(n, "principal", "context") {
				return way{}
			}
			return known(n, env)
		})
		if !w.yes.never() {
			return r, true
		}
	}
	return rule{}, false
}

// drawer draws targets that a policy cannot know: from its own digest.
type drawer struct{ *rand.Rand }

func newDrawer(digest [32]byte, token string) drawer {
	for i := range min(len(token), len(digest)) {
		digest[i] ^= token[i]
	}
	return drawer{rand.New(rand.NewChaCha8(digest))}
}

// word is 6 to 11 of a-z and 0-9, beginning with a letter.
func (d drawer) word() string {
	const letters, all = "abcdefghijklmnopqrstuvwxyz", "abcdefghijklmnopqrstuvwxyz0123456789"
	out := make([]byte, 6+d.IntN(6))
	for i := range out {
		out[i] = all[d.IntN(len(all))]
	}
	out[0] = letters[d.IntN(len(letters))]
	return string(out)
}

func (d drawer) of(words ...string) string { return words[d.IntN(len(words))] }

// target is number i of a class. Names begin in every way, and are of every kind
// that calls have: deep and flat, short and long, of usual top-level domains.
func (d drawer) target(c capability.Capability, i int) capability.Target {
	text := d.word()
	switch resourceType(c) {
	case typePath:
		for range d.IntN(4) {
			text += d.of("/", "/", "/.", "-") + d.word()
		}
		text += d.of("", "", "."+d.word())
		if i%4 == 3 {
			text = d.word() + ":" + text
		}
	case typeHost:
		text += d.of(".com", ".org", ".net", ".io")
		text = d.of("", "", d.word()+".") + text + d.of("", "", ":80", ":8443")
		if i%8 == 7 {
			text = fmt.Sprintf("%d.%d.%d.%d", 11+d.IntN(100), d.IntN(256), d.IntN(256), d.IntN(256))
		}
	case typeTool:
		text += "/" + d.word()
	case typeArgv:
		for range d.IntN(4) {
			text += d.of(" ", " -", " --") + d.word()
		}
	case typeAmount:
		text += fmt.Sprintf(",%d.%d", d.IntN(1_000_000), 1+d.IntN(9))
	case typeName:
		text = strings.Repeat("#", d.IntN(2)) + text + d.of("", "."+d.word())
	}
	t, _ := capability.ParseTarget(c, text) // a test holds that each can be read
	return t
}
