package ensemble

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"

	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/skill"
)

// CorpusName is the name of every ensemble's corpus.
const CorpusName = "work"

// ErrNotOurs says that a directory is not the one that this package made.
var ErrNotOurs = errors.New("corpus-foreign")

// Corpus is a directory of small files with the names of a company's documents.
// It was made by [Kit.NewCorpus] and nothing else; whatever is written behind the
// gate's back is written through its handle, which leads nowhere else. The zero
// value refuses everything.
type Corpus struct {
	base string   // holds the corpus, and the log beside it
	root *os.Root // of the corpus
	made fs.FileInfo

	files  []string          // that agents work on
	spares []string          // that no agent touches
	texts  map[string]string // of all files, as they were made
	boxes  bool              // there is a directory with more files than fit in a line of the log
}

// directories of a corpus, what its files are called, and a line in one of them.
var directories = []struct {
	name string
	file func(r *rand.Rand, n int) string
	text func(to []byte, r *rand.Rand) []byte
}{
	{"audit-logs", func(r *rand.Rand, n int) string {
		return fmt.Sprintf("%s-%s-%03d.log", date(r), pick(r, "access-audit", "privileged-logins", "change-control", "key-ceremony"), n)
	}, func(to []byte, r *rand.Rand) []byte {
		return fmt.Appendf(to, "%sT%02d:%02d:00Z user=%s action=%s result=ok\n", date(r), r.IntN(24), r.IntN(60), pick(r, people...), pick(r, "login", "export", "grant", "delete"))
	}},
	{"compliance", func(r *rand.Rand, n int) string {
		return fmt.Sprintf("%s-FY%d-%03d.md", pick(r, "SOX-404-controls", "GDPR-processing-register", "ISO27001-statement", "retention-schedule"), 18+r.IntN(8), n)
	}, func(to []byte, r *rand.Rand) []byte {
		return fmt.Appendf(to, "- Control %d.%d: %s, owner %s\n", r.IntN(9)+1, r.IntN(20), pick(r, "effective", "partly effective", "open"), pick(r, people...))
	}},
	{"finance", func(r *rand.Rand, n int) string {
		return fmt.Sprintf("%d-Q%d-%s-%03d.csv", 2016+r.IntN(10), 1+r.IntN(4), pick(r, "balance-sheet", "cash-flow", "income-statement", "payroll"), n)
	}, func(to []byte, r *rand.Rand) []byte {
		return fmt.Appendf(to, "%s,%d.%02d\n", pick(r, "receivables", "payables", "inventory", "goodwill", "salaries"), r.IntN(2_000_000), r.IntN(100))
	}},
	{"meetings", func(r *rand.Rand, n int) string {
		return fmt.Sprintf("%s %s minutes %03d.md", date(r), pick(r, "Board", "Risk committee", "Staff", "Steering group"), n)
	}, func(to []byte, r *rand.Rand) []byte {
		return fmt.Appendf(to, "%s: %s.\n", pick(r, people...), pick(r, "agreed to postpone", "asks for the figures", "reports no findings", "will follow up"))
	}},
	{"fixtures", func(r *rand.Rand, n int) string {
		return fmt.Sprintf("%s-results-%03d.json", pick(r, "invoice-import", "payroll-run", "tax-tables", "ledger-close"), n)
	}, func(to []byte, r *rand.Rand) []byte {
		return fmt.Appendf(to, "{\"case\": %d, \"passed\": %t}\n", r.IntN(1000), r.IntN(10) > 0)
	}},
}

var people = []string{"a.meyer", "k.osei", "r.lindqvist", "t.nakamura", "s.duarte"}

// directory names that are there beside those, for what agents make.
var emptyDirectories = []string{"archive", "drafts"}

// control is a file by which agents are told what to do.
const control = "AGENTS.md"

// volatileDir holds what is not observed.
const volatileDir = "tmp"

// tree is a directory with files that no agent touches, in a corpus with spares.
const tree = "compliance/retention-FY2009"

// What is in corpora beside their files.
const (
	latest = "archive/latest"     // a link to a directory
	boxes  = "archive/boxes-1998" // see Corpus.boxes
)

// twins are two names of one file.
var twins = []string{"archive/ledger.csv", "archive/ledger-copy.csv"}

func date(r *rand.Rand) string {
	return fmt.Sprintf("20%02d-%02d-%02d", 16+r.IntN(10), 1+r.IntN(12), 1+r.IntN(28))
}

func pick(r *rand.Rand, from ...string) string { return from[r.IntN(len(from))] }

// room is where ensembles are made: dir, or memory where there is any.
func room(dir string) string {
	if dir != "" {
		return dir
	}
	const shm = "/dev/shm"
	if info, err := os.Stat(shm); err == nil && info.IsDir() {
		return shm
	}
	return os.TempDir()
}

// NewCorpus makes a corpus of n files, and spares more that no agent of this package
// touches, in a directory of its own below dir. An empty dir is memory where the
// system has it. What the files are follows from the seed alone.
func (k *Kit) NewCorpus(dir string, n, spares int, seed uint64) (*Corpus, error) {
	return k.newCorpus(dir, n, spares, seed, Wild)
}

func (k *Kit) newCorpus(dir string, n, spares int, seed uint64, cast Cast) (*Corpus, error) {
	if k == nil || k.wild.skills == nil {
		return nil, errors.New("the kit was not made by NewKit")
	}
	base, err := os.MkdirTemp(room(dir), "iff-ensemble-")
	if err != nil {
		return nil, err
	}
	c := &Corpus{base: base, texts: make(map[string]string, max(n+spares, 0))}
	if err := c.fill(k.of(cast), n, spares, seed, cast); err != nil {
		return nil, errors.Join(err, os.RemoveAll(base))
	}
	return c, nil
}

// Dir is the root of the corpus.
func (c *Corpus) Dir() string { return filepath.Join(c.base, CorpusName) }

// log is where the log of a run lies.
func (c *Corpus) log() string { return filepath.Join(c.base, "log") }

func (c *Corpus) fill(lib *library, n, spares int, seed uint64, cast Cast) error {
	err := os.Mkdir(c.Dir(), 0o755)
	if err == nil {
		c.root, err = os.OpenRoot(c.Dir())
	}
	if err == nil {
		c.made, err = os.Stat(c.base)
	}
	if err != nil {
		return err
	}
	for _, d := range directories {
		err = errors.Join(err, c.mkdir(d.name))
	}
	for _, d := range emptyDirectories {
		err = errors.Join(err, c.mkdir(d))
	}
	err = errors.Join(err, c.mkdir("skills"), c.mkdir(volatileDir), c.make(control, "Ask before you delete.\n"))
	if cast == Wild {
		err = errors.Join(err, c.oddities(n, seed))
	}
	for name, files := range lib.files {
		if err == nil && name != skill.BaseName {
			err = c.addSkill(name, files)
		}
	}
	r := rand.New(rand.NewPCG(seed, 0))
	if err == nil {
		err = c.addFiles(r, n, spares)
	}
	if err == nil && spares > 0 {
		err = c.addTree(r)
	}
	return err
}

// oddities are what calls are refused for, and in one of four large corpora a
// directory with many files.
func (c *Corpus) oddities(n int, seed uint64) error {
	err := errors.Join(c.root.Symlink("../finance", latest), c.write(twins[0], "", 0o644), c.root.Link(twins[0], twins[1]))
	if c.boxes = n >= 50 && seed%4 == 0; !c.boxes || err != nil {
		return err
	}
	err = c.mkdir(boxes)
	for i := range 60 {
		err = errors.Join(err, c.write(fmt.Sprintf("%s/box %03d of the basement.txt", boxes, i), "empty\n", 0o600))
	}
	return err
}

func (c *Corpus) addTree(r *rand.Rand) error {
	err := c.mkdir(tree)
	for i := range 4 {
		err = errors.Join(err, c.write(fmt.Sprintf("%s/receipts-%d.csv", tree, i), string(directories[2].text(nil, r)), 0o644))
	}
	return err
}

func (c *Corpus) addSkill(name string, files []skillFile) error {
	dir := "skills/" + name
	err := c.mkdir(dir)
	for _, f := range files {
		err = errors.Join(err, c.make(dir+"/"+f.name, string(f.data)))
	}
	return err
}

// addFiles fills the directories that agents work in.
func (c *Corpus) addFiles(r *rand.Rand, n, spares int) (err error) {
	shelves := make([]*shelf, len(directories))
	defer func() {
		for _, s := range shelves {
			err = errors.Join(err, s.close())
		}
	}()
	for i, d := range directories {
		if shelves[i], err = openShelf(c.root, d.name); err != nil {
			return err
		}
	}
	var text []byte
	for i := range n + spares {
		at := r.IntN(len(directories))
		d := directories[at]
		name := d.file(r, i)
		text = text[:0]
		for range 1 + r.IntN(6) {
			text = d.text(text, r)
		}
		if err := shelves[at].add(name, text, fileMode); err != nil {
			return err
		}
		path := d.name + "/" + name
		c.texts[path] = string(text)
		if i < n {
			c.files = append(c.files, path)
		} else {
			c.spares = append(c.spares, path)
		}
	}
	return nil
}

// fileMode is that of every file that is not odd.
const fileMode = 0o644

// make writes a file that belongs to the corpus.
func (c *Corpus) make(name, text string) error {
	c.texts[name] = text
	return c.write(name, text, fileMode)
}

// object is the object at a path.
func object(path string) corpus.Object { return corpus.Name(CorpusName, path) }

// check refuses to touch what this package did not make.
func (c *Corpus) check() error {
	if c == nil || c.root == nil {
		return ErrNotOurs
	}
	return nil
}

// mkdir, write, remove and chmod change the corpus behind the gate's back.
func (c *Corpus) mkdir(name string) error {
	if err := c.check(); err != nil {
		return err
	}
	return c.root.Mkdir(name, 0o755)
}

// write makes or replaces a file with exactly this mode.
func (c *Corpus) write(name, text string, mode uint32) error {
	if err := c.check(); err != nil {
		return err
	}
	f, err := c.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Chmod(fs.FileMode(mode&0o777)), f.Close())
}

// text is what a file says now, and whether there is one.
func (c *Corpus) text(name string) (string, bool) {
	if c.check() != nil {
		return "", false
	}
	data, err := c.root.ReadFile(name)
	return string(data), err == nil
}

// there gives the files below the directories that agents work in, directory by
// directory, sorted.
func (c *Corpus) there(yield func(path string) bool) {
	for _, d := range directories {
		for _, path := range c.in(d.name) {
			if !yield(path) {
				return
			}
		}
	}
	for _, d := range emptyDirectories {
		for _, path := range c.in(d) {
			if !yield(path) {
				return
			}
		}
	}
}

func (c *Corpus) in(dir string) []string {
	var out []string
	entries, _ := os.ReadDir(filepath.Join(c.Dir(), dir)) // what cannot be read is not there
	for _, e := range entries {
		if e.Type().IsRegular() {
			out = append(out, dir+"/"+e.Name())
		}
	}
	return out
}

func (c *Corpus) remove(name string) error {
	if err := c.check(); err != nil {
		return err
	}
	return c.root.Remove(name)
}

func (c *Corpus) chmod(name string, mode uint32) error {
	if err := c.check(); err != nil {
		return err
	}
	return c.root.Chmod(name, fs.FileMode(mode&0o777))
}

// put gives an object the state of a copy.
func (c *Corpus) put(name string, to corpus.Copy) error {
	if err := c.check(); err != nil {
		return err
	}
	if err := c.root.MkdirAll(path.Dir(name), 0o755); err != nil {
		return err
	}
	switch to.Facts.Kind {
	case "":
		return c.remove(name)
	case corpus.Directory:
		if err := c.mkdir(name); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		return c.chmod(name, to.Facts.Mode)
	case corpus.File:
		return c.write(name, to.Data, to.Facts.Mode)
	}
	return fmt.Errorf("a %s is not made: %w", to.Facts.Kind, ErrNotOurs)
}

// Close removes the corpus and its log. It refuses a directory that stands where
// the corpus was made and is another one.
func (c *Corpus) Close() error {
	if err := c.check(); err != nil {
		return err
	}
	err := c.root.Close()
	c.root = nil
	if e := c.standing(); e != nil {
		return errors.Join(err, e)
	}
	return errors.Join(err, os.RemoveAll(c.base))
}

// standing refuses a directory that is another one than was made.
func (c *Corpus) standing() error {
	now, err := os.Lstat(c.base)
	if err != nil || !os.SameFile(now, c.made) {
		return errors.Join(err, fmt.Errorf("%s: %w", c.base, ErrNotOurs))
	}
	return nil
}
