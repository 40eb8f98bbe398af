package broker_test

import (
	"fmt"

	"github.com/iff-run/iff/approval"
	"github.com/iff-run/iff/broker"
	"github.com/iff-run/iff/capability"
)

func ExampleParsePolicy() {
	rules := broker.PolicyFile{Name: "web.cedar", Text: []byte(`
permit (principal, action == Action::"net.egress", resource in Domain::"example.com");`)}
	policy, err := broker.ParsePolicy([]broker.PolicyFile{rules}, broker.PolicyOptions{Profile: "dev"})
	if err != nil {
		panic(err)
	}
	for _, host := range []string{"api.example.com", "evilexample.com"} {
		target, _ := capability.Host(host, 443)
		envelope, _ := capability.NewEnvelope(capability.Call{Target: target})
		ruling := policy.Decide(approval.Question{Envelope: envelope, Agent: "me", Level: "declared", Profile: "dev"})
		fmt.Printf("%s: %q by %q\n", host, ruling.Choice, ruling.Rule)
	}

	rules.Text = []byte(`permit (principal, action, resource);`)
	_, err = broker.ParsePolicy([]broker.PolicyFile{rules}, broker.PolicyOptions{})
	fmt.Println(err)
	// Output:
	// api.example.com: "approve" by "web.cedar:2"
	// evilexample.com: "" by ""
	// web.cedar:1: it permits net.egress, which is irreversible, for arbitrary targets: no condition ties the target; name where, in the permit itself: resource in Domain::"example.com" (policy-wildcard)
}
