package main

import (
	"fmt"
	"os"

	"github.com/iff-run/iff/internal/home"
	"github.com/iff-run/iff/internal/visible"
	"github.com/iff-run/iff/manifest"
	"github.com/iff-run/iff/skill"
)

type skillListCmd struct{}

type listedJSON struct {
	Directory string     `json:"directory" doc:"where it was adopted or signed"`
	Skill     *skillJSON `json:"skill" doc:"as it was last adopted or signed"`
	Summary   string     `json:"summary" doc:"the signer's line; empty if it does not load"`
	Status    string     `json:"status" doc:"loads, gone, or the reason it does not load"`
}

type listJSON struct {
	Skills []listedJSON `json:"skills" doc:"in the order they were first adopted or signed"`
}

func (skillListCmd) Run(a *app) error {
	return a.withHome(home.Read, func(h *home.Home) error {
		out := listJSON{Skills: []listedJSON{}}
		for _, dir := range h.Skills() {
			out.Skills = append(out.Skills, listOne(h, dir))
		}
		return a.print(out, func() error {
			rows := [][]string{{"NAME", "VERSION", "LEVEL", "SIGNER", "STATUS", "DIRECTORY", "SUMMARY"}}
			for _, s := range out.Skills {
				rows = append(rows, []string{s.Skill.Name, fmt.Sprint(s.Skill.Version), s.Skill.Level, s.Skill.Signer, s.Status, short(s.Directory), s.Summary})
			}
			return a.table(rows)
		})
	})
}

func listOne(h *home.Home, dir string) listedJSON {
	placed, _ := h.State().Placed(dir)
	out := listedJSON{Directory: dir, Skill: (*skillJSON)(&placed), Status: "gone"}
	if _, err := os.Stat(dir); err != nil {
		return out
	}
	p, err := h.Read(dir)
	if err != nil {
		out.Status = reasonOf(err)
		return out
	}
	r := skill.Verify(p, h.Terms())
	if r.Err != nil {
		out.Status = string(r.Err.Reason)
		return out
	}
	out.Status, out.Skill = "loads", skillOf(r)
	if m, err := manifest.Parse(p.Sidecar().Manifest, h.Root().Scheme()); err == nil {
		out.Summary = visible.Escape(m.Summary())
	}
	return out
}
