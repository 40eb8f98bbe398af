package main

import (
	"os"
	"path/filepath"

	"github.com/iff-run/iff/internal/home"
	"github.com/iff-run/iff/skill"
)

// adopt takes in the skills where the agent looks for them. What loads already is
// left as it is, and the home is not opened for writing if all of them do.
func (r *connecting) adopt() error {
	var todo []target
	found := r.skills()
	err := r.withHome(home.Read, func(h *home.Home) error {
		for _, t := range found {
			p, err := h.Read(t.dir)
			if err != nil {
				todo = append(todo, t)
				continue
			}
			report := skill.Verify(p, h.Terms())
			if report.Err != nil {
				todo = append(todo, t)
				continue
			}
			r.out.Skills = append(r.out.Skills, adoptedJSON{
				Directory: t.dir, Outcome: string(home.Unchanged), Skill: skillOf(report), Stored: p.Directory(),
				Grants: []string{}, Ungranted: []string{}, Findings: []findingJSON{},
			})
		}
		return nil
	})
	if err != nil || len(todo) == 0 {
		return err
	}
	return r.withHome(home.Write, func(h *home.Home) error {
		for _, t := range todo {
			row, err := skillAdoptCmd{}.adopt(r.app, h, t)
			if err != nil {
				return err
			}
			r.out.Skills = append(r.out.Skills, row)
		}
		return nil
	})
}

// skills are the skills where the agent looks, each once.
func (r *connecting) skills() []target {
	var folders []string
	for _, dir := range r.agent.SkillDirs(r.place) {
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			folders = append(folders, dir)
		}
	}
	var out []target
	for _, t := range (dirs{folders}).find() {
		if _, err := os.Stat(filepath.Join(t.dir, "SKILL.md")); t.err == nil && err == nil {
			out = append(out, t)
		}
	}
	return out
}
