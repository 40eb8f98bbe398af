package shellread

import (
	"fmt"
	"path"
	"strings"

	"github.com/iff-run/iff/capability"
	"mvdan.cc/sh/v3/syntax"
)

// Script reads a shell script of the skill; name is its path there, slashes
// between, without ./ before it. See [ScriptWith].
func Script(name string, src []byte) []Proposal { return ScriptWith(name, src, nil) }

// ScriptWith is Script with the other files of the skill at hand: what a file
// defines that the script sources is then known. Proposals for what such a
// file runs come from reading that file.
//
// The result holds at least the script itself. It is sorted by line and grant.
func ScriptWith(name string, src []byte, read Sources) []Proposal {
	s := newSheet(name)
	file, lang, fault := parse(string(src), dialects(name, src))
	if fault != nil {
		s.ask(0, capability.SpawnProc, argv(literals(name), true), "the script itself", "what is in it does not parse as shell: "+fault.String())
		s.list[0].Line = max(1, fault.line)
		return s.proposals()
	}
	s.ask(1, capability.SpawnProc, argv(literals(name), true), "the script itself", "")
	if shell := shellFor(name, src); shell != "" {
		s.ask(1, capability.SpawnProc, argv(literals(shell, name), true), "the script itself, which has no #! line to be started by", "")
	}
	if lang != dialects(name, src)[0] {
		s.bare(1, capability.SpawnProc, "the script itself", fmt.Sprintf("it does not parse as %s, only as %s", dialects(name, src)[0], lang))
	}
	r := &reading{sheet: s, library: &library{script: name, read: read, known: map[string]*facts{}}, cwd: directory{path: "."}}
	r.read(file, words{src: string(src), script: name, noSplit: lang == syntax.LangZsh})
	return s.proposals()
}

func (r *reading) read(file *syntax.File, w words) {
	r.words = w
	r.facts = newFacts(file, w, r.library, 0)
	r.stmts(file.Stmts)
}

// shellFor returns the shell that a script without a #! line has to be given
// to.
func shellFor(name string, src []byte) string {
	if strings.HasPrefix(string(src[:min(2, len(src))]), "#!") {
		return ""
	}
	switch ext := strings.TrimPrefix(path.Ext(name), "."); ext {
	case "bash", "zsh", "ksh", "bats":
		return ext
	}
	return "sh"
}

// Opaque proposes to run a file that is not read, in a language named for the
// reader, as [Kind] does.
func Opaque(name, language string) Proposal {
	s := newSheet(name)
	s.ask(0, capability.SpawnProc, argv(literals(name), true), "opaque", fmt.Sprintf("%s is not read; what it does is not known", show(language)))
	return s.list[0].Proposal
}
