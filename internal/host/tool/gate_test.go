package tool

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/iff-run/iff/capability"
	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/gate"
	"github.com/iff-run/iff/gate/gatetest"
	"github.com/iff-run/iff/internal/observe/rehash"
	"github.com/iff-run/iff/record"
)

// gated is a real gate, with the native host and an observer, over a world.
func gated(w *world) *gatetest.Bench {
	w.Helper()
	o, err := rehash.New(w.dir, "work", corpus.Patterns{}, rehash.Options{})
	if err != nil {
		w.Fatal(err)
	}
	b := gatetest.New(w.TB, nil, func(p *gate.Parts) {
		p.Hosts = w.h.Over(map[capability.Capability]gate.Host{
			capability.FSRead: w.h.options.Files, capability.FSWriteRev: w.h.options.Files, capability.FSWriteIrrev: w.h.options.Files,
		})
		p.Observers = map[string]corpus.Observer{"work": o}
		for i := range p.Skills {
			p.Skills[i].Grants = gatetest.Grants(w, "fs.read(**)", "fs.write.rev(out/**)", "fs.write.irrev(out/**)", "tool.invoke(fake/*)")
		}
	})
	w.Cleanup(func() { _ = o.Close() })
	return b
}

// Calls of upstreams and native calls, through a gate.
func TestThroughAGate(t *testing.T) {
	up := upstreamOf(t, "fake", "plain", writer...)
	w := newWorld(t, nil, up)
	w.h.upstreams["fake"].Label = w.scheme().Bottom()
	b := gated(w)
	defer b.Close()
	s := b.Open("agent", gatetest.Declared)
	must := func(r gate.Reply, status gate.Status, reason gate.Reason) gate.Reply {
		t.Helper()
		if r.Status != status || r.Reason != reason {
			t.Fatalf("%s %s (%s), want %s %s", r.Status, r.Reason, r.Message, status, reason)
		}
		return r
	}
	call := func(tool, args string) gate.Reply {
		t.Helper()
		c, err := w.h.Call(tool, []byte(args))
		if err != nil {
			t.Fatal(err)
		}
		return s.Call(t.Context(), c)
	}
	if err := os.Mkdir(filepath.Join(w.dir, "out"), 0o755); err != nil {
		t.Fatal(err)
	}
	// A native write, then one of the upstream, then a native read.
	must(s.Call(t.Context(), gate.Call{Capability: "fs.write.irrev", Target: "out/a", Arguments: []byte(`{"op":"write","content":"native"}`)}), gate.Done, "")
	r := must(call("write", `{"path":"out/a","content":"upstream"}`), gate.Done, "")
	if string(r.Result) != said("written") {
		t.Errorf("told %s", r.Result)
	}
	if r := must(s.Call(t.Context(), gate.Call{Capability: "fs.read", Target: "out/a"}), gate.Done, ""); !strings.Contains(string(r.Result), "upstream") {
		t.Errorf("read %s", r.Result)
	}
	// Its plan is bounded, and its outcome has what was read.
	for _, rec := range b.Log.Of(r.Request) {
		switch body := rec.Body.(type) {
		case record.Intent:
			if len(body.Plan) != 1 || body.Plan[0].After != corpus.Any {
				t.Errorf("intent %+v", body.Plan)
			}
		case record.Executed:
			if len(body.Readings) != 1 || !body.Readings[0].After.Known() {
				t.Errorf("readings %+v", body.Readings)
			}
		}
	}
	must(call("rename", `{"from":"out/a","into":"out/b"}`), gate.Done, "")
	must(call("fail", `{"from":"out/b","into":"out/c"}`), gate.Failed, UpstreamRefused)
	must(call("die", `{}`), gate.Failed, UpstreamDied)
	if r := must(call("garbage", `{}`), gate.Failed, UpstreamGarbage); !strings.Contains(r.Message, "is not known") {
		t.Errorf("message %q", r.Message)
	}
	// What a call says of itself does not count.
	c, err := w.h.Call("write", []byte(`{"path":"out/b","content":"x"}`))
	if err != nil {
		t.Fatal(err)
	}
	c.Capability = "fs.read"
	must(s.Call(t.Context(), c), gate.Denied, gate.ArgumentsBad)
	c.Capability = "fs.write.rev"
	must(s.Call(t.Context(), c), gate.Denied, gate.ArgumentsBad)
}
