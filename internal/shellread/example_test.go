package shellread_test

import (
	"fmt"

	"github.com/iff-run/iff/internal/shellread"
)

func ExampleScript() {
	const source = `#!/bin/bash
set -e
out=build/report.txt
mkdir -p build
git log --oneline > "$out"
curl -fsS https://api.example.com/v1 -d @"$out"
eval "$AFTER"
`
	for _, p := range shellread.Script("scripts/report.sh", []byte(source)) {
		fmt.Println(p.Line, p.Static, p.Grant)
	}
	// Output:
	// 1 true spawn.proc(scripts/report.sh **)
	// 4 true fs.write.irrev(build)
	// 4 true spawn.proc(mkdir **)
	// 5 true fs.write.irrev(build/report.txt)
	// 5 true spawn.proc(git log **)
	// 6 true net.egress(api.example.com)
	// 6 true spawn.proc(curl **)
	// 7 false spawn.proc
}

func ExampleMarkdown() {
	const body = "Build it:\n\n```bash\nnpm run build\ngh pr view <number> --web\n```\n"
	for _, p := range shellread.Markdown("SKILL.md", body, 5) {
		fmt.Println(p.Line, p.Grant, "|", p.Why)
	}
	// Output:
	// 8 spawn.proc(npm run build **) | instruction in prose: npm run build
	// 9 net.egress | gh pr view <...> --web: the hosts of gh are not in the text
	// 9 spawn.proc(gh pr view **) | instruction in prose: gh pr view <...> --web: it has placeholders
}

func ExampleTools() {
	for _, p := range shellread.Tools("SKILL.md", []shellread.Tool{{Text: "Read", Line: 4}, {Text: "Bash(git log:*)", Line: 5}}) {
		fmt.Println(p.Line, p.Grant)
	}
	// Output:
	// 4 fs.read(**)
	// 5 spawn.proc(git log **)
}
