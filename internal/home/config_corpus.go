package home

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/iff-run/iff/capability"
	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/internal/visible"
	"github.com/iff-run/iff/label"
)

const (
	maxCorpora    = 16
	maxPathLabels = 64
)

// CorpusConfig is one corpus of iff.toml. In the zero value nothing has a label,
// so nothing may be read or written.
type CorpusConfig struct {
	Name     string
	Root     string          // absolute and clean; links in it are not resolved
	Label    label.Label     // of every object that no path label raises
	Volatile corpus.Patterns // what is in no snapshot and written to by no call
	Paths    []PathLabel     // in the order of the file

	text located // of Label
}

// PathLabel raises the label of some objects of a corpus.
type PathLabel struct {
	Pattern string
	Label   label.Label

	objects corpus.Patterns
	text    located
}

// located is a text of iff.toml, and where it stands there.
type located struct {
	text, field string
	line        int
}

// LabelOf is the label of the object at a path below the root, "." for the root
// itself: the join of the corpus's and of every path label whose pattern names
// the object or a directory above it, so that no entry lowers another. A path
// that no pattern can spell, such as one that is not UTF-8, has the join of all.
func (c CorpusConfig) LabelOf(path string) label.Label {
	out := c.Label
	_, err := capability.Path(capability.FSRead, capability.DefaultCorpus, path)
	for _, p := range c.Paths {
		if err != nil || p.objects.Match(path) {
			out = out.Join(p.Label)
		}
	}
	return out
}

// corpusTable is [corpus.NAME] as it is written.
type corpusTable struct {
	Root     string      `toml:"root" form:"path" need:"yes" doc:"the directory"`
	Label    string      `toml:"label" form:"label" need:"yes" doc:"of every object in it"`
	Volatile []string    `toml:"volatile" form:"pattern" doc:"what nobody keeps account of, and what no call writes to"`
	Paths    []pathTable `toml:"path" most:"64" doc:"objects with a higher label"`
}

type pathTable struct {
	Pattern string `toml:"pattern" form:"pattern" need:"yes" doc:"the objects, spelled as in grants"`
	Label   string `toml:"label" form:"label" need:"yes" doc:"joined with that of the corpus"`
}

// corpora checks the tables and gives them in the order of their names, without
// labels: those need the scheme.
func (s settings) corpora(c *Config) error {
	if n := len(s.Corpus); n > maxCorpora {
		return s.wrong("corpus", 0, "", fmt.Sprintf("%d corpora, at most %d", n, maxCorpora))
	}
	for _, name := range slices.Sorted(maps.Keys(s.Corpus)) {
		o, err := s.corpus(name, s.Corpus[name])
		if err != nil {
			return err
		}
		c.Corpora = append(c.Corpora, o)
	}
	return nil
}

func (s settings) corpus(name string, t corpusTable) (CorpusConfig, error) {
	table := "corpus." + name
	if err := checkCorpusName(name); err != nil {
		return CorpusConfig{}, s.wrong(table, 0, "", err.Error())
	}
	c := CorpusConfig{Name: name, text: s.at(table, 0, "label", t.Label)}
	var err error
	if c.Root, err = expandRoot(t.Root); err != nil {
		return CorpusConfig{}, s.wrong(table, 0, "root", err.Error())
	}
	if err := c.text.given(); err != nil {
		return CorpusConfig{}, err
	}
	if c.Volatile, err = patterns(t.Volatile); err != nil {
		return CorpusConfig{}, s.wrong(table, 0, "volatile", err.Error())
	}
	if n := len(t.Paths); n > maxPathLabels {
		return CorpusConfig{}, s.wrong(table, 0, "path", fmt.Sprintf("%d entries, at most %d", n, maxPathLabels))
	}
	for i, p := range t.Paths {
		objects, err := patterns([]string{p.Pattern})
		if err != nil {
			return CorpusConfig{}, s.wrong(table+".path", i, "pattern", err.Error())
		}
		label := s.at(table+".path", i, "label", p.Label)
		if err := label.given(); err != nil {
			return CorpusConfig{}, err
		}
		c.Paths = append(c.Paths, PathLabel{Pattern: p.Pattern, objects: objects, text: label})
	}
	return c, nil
}

// resolve gives everything that has a label in iff.toml that label.
func (c *Config) resolve(scheme *label.Scheme) (err error) {
	read := func(into *label.Label, from located) {
		if err == nil {
			*into, err = from.label(scheme)
		}
	}
	for i := range c.Corpora {
		o := &c.Corpora[i]
		read(&o.Label, o.text)
		for j := range o.Paths {
			read(&o.Paths[j].Label, o.Paths[j].text)
		}
	}
	for i := range c.Net {
		read(&c.Net[i].Label, c.Net[i].text)
	}
	for i := range c.Upstreams {
		u := &c.Upstreams[i]
		read(&u.Label, u.text)
		for j := range u.Tools {
			if t := &u.Tools[j]; t.text != (located{}) {
				read(&t.Label, t.text)
			} else {
				t.Label = u.Label
			}
		}
	}
	return err
}

func (s settings) at(table string, nth int, key, text string) located {
	return located{text, table + "." + key, s.lines.of(table, nth, key)}
}

func (s settings) wrong(table string, nth int, key, what string) error {
	field := strings.TrimSuffix(table+"."+key, ".")
	return configError(fmt.Sprintf("line %d: %s: %s", s.lines.of(table, nth, key), visible.Escape(field), what))
}

func (l located) given() error {
	if l.text != "" {
		return nil
	}
	return l.refuse("there is none, and what has no label cannot be protected; iff trust show lists them, lowest first", nil)
}

func (l located) label(scheme *label.Scheme) (label.Label, error) {
	out, err := scheme.Parse(l.text)
	if err != nil {
		return out, l.refuse(err.Error(), err)
	}
	return out, nil
}

func (l located) refuse(detail string, err error) error {
	return &Error{Reason: CorpusLabel, Path: configFile, Detail: fmt.Sprintf("line %d: %s: %s", l.line, l.field, detail), Err: err}
}

// checkCorpusName takes what targets and grants can name.
func checkCorpusName(name string) error {
	if strings.HasPrefix(name, "iff-") {
		return fmt.Errorf("%s: names that begin with iff- are iff's own; choose another", quoted(name))
	}
	if t, err := capability.Path(capability.FSRead, name, "x"); err != nil || t.IsZero() {
		return fmt.Errorf("%s is no name of a corpus; use 1 to 32 of a-z, 0-9 and -", quoted(name))
	}
	return nil
}

// patterns reads patterns of objects of the corpus in whose table they stand.
func patterns(texts []string) (corpus.Patterns, error) {
	for _, text := range texts {
		first, _, _ := strings.Cut(text, "/")
		if prefix, _, ok := strings.Cut(first, ":"); ok && prefix != capability.DefaultCorpus {
			return corpus.Patterns{}, fmt.Errorf("pattern %s: %s would be another corpus; a name with a colon is written %s:name, whatever the corpus is called",
				quoted(text), quoted(prefix), capability.DefaultCorpus)
		}
	}
	return corpus.ParsePatterns(texts)
}

// expandRoot reads the root of a corpus: an absolute path, or ~/ and a path
// below the user's home directory.
func expandRoot(root string) (string, error) {
	rest, below := strings.CutPrefix(root, "~/")
	switch {
	case root == "":
		return "", fmt.Errorf("it is missing; name the directory")
	case strings.ContainsRune(root, 0):
		return "", fmt.Errorf("it holds a NUL; name the directory")
	case below:
		user, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("%w; write it as an absolute path", err)
		}
		root = filepath.Join(user, rest)
	}
	if !filepath.IsAbs(root) {
		return "", fmt.Errorf("%s is not absolute; begin it with / or ~/", quoted(root))
	}
	return filepath.Clean(root), nil
}

// Corpus is the corpus of a name.
func (c Config) Corpus(name string) (CorpusConfig, bool) {
	i := slices.IndexFunc(c.Corpora, func(o CorpusConfig) bool { return o.Name == name })
	if i < 0 {
		return CorpusConfig{}, false
	}
	return c.Corpora[i], true
}

// DefaultVolatile is what init takes out of a corpus: version control, and what
// editors and systems leave lying about.
func DefaultVolatile() []string {
	return []string{
		"**/.git", "**/.hg", "**/.svn", "**/.jj",
		"**/*.swp", "**/*.swo", "**/*.swx", "**/*~", "**/.#*", "**/#*#", "**/.~lock.*#", "**/~$*",
		"**/.DS_Store", "**/._*", "**/Thumbs.db", "**/desktop.ini", "**/.directory",
		"**/.fuse_hidden*", "**/.nfs*", "**/.Trash-*",
	}
}
