package main

import (
	"github.com/iff-run/iff/internal/home"
	"github.com/iff-run/iff/internal/visible"
	"github.com/iff-run/iff/skill"
)

type skillDiffCmd struct {
	Dir string `arg:"" help:"Skill directory."`
}

type diffJSON struct {
	Directory string       `json:"directory" doc:"where it is"`
	Same      bool         `json:"same" doc:"manifest and every file are as signed"`
	Manifest  string       `json:"manifest" doc:"same or changed"`
	Changes   []changeJSON `json:"changes" doc:"file by file; empty if nothing differs"`
}

func (c skillDiffCmd) Run(a *app) error {
	return a.readSkill(c.Dir, func(h *home.Home, p *skill.Package) error {
		d, err := skill.Compare(p)
		if err != nil {
			return err
		}
		out := diffJSON{Directory: p.Directory(), Same: d.Same(), Manifest: string(d.Manifest), Changes: changesOf(d.Changes)}
		if err := a.print(out, func() error { return a.printDiff(out) }); err != nil {
			return err
		}
		if r := skill.Verify(p, h.Terms()); out.Same && r.Err != nil {
			return r.Err // the signature file says so, and it is not to be believed
		}
		if !out.Same {
			return &outcomeError{code: exitDoesNot}
		}
		return nil
	})
}

func (a *app) printDiff(out diffJSON) error {
	if out.Same {
		a.printf("%s is as it was signed\n", short(out.Directory))
		return nil
	}
	var rows [][]string
	if out.Manifest != string(skill.ManifestSame) {
		rows = append(rows, []string{"manifest", "skill.iff.json", "is not the one that was signed"})
	}
	for _, c := range out.Changes {
		rows = append(rows, []string{c.Kind, visible.Escape(c.Path), c.Detail})
	}
	if err := a.table(rows); err != nil {
		return err
	}
	remedy := "if this is meant: iff skill sign %[1]s, or iff skill adopt --replace %[1]s\n"
	if out.Manifest != string(skill.ManifestSame) {
		remedy = "if this is meant: iff skill sign --edited %[1]s, or iff skill adopt --edited %[1]s\n"
	}
	a.printf(remedy, short(out.Directory))
	return nil
}
