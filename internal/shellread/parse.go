package shellread

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path"
	"runtime"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Bounds on what the parser is let into. Frames count calls on its stack: it
// recurses with its input, and a Go program does not survive a full stack.
// Depth counts levels of the tree, which this package recurses over.
const (
	maxFrames = 4000
	maxDepth  = 600
)

var (
	errNesting  = errors.New("it is nested too deeply to be read")
	errComments = errors.New("it has comments that end in a backslash, in a way that cannot be read")
)

// fault says where and why a source does not parse.
type fault struct {
	line, column int // from 1; 0 is not known
	detail       string
}

func (f *fault) String() string {
	switch {
	case f.line == 0:
		return f.detail
	case f.column == 0:
		return fmt.Sprintf("line %d: %s", f.line, f.detail)
	}
	return fmt.Sprintf("line %d column %d: %s", f.line, f.column, f.detail)
}

// dialects returns the languages to try on a script, in order. Bash comes
// before POSIX sh: on many systems sh is bash, and it is the reading in which
// more things are commands.
func dialects(name string, src []byte) []syntax.LangVariant {
	program := interpreter(src)
	if ext := strings.TrimPrefix(path.Ext(name), "."); program == "" && ext != "sh" {
		program = ext
	}
	switch program {
	case "zsh":
		return []syntax.LangVariant{syntax.LangZsh, syntax.LangBash}
	case "ksh", "mksh", "pdksh", "oksh", "lksh":
		return []syntax.LangVariant{syntax.LangMirBSDKorn, syntax.LangBash}
	case "bats":
		return []syntax.LangVariant{syntax.LangBats}
	case "sh", "dash", "ash", "busybox":
		return []syntax.LangVariant{syntax.LangBash, syntax.LangPOSIX}
	}
	return justBash()
}

// justBash is for code that may be run by any shell of its kind.
func justBash() []syntax.LangVariant { return []syntax.LangVariant{syntax.LangBash} }

// parse reads src in the first of the languages in which it parses. The fault
// is that of the first language. If the language is not the first one, the
// shell that the first one stands for may run a part of src, up to where it
// finds the fault, and read it in its own way.
func parse(src string, langs []syntax.LangVariant) (*syntax.File, syntax.LangVariant, *fault) {
	if f := unreadable(src); f != nil {
		return nil, 0, f
	}
	var first *fault
	for _, lang := range langs {
		mended, ok := mend(src, lang)
		file, err := parseAs(mended, lang)
		switch {
		case err == nil && !ok:
			err = errComments
		case err == nil && tooDeep(file):
			err = errNesting
		}
		if err == nil {
			return file, lang, nil
		}
		if first == nil {
			first = explain(err)
		}
	}
	return nil, 0, first
}

func unreadable(src string) *fault {
	// Shells drop a NUL, or end there, each in its own way.
	if at := strings.IndexByte(src, 0); at >= 0 {
		return &fault{line: 1 + strings.Count(src[:at], "\n"), detail: "it holds a NUL, which is no text"}
	}
	// The parser joins the lines; a shell ends the command with the carriage return.
	if at := strings.Index(src, "\\\r"); at >= 0 {
		return &fault{line: 1 + strings.Count(src[:at], "\n"), detail: "a backslash stands before a carriage return"}
	}
	if len(src) > MaxSource {
		return &fault{detail: fmt.Sprintf("it has %d bytes, at most %d are read", len(src), MaxSource)}
	}
	if n := strings.Count(src, "\n"); n > MaxLines {
		return &fault{detail: fmt.Sprintf("it has %d lines, at most %d are read", n, MaxLines)}
	}
	return nil
}

// parseAs takes a panic of the parser for what it is: it cannot read this.
func parseAs(src string, lang syntax.LangVariant, options ...syntax.ParserOption) (file *syntax.File, err error) {
	defer func() {
		if r := recover(); r != nil {
			file, err = nil, errors.New("the parser gave up on it")
		}
	}()
	return syntax.NewParser(append(options, syntax.Variant(lang))...).Parse(&guarded{r: strings.NewReader(src)}, "")
}

// guarded hands the parser its input, and looks at each read how deep in calls
// the parser is. The parser reads at most a kilobyte at a time.
type guarded struct {
	r    io.Reader
	read int
}

func (g *guarded) Read(p []byte) (int, error) {
	const harmless = 4 << 10 // so few bytes nest to no dangerous depth
	var deep [1]uintptr
	if g.read > harmless && runtime.Callers(maxFrames, deep[:]) > 0 {
		return 0, errNesting
	}
	n, err := g.r.Read(p)
	g.read += n
	return n, err
}

// tooDeep reports whether a tree is deeper than maxDepth. It goes no deeper
// itself.
func tooDeep(file *syntax.File) bool {
	depth, found := 0, false
	syntax.Walk(file, func(n syntax.Node) bool {
		if n == nil {
			depth--
			return false
		}
		if found || depth >= maxDepth {
			found = true
			return false
		}
		depth++
		return true
	})
	return found
}

func explain(err error) *fault {
	var parseError syntax.ParseError
	if errors.As(err, &parseError) {
		return &fault{int(parseError.Pos.Line()), int(parseError.Pos.Col()), show(parseError.Text)}
	}
	var langError syntax.LangError
	if errors.As(err, &langError) {
		return &fault{int(langError.Pos.Line()), int(langError.Pos.Col()), show(langError.Feature + " belongs to another shell")}
	}
	return &fault{detail: err.Error()}
}

// interpreter returns the base name of the program that a #! line names,
// without version: python for #!/usr/bin/env -S python3.12 -u.
func interpreter(head []byte) string {
	const utf8Mark = "\xef\xbb\xbf"
	line, _, _ := bytes.Cut(bytes.TrimPrefix(head, []byte(utf8Mark)), []byte("\n"))
	rest, found := bytes.CutPrefix(line, []byte("#!"))
	if !found {
		return ""
	}
	for i, arg := range strings.Fields(string(rest)) {
		name := path.Base(arg)
		if i == 0 && name != "env" {
			return unversioned(name)
		}
		if i > 0 && !strings.HasPrefix(arg, "-") && !strings.Contains(arg, "=") {
			return unversioned(name)
		}
	}
	return ""
}

// unversioned drops a version from the name of an interpreter: python3.12,
// node-20, ksh93.
func unversioned(name string) string {
	return strings.TrimRight(strings.TrimSuffix(name, ".exe"), "0123456789.-")
}
