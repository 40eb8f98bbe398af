package connect

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/iff-run/iff/internal/durable"
)

const maxFile = 4 << 20

// Change is one file, as it is and as it will be.
type Change struct {
	Path    string // as the agent names it
	Real    string // where a link at Path leads; else Path
	Existed bool
	Before  []byte
	After   []byte
	Mode    fs.FileMode // of the file that is there, or of the one to make
	owner   owner
	format  format // nil of a file that is iff's alone
	edits   []edit
}

// Changed says whether there is anything to write.
func (c Change) Changed() bool { return !c.Existed || !bytes.Equal(c.Before, c.After) }

// Plan is what connecting an agent changes. Nothing of it is written yet.
type Plan struct {
	Agent   Agent
	Place   Place
	Levels  []Level
	Guard   []string // entries of guard.home
	Changes []*Change
}

// Prepare works out what connecting changes, in all files or in none. Its errors
// are *Error; they say what is to be done by hand where a file is written in a way
// that cannot be edited without harm.
func Prepare(a Agent, p Place, levels []Level) (*Plan, error) {
	plan := &Plan{Agent: a, Place: p, Levels: levels}
	for _, l := range levels {
		for _, t := range a.targets(p, l) {
			if err := plan.include(t); err != nil {
				return nil, err
			}
		}
	}
	return plan, nil
}

// Changed are the changes that there are to write.
func (p *Plan) Changed() []*Change {
	var out []*Change
	for _, c := range p.Changes {
		if c.Changed() {
			out = append(out, c)
		}
	}
	return out
}

func (p *Plan) include(t target) error {
	c, err := p.change(t)
	if err != nil {
		return err
	}
	if t.ops == nil {
		c.After = []byte(t.whole)
		return nil
	}
	text, mark := cutMark(string(c.After))
	now, err := t.format.parse(text)
	if err != nil {
		return broken(t.path, err)
	}
	for _, o := range t.ops(now) {
		next, e, err := perform(t.format, text, o)
		if err != nil {
			return uneasy(t, o, err)
		}
		if text = next; e != nil {
			c.edits = append(c.edits, *e)
		}
	}
	c.After = []byte(mark + text)
	return nil
}

// cutMark takes the byte order mark off, which editors leave.
func cutMark(text string) (rest, mark string) {
	const bom = "\ufeff"
	if len(text) >= len(bom) && text[:len(bom)] == bom {
		return text[len(bom):], bom
	}
	return text, ""
}

// change is the change of a target's file so far.
func (p *Plan) change(t target) (*Change, error) {
	if i := slices.IndexFunc(p.Changes, func(c *Change) bool { return c.Path == t.path }); i >= 0 {
		return p.Changes[i], nil
	}
	c, err := readChange(t.path)
	if err != nil {
		return nil, err
	}
	c.format = t.format
	p.Changes = append(p.Changes, c)
	return c, nil
}

func readChange(path string) (*Change, error) {
	c := &Change{Path: path, Real: path, Mode: 0o644}
	real, err := follow(path)
	if err != nil {
		return nil, err
	}
	c.Real = real
	info, err := os.Lstat(real)
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("it is no regular file")
	}
	if err != nil {
		return nil, &Error{Reason: FileBroken, Path: path, Detail: err.Error(), Err: err}
	}
	c.Before, c.Mode, err = durable.ReadFile(real, maxFile)
	if err != nil {
		return nil, &Error{Reason: FileBroken, Path: path, Detail: err.Error(), Err: err}
	}
	c.Existed, c.After, c.Mode, c.owner = true, c.Before, c.Mode.Perm(), ownerOf(info)
	return c, nil
}

// follow follows a link at the path once.
func follow(path string) (string, error) {
	to, err := os.Readlink(path)
	if err != nil {
		return path, nil // none, or what reading will tell
	}
	if !filepath.IsAbs(to) {
		to = filepath.Join(filepath.Dir(path), to)
	}
	if _, err := os.Readlink(to); err == nil {
		return "", &Error{Reason: FileUneasy, Path: path, Detail: fmt.Sprintf("it is a link to a link, %s; one is followed, not two: put the file in its place", quote(to))}
	}
	return to, nil
}

func broken(path string, err error) error {
	out := &Error{Reason: FileBroken, Path: path, Detail: err.Error(), Err: err}
	var s *syntaxError
	if errors.As(err, &s) {
		out.Line, out.Detail = s.line, s.detail
	}
	return out
}

func uneasy(t target, o op, err error) error {
	var braces *inlineError
	if errors.As(err, &braces) { // what would be added beside it is no TOML
		var keys []string
		for _, name := range braces.table {
			keys = append(keys, tomlKey(name))
		}
		head := "[" + strings.Join(keys, ".") + "]"
		return &Error{
			Reason: FileUneasy, Path: t.path, Err: err,
			Detail: fmt.Sprintf("%s cannot be set: %v; write in its place a line %s with a line below it for each of its keys, and run this again", byHandName(o.path), err, head),
		}
	}
	return &Error{
		Reason: FileUneasy, Path: t.path, Err: err,
		Detail: fmt.Sprintf("%s cannot be set there without harm to the rest (%v)", byHandName(o.path), err), ByHand: []string{byHand(t.format, o.path, o.v)},
	}
}

// byHandName is a path as people write it.
func byHandName(path []string) string { return strings.Join(path, ".") }

// glance is what a file means, and nothing where it is not there.
func glance(f format, path string) (tree, error) {
	data, _, err := durable.ReadFile(path, maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return tree{}, nil
	}
	if err != nil {
		return tree{}, err
	}
	text, _ := cutMark(string(data))
	return f.parse(text)
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
