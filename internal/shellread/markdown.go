package shellread

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/iff-run/iff/capability"
	"mvdan.cc/sh/v3/syntax"
)

// skillVariable is what the ways to write the skill's directory in an
// instruction are turned into.
const skillVariable = "CLAUDE_SKILL_DIR"

// Markdown reads the fenced shell blocks of a SKILL.md as what they are: text
// that an agent may or may not follow. Only processes and hosts are proposed.
// firstLine is the line of the file on which body begins.
func Markdown(file, body string, firstLine int) []Proposal {
	s := newSheet(file)
	s.prose = true
	if f := unreadable(body); f != nil {
		s.bare(firstLine, capability.SpawnProc, "the instructions", "not read: "+f.detail)
		return s.proposals()
	}
	for _, b := range fences(body) {
		if text := b.shell(); strings.TrimSpace(text) != "" {
			s.instructions(text, b.dialects(), firstLine+b.line)
		}
	}
	return s.proposals()
}

// block is the inside of a fence.
type block struct {
	tag   string // the first word behind the fence
	lines []string
	line  int // of the first of them, from 0
}

// fences returns the fenced code blocks of a Markdown text (CommonMark 4.5),
// in lists and quotations too. One that is not closed goes to the end.
func fences(body string) []block {
	var out []block
	var open string // the fence to close
	indent := 0
	for i, line := range strings.Split(body, "\n") {
		line = strings.TrimSuffix(line, "\r")
		text := strings.TrimLeft(line, " \t>")
		mark := fence(text)
		switch {
		case open != "" && strings.HasPrefix(mark, open) && strings.TrimSpace(text[len(mark):]) == "":
			open = ""
		case open != "":
			last := &out[len(out)-1]
			last.lines = append(last.lines, unindent(line, indent))
		case mark != "" && !(mark[0] == '`' && strings.Contains(text[len(mark):], "`")):
			open, indent = mark, len(line)-len(text)
			out = append(out, block{tag: tag(text[len(mark):]), line: i + 1})
		}
	}
	return out
}

// fence returns the run of three or more ` or ~ that text begins with.
func fence(text string) string {
	const shortest = 3
	for _, mark := range []string{"`", "~"} {
		if n := len(text) - len(strings.TrimLeft(text, mark)); n >= shortest {
			return text[:n]
		}
	}
	return ""
}

// unindent takes the indentation and the quotation marks of the fence away.
func unindent(line string, most int) string {
	i := 0
	for i < len(line) && i < most && strings.IndexByte(" \t>", line[i]) >= 0 {
		i++
	}
	return line[i:]
}

// tag returns the language behind a fence: bash for ```bash title="x" and for
// ```{.bash}.
func tag(info string) string {
	info = strings.TrimLeft(info, " \t{.")
	if end := strings.IndexFunc(info, func(r rune) bool { return !unicode.IsLetter(r) && r != '-' }); end >= 0 {
		info = info[:end]
	}
	return strings.ToLower(info)
}

func (b block) dialects() []syntax.LangVariant {
	if b.tag == "zsh" {
		return []syntax.LangVariant{syntax.LangZsh, syntax.LangBash}
	}
	return justBash()
}

// shell returns the commands in a block, line for line; the lines of output
// between them are empty. It is empty if the block is not for a shell.
func (b block) shell() string {
	const prompt = "$ "
	isPrompt := func(line string) bool { return strings.HasPrefix(strings.TrimLeft(line, " "), prompt) }
	switch {
	case !has("sh bash shell zsh console terminal shell-session shellsession", b.tag):
		return ""
	case !has("console shell-session shellsession", b.tag) && !slices.ContainsFunc(b.lines, isPrompt):
		return strings.Join(b.lines, "\n")
	}
	lines := make([]string, len(b.lines))
	more := false
	for i, line := range b.lines {
		switch trimmed := strings.TrimLeft(line, " "); {
		case isPrompt(line):
			lines[i] = trimmed[len(prompt):]
		case more:
			lines[i] = strings.TrimPrefix(trimmed, "> ")
		}
		more = strings.HasSuffix(lines[i], `\`)
	}
	return strings.Join(lines, "\n")
}

// instructions reads the commands of one block, which begins on a line of the
// file. Where it does not parse, the lines at fault are left out.
func (s *sheet) instructions(text string, langs []syntax.LangVariant, line int) {
	text = maskPlaceholders(text)
	if file, lang, fault := parse(text, langs); fault == nil {
		s.instruction(file, text, lang, line)
		return
	}
	for text != "" {
		if s.code -= len(text); s.code < 0 {
			s.bare(line, capability.SpawnProc, "instructions", "a block that does not parse as shell is read no further")
			return
		}
		file, fault := prefix(text, langs[0])
		s.instruction(file, text, langs[0], line)
		if fault == nil {
			return
		}
		at := max(1, fault.line)
		s.bare(line+at-1, capability.SpawnProc, "instructions", fmt.Sprintf("line %d does not parse as shell: %s", line+at-1, fault.detail))
		for range at {
			_, text, _ = strings.Cut(text, "\n")
		}
		line += at
	}
}

// prefix parses as many statements as there are before the first fault.
func prefix(text string, lang syntax.LangVariant) (file *syntax.File, f *fault) {
	file = &syntax.File{}
	text, _ = mend(text, lang)
	defer func() {
		if r := recover(); r != nil {
			file, f = &syntax.File{}, &fault{detail: "the parser gave up on it"}
		}
	}()
	for s, err := range syntax.NewParser(syntax.Variant(lang)).StmtsSeq(&guarded{r: strings.NewReader(text)}) {
		if err != nil {
			return file, explain(err)
		}
		if tooDeep(&syntax.File{Stmts: []*syntax.Stmt{s}}) {
			return file, &fault{line: int(s.Pos().Line()), detail: errNesting.Error()}
		}
		file.Stmts = append(file.Stmts, s)
	}
	return file, nil
}

func (s *sheet) instruction(file *syntax.File, text string, lang syntax.LangVariant, line int) {
	r := &reading{sheet: s, library: &library{known: map[string]*facts{}}, cwd: directory{path: "."}, above: line - 1}
	r.read(file, words{src: text, prose: true, noSplit: lang == syntax.LangZsh})
}

// maskPlaceholders turns <id> into one letter that no text holds, so that it
// does not read as two redirects, and the ways to write the skill's own
// directory into a variable.
func maskPlaceholders(text string) string {
	for _, name := range []string{"{baseDir}", "{skillDir}", "{SKILL_DIR}", "{skill_dir}", "<skill-dir>", "<skill_dir>", "<SKILL_DIR>", "<skill-path>"} {
		text = strings.ReplaceAll(text, "$"+name, "${"+skillVariable+"}")
		text = strings.ReplaceAll(text, name, "${"+skillVariable+"}")
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if n := angle(text[i:]); n > 0 && (i == 0 || text[i-1] != '<') {
			b.WriteString(placeholder)
			i += n - 1
			continue
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

// angle returns the length of the <placeholder> that text begins with, or 0.
// <in >out is two redirects.
func angle(text string) int {
	const most = 80
	if len(text) < 3 || text[0] != '<' || !unicode.IsLetter(rune(text[1])) {
		return 0
	}
	for i := 2; i < len(text) && i < most; i++ {
		switch c := text[i]; {
		case c == '>' && text[i-1] != ' ':
			return i + 1
		case strings.IndexByte("<>|&;\n\"'`$()", c) >= 0:
			return 0
		}
	}
	return 0
}
