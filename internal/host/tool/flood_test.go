package tool

import (
	"fmt"
	"testing"
)

// A server that has other tools each time it is asked fills neither log nor memory,
// is asked less and less often, and takes no name for good.
func TestFloodOfTools(t *testing.T) {
	w := newWorld(t, nil, upstreamOf(t, "fake", "plain"), upstreamOf(t, "sdk", "sdk"))
	u, other := w.h.upstreams["fake"], w.h.upstreams["sdk"]
	before := len(w.notes)
	var all listing
	for round := range 12 {
		all = listing{tools: map[string]*offer{}, twice: map[string]bool{}}
		for i := range maxTools {
			all.add(u.read(fmt.Sprintf(`{"inputSchema":{},"name":"t%d_%d"}`, round, i)))
		}
		all.settle()
		if err := u.adopt(all); err != nil {
			t.Fatal(err)
		}
	}
	if u.pace != fresh {
		t.Errorf("it is looked at again after %s", u.pace)
	}
	if n := len(w.notes) - before; n > 3*maxPins {
		t.Errorf("%d records", n)
	}
	if pins := w.h.pinned["fake"]; pins < maxPins || pins > maxPins+maxTools {
		t.Errorf("%d tools are pinned, the bound is %d", pins, maxPins)
	}
	if s := u.state(); len(s.Tools) != 0 || len(s.Faults) == 0 {
		t.Errorf("%d tools, and faults %q", len(s.Tools), s.Faults)
	}
	w.h.pinning.Lock()
	defer w.h.pinning.Unlock()
	if w.h.taken(other, "t0_0") {
		t.Error("a tool that is gone keeps its name from others")
	}
}
