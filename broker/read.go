package broker

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/cedar-policy/cedar-go"
	"github.com/cedar-policy/cedar-go/x/exp/ast"

	"github.com/iff-run/iff/internal/canonical"
	"github.com/iff-run/iff/internal/visible"
)

// Bounds of a policy. A file nests brackets at most MaxPolicyDepth deep.
const (
	MaxPolicyFile  = 256 << 10
	MaxPolicyDepth = 48
	maxFileName    = 128
	maxRules       = 1000
	maxChain       = 2000 // operators in a row, which nest as brackets do
)

var (
	idForm    = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)
	placeForm = regexp.MustCompile(`^(?:[a-z ]+: )?(?:parse error at )?<input>:(\d+):(\d+):? `)
)

func checkName(name string) error {
	if name == "" || len(name) > maxFileName || !utf8.ValidString(name) || visible.Escape(name) != name || strings.ContainsAny(name, ":\\") {
		return &Error{
			Reason: PolicyFileName, File: visible.Escape(name), Remedy: "rename it",
			Detail: fmt.Sprintf("the name of a policy file is 1 to %d bytes of visible text without colon or backslash", maxFileName),
		}
	}
	return nil
}

// readRules parses one file.
func readRules(f PolicyFile) ([]rule, error) {
	if err := checkText(f); err != nil {
		return nil, err
	}
	list, err := cedar.NewPolicyListFromBytes(f.Name, f.Text)
	if err != nil {
		return nil, syntaxError(f, err)
	}
	if len(list) > maxRules {
		return nil, &Error{Reason: PolicyTooLarge, File: f.Name, Detail: fmt.Sprintf("%d rules, at most %d", len(list), maxRules), Remedy: "put some together"}
	}
	out := make([]rule, len(list))
	for i, p := range list {
		out[i] = rule{file: f.Name, line: p.Position().Line, policy: p, tree: (*ast.Policy)(p.AST())}
	}
	return out, nil
}

func syntaxError(f PolicyFile, err error) error {
	e := &Error{Reason: PolicySyntax, File: f.Name, Remedy: "see docs/policy.md for examples", Err: err}
	text := firstLine(err.Error())
	if at := placeForm.FindStringSubmatch(text); at != nil {
		e.Line, _ = strconv.Atoi(at[1])
		e.Column, _ = strconv.Atoi(at[2])
		text = fmt.Sprintf("column %d: %s", e.Column, text[len(at[0]):])
	}
	e.Detail = "it is not Cedar: " + text
	return e
}

// checkText refuses what would take a parser too far: it and what comes behind it
// go into brackets and along operators by recursion.
func checkText(f PolicyFile) error {
	if len(f.Text) > MaxPolicyFile {
		return &Error{Reason: PolicyTooLarge, File: f.Name, Detail: fmt.Sprintf("%d bytes, at most %d", len(f.Text), MaxPolicyFile), Remedy: "split it"}
	}
	if !utf8.Valid(f.Text) {
		return &Error{Reason: PolicySyntax, File: f.Name, Detail: "it is not UTF-8", Remedy: "save the file as UTF-8"}
	}
	depth, chain, line := 0, 0, 1
	for text := string(f.Text); text != ""; {
		n := 1
		switch c := text[0]; {
		case c == '\n':
			line++
		case c == '"':
			n = canonical.StringLength(text) // Cedar ends them as JSON does
			line += strings.Count(text[:n], "\n")
		case strings.HasPrefix(text, "//"):
			if n = strings.IndexByte(text, '\n'); n < 0 {
				n = len(text)
			}
		case strings.IndexByte("([{", c) >= 0:
			depth++
		case strings.IndexByte(")]}", c) >= 0:
			depth--
		case c == ';':
			chain = 0
		case strings.IndexByte("!-+*.&|", c) >= 0, strings.HasPrefix(text, "if"), strings.HasPrefix(text, "has"):
			chain++
		}
		if depth > MaxPolicyDepth || chain > maxChain {
			return &Error{
				Reason: PolicyTooLarge, File: f.Name, Line: line, Remedy: "split the rule",
				Detail: fmt.Sprintf("a rule nests more than %d brackets, or has more than %d operators", MaxPolicyDepth, maxChain),
			}
		}
		text = text[n:]
	}
	return nil
}

// nameRules names rules by file and line, by the column too where that is not
// enough, and by their @id.
func nameRules(rules []rule) error {
	lines, ids := map[string]int{}, map[string]string{}
	for _, r := range rules {
		lines[r.at()]++
	}
	for i, r := range rules {
		name := r.at()
		if lines[name] > 1 {
			name += ":" + strconv.Itoa(r.policy.Position().Column)
		}
		id, given := r.policy.Annotations()["id"]
		if given {
			where := name
			if !idForm.MatchString(string(id)) {
				return &Error{Reason: PolicyID, File: r.file, Line: r.line, Detail: "@id is not 1 to 64 of A-Z a-z 0-9 . _ -", Remedy: "write it so"}
			}
			if other := ids[string(id)]; other != "" {
				return &Error{Reason: PolicyID, File: r.file, Line: r.line, Detail: fmt.Sprintf("@id %s is that of %s too", id, other), Remedy: "rename one"}
			}
			ids[string(id)] = where
			name += " " + string(id)
		}
		rules[i].id = cedar.PolicyID(name)
	}
	return nil
}

func (r rule) at() string { return r.file + ":" + strconv.Itoa(r.line) }
