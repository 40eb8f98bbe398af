package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/iff-run/iff/internal/home"
	"github.com/iff-run/iff/internal/visible"
	"github.com/iff-run/iff/label"
	"github.com/iff-run/iff/skill"
)

type skillInspectCmd struct {
	Dir string `arg:"" help:"Skill directory."`
}

type inspectJSON struct {
	Directory   string         `json:"directory" doc:"where it is"`
	Name        string         `json:"name" doc:"what a manifest would call it"`
	Description string         `json:"description" doc:"the skill's own words, escaped, untrusted"`
	Files       int            `json:"files" doc:"regular files"`
	Bytes       int64          `json:"bytes" doc:"all of them together"`
	Content     string         `json:"content" doc:"content root, hex"`
	Findings    []findingJSON  `json:"findings" doc:"deviations from the specification, hazards to a reader, notes"`
	Proposals   []proposalJSON `json:"proposals" doc:"grants that it seems to need"`
	Signed      *skillJSON     `json:"signed" doc:"what it is signed as and loads as; null if it does not load"`
	Load        string         `json:"load" doc:"why it does not load, a closed token; empty if it does, or if there is no home"`
}

// Run works without a home too: then it says nothing about loading.
func (c skillInspectCmd) Run(a *app) error {
	path, err := one(c.Dir)
	if err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(a.dir, "iff.toml")); err != nil {
		p, err := skill.Read(path, skill.Limits{})
		if err != nil {
			return err
		}
		return a.inspect(p, nil)
	}
	return a.withHome(home.Read, func(h *home.Home) error {
		p, err := h.Read(path)
		if err != nil {
			return err
		}
		report := skill.Verify(p, h.Terms())
		return a.inspect(p, &report)
	})
}

func (a *app) inspect(p *skill.Package, report *skill.Report) error {
	in, err := skill.Inspect(p)
	if err != nil {
		return err
	}
	content, err := p.Content()
	if err != nil {
		return err
	}
	out := inspectJSON{
		Directory: p.Directory(), Name: in.Name, Description: visible.Escape(in.Doc.Description),
		Files: len(content.Files()), Bytes: content.Bytes(), Content: content.Root().String(),
		Findings: findingsOf(in), Proposals: proposalsOf(in),
	}
	if report != nil {
		out.Signed = skillOf(*report)
		if report.Err != nil {
			out.Load = string(report.Err.Reason)
		}
	}
	return a.print(out, func() error { return a.printInspection(out, in) })
}

func (a *app) printInspection(out inspectJSON, in skill.Inspection) error {
	signed := "not known: there is no home here, see iff init"
	switch {
	case out.Signed != nil:
		signed = fmt.Sprintf("%s version %d by %s, %s", out.Signed.Name, out.Signed.Version, out.Signed.Signer, out.Signed.Level)
	case out.Load != "":
		signed = "does not load: " + out.Load
	}
	rows := [][]string{
		{"skill", out.Name},
		{"directory", short(out.Directory)},
		{"content", fmt.Sprintf("%s, %d bytes, root %.16s", plural(out.Files, "file"), out.Bytes, out.Content)},
		{"signed", signed},
		{"it says", visible.Truncate(out.Description, 200) + a.paint(faint, "  (its own words, untrusted)")},
	}
	if tools := len(in.Doc.AllowedTools); tools > 0 {
		names := make([]string, tools)
		for i, t := range in.Doc.AllowedTools {
			names[i] = visible.Escape(t.Text)
		}
		rows = append(rows, []string{"asks for", strings.Join(names, ", ")})
	}
	if err := a.table(rows); err != nil {
		return err
	}
	a.printf("\n%s\n", headline(len(out.Findings), "finding", "findings: none"))
	if err := a.printFindings(out.Findings); err != nil {
		return err
	}
	a.printf("\n%s\n", headline(len(out.Proposals), "grant it seems to need", "grants it seems to need: none could be read from it"))
	if err := a.printProposals(out.Proposals); err != nil {
		return err
	}
	if out.Signed == nil {
		a.printf("\nnext: iff skill adopt %s\n", short(out.Directory))
	}
	return nil
}

func headline(n int, one, none string) string {
	switch n {
	case 0:
		return none
	case 1:
		return "1 " + one
	}
	head, tail, _ := strings.Cut(one, " ")
	return strings.TrimSpace(fmt.Sprintf("%d %ss %s", n, head, tail))
}

type skillDraftCmd struct {
	Dir string `arg:"" help:"Skill directory."`
}

type draftJSON struct {
	Manifest  any            `json:"manifest" doc:"the proposed manifest, see docs/formats.md"`
	Proposals []proposalJSON `json:"proposals" doc:"where each grant comes from"`
	LeftOut   int            `json:"leftOut" doc:"grants beyond what a manifest holds, declared bare instead"`
}

// Run works without a home too: then the label is the default scheme's lowest.
func (c skillDraftCmd) Run(a *app) error {
	path, err := one(c.Dir)
	if err != nil {
		return err
	}
	p, err := skill.Read(path, skill.Limits{})
	if err != nil {
		return err
	}
	scheme, err := a.schemeOrDefault()
	if err != nil {
		return err
	}
	d, err := skill.NewDraft(p, scheme, home.AdopterKey)
	if err != nil {
		return err
	}
	m, err := d.Fields.Freeze(scheme)
	if err != nil {
		return err
	}
	text, err := m.Pretty()
	if err != nil {
		return err
	}
	out := draftJSON{Manifest: m.Fields(), Proposals: proposalsOf(d.Inspection), LeftOut: d.LeftOut}
	return a.print(out, func() error {
		a.printf("%s\n", text)
		a.printf("%s\n", headline(len(out.Proposals), "grant and where it comes from", "grants: none could be read from it, so every call would be denied"))
		if err := a.printProposals(out.Proposals); err != nil {
			return err
		}
		if out.LeftOut > 0 {
			a.printf("  %d more than a manifest holds are declared bare: such calls ask\n", out.LeftOut)
		}
		a.printf("? marks what could not be read without running it\n")
		return nil
	})
}

func (a *app) schemeOrDefault() (*label.Scheme, error) {
	if _, err := os.Stat(filepath.Join(a.dir, "iff.toml")); err != nil {
		s, _ := label.Builtin("default")
		return s, nil
	}
	h, err := a.open(home.Read)
	if err != nil {
		return nil, err
	}
	return h.Root().Scheme(), h.Close()
}
