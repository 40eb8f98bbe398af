package durabletest_test

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/iff-run/iff/internal/durable"
	"github.com/iff-run/iff/internal/durable/durabletest"
)

// A writer that forgets to sync the directory is right until the power fails.
func ExampleMatrix() {
	forgetful := func(fsys durable.FS) error {
		f, err := fsys.Create("/note", 0o600)
		if err != nil {
			return err
		}
		n, err := f.Write([]byte("text"))
		if err != nil || n < 4 {
			return errors.New("not written")
		}
		return f.Sync()
	}
	kept := func(c *durabletest.Case) error {
		if _, err := c.Disk.ReadFile("/note"); c.Acked && err != nil {
			return fmt.Errorf("acknowledged, and %w", err)
		}
		return nil
	}
	_, err := durabletest.Matrix(nil, forgetful, kept)
	fmt.Println("a file is missing:", errors.Is(err, fs.ErrNotExist))
	// Output: a file is missing: true
}
