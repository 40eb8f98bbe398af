package shellread

import (
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"
)

// typical is a script of 10 KiB as skills have them.
func typical() string {
	const part = `#!/usr/bin/env bash
set -euo pipefail
ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
OUT=build/out
usage() {
  cat >&2 <<HELP
Usage: $0 [-v] FILE
HELP
  exit 2
}
while [[ $# -gt 0 ]]; do
  case "$1" in
    -v) verbose=1; shift ;;
    *) break ;;
  esac
done
mkdir -p "$OUT"
if ! command -v jq >/dev/null 2>&1; then echo "jq is missing" >&2; exit 1; fi
for f in "$@"; do
  curl -fsSL "https://api.example.com/v1/$f" | jq -r '.items[]' > "$OUT/list.txt"
  python3 "$ROOT/scripts/convert.py" --in "$OUT/list.txt" --out "$f.out"
done
git -C "$ROOT" log --oneline -n 5 | head -n 3
`
	return strings.Repeat(part, 10<<10/len(part)+1)
}

func BenchmarkScript(b *testing.B) {
	source := []byte(typical())
	b.SetBytes(int64(len(source)))
	b.ReportAllocs()
	for b.Loop() {
		Script("scripts/x.sh", source)
	}
}

// BenchmarkParser is the parser alone on the same bytes, for the ratio.
func BenchmarkParser(b *testing.B) {
	source := typical()
	b.SetBytes(int64(len(source)))
	for b.Loop() {
		if _, err := syntax.NewParser().Parse(strings.NewReader(source), ""); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkMarkdown(b *testing.B) {
	body := strings.Repeat("Some words about it.\n\n```bash\ngh pr list --repo <repo>\nnpm run build\n```\n\n", 50)
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		Markdown("SKILL.md", body, 1)
	}
}

func BenchmarkHostile(b *testing.B) {
	for name, source := range hostile(MaxSource / 16) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(source)))
			for b.Loop() {
				Script("x.sh", []byte(source))
			}
		})
	}
}
