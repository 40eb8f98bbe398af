package runtime_test

import (
	"os"
	"path/filepath"
	"strings"
)

// attempt is a call that reaches for something guarded.
type attempt struct {
	name, class, target, args string
	route                     string
	hides                     bool // refused even when it is approved
	setup                     func(e *env)
}

const (
	write  = `{"op":"write","content":"evil\n"}`
	attach = `{"op":"append","content":"evil\n"}`
	remove = `{"op":"delete"}`
	tree   = `{"op":"delete","recursive":true}`
	chmod  = `{"op":"chmod","mode":"0700"}`
	mkdir  = `{"op":"mkdir"}`
)

func to(path string) string { return `{"op":"rename","to":"` + path + `"}` }

func link(at, text string) func(*env) {
	return func(e *env) {
		e.must(os.Symlink(strings.ReplaceAll(text, "OUTSIDE", e.outside), filepath.Join(e.work, at)))
	}
}

func dir(at string) func(*env) {
	return func(e *env) { e.must(os.MkdirAll(filepath.Join(e.work, at), 0o755)) }
}

const rev, irrev = "fs.write.rev", "fs.write.irrev"

// plain are attempts in plain words: approved, they are done.
func plain() []attempt {
	return []attempt{
		{name: "rewrite", class: rev, target: "skills/helper/run.sh", args: write, route: "path"},
		{name: "append", class: rev, target: "skills/helper/sub/more.md", args: attach, route: "path"},
		{name: "rewrite for good", class: irrev, target: "skills/helper/run.sh", args: write, route: "path"},
		{name: "new file", class: rev, target: "skills/helper/new.sh", args: write, route: "path"},
		{name: "new directory", class: rev, target: "skills/helper/lib", args: mkdir, route: "path"},
		{name: "manifest", class: rev, target: "skills/helper/skill.iff.json", args: write, route: "path"},
		{name: "delete a file", class: irrev, target: "skills/helper/run.sh", args: remove, route: "path"},
		{name: "delete the skill", class: irrev, target: "skills/helper", args: tree, route: "path"},
		{name: "mode of a file", class: irrev, target: "skills/helper/run.sh", args: chmod, route: "path"},
		{name: "mode of the skill", class: irrev, target: "skills/helper", args: chmod, route: "path"},
		{name: "rename onto a file", class: irrev, target: "a.md", args: to("skills/helper/run.sh"), route: "path"},
		{name: "rename into", class: irrev, target: "notes/b.md", args: to("skills/helper/b.md"), route: "path"},
		{name: "rename a tree into", class: irrev, target: "moved", args: to("skills/helper/moved"), route: "path", setup: dir("moved")},
		{name: "rename out", class: irrev, target: "skills/helper/run.sh", args: to("run.sh"), route: "path"},
		{name: "rename the skill", class: irrev, target: "skills/helper", args: to("skills/other"), route: "path"},
		{name: "rename the parent", class: irrev, target: "skills", args: to("tools"), route: "parent"},
		{name: "delete the parent", class: irrev, target: "skills", args: tree, route: "parent"},
		{name: "mode of the parent", class: irrev, target: "skills", args: chmod, route: "parent"},
		{name: "unverified skill", class: rev, target: "skills/wíld/run.sh", args: write, route: "path"},
		{name: "twin", class: rev, target: "skills/wi\u0301ld/run.sh", args: write, route: "case", setup: dir("skills/wi\u0301ld")},
		{name: "wide twin", class: rev, target: "skills/\uff48elper/run.sh", args: write, route: "case", setup: dir("skills/\uff48elper")},
		{name: "case twin", class: rev, target: "Skills/Helper/run.sh", args: write, route: "case", setup: dir("Skills/Helper")},
		{name: "case of the parent", class: rev, target: "SKILLS", args: mkdir, route: "parent"},
		{name: "percent alone", class: rev, target: "skills%2Fhelper%2frun.sh", args: write, route: "spelling"},
		{name: "control file", class: rev, target: "AGENTS.md", args: attach, route: "path"},
		{name: "control file below", class: rev, target: "deep/er/AGENTS.md", args: write, route: "path"},
		{name: "control file, new", class: rev, target: "notes/AGENTS.md", args: write, route: "path"},
		{name: "control file, other case", class: rev, target: "notes/agents.MD", args: write, route: "case"},
		{name: "control file, wide", class: rev, target: "notes/ＡＧＥＮＴＳ.md", args: write, route: "case"},
		{name: "control file in mail", class: rev, target: "mail:CLAUDE.md", args: write, route: "path"},
		{name: "control directory", class: rev, target: "notes/.Claude", args: mkdir, route: "case"},
		{name: "rename onto a control file", class: irrev, target: "a.md", args: to("AGENTS.md"), route: "path"},
		{name: "rename to a control file", class: irrev, target: "a.md", args: to("notes/agents.md"), route: "case"},
		{name: "rename a control file away", class: irrev, target: "AGENTS.md", args: to("notes/old.md"), route: "path"},
		{name: "rename above a control file", class: irrev, target: "deep", args: to("deeper"), route: "parent"},
		{name: "delete above a control file", class: irrev, target: "deep", args: tree, route: "parent"},
		{name: "mode above a control file", class: irrev, target: "deep/er", args: chmod, route: "parent"},
		{name: "rename to where it controls", class: irrev, target: "gh", args: to(".github"), route: "parent", setup: func(e *env) {
			e.write(filepath.Join(e.work, "gh", "copilot-instructions.md"), "x\n")
		}},
	}
}

// hidden are attempts in a spelling or on a way that is refused whatever is said.
func hidden() []attempt {
	out := []attempt{
		{name: "control file in none", class: rev, target: ".claude/settings.json", args: write, route: "path"},
		{name: "case", class: rev, target: "skills/HELPER/run.sh", args: write, route: "case"},
		{name: "linked directory", class: rev, target: "l-dir/run.sh", args: write, route: "link", setup: link("l-dir", "skills/helper")},
		{name: "linked directory, new file", class: rev, target: "l-dir2/new.sh", args: write, route: "link", setup: link("l-dir2", "skills/helper")},
		{name: "link", class: rev, target: "l-file", args: write, route: "link", setup: link("l-file", "skills/helper/run.sh")},
		{name: "delete a link", class: irrev, target: "l-file2", args: remove, route: "link", setup: link("l-file2", "skills/helper/run.sh")},
		{name: "rename a link", class: irrev, target: "l-file3", args: to("x"), route: "link", setup: link("l-file3", "skills/helper/run.sh")},
		{name: "chain", class: rev, target: "notes/l-2/helper/run.sh", args: write, route: "link", setup: func(e *env) {
			link("l-1", "deep/../skills")(e)
			link("notes/l-2", "../l-1")(e)
		}},
		{name: "link to nothing yet", class: rev, target: "l-new", args: write, route: "link", setup: link("l-new", "skills/helper/not-yet.sh")},
		{name: "link to a control file", class: rev, target: "l-agents", args: write, route: "link", setup: link("l-agents", "AGENTS.md")},
		{name: "link to no control file yet", class: rev, target: "l-claude", args: write, route: "link", setup: link("l-claude", "notes/CLAUDE.md")},
		{name: "link out", class: rev, target: "l-out", args: write, route: "link", setup: link("l-out", "OUTSIDE/remote/run.sh")},
		{name: "hard link", class: rev, target: "notes/hard.sh", args: write, route: "inode", setup: hard("notes/hard.sh", "work/skills/helper/run.sh")},
		{name: "delete a hard link", class: irrev, target: "notes/hard2.sh", args: remove, route: "inode", setup: hard("notes/hard2.sh", "work/skills/helper/sub/more.md")},
		{name: "hard link from outside", class: rev, target: "notes/hard3.sh", args: attach, route: "inode", setup: hard("notes/hard3.sh", "outside/remote/run.sh")},
		{name: "above a hard link", class: irrev, target: "hards", args: to("h"), route: "parent", setup: func(e *env) {
			dir("hards")(e)
			hard("hards/x.sh", "work/skills/helper/skill.iff.sig")(e)
		}},
	}
	const run = "skills/helper/run.sh"
	for name, target := range map[string]string{
		"dot": "./" + run, "dot inside": "skills/./helper/run.sh", "up": "notes/../" + run, "up and up": "../work/" + run, "slashes": "skills//helper/run.sh",
		"slash at the end": run + "/", "prefix": "work:" + run, "prefix and dot": "work:./" + run, "prefix in capitals": "Work:" + run,
		"absolute": "WORK/" + run, "absolute url": "file://WORK/" + run, "percent": "./skills%2Fhelper%2frun.sh", "percent twice": "./skills%252Fhelper%252Frun.sh",
		"percent dots": "notes/%2e%2e//skills/helper/run.sh", "percent NUL": "./" + run + "%00.txt",
		"backslashes": `skills\helper\run.sh`, "escaped": `skills/hel\per/run.sh`, "dot at the end": run + ".", "space at the end": run + " ",
		"dots in the middle": "skills./helper. /run.sh", "NUL": run + "\x00.txt", "newline": run + "\n", "invisible": "skills/hel\u200bper/run.sh",
		"bidi": "skills/helper/\u202erun.sh", "capitals too": "./SKILLS/Helper/RUN.sh", "NFD too": "./skills/wi\u0301ld/run.sh", "not UTF-8": "./" + run + "/\xff",
		"outside": "OUTSIDE/remote/run.sh", "outside by dots": "../outside/remote/run.sh", "outside, in capitals": "../OutSide/remote/run.sh",
		"control": "./AGENTS.md", "control below": "deep//er/AGENTS.md", "control new": "notes/../notes/CLAUDE.md", "control dot": "AGENTS.md.", "control NUL": "AGENTS.md\x00",
		"control elsewhere": "mail:./agents.md", "control absolute": "WORK/deep/er/AGENTS.md", "through a link and up": "l-sub/../run.sh",
	} {
		out = append(out, attempt{name: "spelled: " + name, class: rev, target: target, args: write, route: "spelling", hides: true})
	}
	out = append(out, attempt{name: "rename to a spelling", class: irrev, target: "notes/n.md", args: to("./" + run), route: "spelling", hides: true})
	for i := range out {
		out[i].hides = true
	}
	return append(out, attempt{name: "no call", class: rev, target: run, args: `{"op":"explode"}`, route: "spelling", hides: true})
}

func hard(at, of string) func(*env) {
	return func(e *env) { e.must(os.Link(filepath.Join(filepath.Dir(e.work), of), filepath.Join(e.work, at))) }
}
