package home

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/iff-run/iff/internal/observe/control"
)

const (
	maxControl     = 256
	maxControlKeys = 32
)

// ControlFile is a file or directory of agents outside of every corpus: it says
// what they may, what they are told and which programs they start.
type ControlFile struct {
	Name string   // in verdicts: ~/.claude.json, or below the root etc/opencode
	Path string   // absolute
	Keys []string // of a JSON or TOML file that agents rewrite: members that count, each a name or a JSON pointer; none: all of it
}

// ControlObserver observes the files of guard.home that lie in no corpus: those that
// do are guarded and observed there. nil if there are none.
func (h *Home) ControlObserver() (*control.Observer, error) {
	var files []control.File
	for _, f := range h.config.Control {
		if !h.inCorpus(f.Path) {
			files = append(files, control.File{Object: f.Name, Path: f.Path, Keys: f.Keys})
		}
	}
	if len(files) == 0 {
		return nil, nil
	}
	o, err := control.New(files)
	if err != nil {
		return nil, configError("guard.home: " + err.Error())
	}
	return o, nil
}

// ControlAbsent are the files of guard.home where nothing is. Agents have many that
// are made only when they are needed, and a slip of the pen looks the same.
func (h *Home) ControlAbsent() []ControlFile {
	var out []ControlFile
	for _, f := range h.config.Control {
		if _, err := os.Lstat(f.Path); errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
			out = append(out, f)
		}
	}
	return out
}

// inCorpus says whether a path leads into a corpus, by way of links too.
func (h *Home) inCorpus(path string) bool {
	real := nearest(path)
	if to, err := filepath.EvalSymlinks(real); err == nil {
		real = to
	}
	for _, c := range h.config.Corpora {
		for at := real; ; at = filepath.Dir(at) {
			if same(at, c.Root) {
				return true
			}
			if at == filepath.Dir(at) {
				break
			}
		}
	}
	return false
}

// control reads guard.home: PATH, or PATH#KEY,KEY.
func (s settings) control(c *Config) error {
	if n := len(s.Guard.Home); n > maxControl {
		return s.wrong("guard", 0, "home", fmt.Sprintf("%d entries, at most %d; name directories", n, maxControl))
	}
	for _, text := range s.Guard.Home {
		f, err := parseControl(text)
		if err == nil && slices.ContainsFunc(c.Control, func(o ControlFile) bool { return o.Path == f.Path }) {
			err = fmt.Errorf("%s stands there twice; put the keys together", quoted(f.Name))
		}
		if err != nil {
			return s.wrong("guard", 0, "home", err.Error())
		}
		c.Control = append(c.Control, f)
	}
	return nil
}

func parseControl(text string) (ControlFile, error) {
	path, keys, some := strings.Cut(text, "#")
	full, err := expandPath(path)
	switch {
	case err != nil:
		return ControlFile{}, err
	case full == "/":
		return ControlFile{}, fmt.Errorf("%s is too much; name the files and directories of agents", quoted(text))
	case !utf8.ValidString(text):
		return ControlFile{}, fmt.Errorf("%s is not UTF-8", quoted(text))
	}
	f := ControlFile{Name: strings.TrimPrefix(full, "/"), Path: full}
	if rest, below := strings.CutPrefix(path, "~/"); below {
		if rest = filepath.Clean(rest); !filepath.IsLocal(rest) || rest == "." {
			return ControlFile{}, fmt.Errorf("%s is not below your home directory; write it from the root", quoted(text))
		}
		f.Name = "~/" + rest
	}
	if !some {
		return f, nil
	}
	f.Keys = strings.Split(keys, ",")
	if slices.Contains(f.Keys, "") || len(f.Keys) > maxControlKeys {
		return ControlFile{}, fmt.Errorf("%s; write 1 to %d keys behind #, with a comma between two", quoted(text), maxControlKeys)
	}
	return f, nil
}
