package file_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/iff-run/iff/audit"
	"github.com/iff-run/iff/internal/durable"
	"github.com/iff-run/iff/internal/store/file"
)

// One process appends; after it, or beside it, others read.
func Example() {
	home, err := os.MkdirTemp("", "home")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(home)
	ctx, dir := context.Background(), filepath.Join(home, "log")

	writer, err := file.Create(durable.OS(), dir, nil)
	if err != nil {
		log.Fatal(err)
	}
	for first, line := range []string{"{\"seq\":0}\n", "{\"seq\":1}\n"} {
		batch := audit.Batch{First: int64(first), Lines: []byte(line), Reserve: 1000}
		if err := writer.Append(ctx, batch); err != nil {
			log.Fatal(err)
		}
	}
	if err := writer.Close(); err != nil {
		log.Fatal(err)
	}

	reader, err := file.OpenRead(durable.OS(), dir)
	if err != nil {
		log.Fatal(err)
	}
	for block, err := range reader.Blocks(ctx, audit.Position{}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%v\n%s", block.At, block.Data)
	}
	fmt.Println(reader.End())
	// Output:
	// 00000000000000000000.jsonl byte 0
	// {"seq":0}
	// {"seq":1}
	// 00000000000000000000.jsonl byte 20
}
