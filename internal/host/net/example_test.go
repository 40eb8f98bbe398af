package net_test

import (
	"context"
	"fmt"
	"log"

	"github.com/iff-run/iff/capability"
	"github.com/iff-run/iff/internal/host/net"
	"github.com/iff-run/iff/label"
)

// A host says what a call reaches for, from the envelope alone; only a permit of a
// gate makes it send anything.
func Example() {
	scheme, _ := label.Builtin("default")
	host := net.New(net.Options{Label: func(name string, _ uint16) (label.Label, bool) {
		return scheme.Bottom(), name == "api.example.com"
	}})
	target, _ := capability.ParseTarget(capability.NetEgress, "api.example.com")
	for _, url := range []string{"https://api.example.com/v1", "https://api.example.com@127.0.0.1/"} {
		call, err := capability.NewEnvelope(capability.Call{Target: target, Arguments: fmt.Appendf(nil, `{"url":%q}`, url)})
		if err != nil {
			log.Fatal(err)
		}
		touches, err := host.Touches(call)
		fmt.Println(touches.Op, touches.Outside, err)
	}
	_, err := host.Do(context.Background(), nil)
	fmt.Println(err)
	// Output:
	// get [PUBLIC] <nil>
	//  [] the url's host is "api.example.com@127.0.0.1" and the target is api.example.com; write both in the target's spelling
	// permit-void
}
