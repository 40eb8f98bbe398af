package skill_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/iff-run/iff/internal/trusttest"
	"github.com/iff-run/iff/record"
	"github.com/iff-run/iff/skill"
)

func Example() {
	parent, err := os.MkdirTemp("", "example-")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(parent)
	dir := filepath.Join(parent, "pdf")
	if err := os.Mkdir(dir, 0o755); err != nil {
		fmt.Println(err)
		return
	}
	text := "---\nname: pdf\ndescription: Fills forms.\nallowed-tools: Read Bash(qpdf:*)\n---\n"
	if err := os.WriteFile(filepath.Join(dir, "SKILL.md"), []byte(text), 0o644); err != nil {
		fmt.Println(err)
		return
	}
	p, err := skill.Read(dir, skill.Limits{})
	if err != nil {
		fmt.Println(err)
		return
	}
	// Under the trust root that tests share, with the key that adopts.
	scheme := trusttest.Scheme("default")
	draft, err := skill.NewDraft(p, scheme, "adopter")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(draft.Fields.Name, draft.Fields.Verification, draft.Fields.Caps)
	m, err := draft.Fields.Freeze(scheme)
	if err != nil {
		fmt.Println(err)
		return
	}
	content, err := p.Content()
	if err != nil {
		fmt.Println(err)
		return
	}
	sidecar, err := skill.Sign(content, m, trusttest.NewKey(trusttest.AdopterKey))
	if err != nil {
		fmt.Println(err)
		return
	}
	report := skill.Verify(p.WithSidecar(sidecar), skill.Terms{
		Root: trusttest.Root(), Clearance: scheme.Top(), State: new(record.State), Now: trusttest.Now,
	})
	for _, s := range report.Steps {
		fmt.Println(s.Number, s.Name, s.Outcome)
	}
	// Output:
	// pdf unverified [fs.read(**) spawn.proc(qpdf **)]
	// 1 manifest ok
	// 2 signer ok
	// 3 signature ok
	// 4 signer clearance ok
	// 5 operator clearance ok
	// 6 level ok
	// 7 grants ok
}
