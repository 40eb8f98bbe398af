package skill

import (
	"bytes"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/iff-run/iff/internal/shellread"
	"github.com/iff-run/iff/internal/skillmd"
)

// Finding is something about a skill that a person should see. Findings do not
// refuse a skill; errors do.
type Finding = skillmd.Finding

// Proposal is a grant that a skill seems to need, with the file and line it
// was read from.
type Proposal = shellread.Proposal

// What a directory shows that SKILL.md alone does not.
const (
	FindingFileName   skillmd.Kind = "skillmd-file-name"
	FindingGit        skillmd.Kind = "git-directory"
	FindingArchive    skillmd.Kind = "archive"
	FindingUnreadable skillmd.Kind = "script-not-text"
	FindingNameSlug   skillmd.Kind = "name-normalised"
)

// Inspection is everything that can be said about a package by reading it.
type Inspection struct {
	// Name is the identity that a manifest for it would carry.
	Name string
	// Doc is SKILL.md, parsed.
	Doc skillmd.Doc
	// Findings are sorted by file and line.
	Findings []Finding
	// Proposals are sorted by file, line and grant.
	Proposals []Proposal
}

// Inspect reads a package as a reviewer would. It refuses only what cannot be
// believed: content that cannot be hashed (*ReadError), no SKILL.md, or one
// without a description (*skillmd.Error).
func Inspect(p *Package) (Inspection, error) {
	c, err := p.Content()
	if err != nil {
		return Inspection{}, err
	}
	file := skillFile(c)
	if file == "" {
		return Inspection{}, &ReadError{Reason: SkillMissing, File: "SKILL.md", Detail: "the directory has no SKILL.md, so it is not a skill"}
	}
	text, _ := c.Text(file)
	doc, err := skillmd.Parse([]byte(text), p.Name())
	if err != nil {
		return Inspection{}, err
	}
	in := Inspection{Doc: doc, Findings: slices.Clone(doc.Findings)}
	if in.Name, err = identity(doc.Name); err != nil {
		return Inspection{}, err
	}
	in.findings(c, file)
	in.proposals(c, file)
	return in, nil
}

func identity(name string) (string, error) {
	slug, ok := skillmd.Slug(name)
	if !ok {
		return "", &ReadError{Reason: NameUnusable, File: "SKILL.md", Detail: "the name has no letter or digit to identify the skill by; give it one"}
	}
	if slug == BaseName {
		return "", &ReadError{Reason: NameReserved, File: "SKILL.md", Detail: `"base" is the operator's manifest without content; choose another name`}
	}
	return slug, nil
}

func (in *Inspection) findings(c *Content, file string) {
	if file != "SKILL.md" {
		in.note(skillmd.Deviation, FindingFileName, file, "the specification says SKILL.md, in capitals")
	}
	if in.Name != in.Doc.Name {
		in.note(skillmd.Note, FindingNameSlug, file, "a manifest would call it "+in.Name)
	}
	git := false
	for _, f := range c.files {
		if f.Path != file && len(in.Findings) < maxFindings { // Parse looked at that one
			in.hazards(f.Path, c.data[f.Path])
			if len(in.Findings) >= maxFindings {
				in.note(skillmd.Hazard, skillmd.MoreFindings, f.Path, "too many to list: what follows this file was not looked at")
			}
		}
		if strings.HasPrefix(f.Path, ".git/") && !git {
			git = true
			in.note(skillmd.Note, FindingGit, ".git", "part of the content: every commit changes what was signed; export the skill without it")
		}
		if isArchive(f.Path) {
			in.note(skillmd.Note, FindingArchive, f.Path, "an archive: what is inside was not read")
		}
	}
	slices.SortStableFunc(in.Findings, func(a, b Finding) int {
		if n := strings.Compare(a.File, b.File); n != 0 {
			return n
		}
		return a.Line - b.Line
	})
}

// maxFindings ends the search for hazards in a package.
const maxFindings = 1000

// hazards looks at every text: what a reviewer misreads in a script matters no
// less than in prose. Outside Markdown, markup and long lines are no hazard.
func (in *Inspection) hazards(file string, data []byte) {
	if len(data) > skillmd.MaxBytes || !utf8.Valid(data) || bytes.IndexByte(data, 0) >= 0 {
		return
	}
	markdown := strings.EqualFold(path.Ext(file), ".md")
	for _, f := range skillmd.Hazards(file, string(data)) {
		if markdown || f.Class == skillmd.Hazard && !markup[f.Kind] {
			in.Findings = append(in.Findings, f)
		}
	}
}

// markup are the hazards that only a Markdown reader has.
var markup = map[skillmd.Kind]bool{skillmd.HTMLComment: true, skillmd.HiddenHTML: true, skillmd.HiddenMarkdown: true}

func (in *Inspection) note(class skillmd.Class, kind skillmd.Kind, file, detail string) {
	in.Findings = append(in.Findings, Finding{Class: class, Kind: kind, File: file, Detail: detail})
}

func isArchive(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".zip", ".tar", ".gz", ".tgz", ".xz", ".bz2", ".7z", ".rar", ".jar", ".whl", ".zst":
		return true
	}
	return false
}

func (in *Inspection) proposals(c *Content, file string) {
	in.Proposals = shellread.Tools(file, tools(in.Doc))
	in.Proposals = append(in.Proposals, shellread.Markdown(file, in.Doc.Body, in.Doc.BodyLine)...)
	for _, f := range c.files {
		data := c.data[f.Path]
		switch kind := shellread.Kind(f.Path, data[:min(len(data), 512)], f.Executable); kind {
		case "":
		case "shell":
			if !utf8.Valid(data) || bytes.IndexByte(data, 0) >= 0 {
				in.note(skillmd.Hazard, FindingUnreadable, f.Path, "a shell script that is not text")
				in.Proposals = append(in.Proposals, shellread.Opaque(f.Path, "binary"))
				continue
			}
			in.Proposals = append(in.Proposals, shellread.ScriptWith(f.Path, data, c.source)...)
		default:
			in.Proposals = append(in.Proposals, shellread.Opaque(f.Path, kind))
		}
	}
}

func tools(doc skillmd.Doc) []shellread.Tool {
	out := make([]shellread.Tool, len(doc.AllowedTools))
	for i, t := range doc.AllowedTools {
		out[i] = shellread.Tool{Text: t.Text, Line: t.Line}
	}
	return out
}
