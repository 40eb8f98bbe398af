//go:build linux || darwin

package fs_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/iff-run/iff/capability"
	"github.com/iff-run/iff/internal/host/fs"
)

// A host says what a call would do; only a permit of a gate makes it do that.
func Example() {
	dir, err := os.MkdirTemp("", "work")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	host, err := fs.New([]fs.Root{{Corpus: "work", Dir: dir}})
	if err != nil {
		log.Fatal(err)
	}
	defer host.Close()

	target, _ := capability.ParseTarget(capability.FSWriteRev, "notes.md")
	call, err := capability.NewEnvelope(capability.Call{Target: target, Arguments: []byte(`{"op":"append","content":"- bread\n"}`)})
	if err != nil {
		log.Fatal(err)
	}
	touches, _ := host.Touches(call)
	fmt.Println(touches.Op, touches.Changes, touches.Reversible)
	plan, err := host.Plan(context.Background(), call, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(plan.Changes[0].Op(), plan.Changes[0].Object, plan.Whole())
	_, err = host.Do(context.Background(), nil)
	fmt.Println(err)
	// Output:
	// append [work/notes.md] true
	// create work/notes.md true
	// permit-void
}
