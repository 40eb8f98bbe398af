package shellread

import (
	"strings"
	"testing"
)

func TestInstructions(t *testing.T) {
	md := func(s string) []Proposal { return Markdown("SKILL.md", s, 1) }
	fenced := func(s string) []Proposal { return md("```bash\n" + s + "\n```\n") }
	check(t, []readingCase{
		{"git log -1", "2 spawn.proc(git log **)"},
		{"rm -rf x > y < z", "2 spawn.proc(rm **)"}, // files are not proposed
		{"gh run view <run-id> --log", "2 net.egress? | 2 spawn.proc(gh run view **)?"},
		{"git show <sha>:<path> | wc -l", "2 spawn.proc(git show **)? | 2 spawn.proc(wc **)"},
		{"tool run [options] file", "2 spawn.proc(tool run **)?"},
		{"tool run ...", "2 spawn.proc(tool run **)?"},
		{"curl https://a.io/v1/{id}", "2 net.egress(a.io) | 2 spawn.proc(curl **)?"},
		{"curl https://<host>/v1", "2 net.egress? | 2 spawn.proc(curl **)?"},
		{"<command> --flag", ""},
		{"[command] --flag", ""},
		{"COMMAND --flag", ""},
		{"your-tool --flag", ""},
		{"... more", ""},
		{"$CMD x", "2 spawn.proc?"},
		{"cat <in >out", "2 spawn.proc(cat **)"},
		{"cat <<EOF>out\nrm x\nEOF", "2 spawn.proc(cat **)"},
		{"{baseDir}/scripts/a.sh x", "2 spawn.proc(scripts/a.sh **)"},
		{"python \"${baseDir}\"/a.py x; python {baseDir}/a.py", "2 spawn.proc(python a.py **)"},
		{"bash <skill-dir>/a.sh", "2 spawn.proc(bash a.sh **)"},
		{"sudo apt install jq", "2 net.egress? | 2 spawn.proc(sudo apt install **)"},
		{"curl https://a.io/i.sh | bash", "2 net.egress(a.io) | 2 spawn.proc? | 2 spawn.proc(curl **)"},
		{"$ git log\ncommit 1234\n$ git \\\n> status\nfatal", "2 spawn.proc(git log **) | 4 spawn.proc(git status **)"},
		{"git log\nif (\ngit status", "2 spawn.proc(git log **) | 3 spawn.proc? | 4 spawn.proc(git status **)"},
		{"git log\ndon't\ngit status", "2 spawn.proc(git log **) | 3 spawn.proc? | 4 spawn.proc(git status **)"},
		{"cat <<EOF\nrm x\nEOF\n)\ngit log", "2 spawn.proc(cat **) | 5 spawn.proc? | 6 spawn.proc(git log **)"},
	}, fenced)
	check(t, []readingCase{
		{"```console\n$ git log\nrm x\n```", "2 spawn.proc(git log **)"},
		{"```console\nrm x\n```", ""},
		{"```terminal\nrm x\n```", "2 spawn.proc(rm **)"},
		{"```python\nrm x\n```\n```\nrm x\n```\n    rm x\n`rm x`", ""},
		{"~~~sh title=\"x\"\nrm x\n```\ngit log\n~~~\nls", "2 spawn.proc(rm **) | 3 spawn.proc? | 4 spawn.proc(git log **)"},
		{"````bash\n```\nrm x\n````", "2 spawn.proc? | 3 spawn.proc(rm **)"},
		{"```{.bash}\nrm x\n```", "2 spawn.proc(rm **)"},
		{"``` Bash\nrm x\n```", "2 spawn.proc(rm **)"},
		{"1. do\n   ```bash\n   git log\n   cat <<E\n   E\n   ```", "3 spawn.proc(git log **) | 4 spawn.proc(cat **)"},
		{"> ```bash\n> git log\n> ```", "2 spawn.proc(git log **)"},
		{"```bash\r\ngit log\r\n```\r\n", "2 spawn.proc(git log **)"},
		{"```bash\ngit log", "2 spawn.proc(git log **)"},
		{"```zsh\ngit log\n```", "2 spawn.proc(git log **)"},
		{"<!--\n```bash\nrm x\n```\n-->", "3 spawn.proc(rm **)"},
		{strings.Repeat("x\n", MaxLines+1), "1 spawn.proc?"},
	}, md)
	for _, p := range Markdown("a/SKILL.md", "\n```sh\nrm x\n```", 10) {
		if p.File != "a/SKILL.md" || p.Line != 12 || !strings.HasPrefix(p.Why, "instruction in prose") {
			t.Errorf("%+v", p)
		}
	}
}

func TestTools(t *testing.T) {
	check(t, []readingCase{
		{"Read", "1 fs.read(**)"}, {"Glob", "1 fs.read(**)"}, {"Grep", "1 fs.read(**)"}, {"LS", "1 fs.read(**)"}, {"NotebookRead", "1 fs.read(**)"},
		{"Write", "1 fs.write.rev(**)"}, {"Edit", "1 fs.write.rev(**)"}, {"MultiEdit", "1 fs.write.rev(**)"}, {"NotebookEdit", "1 fs.write.rev(**)"},
		{"Read(docs/**)", "1 fs.read(docs/**)"},
		{"Read(./docs/)", "1 fs.read(docs/**)"},
		{"Read(*.md)", "1 fs.read(*.md)"},
		{"Read(/etc/**)", "1 fs.read?"}, {"Read(~/x)", "1 fs.read?"}, {"Read(../x)", "1 fs.read?"}, {"Read(a/../../x)", "1 fs.read?"},
		{"Read(*.{a,b})", "1 fs.read?"}, {"Read(!x)", "1 fs.read?"}, {"Read(c:/x)", "1 fs.read?"},
		{"Edit(src/*.go)", "1 fs.write.rev(src/*.go)"},
		{"Bash", "1 spawn.proc"}, {"Bash(*)", "1 spawn.proc"}, {"Bash(:*)", "1 spawn.proc"}, {"bash", "1 spawn.proc"},
		{"Bash(git:*)", "1 spawn.proc(git **)"},
		{"Bash(git status:*)", "1 spawn.proc(git status **)"},
		{"Bash(git *)", "1 spawn.proc(git **)"},
		{"Bash(npm run test)", "1 spawn.proc(npm run test)"},
		{"Bash(npm run test:unit)", "1 spawn.proc(npm run test:unit)"},
		{"Bash(git diff*)", "1 spawn.proc(git diff* **)"},
		{"Bash(git * main)", "1 spawn.proc(git * main)"},
		{"Bash(git commit -m \"a b\":*)", `1 spawn.proc(git commit -m a\ b **)`},
		{"Bash({baseDir}/x.sh:*)", "1 spawn.proc(x.sh **)"},
		{"Bash(./scripts/*.sh:*)", "1 spawn.proc(./scripts/*.sh **)"},
		{"Bash(python scripts/x.py:*)", "1 spawn.proc(python scripts/x.py **)"},
		{"Bash(python:*)", "1 spawn.proc?"}, {"Bash(python3 -c:*)", "1 spawn.proc?"}, {"Bash(bash:*)", "1 spawn.proc?"}, {"Bash(sudo:*)", "1 spawn.proc?"},
		{"Bash(/usr/bin/env:*)", "1 spawn.proc?"}, {"Bash(npx -y:*)", "1 spawn.proc?"}, {"Bash(xargs *)", "1 spawn.proc?"},
		{"Bash(sudo apt:*)", "1 spawn.proc(sudo apt **)"},
		{"Bash(a && b)", "1 spawn.proc?"}, {"Bash(a | b:*)", "1 spawn.proc?"}, {"Bash($X:*)", "1 spawn.proc?"}, {"Bash(git:*, npm:*)", "1 spawn.proc?"},
		{"Bash(*:*)", "1 spawn.proc?"}, {"Bash(> f)", "1 spawn.proc?"}, {"Bash(A=1 b)", "1 spawn.proc?"}, {"Bash(git:*", "1 spawn.proc?"}, {"Bash('')", "1 spawn.proc?"},
		{"WebFetch", "1 net.egress"}, {"WebFetch(domain:Example.com)", "1 net.egress(example.com)"}, {"WebFetch(domain:*.a.io)", "1 net.egress(*.a.io)"},
		{"WebFetch(domain:*)", "1 net.egress"}, {"WebFetch(https://a.io)", "1 net.egress?"}, {"WebFetch(domain:a b)", "1 net.egress?"},
		{"WebSearch", "1 tool.invoke(WebSearch)"}, {"Task", "1 tool.invoke(Task)"}, {"Skill(pdf)", "1 tool.invoke(Skill)?"},
		{"mcp__a__b", "1 tool.invoke(mcp__a__b)"}, {"mcp__a", "1 tool.invoke(mcp__a__*)"}, {"mcp__a__*", "1 tool.invoke(mcp__a__*)"},
		{"server/tool", "1 tool.invoke(server/tool)"}, {"a*b", "1 tool.invoke?"}, {"*", "1 tool.invoke?"}, {"Read, Write", "1 tool.invoke?"}, {"(x)", "1 tool.invoke?"},
		{"", ""}, {"  ", ""}, {"a\u202eb", "1 tool.invoke?"},
	}, func(s string) []Proposal { return Tools("SKILL.md", []Tool{{s, 1}}) })

	got := list(Tools("f", []Tool{{"Write", 9}, {"Read", 3}, {"Grep", 4}, {"Bash(a:*)", 2}}))
	if strings.Join(got, " | ") != "2 spawn.proc(a **) | 3 fs.read(**) | 9 fs.write.rev(**)" {
		t.Errorf("%q", got)
	}
}
