package home_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/iff-run/iff/internal/home"
	"github.com/iff-run/iff/label"
)

func Example() {
	dir, err := os.MkdirTemp("", "example-")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	scheme, _ := label.Builtin("default")
	plan := home.Plan{Operator: "me", Scheme: scheme, Passphrase: []byte("correct horse")}
	h, err := home.Init(context.Background(), filepath.Join(dir, "h"), plan, home.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer h.Close()
	path := filepath.Join(dir, "pdf")
	if err := os.Mkdir(path, 0o755); err != nil {
		fmt.Println(err)
		return
	}
	text := "---\nname: pdf\ndescription: Fills forms.\nallowed-tools: Read\n---\n"
	if err := os.WriteFile(filepath.Join(path, "SKILL.md"), []byte(text), 0o644); err != nil {
		fmt.Println(err)
		return
	}
	a, err := h.Adopt(context.Background(), path, home.AdoptOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(a.Outcome, a.Manifest.Name(), a.Manifest.Level(), a.Grants)
	// Output: adopted pdf unverified [fs.read(**)]
}
