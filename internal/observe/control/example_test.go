package control_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/internal/observe/control"
)

// An agent counts its starts, and later somebody gives it another tool server.
func Example() {
	dir, err := os.MkdirTemp("", "control-example-")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "agent.json")
	o, err := control.New([]control.File{{Object: "~/agent.json", Path: path, Keys: []string{"servers"}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	snapshot := func(text string) *corpus.Snapshot {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			fmt.Println(err)
		}
		s, err := o.Full(context.Background())
		if err != nil {
			fmt.Println(err)
		}
		return s
	}
	before := snapshot(`{"starts": 1, "servers": ["iff"]}`)
	fmt.Println(len(corpus.Diff(before, snapshot(`{"starts": 2, "servers": ["iff"]}`))))
	for _, c := range corpus.Diff(before, snapshot(`{"starts": 2, "servers": ["iff", "other"]}`)) {
		fmt.Println(c.Op(), c.Object)
	}
	// Output:
	// 0
	// modify iff-control/~/agent.json
}
