package tool_test

import (
	"fmt"

	"github.com/iff-run/iff/gate"
	"github.com/iff-run/iff/internal/host/tool"
)

// A ready mapping says what the tools of a server are; a tool that is not in it is
// tool.invoke of server/tool.
func ExampleReady() {
	rules, _ := tool.Ready("server-filesystem")
	for _, r := range rules {
		if r.Capability == "fs.write.irrev" {
			fmt.Printf("%s %s exact: %v\n", r.Name, r.Target, r.Reach == gate.Exact)
		}
	}
	// Output:
	// write_file {path} exact: false
	// edit_file {path} exact: false
	// create_directory {path} exact: false
	// move_file {source} exact: true
}
