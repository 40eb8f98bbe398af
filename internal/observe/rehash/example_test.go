package rehash_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/internal/observe/rehash"
)

// A file is written behind everybody's back between two snapshots, and so is a volatile one.
func Example() {
	root, err := os.MkdirTemp("", "corpus")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(root)
	volatile, err := corpus.ParsePatterns([]string{"**/*.swp"})
	if err != nil {
		log.Fatal(err)
	}
	observer, err := rehash.New(root, "work", volatile, rehash.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer observer.Close()

	ctx := context.Background()
	before, err := observer.Snapshot(ctx)
	if err != nil {
		log.Fatal(err)
	}
	for _, name := range []string{"notes.txt", ".notes.swp"} {
		if err := os.WriteFile(filepath.Join(root, name), []byte("hello\n"), 0o644); err != nil {
			log.Fatal(err)
		}
	}
	after, err := observer.Snapshot(ctx)
	if err != nil {
		log.Fatal(err)
	}
	for _, change := range corpus.Diff(before, after) {
		fmt.Println(change.Op(), change.Object)
	}
	fmt.Println(observer.Blind()[0])
	// Output:
	// create work/notes.txt
	// change-and-restore between readings
}
