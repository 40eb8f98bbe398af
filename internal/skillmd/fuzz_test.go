package skillmd_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/iff-run/iff/internal/skillmd"
	"github.com/iff-run/iff/internal/visible"
)

// checkFindings holds findings to what every finding promises: a known class, a
// place in the text in rising order, a detail that can be shown.
func checkFindings(text string, found []skillmd.Finding) error {
	if len(found) > skillmd.MaxFindings+1 {
		return fmt.Errorf("%d findings", len(found))
	}
	lines := strings.Split(text, "\n")
	last := skillmd.Finding{}
	for i, f := range found {
		if f.Kind == skillmd.MoreFindings && i == len(found)-1 && len(found) > 1 {
			break
		}
		switch f.Class {
		case skillmd.Deviation, skillmd.Hazard, skillmd.Note:
		default:
			return fmt.Errorf("class of %+v", f)
		}
		if f.Line < last.Line || f.Line == last.Line && f.Column < last.Column {
			return fmt.Errorf("%+v after %+v", f, last)
		}
		if f.Line < 0 || f.Line > len(lines)+1 || f.Column < 0 || f.Class == skillmd.Hazard && f.Line == 0 {
			return fmt.Errorf("place of %+v", f)
		}
		if f.Kind == "" || f.Detail == "" || !showable(f.Detail) {
			return fmt.Errorf("detail of %+v", f)
		}
		last = f
	}
	return nil
}

// showable reports whether s is one line in which nothing is invisible.
func showable(s string) bool {
	for range visible.Spots(s) {
		return false
	}
	return utf8.ValidString(s)
}

func FuzzHazards(f *testing.F) {
	for _, a := range attacks {
		f.Add(a.in)
	}
	for _, text := range disputed {
		f.Add(text)
	}
	for _, text := range ordinary {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		found := skillmd.Hazards("x", text)
		if err := checkFindings(text, found); err != nil {
			t.Error(err)
		}
		lines := strings.Split(text, "\n")
		for _, f := range found {
			if f.Line > 0 && f.Column > 1+utf8.RuneCountInString(lines[f.Line-1]) {
				t.Errorf("column of %+v", f)
			}
		}
		// Whatever comes before it, an override is seen.
		if !hazard(skillmd.Hazards("x", text+"\n\u202e"), skillmd.BidiControl) {
			t.Error("an override at the end is missed")
		}
	})
}

var reasons = map[skillmd.Reason]bool{
	skillmd.TooLarge: true, skillmd.NotUTF8: true, skillmd.NUL: true, skillmd.FrontmatterMissing: true,
	skillmd.FrontmatterUnclosed: true, skillmd.FrontmatterInvalid: true, skillmd.DescriptionMissing: true,
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		head + "---\nbody", "\ufeff" + head + "---\n", "---\r\nname: s\r\ndescription: a: b\r\n---\r\nx",
		head + "metadata: {a: {b: [c, 1]}}\nallowed-tools: Bash(git *), Read\n---\n", head + "allowed-tools:\n  - A\n  - B\n---\n",
		"---\nname: &a [*a]\ndescription: *a\n---\n", head + "x: |\n  ---\n\n---\n---\n", head + "\tx: y\n...\n---\n",
		"---\nname: \"\\u202e\"\ndescription: >-\n  a\n   b\n---\n", "\n---\n? a\n: b\n---\n", head + "# c\n<<: {a: b}\n---\n<!--",
		"---\na: {\n}\n# x\n\n \ndescription: @a\n  b: c\n---\n",
	} {
		f.Add([]byte(s), "s")
	}
	f.Fuzz(func(t *testing.T, data []byte, directory string) {
		doc, err := skillmd.Parse(data, directory)
		if err != nil {
			checkRefusal(t, doc, err)
			return
		}
		text := strings.TrimPrefix(string(data), "\ufeff")
		if doc.Description == "" || !strings.HasSuffix(text, doc.Body) {
			t.Errorf("%+v", doc)
		}
		front := text[:len(text)-len(doc.Body)]
		if want := 1 + strings.Count(front, "\n"); strings.HasSuffix(front, "\n") && doc.BodyLine != want {
			t.Errorf("body on line %d, want %d", doc.BodyLine, want)
		}
		if err := checkFindings(text, doc.Findings); err != nil {
			t.Error(err)
		}
		for _, s := range []string{doc.Description, doc.License, doc.Compatibility} {
			if !utf8.ValidString(s) || strings.Contains(s, "\x00") {
				t.Errorf("%q", s)
			}
		}
		for _, tool := range doc.AllowedTools {
			if strings.TrimSpace(tool.Text) == "" || tool.Line < 1 || tool.Line > doc.BodyLine {
				t.Errorf("%+v", tool)
			}
		}
		// The frontmatter alone decides: another body changes nothing else.
		other, err := skillmd.Parse([]byte(front+"\nanother"), directory)
		if strings.HasSuffix(front, "\n") && (err != nil || other.Description != doc.Description || other.Name != doc.Name || other.BodyLine != doc.BodyLine) {
			t.Errorf("%+v, %v", other, err)
		}
	})
}

func checkRefusal(t *testing.T, doc skillmd.Doc, err error) {
	t.Helper()
	var refusal *skillmd.Error
	if !errors.As(err, &refusal) || !reasons[refusal.Reason] || refusal.Line < 0 {
		t.Fatalf("%v", err)
	}
	if !showable(err.Error()) || !strings.Contains(refusal.Detail, "; ") {
		t.Errorf("%q", err)
	}
	if doc.Description != "" || doc.Findings != nil {
		t.Errorf("%+v", doc)
	}
}
