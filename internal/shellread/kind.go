package shellread

import (
	"bytes"
	"path"
	"strings"
	"unicode/utf8"
)

// KindBytes is how much of the beginning of a file [Kind] looks at.
const KindBytes = 512

// Kind tells what would run if a file of a skill were run, from its name, its
// first bytes (up to KindBytes count) and whether it has an executable bit:
// "shell", which [Script] reads, or a language that is not read ("python",
// "javascript", "ruby", "perl", "php", "binary", "script" for an interpreter
// that is not in the tables, ...). It is empty for content that nothing runs.
//
// Where name and content disagree, content that is a program of the machine
// counts first, then whichever is not shell: nothing that is opaque is passed
// off as read.
func Kind(name string, head []byte, executable bool) string {
	head = head[:min(len(head), KindBytes)]
	if kind := magic(name, head, executable); kind != "" {
		return kind
	}
	byName, byLine := extension(name), ""
	if program := interpreter(head); program != "" {
		byLine = language(program)
	}
	switch {
	case byName == data && !executable:
		return ""
	case byName == data:
		return byLine
	case byName == "" && byLine == "" && executable:
		return unnamed(head)
	case byLine == "" || byLine == "shell" && byName != "":
		return byName
	}
	return byLine
}

// magic knows programs of the machine by their first bytes.
func magic(name string, head []byte, executable bool) string {
	for _, m := range []struct{ prefix, kind string }{
		{"\x7fELF", "binary"},
		{"\xfe\xed\xfa\xce", "binary"}, {"\xfe\xed\xfa\xcf", "binary"}, // Mach-O
		{"\xce\xfa\xed\xfe", "binary"}, {"\xcf\xfa\xed\xfe", "binary"},
		{"\xca\xfe\xba\xbe", "binary"}, // Mach-O for several machines, or a Java class
		{"\x00asm", "wasm"},
	} {
		if bytes.HasPrefix(head, []byte(m.prefix)) {
			return m.kind
		}
	}
	switch {
	case bytes.HasPrefix(head, []byte("MZ")) && (executable || !printable(head)):
		return "binary" // of DOS and Windows
	case !bytes.HasPrefix(head, []byte("PK\x03\x04")):
		return ""
	case has("jar war ear", ext(name)):
		return "jar"
	case executable:
		return "binary" // an archive with a program before or in it
	}
	return ""
}

func ext(name string) string { return strings.ToLower(strings.TrimPrefix(path.Ext(name), ".")) }

// data is the extension of what nothing runs, whatever its mode.
const data = "data"

// extension returns the language that the name of a file stands for.
func extension(name string) string {
	for _, e := range []struct{ kind, extensions string }{
		{"shell", "sh bash zsh ksh bats command"},
		{"python", "py pyw pyc pyz"},
		{"javascript", "js mjs cjs jsx"},
		{"typescript", "ts mts cts tsx"},
		{"ruby", "rb"}, {"perl", "pl pm"}, {"php", "php phar"}, {"lua", "lua"}, {"r", "r"}, {"julia", "jl"},
		{"powershell", "ps1 psm1"}, {"batch", "bat cmd"}, {"applescript", "scpt applescript"},
		{"fish", "fish"}, {"nushell", "nu"}, {"awk", "awk"}, {"tcl", "tcl exp"}, {"swift", "swift"}, {"groovy", "groovy"},
		{"java", "class java"}, {"jar", "jar war ear"}, {"wasm", "wasm"},
		{"binary", "exe dll so dylib msi appimage"},
		{data, `md markdown txt rst json jsonl json5 yaml yml toml ini cfg conf csv tsv xml html htm css svg png jpg jpeg gif
 webp ico pdf ttf otf woff woff2 docx xlsx pptx zip gz tar tgz lock license template tmpl map po log wav mp3 mp4`},
	} {
		if has(e.extensions, ext(name)) {
			return e.kind
		}
	}
	return ""
}

// language returns what an interpreter runs.
func language(program string) string {
	if isShell(program) || has("bats pdksh oksh lksh", program) {
		return "shell"
	}
	for _, l := range []struct{ kind, programs string }{
		{"python", "python pypy ipython uv uvx"},
		{"javascript", "node nodejs bun deno"},
		{"typescript", "tsx ts-node"},
		{"ruby", "ruby jruby"}, {"perl", "perl"}, {"php", "php"}, {"lua", "lua luajit"}, {"r", "Rscript R"}, {"julia", "julia"},
		{"powershell", "pwsh powershell"}, {"applescript", "osascript"}, {"fish", "fish"}, {"nushell", "nu"},
		{"awk", "awk gawk mawk"}, {"tcl", "tclsh wish expect"}, {"swift", "swift"}, {"groovy", "groovy"}, {"java", "java"},
	} {
		if has(l.programs, program) {
			return l.kind
		}
	}
	return "script"
}

// unnamed is a file with an executable bit, and nothing to say what it is. A
// shell runs it as shell.
func unnamed(head []byte) string {
	if len(head) == 0 {
		return ""
	}
	if printable(head) {
		return "shell"
	}
	return "binary"
}

// printable reports whether head is text, cut off anywhere.
func printable(head []byte) bool {
	for i := 0; i < len(head); {
		r, n := utf8.DecodeRune(head[i:])
		if r == utf8.RuneError && n <= 1 && len(head)-i >= utf8.UTFMax || r < ' ' && !strings.ContainsRune("\t\n\r\f\x1b", r) {
			return false
		}
		i += n
	}
	return true
}
