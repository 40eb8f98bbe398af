package capability_test

import (
	"errors"
	"fmt"

	"github.com/iff-run/iff/capability"
)

// What a manifest declares, held against what an agent asks for.
func Example() {
	grants, err := capability.ParseGrants([]string{
		"fs.read(reports/**)",
		"net.egress(*.example.com)",
		"pay",
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	read, _ := capability.Path(capability.FSRead, "work", "reports/2026/q1.md")
	reach, _ := capability.Host("evil-example.com", 443)
	pay, _ := capability.Amount("usd", "5")
	for _, target := range []capability.Target{read, reach, pay} {
		c := target.Capability()
		fmt.Println(c, target, c.Effect(), grants.Declares(c), grants.Covers(target))
	}
	// Output:
	// fs.read reports/2026/q1.md none true true
	// net.egress evil-example.com irreversible true false
	// pay usd,5 irreversible true false
}

// Every grant has one spelling; the error says which.
func ExampleParseGrant() {
	_, err := capability.ParseGrant("net.egress(Example.com:443)")
	var refused *capability.Error
	if errors.As(err, &refused) {
		fmt.Println(refused.Reason, refused.Canonical)
	}
	// Output: grant-not-canonical net.egress(example.com)
}

// The text of a target is the argument of the grant that covers just it.
func ExampleLiteral() {
	target, _ := capability.Argv("printf", "%s", "two words", "*")
	grant, _ := capability.Literal(target)
	fmt.Println(grant)
	// Output: spawn.proc(printf %s two\ words \*)
}

// The bytes that are approved, logged and executed.
func ExampleNewEnvelope() {
	target, _ := capability.Path(capability.FSWriteRev, "work", "notes.md")
	envelope, _ := capability.NewEnvelope(capability.Call{
		Target:    target,
		Arguments: []byte(`{"mode": "append", "content": "done"}`),
		Reasoning: "The task is finished.",
	})
	fmt.Println(string(envelope.Bytes()))
	fmt.Printf("%.4x\n", envelope.Hash())
	// Output:
	// {"arguments":{"content":"done","mode":"append"},"capability":"fs.write.rev","reasoning":"The task is finished.","schema":"iff/call/v1","target":"notes.md"}
	// 3fb4a689
}
