package mcpgate

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/iff-run/iff/gate"
	"github.com/iff-run/iff/internal/canonical"
)

// way is a connection on which a call of a tool was let pass by the SDK, and what it did.
type way struct {
	c *raw
	s *session
	p *player
	// like is what the SDK let pass; said is what the connection is taken to have said before each call: nil is the way through the SDK.
	like *spoken
	said func(frame) *spoken
}

// meta is what the calls of an older and of the newest version say of the protocol.
func metaOf(modern bool) string {
	if modern {
		return newest
	}
	return `"_meta":{}`
}

func newWay(t testing.TB, modern bool) *way {
	t.Helper()
	r := newRig(t, func(o *Options, _ *limits) { o.Idle = time.Hour }) // no round ends by itself on one of two
	c := r.raw(t)
	if !modern {
		c.hello("2025-11-25")
	}
	c.say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ping",` + metaOf(modern) + `}}`)
	c.hear()
	w := &way{c: c, p: r.player(t, 0)}
	r.g.naming.Lock()
	w.s = r.g.byName[w.p.id]
	r.g.naming.Unlock()
	if w.like = w.s.spoken.Load(); w.like == nil {
		t.Fatal("the SDK let a call pass, and it was not noted")
	}
	return w
}

// through is the way through the SDK, short the one that is taken where it can be.
func through(t testing.TB, modern bool) *way {
	w := newWay(t, modern)
	w.said = func(frame) *spoken { return nil }
	return w
}

func short(t testing.TB, modern bool) *way {
	w := newWay(t, modern)
	w.said = func(frame) *spoken { return w.like }
	return w
}

// bold is the planted bug: a short way which does not look whether the call says of the protocol what the SDK has let pass.
func bold(t testing.TB, modern bool) *way {
	w := newWay(t, modern)
	w.said = func(f frame) *spoken {
		var form callForm
		if canonical.Parse([]byte(f.params), &form, canonical.Limits{}) != nil {
			return w.like
		}
		out := &spoken{ctx: w.like.ctx, transport: w.like.transport, said: map[string]canonical.Raw{}, meta: w.like.meta}
		for name, value := range form.Meta {
			if strings.HasPrefix(name, protocolMembers) {
				out.said[name] = value
			}
		}
		return out
	}
	return w
}

// outcome is the answer to a call, and what the runtime was asked for.
func (w *way) outcome(t testing.TB, params string) (out string, direct bool) {
	t.Helper()
	f := frame{id: `"n"`, method: methodCall, params: params}
	w.s.spoken.Store(w.said(f))
	direct = (&wire{of: w.s}).direct(f) != nil
	c := raw{t, w.c.conn, w.c.r}
	c.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":"n","method":%q,"params":%s}`, methodCall, params))
	answer := c.hear()
	calls := see(w.p, func() []gate.Call {
		calls := w.p.calls
		w.p.calls, w.p.live = nil, nil
		return calls
	})
	for _, c := range calls {
		out += fmt.Sprintf("%s(%s) %s %q\n", c.Capability, c.Target, c.Arguments, c.Reasoning)
	}
	return out + answer, direct
}

// directSeeds are parameters; META is what the version says of the protocol.
var directSeeds = []string{
	`{"name":"ping",META}`,
	`{"name":"ping","arguments":{"a":[null,1.5,"\u0007"]},META}`,
	`{"name":"ping","arguments":[1],META}`,
	`{"name":"ping","arguments":null,META}`,
	`{"name":"fs_read","arguments":{"path":"a","reasoning":"x"},META}`,
	`{"name":"fs_read","arguments":{"path":1},META}`,
	`{"name":"fs_write","arguments":{"path":"a","content":"b"},META}`,
	`{"name":"end_round",META}`,
	`{"name":"gone",META}`,
	`{"name":"",META}`,
	`{"name":1,META}`,
	`{"name":"ping"}`,
	`{"name":"ping","_meta":null}`,
	`{"name":"ping","_meta":{"progressToken":"x","other":{}}}`,
	`{"name":"ping","_meta":{"progressToken":1.5}}`,
	`{"name":"ping","_meta":{"progressToken":[]}}`,
	`{"name":"ping","requestState":"x","inputResponses":{},META}`,
	`{"name":"ping",` + older + `}`,
	`{"name":"ping",` + newest + `}`,
	`{"name":"ping","_meta":{"io.modelcontextprotocol/protocolVersion":"1999-01-01"}}`,
	`{"name":"ping","_meta":{"io.modelcontextprotocol/protocolVersion":7}}`,
	`{"name":"ping","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":null,"io.modelcontextprotocol/clientCapabilities":{}}}`,
}

// directParams is what a seed is on a connection, in canonical form; false if it is none, or waits for a person or a host.
func directParams(text string, modern bool) (string, bool) {
	raw, err := canonical.NewRaw([]byte(strings.Replace(text, "META", metaOf(modern), 1)), canonical.Limits{})
	params := raw.String()
	return params, err == nil && strings.HasPrefix(params, "{") && !strings.Contains(params, "ask") && !strings.Contains(params, "hang")
}

// FuzzDirect: a call that goes the short way is answered, and asks of the runtime, what it would through the SDK.
func FuzzDirect(f *testing.F) {
	for _, seed := range directSeeds {
		f.Add(seed, false)
		f.Add(seed, true)
	}
	ways := map[bool][2]*way{}
	for _, modern := range []bool{false, true} {
		ways[modern] = [2]*way{short(f, modern), through(f, modern)}
	}
	f.Fuzz(func(t *testing.T, text string, modern bool) {
		params, ok := directParams(text, modern)
		if !ok {
			return
		}
		got, direct := ways[modern][0].outcome(t, params)
		if want, _ := ways[modern][1].outcome(t, params); got != want {
			t.Fatalf("%s (direct %t): %s\nthrough the SDK: %s", params, direct, got, want)
		}
	})
}

// TestDirectSeeds: seeds go both ways, and show a short way that does not look.
func TestDirectSeeds(t *testing.T) {
	for _, modern := range []bool{false, true} {
		honest, mutant, sdk := short(t, modern), bold(t, modern), through(t, modern)
		taken, noticed := 0, 0
		for _, seed := range directSeeds {
			params, ok := directParams(seed, modern)
			if !ok {
				t.Fatalf("%s is no seed", seed)
			}
			want, sdks := sdk.outcome(t, params)
			got, direct := honest.outcome(t, params)
			if got != want || sdks {
				t.Errorf("%s: %s\nthrough the SDK: %s", params, got, want)
			}
			if direct {
				taken++
			}
			if other, _ := mutant.outcome(t, params); other != want {
				noticed++
			}
		}
		if taken < 5 || taken == len(directSeeds) || noticed == 0 {
			t.Errorf("modern %t: %d of %d seeds are direct, %d show the planted bug", modern, taken, len(directSeeds), noticed)
		}
	}
}
