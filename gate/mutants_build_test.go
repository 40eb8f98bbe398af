package gate

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/iff-run/iff/internal/canonical"
)

// What a mutant is made of: the files that decide, and those that look for broken
// promises. Of the shell there is nothing in it but types.
var (
	pureFiles = []string{
		"call.go", "check.go", "event.go", "host.go", "lease.go", "machine.go", "permit.go", "queue.go", "reason.go", "route.go",
		"step.go", "step_ask.go", "step_read.go", "step_session.go",
	}
	huntFiles = []string{
		"explore_cast_test.go", "explore_check_test.go", "explore_clone_test.go", "explore_crash_test.go", "explore_env_test.go",
		"explore_hunt_test.go", "explore_law_test.go", "explore_move_test.go", "explore_play_test.go", "explore_run_test.go",
		"explore_scenes_test.go", "rules_ask_test.go", "rules_law_test.go", "rules_more_test.go", "rules_read_test.go", "rules_rig_test.go", "rules_session_test.go",
	}
)

// nursery is where mutants are made: packages that exist for the compiler alone,
// below this one, so that the tree stays as it is.
type nursery struct {
	t     *testing.T
	here  string // this package's directory
	temp  string
	files map[string]string // path that the compiler sees, to the file that it reads
	main  strings.Builder
	calls strings.Builder
}

func newNursery(t *testing.T) *nursery {
	t.Helper()
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	return &nursery{t: t, here: here, temp: t.TempDir(), files: make(map[string]string)}
}

// add makes the package of a mutant. The text that it replaces has to stand there
// exactly once.
func (n *nursery) add(i int, m mutant) {
	n.t.Helper()
	dir := filepath.Join(n.here, "mutants", "m"+strconv.Itoa(i))
	for _, name := range pureFiles {
		n.files[filepath.Join(dir, name)] = filepath.Join(n.here, name)
	}
	for _, name := range huntFiles {
		n.files[filepath.Join(dir, strings.TrimSuffix(name, "_test.go")+"_hunt.go")] = filepath.Join(n.here, name)
	}
	n.files[filepath.Join(dir, "door.go")] = n.write(fmt.Sprintf("door%d.go", i), "package gate\n\n// Hunt is hunt.\nfunc Hunt() error { return hunt() }\n")
	if m.file != "" {
		text := n.mutated(m)
		n.files[filepath.Join(dir, m.file)] = n.write(fmt.Sprintf("m%d.go", i), text)
	}
	fmt.Fprintf(&n.main, "\tm%d \"github.com/iff-run/iff/gate/mutants/m%d\"\n", i, i)
	fmt.Fprintf(&n.calls, "\t%q: m%d.Hunt,\n", strconv.Itoa(i), i)
}

func (n *nursery) mutated(m mutant) string {
	n.t.Helper()
	data, err := os.ReadFile(filepath.Join(n.here, m.file))
	if err != nil {
		n.t.Fatal(err)
	}
	if times := strings.Count(string(data), m.old); times != 1 {
		n.t.Fatalf("%s: the text to replace stands %d times in %s, not once; write the mutant anew", m.name, times, m.file)
	}
	return strings.Replace(string(data), m.old, m.new, 1)
}

func (n *nursery) write(name, text string) string {
	n.t.Helper()
	path := filepath.Join(n.temp, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		n.t.Fatal(err)
	}
	return path
}

// build compiles all mutants into one program, which hunts the one that its
// argument names.
func (n *nursery) build() string {
	n.t.Helper()
	source := "package main\n\nimport (\n\t\"fmt\"\n\t\"os\"\n\n" + n.main.String() + ")\n\nvar hunts = map[string]func() error{\n" + n.calls.String() +
		"}\n\nfunc main() {\n\tif err := hunts[os.Args[1]](); err != nil {\n\t\tfmt.Println(err)\n\t\tos.Exit(1)\n\t}\n}\n"
	n.files[filepath.Join(n.here, "mutants", "main", "main.go")] = n.write("main.go", source)
	table, err := canonical.Marshal(struct{ Replace map[string]string }{n.files})
	if err != nil {
		n.t.Fatal(err)
	}
	program := filepath.Join(n.temp, "hunt")
	cmd := exec.CommandContext(n.t.Context(), "go", "build", "-overlay", n.write("overlay.json", string(table)), "-o", program, "./mutants/main")
	if out, err := cmd.CombinedOutput(); err != nil {
		n.t.Fatalf("go build: %v\n%.4000s", err, out)
	}
	return program
}
