package shellread

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// list writes proposals as "line grant", with a ? where one is not static.
func list(ps []Proposal) []string {
	var out []string
	for _, p := range ps {
		mark := ""
		if !p.Static {
			mark = "?"
		}
		out = append(out, fmt.Sprintf("%d %s%s", p.Line, p.Grant, mark))
	}
	return out
}

// body reads source as a bash script, and leaves the script's own proposal and
// its first line out. What does not parse leaves the first, not static.
func body(source string) []Proposal {
	var out []Proposal
	for _, p := range Script("x.sh", []byte("#!/bin/bash\n"+source)) {
		if p.Line--; p.Grant != "spawn.proc(x.sh **)" || !p.Static {
			out = append(out, p)
		}
	}
	return out
}

type readingCase struct{ source, want string }

func check(t *testing.T, cases []readingCase, read func(string) []Proposal) {
	t.Helper()
	for _, c := range cases {
		got := strings.Join(list(read(c.source)), "\n")
		if want := strings.ReplaceAll(c.want, " | ", "\n"); got != want {
			t.Errorf("%s\ngot:\n%s\nwant:\n%s", c.source, got, want)
		}
	}
}

func TestCommands(t *testing.T) {
	check(t, []readingCase{
		{"true", ""},
		{"echo hi; cd x; [ -f y ]; [[ a ]]; ((i++)); let j=1; export A=1", ""},
		{"git status -s", "1 spawn.proc(git status **)"},
		{"git --no-pager -C sub log", "1 spawn.proc(git --no-pager -C sub log **)"},
		{"git --version", "1 spawn.proc(git --version)"},
		{"git", "1 spawn.proc(git)"},
		{`git -C "$d" log`, "1 spawn.proc(git -C * log **)"},
		{`git "$x"`, "1 spawn.proc(git **)?"},
		{"git remote set-url a b", "1 spawn.proc(git remote set-url **)"},
		{"npm run build -- --watch", "1 spawn.proc(npm run build **)"},
		{"docker compose up -d", "1 net.egress? | 1 spawn.proc(docker compose up **)"},
		{"aws s3 cp a b", "1 net.egress? | 1 spawn.proc(aws s3 cp **)"},
		{"himalaya message send x", "1 spawn.proc(himalaya message send **)"},
		{"himalaya 'message' send", "1 spawn.proc(himalaya **)"},
		{"./build.sh fast", "1 spawn.proc(./build.sh **)"},
		{"sleep 5", "1 spawn.proc(sleep **)"},
		{`"a b" c`, `1 spawn.proc(a\ b **)`},
		{`a\*b`, `1 spawn.proc(a\*b **)`},
		{"f() { sleep 1; }\nf", "1 spawn.proc(sleep **)"},
		{"if a; then b; elif c; then d; else e; fi", "1 spawn.proc(a **) | 1 spawn.proc(b **) | 1 spawn.proc(c **) | 1 spawn.proc(d **) | 1 spawn.proc(e **)"},
		{"for i in $(a); do b; done\nwhile c; do d; done", "1 spawn.proc(a **) | 1 spawn.proc(b **) | 2 spawn.proc(c **) | 2 spawn.proc(d **)"},
		{"case $(a) in b) c;; esac\n(d) | { e; } &", "1 spawn.proc(a **) | 1 spawn.proc(c **) | 2 spawn.proc(d **) | 2 spawn.proc(e **)"},
		{"a=$(b)\ndeclare c=`d`\narr=($(e))\n[[ -n $(g) ]]\n((x=$(h)))", "1 spawn.proc(b **) | 2 spawn.proc(d **) | 3 spawn.proc(e **) | 4 spawn.proc(g **) | 5 spawn.proc(h **)"},
		{"git log\n\ngit log", "1 spawn.proc(git log **)"},
	}, body)
}

func TestConstants(t *testing.T) {
	check(t, []readingCase{
		{"T=jq\n$T . f", "2 fs.read(f) | 2 spawn.proc(jq **)"},
		{"T='jq -r'\n$T . f", "2 fs.read(f) | 2 spawn.proc(jq **)"},
		{"T='jq -r'\n\"$T\" . f", `2 spawn.proc(jq\ -r **)`},
		{"readonly T=jq\n$T", "2 spawn.proc(jq **)"},
		{"declare -i T=1+1\n$T", "2 spawn.proc?"},
		{"$T\nT=jq", "1 spawn.proc?"},
		{"T=jq; $T; $T .", "1 spawn.proc(jq **)"},
		{"R=read; T=jq; $R T; $T", "1 spawn.proc?"},
		{"T=jq; f() { $T; }; f", "1 spawn.proc(jq **)"},
		{"T=jq; f() { $T; }; eval \"$x\"; f", "1 spawn.proc?"},
		{"T=jq\nT=yq\n$T", "3 spawn.proc?"},
		{"T=jq\nunset T\n$T", "3 spawn.proc?"},
		{"T=jq\nread T\n$T", "3 spawn.proc?"},
		{"T=jq\nread -rp 'name: ' x\n$T", "3 spawn.proc(jq **)"},
		{"T=jq\nread \"$x\"\n$T", "3 spawn.proc?"},
		{"T=jq\nprintf -v T %s rm\n$T", "3 spawn.proc?"},
		{"T=jq\n((T=1))\n$T", "3 spawn.proc?"},
		{"T=jq\n: ${T:=rm}\n$T", "3 spawn.proc?"},
		{"T=jq\nfor T in a; do :; done\n$T", "3 spawn.proc?"},
		{"T=jq\ndeclare -n R=T\n$T", "3 spawn.proc?"},
		{"T=jq\neval \"$x\"\n$T", "2 spawn.proc?"},
		{"T=jq\neval 'T=rm'\n$T", "3 spawn.proc?"},
		{"T=jq\nf() { local T; $T; }", "2 spawn.proc?"},
		{"if a; then T=jq; fi\n$T", "1 spawn.proc(a **) | 2 spawn.proc?"},
		{"T=jq & $T", "1 spawn.proc?"},
		{"T=$T$T\n$T", "2 spawn.proc?"},
		{"A=j; B=${A}q; $B", "1 spawn.proc(jq **)"},
		{"E=; $E jq", "1 spawn.proc(jq **)"},
		{"RANDOM=jq; $RANDOM", "1 spawn.proc?"},
		{"T=a_b; IFS=_; $T", "1 spawn.proc?"},
		{"T=jq\nwhile IFS= read -r x; do $T; done", "2 spawn.proc(jq **)"},
	}, body)
}

func TestFunctions(t *testing.T) {
	check(t, []readingCase{
		{"jq() { :; }\njq x", ""},
		{"jq x\njq() { :; }", "1 spawn.proc(jq **)"},
		{"main() { log; }\nlog() { :; }\nmain", ""},
		{"main() { log; }\nmain\nlog() { :; }", "1 spawn.proc(log **)"},
		{"log() { :; }\nlog\nhelp() { :; }\nmain() { help; log; }\nmain", ""},
		{"if a; then rm() { :; }; fi\nrm x", "1 spawn.proc(a **) | 2 fs.write.irrev(x) | 2 spawn.proc(rm **)"},
		{"(rm() { :; })\nrm x", "2 fs.write.irrev(x) | 2 spawn.proc(rm **)"},
		{"rm() { :; }\nunset -f rm\nrm x", "3 fs.write.irrev(x) | 3 spawn.proc(rm **)"},
		{"rm() { :; }\ncommand rm x", "2 fs.write.irrev(x) | 2 spawn.proc(rm **)"},
		{"rm() { :; }\nenv rm x\nxargs rm", "2 fs.write.irrev(x) | 2 spawn.proc(rm **)? | 3 fs.write.irrev?"},
		{"rm() { :; }\nsh -c 'rm x'", "2 fs.write.irrev(x) | 2 spawn.proc(rm **)"},
		{"rm() { :; }\neval 'rm x'", ""},
		{"eval 'rm x'\nrm() { :; }", "1 fs.write.irrev(x) | 1 spawn.proc(rm **)"},
	}, func(s string) []Proposal {
		return slices.DeleteFunc(body(s), func(p Proposal) bool { return p.Grant == "fs.read" })
	})
}

func TestWrappers(t *testing.T) {
	check(t, []readingCase{
		{"env A=1 -u B C=2 rm x", "1 fs.write.irrev(x) | 1 spawn.proc(rm **)"},
		{"env", "1 spawn.proc(env)"},
		{"env -S 'rm x'", "1 spawn.proc?"},
		{"env PATH=. git log", "1 spawn.proc? | 1 spawn.proc(git log **)"},
		{"PATH=/usr/bin:$PATH git log", "1 spawn.proc(git log **)"},
		{"export PATH=$PWD/bin:$PATH", "1 spawn.proc?"},
		{"sudo -u bob git log", "1 spawn.proc(sudo -u bob git log **)"},
		{"sudo -l", "1 spawn.proc(sudo -l)"},
		{"sudo sh -c 'rm x'", "1 fs.write.irrev(x) | 1 spawn.proc? | 1 spawn.proc(rm **)"},
		{"sudo $OPTS rm x", "1 spawn.proc?"},
		{"timeout -k 5 10 nice -n 3 nohup git log", "1 spawn.proc(git log **)"},
		{"time git log; command time -p git log", "1 spawn.proc(git log **)"},
		{"command -v git; builtin echo x; exec git log", "1 spawn.proc(git log **)"},
		{"xargs -0 -n 1 rm", "1 fs.write.irrev? | 1 spawn.proc(rm **)?"},
		{"xargs -I{} cp {} d/", "1 fs.read? | 1 fs.write.irrev(d/*) | 1 spawn.proc(cp **)?"},
		{"xargs git", "1 spawn.proc(git **)?"},
		{"xargs -I% sh -c 'rm %'", "1 spawn.proc?"},
		{"find . -exec rm {} +", "1 fs.write.irrev? | 1 spawn.proc(find **) | 1 spawn.proc(rm **)?"},
		{"flock l -c 'git log'", "1 spawn.proc(git log **)"},
		{"PAGER=cat git log", "1 spawn.proc(cat **) | 1 spawn.proc(git log **)"},
		{"GIT_SSH_COMMAND=$X git log", "1 spawn.proc? | 1 spawn.proc(git log **)"},
	}, body)
}

func TestInterpreters(t *testing.T) {
	check(t, []readingCase{
		{"bash run.sh x", "1 spawn.proc(bash run.sh **)"},
		{"bash -eu -o pipefail -c 'git log'", "1 spawn.proc(git log **)"},
		{"sh -c \"git $x\"", "1 spawn.proc?"},
		{"bash -s <<'E'\ngit log\nE", "2 spawn.proc(git log **)"},
		{"bash <<< 'git log'", "1 spawn.proc(git log **)"},
		{"bash <<E\ngit $x\nE", "1 spawn.proc?"},
		{"bash <<E\necho $(git log)\nE", "1 spawn.proc? | 2 spawn.proc(git log **)"},
		{"a | bash", "1 spawn.proc? | 1 spawn.proc(a **)"},
		{"bash -x", "1 spawn.proc?"},
		{"bash --version", "1 spawn.proc(bash --version)"},
		{"python3 a.py b", "1 spawn.proc(python3 a.py **)"},
		{"python3 -u -W ignore a.py", "1 spawn.proc(python3 -u -W ignore a.py **)"},
		{"python3 -m venv x", "1 spawn.proc(python3 -m venv **)"},
		{"python3 -m pip install x", "1 net.egress? | 1 spawn.proc(python3 -m pip **)"},
		{"python3.12 -c 'print(1)' x", "1 spawn.proc(python3.12 -c print(1) **)?"},
		{"python3 -c \"$x\"", "1 spawn.proc?"},
		{"python3 - <<E\nE", "1 spawn.proc?"},
		{"python3 \"$x\"", "1 spawn.proc?"},
		{"node --version", "1 spawn.proc(node --version)"},
		{"perl -ne 'print' f", "1 spawn.proc(perl -ne print **)?"},
		{"java -cp x -jar y.jar", "1 spawn.proc(java -cp x -jar y.jar **)"},
		{"sh -c 'sh -c \"git log\"'", "1 spawn.proc(git log **)"},
		{"sh -c '\n\ngit log'", "3 spawn.proc(git log **)"},
		{"sh -c 'if'", "1 spawn.proc?"},
	}, body)
}

func TestSelf(t *testing.T) {
	read := func(s string) []Proposal { return Script("scripts/x.sh", []byte("#!/bin/bash\n"+s))[1:] }
	check(t, []readingCase{
		{`D="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"` + "\n" + `python3 "$D/gen.py"`, "2 spawn.proc(dirname **) | 3 spawn.proc(python3 scripts/gen.py **)"},
		{`"${0%/*}/../bin/t" x`, "2 spawn.proc(bin/t **)"},
		{`D=$(dirname -- $0); $D/t`, "2 spawn.proc(dirname **) | 2 spawn.proc(scripts/t **)"},
		{`"${0%/*}/../../t"`, "2 spawn.proc?"},
		{`cd x; "${0%/*}/t"`, "2 spawn.proc?"},
		{`echo > "${0%/*}/t"`, "2 fs.write.irrev?"},
		{`exec "$0" x`, ""}, // which is proposed already
	}, read)
}

func TestSource(t *testing.T) {
	files := map[string]string{
		"scripts/lib.sh":  "log() { git log; }\nOUT=x\n",
		"scripts/loop.sh": ". ./loop.sh\n",
		"scripts/data":    "rm x\n",
	}
	read := func(s string) []Proposal {
		return ScriptWith("scripts/x.sh", []byte("#!/bin/bash\n"+s), func(name string) ([]byte, bool) {
			text, ok := files[name]
			return []byte(text), ok
		})[1:]
	}
	check(t, []readingCase{
		{". ./lib.sh\nlog", ""},
		{"source \"${BASH_SOURCE[0]%/*}/lib.sh\"\nlog", ""},
		{"if a; then . ./lib.sh; fi\nlog", "2 spawn.proc(a **) | 3 spawn.proc(log **)"},
		{"OUT=y\n. ./lib.sh\ncat <$OUT", "4 fs.read? | 4 spawn.proc(cat **)"},
		{". ./data", "2 spawn.proc?"},
		{". ./loop.sh", ""},
		{". ./none.sh", "2 spawn.proc?"},
		{". /etc/profile", "2 spawn.proc?"},
		{". ~/.profile", "2 spawn.proc?"},
		{". \"$x\"", "2 spawn.proc?"},
		{". <(a)", "2 spawn.proc? | 2 spawn.proc(a **)"},
	}, read)
}

func TestWhole(t *testing.T) {
	for name, c := range map[string]struct{ file, source, want string }{
		"with #!":        {"a/b.sh", "#!/bin/sh\n", "1 spawn.proc(a/b.sh **)"},
		"without":        {"a/b.sh", "", "1 spawn.proc(a/b.sh **) | 1 spawn.proc(sh a/b.sh **)"},
		"zsh":            {"b.zsh", "", "1 spawn.proc(b.zsh **) | 1 spawn.proc(zsh b.zsh **)"},
		"space":          {"a b.sh", "#!/bin/sh\n", `1 spawn.proc(a\ b.sh **)`},
		"does not parse": {"b.sh", "#!/bin/sh\na\nif\n", "3 spawn.proc(b.sh **)?"},
		"not UTF-8":      {"b.sh", "#!/bin/sh\n\xff\n", "2 spawn.proc(b.sh **)?"},
		"only POSIX":     {"b.sh", "#!/bin/sh\ncoproc \n", "1 spawn.proc(b.sh **) | 1 spawn.proc? | 2 spawn.proc(coproc **)"},
		"zsh splits not": {"b.zsh", "#!/bin/zsh\nA='git log'\n$A", `1 spawn.proc(b.zsh **) | 3 spawn.proc(git\ log **)`},
		"zsh qualifier":  {"b.zsh", "#!/bin/zsh\naliases[ls]=rm", "1 spawn.proc(b.zsh **) | 2 spawn.proc?"},
		"ksh":            {"b", "#!/bin/ksh93\nx=${ a;}", "1 spawn.proc(b **) | 2 spawn.proc(a **)"},
		"bats":           {"b.bats", "@test 'x' { a; }", "1 spawn.proc(b.bats **) | 1 spawn.proc(a **) | 1 spawn.proc(bats b.bats **)"},
		"CRLF":           {"b.sh", "#!/bin/sh\r\ngit log\r\n", "1 spawn.proc(b.sh **) | 2 spawn.proc(git log **)"},
	} {
		t.Run(name, func(t *testing.T) {
			got := list(Script(c.file, []byte(c.source)))
			want := strings.Split(c.want, " | ")
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Errorf("got %q\nwant %q", got, want)
			}
		})
	}
	if why := Script("b.sh", []byte("a\nif\n"))[0].Why; !strings.Contains(why, "line 2 column 1") {
		t.Errorf("no place in %q", why)
	}
}

func TestWhyStaysOneLine(t *testing.T) {
	for _, p := range body("$'a\\nb\u202e' \"\u200b\nc\"\neval \"$x\n$y\"\n> $'a\\nb'") {
		if strings.ContainsAny(p.Why, "\n\r\u202e\u200b") {
			t.Errorf("%q", p.Why)
		}
	}
}

func TestEveryReasonStays(t *testing.T) {
	ps := body("rm a\nxargs rm\n$A\n$B\n$A")
	i := slices.IndexFunc(ps, func(p Proposal) bool { return p.Grant == "spawn.proc" })
	if why := ps[i].Why; ps[i].Line != 3 || !strings.Contains(why, "$A") || !strings.Contains(why, "line 5") || strings.Contains(why, "line 6") {
		t.Errorf("line %d: %q", ps[i].Line, why)
	}
	i = slices.IndexFunc(ps, func(p Proposal) bool { return p.Grant == "spawn.proc(rm **)" })
	if ps[i].Line != 1 || ps[i].Static || !strings.Contains(ps[i].Why, "line 3") {
		t.Errorf("%+v: what is not static further down is hidden", ps[i])
	}
}

func TestTooManyProposals(t *testing.T) {
	var src strings.Builder
	src.WriteString("#!/bin/sh\n")
	for i := range 3 * MaxProposals {
		fmt.Fprintf(&src, "c%d\n", i)
	}
	ps := Script("x.sh", []byte(src.String()))
	last := ps[len(ps)-1]
	if len(ps) != MaxProposals || last.Static || last.Grant != "spawn.proc" || last.Line != 128 || !strings.HasPrefix(last.Why, "258 more grants were left out") {
		t.Errorf("%d proposals, the last %+v", len(ps), last)
	}
	ps = Script("x.sh", []byte(src.String()+"$A\n"))
	if len(ps) != MaxProposals {
		t.Errorf("%d proposals", len(ps))
	}
}
