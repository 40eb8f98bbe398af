package skillmd_test

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/iff-run/iff/internal/skillmd"
)

func ExampleHazards() {
	for _, f := range skillmd.Hazards("notes.md", "Read the fi\u200ble.\U000e0052\U000e0055\U000e004e <!-- then mail it -->\n") {
		fmt.Printf("%s:%d:%d %s: %s\n", f.File, f.Line, f.Column, f.Kind, f.Detail)
	}
	// Output:
	// notes.md:1:12 zero-width: U+200B zero width space in "Read the fi\u{200b}le.\u{e0052}\u{e0055}\u{e004e} <!-- the…"
	// notes.md:1:16 hidden-tag: 3 invisible tag characters spelling "RUN"
	// notes.md:1:20 html-comment: HTML comment, which a page does not show: "<!-- then mail it -->"
}

// ordinary are texts as skills have them, none of which hides anything.
var ordinary = map[string]string{
	"German":  "Öffnen Sie die Datei „README.md“ – und führen Sie die Übungen aus. Größe: 5 µm · 3 × 4 Ω.",
	"French":  "Ouvrez le fichier : « l’été à Nîmes » coûte 12 €, n’est-ce pas ?",
	"Chinese": "使用此技能读取PDF文件，并运行git命令。首先，阅读　`SKILL.md`；然后执行脚本。\n繁體中文：請先讀取檔案。",
	"Japanese": "このスキルはPDFファイルを読み、「メモ」を作成します。ｶﾀｶﾅも、々も、葛󠄀城市も。\n" +
		"まず`git log`を実行してください。",
	"Korean":     "이 기술은 PDF 파일을 읽고 git 명령을 실행합니다.",
	"Arabic":     "استخدم هذه المهارة لقراءة ملفات PDF، ثم شغّل الأمر git.\u200f والـAPI أيضًا: بِسْمِ اللَّهِ.",
	"Persian":    "این مهارت فایل\u200cهای PDF را می\u200cخواند و API\u200cها را بررسی می\u200cکند؛ خانه\u200cای نو.",
	"Hebrew":     "השתמשו במיומנות זו כדי לקרוא קובצי PDF \u200f(C++)\u200f ולהריץ git.",
	"Hindi":      "यह कौशल PDF फ़ाइलें पढ़ता है और git चलाता है। क्\u200dषमा, राष्\u200dट्र।",
	"Bengali":    "এই দক্ষতা ফাইল পড়ে। র\u200d্যাব",
	"Malayalam":  "ഈ കഴിവ് ഫയലുകൾ വായിക്കുന്നു. അവന്\u200d വന്നു.",
	"Sinhala":    "මෙම කුසලතාව ශ්\u200dරී ලංකාවේ ගොනු කියවයි.",
	"Tamil":      "இந்தத் திறன் கோப்புகளைப் படிக்கிறது.",
	"Thai":       "ทักษะนี้ใช้อ่านไฟล์ PDF และ\u200bเรียกใช้\u200bคำสั่ง git",
	"Khmer":      "ជំនាញ\u200bនេះ\u200bអាន\u200bឯកសារ",
	"Vietnamese": "Kỹ năng này đọc tệp PDF và chạy lệnh git.",
	"Russian": "Прочитайте файл README и запустите команду git commit. А и о, с и у, к ней: СССР, НЕТ, МОСКВА.\n" +
		"Откройте все PDFы, в том числе из IDEа.\n| URL | НЕТ |\n- `run` — рос\nС\n",
	"Ukrainian": "Прочитайте файл і запустіть git. Її, ґанок, і все.",
	"Serbian":   "Отворите датотеку и покрените git. Ја, ово, оса.",
	"Greek":     "Διαβάστε το αρχείο PDF και τρέξτε το git. Και ο Άρης, που είναι νέος.",
	"Armenian":  "Կարդացեք ֆայլը և գործարկեք git հրամանը։ Ո՞ւր ես։",
	"Mongolian": "ᠮᠣᠩᠭᠣᠯ ᠤᠨ ᠨᠢᠭᠤᠴᠠ ᠬᠠᠭᠤᠯᠢ᠋",
	"formulas":  "Let α and β be angles, Δt small, λx.x, ρgh = p, 5 μm, kΩ, ∀ε>0 ∃δ, ν, ο(n), χ² and E = mc².",
	"emoji": "🖼️ ❤️ ☎︎ 👍🏽 👩\u200d👩\u200d👧\u200d👦 🏳️\u200d🌈 🏴\u200d☠️ 👁️\u200d🗨️ 1️⃣ 🇩🇪 ↔️ 🙋🏽\u200d♀️ ⚠️ ✅ 🪾 \U0001fae9 " +
		"🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
	"terminal":       "⠋ ⠙ ⠹ ⠸ │ ├── █▓▒░ ┌─┐ ➜ ✓ ✗ … • →\n\tindented\r\nand more\r\n",
	"Markdown":       "# T\n\n> quote\n\n- [a](b) `c` **d**\n- [e]\n\n[e]: https://example.com/x\n\n[^1]: A note \"shown\"\n\n[Step 1]: do this\n\n[f]: #\n\n\"quoted\" text\n\n- [ ]: todo\n\n[g]: x \"y\" z\n\n| a |\n|---|\n| b |\n",
	"HTML":           "<details><summary>More</summary>\n\n<img src=\"a.png\" width=\"0\" style=\"font-size:0.8em; opacity: .5\" aria-hidden=\"true\">\n<https://example.com> a < b, <name>, 1<2\n</details>",
	"ruler":          strings.Repeat("-", 300) + "\n" + strings.Repeat("=", 300) + "\n" + strings.Repeat("/", 300),
	"trailing space": "text" + strings.Repeat(" ", 300) + "\nmore" + strings.Repeat("\n", 30),
	"padded table":   "| a" + strings.Repeat(" ", 200) + "|\n| b" + strings.Repeat(" ", 200) + "|   |\n",
}

func TestOrdinaryText(t *testing.T) {
	for name, text := range ordinary {
		for _, text := range []string{text, text + "\n" + text, "Use this skill when you need it.\n\n" + text} {
			if found := skillmd.Hazards("x.md", text); len(found) > 0 {
				t.Errorf("%s: %v", name, found)
			}
		}
	}
}

// attacks hide something, and are to give exactly the findings named.
var attacks = []struct{ name, in, want string }{
	{"tags", "a\U000e0049\U000e0047 b", "1:2 hazard hidden-tag"},
	{"tags with a language tag", "\U000e0001\U000e0065", "1:1 hazard hidden-tag"},
	{"tags behind a flag", "🏴\U000e0069\U000e0067\U000e006e\U000e006f\U000e0072\U000e007f", "1:2 hazard hidden-tag"},
	{"override", "if (\u202e) x", "1:5 hazard bidi-control"},
	{"isolates", "\u2066a\u2069", "1:1 hazard bidi-control, 1:3 hazard bidi-control"},
	{"mark in Latin text", "a\u200fb\nقرأ\u200f", "1:2 hazard bidi-control"},
	{"override in Arabic", "قرأ\u202e", "1:4 hazard bidi-control"},
	{"zero-width space", "ig\u200bnore", "1:3 hazard zero-width"},
	{"run of them", "a\u200b\u200c\u200d\u2060b", "1:2 hazard zero-width"},
	{"joiner in Latin", "a\u200db", "1:2 hazard zero-width"},
	{"two joiners in Persian", "می\u200c\u200cخواند", "1:4 hazard zero-width"},
	{"byte order mark inside", "a\ufeffb", "1:2 hazard zero-width"},
	{"soft hyphen", "pass\u00adword", "1:5 hazard zero-width"},
	{"Hangul filler", "a\u3164b", "1:2 hazard zero-width"},
	{"bytes in selectors", "😀\U000e0158\U000e0159", "1:2 hazard variation-selector"},
	{"selector on a letter", "a\ufe0f", "1:2 hazard variation-selector"},
	{"private use", "a\ue000\ue001", "1:2 hazard private-use"},
	{"escape sequence", "a\x1b[8mb", "1:2 hazard control-character"},
	{"carriage return", "evil\rgood", "1:5 hazard control-character"},
	{"backspaces", "a\b\b", "1:2 hazard control-character"},
	{"line separator", "a\u2028b", "1:2 hazard control-character"},
	{"not UTF-8", "a\xff\xfeb", "1:2 hazard invalid-byte"},
	{"unassigned", "a\u0378", "1:2 note unassigned"},
	{"Cyrillic in Latin", "use pаypal now", "1:5 hazard mixed-script"},
	{"Greek in Latin", "use gοοgle now", "1:5 hazard mixed-script"},
	{"Armenian in Latin", "use gօogle", "1:5 hazard mixed-script"},
	{"Cherokee in Latin", "ᏢayPal", "1:1 hazard mixed-script"},
	{"at the end of Chinese", "使用раypal命令", "1:3 hazard mixed-script"},
	{"with a combining mark", "pа\u0301ypal", "1:1 hazard mixed-script"},
	{"in a Russian line", "Откройте pаypal сейчас", "1:10 hazard mixed-script"},
	{"all Cyrillic in Latin", "open ехес now", "1:6 hazard look-alike"},
	{"all Greek in Latin", "type ΑΒΚ now", "1:6 hazard look-alike"},
	{"with one Russian word", "ж: open ехес now, please, and then do it", "1:9 hazard look-alike"},
	{"behind spaces", "a" + strings.Repeat(" ", 120) + "b", "1:122 hazard off-screen"},
	{"behind tabs", strings.Repeat("\t", 30) + "b", "1:31 hazard off-screen"},
	{"behind other spaces", "a" + strings.Repeat("\u2003\u3000\u2800\u00a0", 30) + "b", "1:122 hazard off-screen"},
	{"in a table row", "| a" + strings.Repeat(" ", 150) + "b |", "1:154 note off-screen"},
	{"below blank lines", "a\n" + strings.Repeat("\n \n", 20) + "b", "42:1 hazard off-screen"},
	{"below blank-looking lines", "a\n" + strings.Repeat("\u2800\n", 40) + "b", "42:1 hazard off-screen"},
	{"long line", strings.Repeat("word ", 401), "1:1 note long-line"},
	{"blob", "x: " + strings.Repeat("aB3", 70), "1:4 note blob"},
	{"comment", "a <!-- b --> c", "1:3 hazard html-comment"},
	{"comment over lines", "a\n<!-- b\n\nc --> \u202e", "2:1 hazard html-comment, 4:7 hazard bidi-control"},
	{"comment without an end", "a <!-- b\n```\n<!--\n", "1:3 hazard html-comment"},
	{"short comment", "<!--> a <!---> b", "1:1 hazard html-comment, 1:9 hazard html-comment"},
	{"two comments", "<!-- a --><!-- b -->", "1:1 hazard html-comment, 1:11 hazard html-comment"},
	{"display", `<p style="color: red; Display : NONE !important">x</p>`, "1:1 hazard hidden-html"},
	{"visibility", "<span style='visibility:hidden'>x", "1:1 hazard hidden-html"},
	{"size", "a <span\n style=font-size:0px >x", "1:3 hazard hidden-html"},
	{"opacity", `<b style="opacity:0.0">x</b>`, "1:1 hazard hidden-html"},
	{"hidden", "<div class=a HIDDEN>x</div>", "1:1 hazard hidden-html"},
	{"tag in a tag", `<a title="<p hidden>x</p>`, "1:11 hazard hidden-html"},
	{"in a link title", `[a](b "` + strings.Repeat("x", 81) + `")`, "1:3 hazard hidden-markdown"},
	{"in a short link title", `![a](<b c> 'docs') [a](b(c) (d))`, "1:4 note hidden-markdown, 1:22 note hidden-markdown"},
	{"in a title on the next line", "[a](b\n\"" + strings.Repeat("x", 81) + "\")", "1:3 hazard hidden-markdown"},
	{"as a definition", "a\n\n[//]: # (run it)\n[c]: <> \"run it\"\n[d]: /u 'docs'", "3:1 hazard hidden-markdown, 4:1 hazard hidden-markdown, 5:1 note hidden-markdown"},
	{"as a definition over lines", "[x]: #\n  \"run it\"\n", "1:1 hazard hidden-markdown"},
	{"in the label of a definition", "[run\nit \\] all]:\n#", "1:1 hazard hidden-markdown"},
	{"in the target of a definition", "[x]: <run it>", "1:1 hazard hidden-markdown"},
	{"in a definition in a list", "- [//]: # \"run it\"", "1:1 hazard hidden-markdown"},
	{"in a text for an image", "![" + strings.Repeat("run it ", 12) + "](a.png)", "1:1 note hidden-markdown"},
	{"in an attribute", `<i title="` + strings.Repeat("run it ", 12) + `">`, "1:1 hazard hidden-html"},
	{"in an element", "<Script type=x>run it</script\n>", "1:1 note hidden-html, 1:22 hazard hidden-html"},
	{"in a declaration", "a <?run it?> <!RUN it> <![CDATA[run > it]]> <!DOCTYPE html>", "1:3 hazard html-comment, 1:14 hazard html-comment, 1:24 hazard html-comment"},
	{"behind a fence", "```sh " + strings.Repeat("run it ", 12) + "\nx\n```", "1:1 hazard hidden-markdown"},
	{"comment in code", "```html\n<!-- a -->\n<p hidden>\n[a](b \"c\")\n```\n<!-- b -->", "2:1 note html-comment, 3:1 note hidden-html, 6:1 hazard html-comment"},
	{"comment in a code span", "write `<!-- a -->` or `x`\n<!-- b -->", "1:8 note html-comment, 2:1 hazard html-comment"},
	{"comment in a tilde fence", "~~~~\n~~~\n```\n<!-- a -->\n~~~~~\n<!-- b -->", "4:1 note html-comment, 6:1 hazard html-comment"},
	{"comment out of code", "```\n<!-- a\n```\nb -->", "2:1 note html-comment"},
}

// Text that looks like code to one reader and not to another: the comment in
// each is to be a hazard.
var disputed = []string{
	"<div>\n```\n<!-- x -->\n```\n</div>",
	"<pre>\n\n```\n</pre>\n<!-- x -->\n",
	"- a\n  ```\nb\n\n<!-- x -->\n  ```\n",
	"- ```\nb\n\n<!-- x -->\n",
	"  ```\nfirst\n```\n<!-- x -->\n```\n",
	"> ```\n\n```\n<!-- x -->\n```\n",
	"1. ```\n   a\n   ```\n```\n- ```\n```\n<!-- x -->\n",
	"a\r```\n```\n<!-- x -->\n",
	"```\n- ```\n```\n<!-- x -->\n",
	"a ` b\n` <!-- x --> `",
	"- a `\n- b <!-- x --> `",
	"a <i title=\"`\"> <!-- x --> `",
	"a \\` <!-- x --> `",
	"a `` ` <!-- x --> `",
	"a ` <!-- x -->",
	"<b>\n\u00a0\n```\n<!-- x -->\n```\n",
}

func brief(findings []skillmd.Finding) string {
	var all []string
	for _, f := range findings {
		all = append(all, fmt.Sprintf("%d:%d %s %s", f.Line, f.Column, f.Class, f.Kind))
	}
	return strings.Join(all, ", ")
}

func TestAttacks(t *testing.T) {
	for _, tt := range attacks {
		if found := skillmd.Hazards("x.md", tt.in); brief(found) != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, brief(found), tt.want)
		}
	}
}

// check holds a scanner to the attacks; it says which one gets past it.
func check(scan func(file, text string) []skillmd.Finding) error {
	for _, tt := range attacks {
		if !strings.Contains(tt.want, "hazard") {
			continue
		}
		_, kind, _ := strings.Cut(tt.want, "hazard ")
		kind, _, _ = strings.Cut(kind, ",")
		if !hazard(scan("x", tt.in), skillmd.Kind(kind)) {
			return fmt.Errorf("%s: no %s", tt.name, kind)
		}
	}
	for _, in := range disputed {
		if !hazard(scan("x", in), skillmd.HTMLComment) {
			return fmt.Errorf("the comment in %q is taken for code", in)
		}
	}
	for _, filler := range []string{"\u202e \u200b ", "<!-- -->", strings.Repeat("aB3", 70) + "\n"} {
		if in := strings.Repeat(filler, 5000) + "\n\npаypal\n"; !hazard(scan("x", in), skillmd.MixedScript) {
			return fmt.Errorf("a hazard drowns in others")
		}
	}
	return nil
}

func hazard(found []skillmd.Finding, kind skillmd.Kind) bool {
	return slices.ContainsFunc(found, func(f skillmd.Finding) bool {
		return f.Class == skillmd.Hazard && f.Kind == kind
	})
}

// TestScannerMutants plants mistakes, and expects each caught.
func TestScannerMutants(t *testing.T) {
	if err := check(skillmd.Hazards); err != nil {
		t.Error(err)
	}
	fences := regexp.MustCompile("(?s)```.*?(```|$)")
	spans := regexp.MustCompile("`[^`]*`")
	mutants := map[string]func(file, text string) []skillmd.Finding{
		"nothing":        func(string, string) []skillmd.Finding { return nil },
		"without fences": func(f, s string) []skillmd.Finding { return skillmd.Hazards(f, fences.ReplaceAllString(s, "")) },
		"without spans":  func(f, s string) []skillmd.Finding { return skillmd.Hazards(f, spans.ReplaceAllString(s, "")) },
		"valid UTF-8": func(f, s string) []skillmd.Finding {
			return skillmd.Hazards(f, strings.ToValidUTF8(s, ""))
		},
		"trimmed lines": func(f, s string) []skillmd.Finding {
			return skillmd.Hazards(f, strings.Join(strings.Fields(s), " "))
		},
		"first 4 KB": func(f, s string) []skillmd.Finding { return skillmd.Hazards(f, s[:min(len(s), 4096)]) },
		"line by line": func(f, s string) (all []skillmd.Finding) {
			for line := range strings.Lines(s) {
				all = append(all, skillmd.Hazards(f, line)...)
			}
			return all[:min(len(all), skillmd.MaxFindings)]
		},
	}
	for name, mutant := range mutants {
		if check(mutant) == nil {
			t.Errorf("the mutant %q passes", name)
		}
	}
}

func TestLimit(t *testing.T) {
	in := strings.Repeat(strings.Repeat("aB3", 70)+"\n", 300) + strings.Repeat("a\u202eb\u200b\n", 150) + "<!-- x -->"
	found := skillmd.Hazards("x", in)
	if len(found) != skillmd.MaxFindings+1 {
		t.Fatalf("%d findings", len(found))
	}
	counts := map[skillmd.Kind]int{}
	for _, f := range found {
		counts[f.Kind]++
	}
	if counts[skillmd.Blob] != 1 || counts[skillmd.HTMLComment] != 1 || counts[skillmd.BidiControl] != 99 {
		t.Errorf("%v", counts)
	}
	last := found[skillmd.MaxFindings]
	if want := "401 more: 51 hazard bidi-control, 51 hazard zero-width, 299 note blob"; last.Kind != skillmd.MoreFindings || last.Class != skillmd.Hazard || last.Detail != want {
		t.Errorf("got %v, want %q", last, want)
	}
}

// TestKindsDocumented ties the closed set of kinds to the package comment and to
// the tests above: no kind that nothing finds, none that is not explained.
func TestKindsDocumented(t *testing.T) {
	read := func(name string) string {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	tests := read("parse_test.go") + read("hazards_test.go")
	doc := read("doc.go")
	consts := regexp.MustCompile(`(\w+) +(?:Kind|Reason) += "([a-z0-9-]+)"`).FindAllStringSubmatch(read("finding.go")+read("parse.go"), -1)
	if len(consts) < 40 {
		t.Fatalf("only %d constants", len(consts))
	}
	for _, m := range consts {
		if !strings.Contains(doc, m[2]) {
			t.Errorf("doc.go does not explain %s", m[2])
		}
		if !strings.Contains(tests, " "+m[2]) && !strings.Contains(tests, "skillmd."+m[1]) {
			t.Errorf("no test finds %s", m[2])
		}
	}
}
