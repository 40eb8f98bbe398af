package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/iff-run/iff/internal/home"
	"github.com/iff-run/iff/internal/skillmd"
	"github.com/iff-run/iff/internal/visible"
	"github.com/iff-run/iff/skill"
)

type skillCmd struct {
	Inspect skillInspectCmd `cmd:"" help:"Show what a skill is, needs and hides."`
	Draft   skillDraftCmd   `cmd:"" help:"Propose a manifest, with the file and line of each grant."`
	Adopt   skillAdoptCmd   `cmd:"" help:"Take skills in as unverified; asks for no passphrase."`
	Sign    skillSignCmd    `cmd:"" help:"Vouch for a skill at a level, with a protected key."`
	Verify  skillVerifyCmd  `cmd:"" help:"Take skills through the seven steps of loading."`
	Diff    skillDiffCmd    `cmd:"" help:"Say what changed since a skill was signed."`
	List    skillListCmd    `cmd:"" help:"List the skills that were adopted or signed here."`
}

// dirs is the argument of every verb that takes several skills.
type dirs struct {
	Dirs []string `arg:"" name:"dir" help:"Skill directories, or folders that contain some."`
}

// target is one skill directory, or an argument that leads to none.
type target struct {
	dir string
	err error
}

// find expands folders into skill directories, in order, each once.
func (d dirs) find() []target {
	var out []target
	seen := make(map[string]bool)
	for _, dir := range d.Dirs {
		found, err := skill.Find(dir)
		if err != nil {
			out = append(out, target{dir, err})
		}
		for _, f := range found {
			if !seen[f] {
				seen[f] = true
				out = append(out, target{f, nil})
			}
		}
	}
	return out
}

// one resolves the argument of a verb that takes one skill.
func one(dir string) (string, error) {
	found, err := skill.Find(dir)
	if err != nil {
		return "", err
	}
	if len(found) > 1 {
		return "", &usageError{reason: "usage", detail: fmt.Sprintf("%s contains %d skills", visible.Escape(dir), len(found)), remedy: "name one of them, such as " + visible.Escape(found[0])}
	}
	return found[0], nil
}

// findingJSON is one thing that a person should see.
type findingJSON struct {
	Class  string `json:"class" doc:"deviation, hazard or note"`
	Kind   string `json:"kind" doc:"closed token, see docs/reasons.md"`
	File   string `json:"file" doc:"relative to the skill"`
	Line   int    `json:"line" doc:"from 1; 0 is the whole file"`
	Column int    `json:"column" doc:"from 1; 0 is the whole line"`
	Detail string `json:"detail" doc:"escaped for display"`
}

// proposalJSON is one grant that a skill seems to need.
type proposalJSON struct {
	Grant  string `json:"grant" doc:"canonical text form"`
	File   string `json:"file" doc:"where it was read"`
	Line   int    `json:"line" doc:"from 1; 0 is the whole file"`
	Why    string `json:"why" doc:"what was read there, escaped"`
	Static bool   `json:"static" doc:"false: something there could not be read without running it"`
}

func findingsOf(in skill.Inspection) []findingJSON {
	out := make([]findingJSON, len(in.Findings))
	for i, f := range in.Findings {
		out[i] = findingJSON{Class: string(f.Class), Kind: string(f.Kind), File: f.File, Line: f.Line, Column: f.Column, Detail: f.Detail}
	}
	return out
}

func proposalsOf(in skill.Inspection) []proposalJSON {
	out := make([]proposalJSON, len(in.Proposals))
	for i, p := range in.Proposals {
		out[i] = proposalJSON{Grant: p.Grant, File: p.File, Line: p.Line, Why: visible.Escape(p.Why), Static: p.Static}
	}
	return out
}

func (a *app) printFindings(findings []findingJSON) error {
	rows := make([][]string, 0, len(findings))
	for _, f := range findings {
		rows = append(rows, []string{"  " + f.Class, f.Kind, place(f.File, f.Line, f.Column), visible.Truncate(f.Detail, 100)})
	}
	return a.table(rows)
}

func (a *app) printProposals(proposals []proposalJSON) error {
	rows := make([][]string, 0, len(proposals))
	for _, p := range proposals {
		mark := " "
		if !p.Static {
			mark = "?"
		}
		rows = append(rows, []string{"  " + mark + " " + p.Grant, place(p.File, p.Line, 0), visible.Truncate(p.Why, 80)})
	}
	return a.table(rows)
}

func place(file string, line, column int) string {
	out := visible.Escape(file)
	if line > 0 {
		out += fmt.Sprintf(":%d", line)
	}
	if column > 0 {
		out += fmt.Sprintf(":%d", column)
	}
	return out
}

// short names a directory the way a person typed it, if that is shorter.
func short(dir string) string {
	wd, err := filepath.Abs(".")
	if err != nil {
		return visible.Escape(dir)
	}
	if rel, err := filepath.Rel(wd, dir); err == nil && len(rel) < len(dir) {
		return visible.Escape(rel)
	}
	return visible.Escape(dir)
}

// refusalJSON says why one of several skills was refused.
type refusalJSON struct {
	Step   int    `json:"step" doc:"1 to 7; 0 before the first"`
	Reason string `json:"reason" doc:"closed token, see docs/reasons.md"`
	Where  string `json:"where" doc:"field or file, escaped; may be empty"`
	Detail string `json:"detail" doc:"what was found"`
	Remedy string `json:"remedy" doc:"what to do"`
}

// refusal turns the error of one skill into a row; nil for an error that is
// about iff or the machine and not about the skill.
func refusal(err error) *refusalJSON {
	reason, code := classify(err)
	if code == exitInternal {
		return nil
	}
	out := &refusalJSON{Reason: reason, Detail: shown(err), Remedy: remedyFor(reason)}
	if ld, ok := asLoadError(err); ok {
		out.Step, out.Where, out.Detail = ld.Step, visible.Escape(ld.Where), undouble(visible.Escape(ld.Detail))
	} else if rd, ok := asReadError(err); ok {
		out.Where, out.Detail = visible.Escape(rd.File), undouble(visible.Escape(rd.Detail))
	} else if hm, ok := asHomeError(err); ok {
		out.Where, out.Detail = visible.Escape(hm.Path), undouble(visible.Escape(hm.Detail))
	} else if md, ok := asMarkdownError(err); ok {
		out.Where, out.Detail = place(skillmd.FileName, md.Line, 0), visible.Escape(md.Detail)
	}
	return out
}

// remedyOf is the remedy with the directory that it is about.
func remedyOf(r *refusalJSON, dir string) string {
	return strings.ReplaceAll(r.Remedy, "DIR", short(dir))
}

func (r refusalJSON) String() string {
	out := r.Reason
	if r.Where != "" {
		out += ": " + r.Where
	}
	return out + ": " + r.Detail
}

// skillJSON identifies one signed skill.
type skillJSON struct {
	Name    string `json:"name" doc:"with the signer, the identity"`
	Version int64  `json:"version" doc:"only rises"`
	Signer  string `json:"signer" doc:"id in the trust root"`
	Level   string `json:"level" doc:"unverified, declared, tested or formal"`
	Content string `json:"content" doc:"content root, hex"`
	Subject string `json:"subject" doc:"SHA-256 of the signed bytes, hex"`
}

func skillOf(r skill.Report) *skillJSON {
	if r.Err != nil || r.Skill.Name == "" {
		return nil
	}
	return (*skillJSON)(&r.Skill)
}

// readSkill opens the home for reading and reads one skill.
func (a *app) readSkill(dir string, f func(*home.Home, *skill.Package) error) error {
	path, err := one(dir)
	if err != nil {
		return err
	}
	return a.withHome(home.Read, func(h *home.Home) error {
		p, err := h.Read(path)
		if err != nil {
			return err
		}
		return f(h, p)
	})
}

func asLoadError(err error) (*skill.LoadError, bool) {
	var e *skill.LoadError
	return e, errors.As(err, &e)
}

func asMarkdownError(err error) (*skillmd.Error, bool) {
	var e *skillmd.Error
	return e, errors.As(err, &e)
}

func asReadError(err error) (*skill.ReadError, bool) {
	var e *skill.ReadError
	return e, errors.As(err, &e)
}

func asHomeError(err error) (*home.Error, bool) {
	var e *home.Error
	return e, errors.As(err, &e)
}
