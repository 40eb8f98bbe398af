package tool

import (
	"io"
	"log"
	"strings"
	"testing"

	"github.com/iff-run/iff/gate"
)

func quiet() *log.Logger { return log.New(io.Discard, "", 0) }

func TestSurface(t *testing.T) {
	b := upstreamOf(t, "b", "sdk")
	b.Prefix = "b_"
	w := newWorld(t, nil, upstreamOf(t, "fake", "plain"), upstreamOf(t, "a", "sdk"), b)
	if !w.h.Offers("resources") || !w.h.Offers("prompts") || w.h.Offers("completions") {
		t.Error("features")
	}
	for method, want := range map[string]string{
		listResources: `"uri":"memo://one"`, listPrompts: `"name":"b_greet"`, listTemplates: `[]`,
	} {
		got, err := w.h.List(t.Context(), method)
		if err != nil || !strings.Contains(string(got), want) {
			t.Errorf("%s: %s, %v", method, got, err)
		}
	}
	for _, c := range []struct{ method, params, target, want string }{
		{readResource, `{"uri":"memo://one","_meta":{"a":1}}`, "a/resources/memo://one", `"text":"the first"`},
		{getPrompt, `{"name":"b_greet"}`, "b/prompts/greet", `"text":"hello"`},
	} {
		call, err := w.h.Read(c.method, []byte(c.params))
		if err != nil || call.Capability != "tool.invoke" || call.Target != c.target {
			t.Fatalf("%s: %+v, %v", c.method, call, err)
		}
		r, err := w.do(w.envelope(call))
		if err != nil || !strings.Contains(string(r.Data), c.want) {
			t.Errorf("%s: %s, %v", c.method, r.Data, err)
		}
	}
	for method, params := range map[string]string{readResource: `{"uri":"memo://none"}`, getPrompt: `{"name":"none"}`, "tools/call": `{}`} {
		if call, err := w.h.Read(method, []byte(params)); reason(err) != ToolUnknown && reason(err) != gate.ArgumentsBad {
			t.Errorf("%s %s: %+v, %v", method, params, call, err)
		}
	}
	if _, err := w.h.Ask(t.Context(), "tools/call", []byte(`{}`)); reason(err) != gate.ArgumentsBad {
		t.Errorf("a call past the gate: %v", err)
	}
}
