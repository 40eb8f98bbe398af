package main

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/iff-run/iff/internal/canonical"
	"github.com/iff-run/iff/skill"
)

// file is one file of a directory, as the payloads have it.
type file struct {
	Content    string `json:"content"` // base64
	Executable bool   `json:"executable"`
	Path       string `json:"path"`
}

func plain(path, content string) file {
	return file{Path: path, Content: base64.StdEncoding.EncodeToString([]byte(content))}
}

func executable(path, content string) file {
	f := plain(path, content)
	f.Executable = true
	return f
}

func (f file) bytes() []byte { return must(base64.StdEncoding.DecodeString(f.Content)) }

// listOf is the content list of a directory; ours are left out.
func listOf(files []file) []skill.File {
	out := []skill.File{}
	for _, f := range files {
		switch f.Path {
		case "skill.iff.json", "skill.iff.sig", "skill.iff.intoto.jsonl":
			continue
		}
		out = append(out, skill.File{Path: f.Path, Size: int64(len(f.bytes())), Executable: f.Executable, SHA256: sha256.Sum256(f.bytes())})
	}
	slices.SortFunc(out, func(a, b skill.File) int { return strings.Compare(a.Path, b.Path) })
	return out
}

func rootOf(list []skill.File) string {
	sum := sha256.Sum256(must(canonical.Marshal(list)))
	return hex.EncodeToString(sum[:])
}

// pretty is JSON that a reader can follow, as a payload.
func pretty(v any) []byte {
	return []byte(strings.TrimSuffix(string(must(canonical.Pretty(v))), "\n"))
}

func contentVectors() []vector {
	var out []vector
	for _, r := range []struct {
		name, comment string
		files         []file
	}{
		{"one", "a single file", []file{plain("SKILL.md", "# Hello\n")}},
		{"none", "no files: the root is the hash of []", []file{}},
		{"order", "sorted by the bytes of the path, not by segments", []file{plain("a/b", "3"), plain("a.b", "2"), plain("B", "0"), plain("a-b", "1")}},
		{"executable", "the same file once as it is and once executable", []file{plain("a", "#!/bin/sh\n"), executable("b", "#!/bin/sh\n")}},
		{"binary", "bytes are bytes: line ends and marks stay", []file{plain("a", "\xef\xbb\xbfa\r\n\x00\xff")}},
		{"hidden", "hidden files and files without extension count", []file{plain(".git/config", "x"), plain(".env", "y"), plain("Makefile", "z")}},
		{"ours", "the three files at the top are not content", []file{plain("SKILL.md", "a"), plain("skill.iff.json", "b"), plain("skill.iff.sig", "c"), plain("skill.iff.intoto.jsonl", "d")}},
		{"ours-below", "the same names anywhere else are", []file{plain("SKILL.md", "a"), plain("sub/skill.iff.json", "b")}},
		{"script", "names in any script, spaces inside", []file{plain("報告/Übersicht 2026.md", "a"), plain("emoji 😀", "b")}},
	} {
		list := listOf(r.files)
		out = append(out, vector{name: "ok-" + r.name, comment: r.comment, expect: "ok", payload: pretty(r.files)}.
			with("root", rootOf(list)).with("list", string(must(canonical.Marshal(list)))))
	}
	for _, r := range []struct {
		expect, name, comment string
		paths                 []string
	}{
		{"name-twin", "case", "two names that differ only in case", []string{"README.md", "readme.md"}},
		{"name-twin", "directory", "two directories that differ only in case", []string{"docs/a", "Docs/b"}},
		{"name-twin", "normalization", "é in one code point and in two", []string{"caf\u00e9", "cafe\u0301"}},
		{"name-twin", "folding", "full case folding: ß is ss", []string{"straße", "STRASSE"}},
		{"name-twin", "cherokee", "two letters of one, of which folding alone raises the small one", []string{"\u13a0", "\uab70"}},
		{"file-name", "newline", "a line end in a name", []string{"a\nb"}},
		{"file-name", "bidi", "a character that turns the direction of reading", []string{"a\u202egpj.sh"}},
		{"file-name", "dot-end", "a dot at the end", []string{"a."}},
		{"file-name", "space-end", "a space at the end", []string{"a "}},
		{"directory-too-deep", "17", "17 directories, at most 16", []string{strings.Repeat("d/", 17) + "a"}},
	} {
		var files []file
		for _, p := range r.paths {
			files = append(files, plain(p, "x"))
		}
		out = append(out, vector{name: r.expect + "-" + r.name, comment: r.comment, expect: r.expect, payload: pretty(files)})
	}
	return out
}
