package main

import (
	"fmt"

	"github.com/iff-run/iff/internal/home"
	"github.com/iff-run/iff/internal/visible"
)

type skillAdoptCmd struct {
	dirs
	Replace bool `help:"Drop a manifest that somebody else signed, or take a name that another directory has."`
	Redraft bool `help:"Propose the grants anew instead of keeping those of the last adoption."`
	Edited  bool `help:"Adopt the manifest as it stands on disk, edited since the last adoption."`
	InHome  bool `help:"Keep manifest and signature in the home, not beside the skill."`
}

type adoptedJSON struct {
	Directory string        `json:"directory" doc:"where it is"`
	Outcome   string        `json:"outcome" doc:"adopted, updated, unchanged, kept or refused"`
	Skill     *skillJSON    `json:"skill" doc:"what it loads as; null if refused"`
	Grants    []string      `json:"grants" doc:"what the manifest grants"`
	Ungranted []string      `json:"ungranted" doc:"what the changed skill seems to need beyond that"`
	Stored    string        `json:"stored" doc:"directory that holds manifest and signature"`
	Findings  []findingJSON `json:"findings" doc:"what a person should see"`
	Refused   *refusalJSON  `json:"refused" doc:"why; null unless refused"`
}

type adoptJSON struct {
	Skills  []adoptedJSON `json:"skills" doc:"in the order given"`
	Refused int           `json:"refused" doc:"how many of them"`
}

func (c skillAdoptCmd) Run(a *app) error {
	found := c.find()
	out := adoptJSON{Skills: []adoptedJSON{}}
	err := a.withHome(home.Write, func(h *home.Home) error {
		progress := a.progress("adopted", len(found))
		for i, t := range found {
			if err := a.ctx.Err(); err != nil {
				return err
			}
			row, err := c.adopt(a, h, t)
			if err != nil {
				return err
			}
			if row.Refused != nil {
				out.Refused++
			}
			out.Skills = append(out.Skills, row)
			progress(i + 1)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := a.print(out, func() error { return a.printAdopted(out) }); err != nil {
		return err
	}
	if out.Refused > 0 {
		return &outcomeError{code: exitRefused}
	}
	return nil
}

func (c skillAdoptCmd) adopt(a *app, h *home.Home, t target) (adoptedJSON, error) {
	dir, err := t.dir, t.err
	var got home.Adoption
	if err == nil {
		got, err = h.Adopt(a.ctx, dir, home.AdoptOptions{Replace: c.Replace, Redraft: c.Redraft, Edited: c.Edited, InHome: c.InHome})
	}
	if err != nil {
		r := refusal(err)
		if r == nil {
			return adoptedJSON{}, fmt.Errorf("%s: %w", visible.Escape(dir), err)
		}
		return adoptedJSON{Directory: dir, Outcome: "refused", Refused: r, Grants: []string{}, Ungranted: []string{}, Findings: []findingJSON{}}, nil
	}
	out := adoptedJSON{
		Directory: dir, Outcome: string(got.Outcome), Skill: skillOf(got.Report), Ungranted: list(got.Ungranted),
		Stored: got.Stored, Findings: findingsOf(got.Draft.Inspection), Grants: list(got.Grants),
	}
	return out, nil
}

func (a *app) printAdopted(out adoptJSON) error {
	var rows, refused [][]string // what needs a person comes last
	for _, s := range out.Skills {
		if s.Refused == nil {
			rows = append(rows, adoptRow(a, s))
		} else {
			refused = append(refused, adoptRow(a, s))
		}
	}
	if err := a.table(append(rows, refused...)); err != nil {
		return err
	}
	empty := 0
	for _, s := range out.Skills {
		a.adoptNotes(s, len(out.Skills) == 1)
		if s.Refused == nil && len(s.Grants) == 0 {
			empty++
		}
	}
	if empty > 0 {
		a.printf("  no grant could be read from %s: every call would be denied. Write caps into skill.iff.json, then iff skill adopt --edited\n", plural(empty, "skill"))
	}
	a.printf("%s: %d in, %d refused\n", plural(len(out.Skills), "skill"), len(out.Skills)-out.Refused, out.Refused)
	return nil
}

func adoptRow(a *app, s adoptedJSON) []string {
	if s.Refused != nil {
		return []string{a.paint(red, "NO"), "refused", short(s.Directory), s.Refused.String()}
	}
	hazards := 0
	for _, f := range s.Findings {
		if f.Class == "hazard" {
			hazards++
		}
	}
	detail := fmt.Sprintf("%s version %d, %s, %s", s.Skill.Name, s.Skill.Version, s.Skill.Level, plural(len(s.Grants), "grant"))
	if hazards > 0 {
		detail += ", " + plural(hazards, "hazard") + ": iff skill inspect"
	}
	return []string{a.paint(green, "ok"), s.Outcome, short(s.Directory), detail}
}

// adoptNotes prints what one skill needs a person to read.
func (a *app) adoptNotes(s adoptedJSON, alone bool) {
	if s.Refused != nil {
		if alone && s.Refused.Remedy != "" {
			a.printf("  %s\n", remedyOf(s.Refused, s.Directory))
		}
		return
	}
	if s.Stored != "" && s.Stored != s.Directory {
		a.printf("  %s: manifest and signature are kept in %s\n", s.Skill.Name, short(s.Stored))
	}
	for _, g := range s.Ungranted {
		a.printf("  %s: not granted before, not granted now: %s (grant it: --redraft)\n", s.Skill.Name, g)
	}
	if alone {
		for _, g := range s.Grants {
			a.printf("  may ask for  %s\n", g)
		}
	}
}
