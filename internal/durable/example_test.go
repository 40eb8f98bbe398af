package durable_test

import (
	"errors"
	"fmt"
	"io/fs"
	"log"
	"os"
	"path/filepath"

	"github.com/iff-run/iff/internal/durable"
)

// A document is written once, replaced as a whole, and its history appended to.
func Example() {
	dir, err := os.MkdirTemp("", "home")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	disk := durable.OS()
	document, history := filepath.Join(dir, "trust.json"), filepath.Join(dir, "history")

	if err := durable.WriteNew(disk, document, []byte("version 1\n"), 0o600); err != nil {
		log.Fatal(err)
	}
	err = durable.WriteNew(disk, document, []byte("another version 1\n"), 0o600)
	fmt.Println("exists:", errors.Is(err, fs.ErrExist))
	if err := durable.WriteFile(disk, document, []byte("version 2\n"), 0o600); err != nil {
		log.Fatal(err)
	}
	for _, line := range []string{"written\n", "replaced\n"} {
		if err := durable.Append(disk, history, []byte(line), 0o600); err != nil {
			log.Fatal(err)
		}
	}

	for _, path := range []string{document, history} {
		data, err := os.ReadFile(path)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Print(string(data))
	}
	// Output:
	// exists: true
	// version 2
	// written
	// replaced
}

// A store has one owner; a second one is told who that is.
func ExampleFS_lock() {
	dir, err := os.MkdirTemp("", "home")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path, disk := filepath.Join(dir, "lock"), durable.OS()

	owner, err := disk.Lock(path)
	if err != nil {
		log.Fatal(err)
	}
	_, err = disk.Lock(path)
	var busy *durable.BusyError
	fmt.Println("busy:", errors.As(err, &busy) && busy.Holder == fmt.Sprintf("process %d", os.Getpid()))
	fmt.Println("given up:", owner.Close())
	next, err := disk.Lock(path)
	fmt.Println("taken:", err == nil && next.Close() == nil)
	// Output:
	// busy: true
	// given up: <nil>
	// taken: true
}
