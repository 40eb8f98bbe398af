package beneath_test

import (
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/iff-run/iff/internal/beneath"
)

// A directory with a file and a link is walked: the file is read, the link is refused by name.
func Example() {
	path, err := os.MkdirTemp("", "skill")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(path)
	if err := os.WriteFile(filepath.Join(path, "SKILL.md"), []byte("# Skill\n"), 0o644); err != nil {
		log.Fatal(err)
	}
	if err := os.Symlink("/etc/passwd", filepath.Join(path, "font.ttf")); err != nil {
		log.Fatal(err)
	}

	dir, err := beneath.Open(path)
	if err != nil {
		log.Fatal(err)
	}
	defer dir.Close()
	entries, err := dir.Entries(100)
	if err != nil {
		log.Fatal(err)
	}
	for _, entry := range entries {
		if err := beneath.CheckName(entry.Name); err != nil {
			log.Fatal(err)
		}
		file, err := dir.ReadFile(entry.Name, 1<<20)
		var refused *beneath.Error
		switch {
		case errors.As(err, &refused):
			fmt.Println(entry.Name, refused.Reason)
		case err == nil:
			fmt.Println(entry.Name, file.Size)
		}
	}
	// Output:
	// SKILL.md 8
	// font.ttf file-link
}
