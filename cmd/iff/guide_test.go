//go:build unix

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// guide is a document with console blocks: lines that begin with "$ " are
// commands, lines right behind one that begin with ">" go on with it, and all
// others up to the next command are what it prints. A command that does not
// exit with 0 prints "exit N" last.
type guide struct {
	pieces []piece
}

// piece is text to leave alone, or one command with its output.
type piece struct {
	text    []string // lines of the document, also of the command
	command string   // empty: only text
	output  []string
}

const consoleFence = "```console"

func parseGuide(doc string) (guide, error) {
	var g guide
	inside := false
	for n, line := range strings.Split(strings.TrimSuffix(doc, "\n"), "\n") {
		last := len(g.pieces) - 1
		command, isCommand := strings.CutPrefix(line, "$ ")
		more, isMore := strings.CutPrefix(line, ">")
		switch {
		case inside && line == "```":
			inside = false
			g.pieces = append(g.pieces, piece{text: []string{line}})
		case inside && isCommand:
			g.pieces = append(g.pieces, piece{text: []string{line}, command: command})
		case inside && g.pieces[last].command == "":
			return guide{}, fmt.Errorf("line %d: a console block begins with a command", n+1)
		case inside && isMore && len(g.pieces[last].output) == 0:
			g.pieces[last].text = append(g.pieces[last].text, line)
			g.pieces[last].command += "\n" + strings.TrimPrefix(more, " ")
		case inside:
			g.pieces[last].output = append(g.pieces[last].output, line)
		default:
			inside = line == consoleFence
			g.pieces = append(g.pieces, piece{text: []string{line}})
		}
	}
	if inside {
		return guide{}, fmt.Errorf("the last console block does not end")
	}
	return g, nil
}

func (g guide) String() string {
	var out strings.Builder
	for _, p := range g.pieces {
		for _, line := range slices.Concat(p.text, p.output) {
			out.WriteString(line + "\n")
		}
	}
	return out.String()
}

// variable is what differs from run to run.
var variable = []struct {
	form *regexp.Regexp
	name string
}{
	{regexp.MustCompile(`SHA256:[A-Za-z0-9+/]{43}`), "FINGERPRINT"},
	{regexp.MustCompile(`AAAAC3NzaC1lZDI1NTE5AAAAI[A-Za-z0-9+/]{43}`), "SSH-KEY"},
	{regexp.MustCompile(`[A-Za-z0-9+/]{86}==`), "SIGNATURE"},
	{regexp.MustCompile(`"[A-Za-z0-9+/]{43}="`), "KEY"},
	{regexp.MustCompile(`"digest": "[0-9a-f]{64}"`), "DIGEST"},
	{regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`), "TIME"},
}

// normal takes out of lines what differs from run to run.
func normal(lines []string) string {
	text := strings.Join(lines, "\n")
	for _, v := range variable {
		text = v.form.ReplaceAllString(text, v.name)
	}
	return text
}

// workshop is where the commands of a guide run: an empty home of a user
// called me, with the examples in downloads.
type workshop struct {
	root string // what stands before /home/me
	env  []string
}

func newWorkshop(t *testing.T) workshop {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := workshop{root: root}
	bin, user := filepath.Join(root, "bin"), filepath.Join(root, "home", "me")
	for _, dir := range []string{bin, user} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.CopyFS(filepath.Join(user, "downloads"), os.DirFS(filepath.Join(moduleRoot, "examples"))); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(root, "program")
	if out, err := exec.Command("go", "build", "-buildvcs=false", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	// The default home is looked up in the user database and not only in the
	// environment; a test must never find the home of whoever runs it.
	script := fmt.Sprintf("#!/bin/sh\nexec '%s' --home \"$HOME/.iff\" \"$@\"\n", program)
	if err := os.WriteFile(filepath.Join(bin, "iff"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	w.env = []string{"HOME=" + user, "PATH=" + bin + string(os.PathListSeparator) + os.Getenv("PATH"), "LC_ALL=C", "TZ=UTC"}
	return w
}

// run gives what a command prints, as the document shows it.
func (w workshop) run(t *testing.T, command string) []string {
	t.Helper()
	var out bytes.Buffer
	cmd := exec.CommandContext(t.Context(), "sh", "-c", command)
	cmd.Dir, cmd.Env = filepath.Join(w.root, "home", "me"), w.env
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // no terminal to ask on
	err := cmd.Run()
	if cmd.ProcessState == nil {
		t.Fatalf("%s: %v", command, err)
	}
	if code := cmd.ProcessState.ExitCode(); code != 0 {
		fmt.Fprintf(&out, "exit %d\n", code)
	}
	var lines []string
	for line := range strings.Lines(strings.ReplaceAll(out.String(), w.root, "")) {
		lines = append(lines, strings.TrimRight(line, " \n"))
	}
	return lines
}

// TestGuide runs the commands of docs/skills.md in order and compares what
// they print. With -update it writes that into the document.
func TestGuide(t *testing.T) {
	path := filepath.Join(moduleRoot, "docs", "skills.md")
	doc, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	g, err := parseGuide(string(doc))
	if err != nil {
		t.Fatal(err)
	}
	w, ran, stale := newWorkshop(t), 0, false
	for i, p := range g.pieces {
		if p.command == "" {
			continue
		}
		got := w.run(t, p.command)
		ran++
		if normal(got) == normal(p.output) {
			g.pieces[i].output = got
			continue
		}
		stale = true
		g.pieces[i].output = got
		if !*update {
			t.Errorf("$ %s\nprints\n%s\nand the document says\n%s", p.command, strings.Join(got, "\n"), strings.Join(p.output, "\n"))
		}
	}
	if ran < 20 {
		t.Errorf("only %d commands were found", ran)
	}
	switch {
	case stale && *update: // all of it: a key has one fingerprint throughout
		if err := os.WriteFile(path, []byte(g.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	case stale:
		t.Log("rewrite it: go test ./cmd/iff -run TestGuide -update")
	}
}

func TestGuideComparison(t *testing.T) {
	doc := "text\n```console\n$ a\n> b\none\n\n$ c\n```\n```console\n$ d\n> two\n```\n$ no\n"
	g, err := parseGuide(doc)
	if err != nil || g.String() != doc {
		t.Fatalf("%v: %q", err, g.String())
	}
	var commands []string
	for _, p := range g.pieces {
		if p.command != "" {
			commands = append(commands, p.command)
		}
	}
	if want := []string{"a\nb", "c", "d\ntwo"}; !slices.Equal(commands, want) {
		t.Errorf("the commands are %q", commands)
	}
	for _, bad := range []string{"```console\n$ a\n", "```console\nout\n```\n"} {
		if _, err := parseGuide(bad); err == nil {
			t.Errorf("%q is a guide", bad)
		}
	}
	// What varies is equal; everything that a reader relies on is not.
	finger := func(c string) string { return "SHA256:" + strings.Repeat(c, 43) }
	same := [][2]string{{finger("a"), finger("/")}, {"at 2026-11-20T12:00:00Z", "at 2031-01-01T00:00:00Z"}}
	for _, p := range same {
		if normal(p[:1]) != normal(p[1:]) {
			t.Errorf("%q is not %q", p[0], p[1])
		}
	}
	for _, p := range [][2]string{
		{"loads as a version 1", "loads as a version 2"}, {"declared", "unverified"}, {"exit 1", "exit 3"}, {"content-changed", ""},
		{finger("a"), finger("a") + "b"}, {"root 5dd21c23669c9c60", "root 5dd21c23669c9c61"},
	} {
		if normal(p[:1]) == normal(p[1:]) {
			t.Errorf("%q passes for %q", p[0], p[1])
		}
	}
}

// shownBy matches the tests that docs/threat-model.md names, such as
// skill.TestLoads/case, and scripts.
var shownBy = regexp.MustCompile("`(?:([a-z]+)\\.(Test[A-Za-z0-9]+)(?:/([^`]+))?|([a-z_]+\\.txtar))`")

// TestThreatModelNamesTests finds a claim whose test is gone.
func TestThreatModelNamesTests(t *testing.T) {
	doc, err := os.ReadFile(filepath.Join(moduleRoot, "docs", "threat-model.md"))
	if err != nil {
		t.Fatal(err)
	}
	named := shownBy.FindAllStringSubmatch(string(doc), -1)
	if len(named) < 50 {
		t.Errorf("only %d tests were found in the document", len(named))
	}
	for _, m := range named {
		if err := findTest(m[1], m[2], m[3], m[4]); err != nil {
			t.Errorf("%s: %v", m[0], err)
		}
	}
	for _, m := range [][4]string{{"skill", "TestNothing"}, {"skill", "TestManifestFaults", "no such case"}, {"", "", "", "nothing.txtar"}} {
		if findTest(m[0], m[1], m[2], m[3]) == nil {
			t.Errorf("%q is found", m)
		}
	}
}

// findTest looks for a test of a package, and for the name of one of its cases
// among its strings; or for a script.
func findTest(pkg, test, name, script string) error {
	if script != "" {
		_, err := os.Stat(filepath.Join("testdata", "script", script))
		return err
	}
	name = strings.ReplaceAll(name, "_", " ")
	dirs := []string{pkg, "internal/" + pkg, "internal/store/" + pkg, "internal/host/" + pkg, "internal/observe/" + pkg, "internal/ask/" + pkg, "ensemble/" + pkg}
	switch pkg {
	case "iff":
		dirs = []string{"."}
	case "main":
		dirs = []string{"cmd/iff"}
	}
	for _, dir := range dirs {
		files, err := filepath.Glob(filepath.Join(moduleRoot, dir, "*_test.go"))
		if err != nil {
			return err
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			if strings.Contains(string(text), "func "+test+"(") && strings.Contains(string(text), `"`+name) {
				return nil
			}
		}
	}
	return fmt.Errorf("there is no such test")
}
