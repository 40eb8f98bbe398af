package skillmd

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Limits on a SKILL.md. Real ones stay far below them.
const (
	MaxBytes       = 1 << 20  // of the file
	MaxFrontmatter = 64 << 10 // of its frontmatter
	MaxTools       = 256      // entries of allowed-tools that are kept
	maxNodes       = 2000     // YAML nodes, aliases followed
	maxDepth       = 32       // of nested YAML
	maxKey         = 256      // bytes of a YAML key
)

// Reason says why a file is refused. The set is closed; the zero value is not a
// reason.
type Reason string

// The reasons.
const (
	TooLarge            Reason = "skillmd-too-large"
	NotUTF8             Reason = "skillmd-not-utf8"
	NUL                 Reason = "skillmd-nul"
	FrontmatterMissing  Reason = "frontmatter-missing"
	FrontmatterUnclosed Reason = "frontmatter-unclosed"
	FrontmatterInvalid  Reason = "frontmatter-invalid"
	DescriptionMissing  Reason = "description-missing"
)

// Error refuses a file.
type Error struct {
	Reason Reason
	Line   int    // 1-based; 0 if it concerns the whole file
	Detail string // escaped for display: what is wrong, then what to do
}

func (e *Error) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("%s: %s: %s", FileName, e.Reason, e.Detail)
	}
	return fmt.Sprintf("%s:%d: %s: %s", FileName, e.Line, e.Reason, e.Detail)
}

// Doc is a SKILL.md as its author wrote it: nothing in it has been checked
// beyond what Findings say, and every string is untrusted text. The zero value
// is no document.
type Doc struct {
	Name          string // the directory's name if the file gives none
	Description   string // never empty
	License       string
	Compatibility string
	AllowedTools  []Tool
	Metadata      []Entry   // in the order of the file
	Body          string    // everything behind the frontmatter, as it is
	BodyLine      int       // line of the file on which Body begins, 1-based
	Findings      []Finding // deviations, notes, and the hazards of the whole file
}

// Tool is one entry of allowed-tools as written, "Bash(git:*)" for example.
type Tool struct {
	Text string
	Line int // 1-based
}

// Entry is a leaf of the metadata. Its key is the path to it, joined by dots,
// with 0-based positions in lists: openclaw.requires.bins.0.
type Entry struct {
	Key, Value string
	Line       int // 1-based
}

// Parse reads a SKILL.md that lies in the directory of the given name, "" if it
// is not known. Whatever can be read is, with a finding for each deviation; a
// refusal is an [*Error], with a zero Doc.
func Parse(data []byte, directory string) (Doc, error) {
	text, err := decode(data)
	if err != nil {
		return Doc{}, err
	}
	p := &parser{directory: directory}
	if rest, ok := strings.CutPrefix(text, "\ufeff"); ok {
		text = rest
		p.find(Deviation, ByteOrderMark, 1, 1, "the file begins with a byte order mark, behind which other readers miss the frontmatter")
	}
	if err := p.split(text); err != nil {
		return Doc{}, err
	}
	fields, err := p.yaml()
	if err != nil {
		return Doc{}, err
	}
	if err := p.fields(fields); err != nil {
		return Doc{}, err
	}
	p.body()
	all, more := scan(FileName, text)
	p.unseen(fields, all)
	p.doc.Findings = limit(FileName, append(all, p.findings...), more)
	return p.doc, nil
}

// parser holds a file in the making.
type parser struct {
	directory string
	front     string // from the start of the file to the closing delimiter
	doc       Doc
	findings  []Finding
}

func (p *parser) find(class Class, kind Kind, line, column int, format string, args ...any) {
	p.findings = append(p.findings, Finding{class, kind, FileName, line, column, fmt.Sprintf(format, args...)})
}

// decode checks what holds for the file as bytes.
func decode(data []byte) (string, error) {
	if len(data) > MaxBytes {
		return "", &Error{TooLarge, 0, fmt.Sprintf("the file has %d bytes, more than %d; move parts into other files", len(data), MaxBytes)}
	}
	text := string(data)
	if !utf8.ValidString(text) {
		i := invalidByte(text)
		return "", &Error{NotUTF8, lineOf(text, i), fmt.Sprintf("byte %d is %#02x, which is not UTF-8; save the file as UTF-8", i, text[i])}
	}
	if i := strings.IndexByte(text, 0); i >= 0 {
		return "", &Error{NUL, lineOf(text, i), fmt.Sprintf("byte %d is NUL; remove it", i)}
	}
	return text, nil
}

// invalidByte returns the offset of the first byte that is not UTF-8.
func invalidByte(text string) int {
	for i, r := range text {
		if r == utf8.RuneError && !strings.HasPrefix(text[i:], "\ufffd") {
			return i
		}
	}
	return len(text)
}

func lineOf(text string, offset int) int { return 1 + strings.Count(text[:offset], "\n") }

// split finds the frontmatter: it begins with the first line that is not blank
// and ends with the next line that is "---" and nothing else. A "---" in a block
// scalar does not end it, for there it is indented.
func (p *parser) split(text string) error {
	open, row, offset := 0, 0, 0
	for line := range strings.Lines(text) {
		row++
		switch content := strings.TrimRight(line, " \t\r\n"); {
		case content == "---" && open > 0:
			p.delimiter(row, line)
			p.doc.Body, p.doc.BodyLine = text[offset+len(line):], row+1
			return p.frontmatter(text[:offset], row)
		case content == "---":
			open = row
			p.delimiter(row, line)
		case content != "" && open == 0:
			return &Error{FrontmatterMissing, row, `the file does not begin with a line "---"; put name and description between two such lines at its start`}
		}
		offset += len(line)
	}
	if open == 0 {
		return &Error{FrontmatterMissing, 0, `the file is empty; begin it with name and description between two lines "---"`}
	}
	return &Error{FrontmatterUnclosed, open, `no line "---" ends the frontmatter; add one in front of the text`}
}

func (p *parser) frontmatter(front string, row int) error {
	if len(front) > MaxFrontmatter {
		return &Error{TooLarge, row, fmt.Sprintf("the frontmatter has %d bytes, more than %d; move parts into the text", len(front), MaxFrontmatter)}
	}
	p.front = front
	if before, _, _ := strings.Cut(front, "---"); before != "" {
		p.find(Deviation, Delimiter, 1, 1, "blank lines come before the frontmatter, so that other readers may not see it")
	}
	if strings.Contains(front, "\r\n") {
		p.find(Note, LineEndings, 0, 0, "lines end with a carriage return")
	}
	return nil
}

// delimiter reports a delimiter that is not exactly one.
func (p *parser) delimiter(row int, line string) {
	if strings.TrimRight(line, "\r\n") != "---" {
		p.find(Deviation, Delimiter, row, 4, `blanks follow "---", so that other readers may not see the frontmatter`)
	}
}

// The recommended size of a body.
const (
	bodyLines  = 500
	bodyTokens = 5000
)

// body notes what the specification recommends about the text.
func (p *parser) body() {
	body := p.doc.Body
	if strings.TrimSpace(body) == "" {
		p.find(Note, BodyEmpty, p.doc.BodyLine, 0, "no instructions follow the frontmatter")
		return
	}
	lines := 1 + strings.Count(strings.TrimRight(body, "\n"), "\n")
	tokens := estimate(body)
	if lines >= bodyLines || tokens >= bodyTokens {
		p.find(Note, BodyLong, p.doc.BodyLine, 0, "the text has %d lines and about %d tokens; fewer than %d and %d are recommended",
			lines, tokens, bodyLines, bodyTokens)
	}
}

// estimate guesses how many tokens a model reads text as: four ASCII characters
// or one other to a token.
func estimate(text string) int {
	runes := utf8.RuneCountInString(text)
	wide := (len(text) - runes) / 2 // most other characters take two or three bytes
	return (runes-wide)/4 + wide
}
