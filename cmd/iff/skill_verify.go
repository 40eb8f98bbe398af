package main

import (
	"fmt"
	"strconv"

	"github.com/iff-run/iff/internal/home"
	"github.com/iff-run/iff/internal/visible"
	"github.com/iff-run/iff/skill"
)

type skillVerifyCmd struct {
	dirs
	Steps bool `help:"Print all seven steps of every skill."`
}

type stepsJSON struct {
	Step    int    `json:"step" doc:"1 to 7"`
	Name    string `json:"name" doc:"what is checked"`
	Outcome string `json:"outcome" doc:"ok or refused; empty if it was not reached"`
	Checked string `json:"checked" doc:"what it looked at, escaped"`
}

type changeJSON struct {
	Kind   string `json:"kind" doc:"added, removed, modified, executable-changed or renamed"`
	Path   string `json:"path" doc:"relative to the skill"`
	From   string `json:"from" doc:"old path of a renamed file"`
	Detail string `json:"detail" doc:"in words"`
}

type verifiedJSON struct {
	Directory string       `json:"directory" doc:"where it is"`
	Loads     bool         `json:"loads" doc:"it passed all seven steps"`
	Skill     *skillJSON   `json:"skill" doc:"what it loads as; null if it does not"`
	Steps     []stepsJSON  `json:"steps" doc:"the seven steps"`
	Changes   []changeJSON `json:"changes" doc:"files that are not as signed"`
	Refused   *refusalJSON `json:"refused" doc:"why; null if it loads"`
}

type verifyJSON struct {
	Skills  []verifiedJSON `json:"skills" doc:"in the order given"`
	Loads   int            `json:"loads" doc:"how many pass"`
	Refused int            `json:"refused" doc:"how many do not"`
}

func (c skillVerifyCmd) Run(a *app) error {
	found := c.find()
	out := verifyJSON{Skills: []verifiedJSON{}}
	err := a.withHome(home.Read, func(h *home.Home) error {
		progress := a.progress("verified", len(found))
		for i, t := range found {
			if err := a.ctx.Err(); err != nil {
				return err
			}
			row, err := verifyOne(h, t)
			if err != nil {
				return err
			}
			out.Skills = append(out.Skills, row)
			progress(i + 1)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, s := range out.Skills {
		if s.Loads {
			out.Loads++
		} else {
			out.Refused++
		}
	}
	if err := a.print(out, func() error { return c.text(a, out) }); err != nil {
		return err
	}
	if out.Refused > 0 {
		return &outcomeError{code: exitDoesNot}
	}
	return nil
}

func verifyOne(h *home.Home, t target) (verifiedJSON, error) {
	out := verifiedJSON{Directory: t.dir, Steps: []stepsJSON{}, Changes: []changeJSON{}}
	p, err := (*skill.Package)(nil), t.err
	if err == nil {
		p, err = h.Read(t.dir)
	}
	if err != nil {
		if out.Refused = refusal(err); out.Refused == nil {
			return out, err
		}
		return out, nil
	}
	r := skill.Verify(p, h.Terms())
	out.Loads, out.Skill, out.Steps, out.Changes = r.Err == nil, skillOf(r), stepsOf(r), changesOf(r.Changes)
	if r.Err != nil {
		out.Refused = refusal(r.Err)
	}
	return out, nil
}

func stepsOf(r skill.Report) []stepsJSON {
	out := make([]stepsJSON, len(r.Steps))
	for i, s := range r.Steps {
		out[i] = stepsJSON{Step: s.Number, Name: s.Name, Outcome: string(s.Outcome), Checked: undouble(visible.Escape(s.Checked))}
	}
	return out
}

func changesOf(changes []skill.Change) []changeJSON {
	out := make([]changeJSON, len(changes))
	for i, c := range changes {
		out[i] = changeJSON{Kind: string(c.Kind), Path: c.Path, From: c.From, Detail: visible.Escape(c.Describe())}
	}
	return out
}

func (c skillVerifyCmd) text(a *app, out verifyJSON) error {
	if c.Steps || len(out.Skills) == 1 {
		for _, s := range out.Skills {
			if err := a.printSteps(s, len(out.Skills) > 1); err != nil {
				return err
			}
		}
		if len(out.Skills) == 1 {
			return nil
		}
	} else if err := a.printVerdicts(out); err != nil {
		return err
	}
	a.printf("%s: %d load, %d refused\n", plural(len(out.Skills), "skill"), out.Loads, out.Refused)
	return nil
}

func (a *app) printSteps(s verifiedJSON, title bool) error {
	if title {
		a.printf("%s\n", short(s.Directory))
	}
	var rows [][]string
	for _, st := range s.Steps {
		switch st.Outcome {
		case "ok":
			rows = append(rows, []string{strconv.Itoa(st.Step), st.Name, a.paint(green, "ok"), st.Checked})
		case "refused":
			rows = append(rows, []string{strconv.Itoa(st.Step), st.Name, a.paint(red, "NO"), st.Checked})
		}
	}
	if err := a.table(rows); err != nil {
		return err
	}
	if s.Loads {
		a.printf("loads as %s version %d, %s, signed by %s\n", s.Skill.Name, s.Skill.Version, s.Skill.Level, s.Skill.Signer)
		return nil
	}
	if len(s.Changes) > 1 { // one is in the step already
		for _, c := range s.Changes {
			a.printf("  %s %s\n", visible.Escape(c.Path), c.Detail)
		}
	}
	where := "before step 1"
	if s.Refused.Step > 0 {
		where = fmt.Sprintf("at step %d", s.Refused.Step)
	}
	a.printf("refused %s: %s\n", where, s.Refused.Reason)
	if len(s.Steps) == 0 {
		a.printf("  %s\n", s.Refused)
	}
	if s.Refused.Remedy != "" {
		a.printf("  %s\n", remedyOf(s.Refused, s.Directory))
	}
	return nil
}

func (a *app) printVerdicts(out verifyJSON) error {
	var rows, refused [][]string // what needs a person comes last
	for _, s := range out.Skills {
		if s.Loads {
			rows = append(rows, []string{a.paint(green, "ok"), short(s.Directory), fmt.Sprintf("%s version %d, %s, signed by %s", s.Skill.Name, s.Skill.Version, s.Skill.Level, s.Skill.Signer)})
			continue
		}
		refused = append(refused, []string{a.paint(red, "NO"), short(s.Directory), fmt.Sprintf("step %d: %s", s.Refused.Step, s.Refused)})
	}
	return a.table(append(rows, refused...))
}
