package skillmd_test

import (
	"strings"
	"testing"

	"github.com/iff-run/iff/internal/skillmd"
)

const prose = "Read `reference.md` first, then run the script:\n\n```sh\npython scripts/fill.py --in a.pdf | tee out.txt\n```\n\n- See [the guide](https://example.com/guide) for details.\n"

// BenchmarkParse reads a skill of 5 KB with frontmatter as it is found.
func BenchmarkParse(b *testing.B) {
	data := []byte("---\nname: pdf\ndescription: \"Fill, merge and split PDF files.\"\nlicense: Apache-2.0\n" +
		"metadata: { \"openclaw\": { \"emoji\": \"📄\", \"requires\": { \"bins\": [\"python\"] } } }\n" +
		"allowed-tools: Bash(python:*) Read\n---\n" + strings.Repeat(prose, 5000/len(prose)))
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := skillmd.Parse(data, "pdf"); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkHazards reads 1 MB, ordinary text and text that is made to be slow.
func BenchmarkHazards(b *testing.B) {
	for name, piece := range map[string]string{
		"prose":           prose,
		"chinese":         "使用此技能读取文件，并运行命令。首先阅读说明；然后执行脚本。\n",
		"russian":         "Прочитайте файл и запустите команду, а потом проверьте ответ.\n",
		"arabic":          "استخدم هذه المهارة لقراءة الملفات، ثم شغّل الأمر.\n",
		"hostile-tags":    "<a b=\"",
		"hostile-titles":  "](",
		"hostile-comment": "`<!--",
		"hostile-words":   "аa ",
		"hostile-hidden":  "a\u200b",
		"hostile-blank":   "\u2800\n",
	} {
		b.Run(name, func(b *testing.B) {
			text := strings.Repeat(piece, 1<<20/len(piece))
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				skillmd.Hazards("x", text)
			}
		})
	}
}
