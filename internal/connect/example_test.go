package connect_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/iff-run/iff/internal/connect"
)

// A project whose settings have a comment is connected, and disconnected again.
func Example() {
	root, err := os.MkdirTemp("", "connect")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(root)
	settings := filepath.Join(root, "opencode.jsonc")
	if err := os.WriteFile(settings, []byte("{\n  \"model\": \"x/y\" // the good one\n}\n"), 0o600); err != nil {
		fmt.Println(err)
		return
	}
	agent, _ := connect.Find("opencode")
	place := connect.Place{Home: filepath.Join(root, "home"), Dir: root, Iff: "/usr/bin/iff"}
	plan, err := connect.Prepare(agent, place, []connect.Level{connect.Project})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range plan.Changed() {
		for _, line := range connect.Diff("opencode.jsonc", c.Before, c.After) {
			fmt.Println(line)
		}
	}
	if err := os.Mkdir(filepath.Join(root, "iff"), 0o700); err != nil {
		fmt.Println(err)
		return
	}
	store := connect.NewStore(filepath.Join(root, "iff"), nil)
	if err := store.Apply(plan); err != nil {
		fmt.Println(err)
		return
	}
	if _, err := store.Undo("opencode", place, nil); err != nil {
		fmt.Println(err)
		return
	}
	text, err := os.ReadFile(settings)
	fmt.Printf("%s%v\n", text, err)
	// Output:
	// --- opencode.jsonc
	// +++ opencode.jsonc
	// @@ -1,3 +1,15 @@
	//  {
	// -  "model": "x/y" // the good one
	// +  "model": "x/y", // the good one
	// +  "mcp": {
	// +    "iff": {
	// +      "type": "local",
	// +      "command": ["/usr/bin/iff", "mcp"],
	// +      "enabled": true,
	// +      "timeout": 3600000
	// +    }
	// +  },
	// +  "permission": {
	// +    "*": "deny",
	// +    "iff_*": "allow"
	// +  }
	//  }
	// {
	//   "model": "x/y" // the good one
	// }
	// <nil>
}
