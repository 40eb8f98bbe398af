package connect

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/iff-run/iff/internal/canonical"
	"github.com/iff-run/iff/internal/durable"
)

const (
	recordSchema = "iff/connect/v1"
	maxRecord    = 16 << 20
	backupsDir   = "backups"
)

// Record is what connecting an agent has added, so that exactly that is taken back.
type Record struct {
	Schema string   `json:"schema"`
	Agent  string   `json:"agent"`
	Home   string   `json:"home"` // the user's
	Dir    string   `json:"dir"`
	Iff    string   `json:"iff"`
	Under  string   `json:"under,omitempty"` // iff's home, if it is not the default
	Etc    string   `json:"etc,omitempty"`
	Levels []Level  `json:"levels"`
	Needs  []string `json:"needs"`           // files that it goes by, changed or not
	Guard  []string `json:"guard"`           // entries of guard.home that it wants
	Files  []File   `json:"files"`           // that were changed
	Proof  string   `json:"proof,omitempty"` // what running the agent has shown, on one line; empty: it was not run
	Over   *Over    `json:"over,omitempty"`  // what that was shown over
}

// File is one file that was changed.
type File struct {
	Path   string   `json:"path"`
	Real   string   `json:"real"`
	Format string   `json:"format"`           // json, toml, or whole: iff's alone
	Mode   int      `json:"mode"`             // permission bits
	Was    bool     `json:"was"`              // it was there before
	Before string   `json:"before,omitempty"` // digest of its bytes before, which are among the backups; empty: somebody changed it between
	After  string   `json:"after"`            // digest of its bytes as written
	Edits  []edit   `json:"edits"`
	Made   []string `json:"made"` // directories that were made for it, the innermost first
}

// Place is where the agent was connected.
func (r Record) Place() Place {
	return Place{Home: r.Home, Dir: r.Dir, Etc: r.Etc, Iff: r.Iff, IffHome: r.Under}
}

func (f File) format() format {
	switch f.Format {
	case "json":
		return everything
	case "toml":
		return tomlFormat{}
	}
	return nil
}

// Store holds the records of a home, in its directory connect.
type Store struct {
	dir  string
	fsys durable.FS
}

// NewStore is the store of the home at a directory; fsys nil is the real one.
func NewStore(home string, fsys durable.FS) *Store {
	if fsys == nil {
		fsys = durable.OS()
	}
	return &Store{filepath.Join(home, "connect"), fsys}
}

func recordName(agent string, p Place) string {
	return agent + "-" + digest([]byte(p.Home + "\x00" + p.Dir))[:16] + ".json"
}

// Records are all records, in the order of their names.
func (s *Store) Records() ([]Record, error) {
	entries, err := os.ReadDir(s.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []Record
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".json") {
			continue
		}
		r, err := s.load(e.Name())
		if err != nil {
			return nil, err
		}
		out = append(out, *r)
	}
	return out, nil
}

// Find is the record of an agent at a place, nil if there is none.
func (s *Store) Find(agent string, p Place) (*Record, error) {
	r, err := s.load(recordName(agent, p))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return r, err
}

func (s *Store) load(name string) (*Record, error) {
	path := filepath.Join(s.dir, name)
	data, _, err := durable.ReadFile(path, maxRecord)
	if err != nil {
		return nil, err
	}
	var r Record
	err = canonical.Parse(data, &r, canonical.Limits{Bytes: maxRecord})
	if err == nil && r.Schema != recordSchema {
		err = fmt.Errorf("schema %q is not %s", r.Schema, recordSchema)
	}
	if err != nil {
		return nil, &Error{Reason: RecordBroken, Path: path, Detail: err.Error() + "; restore it from a copy of the home", Err: err}
	}
	return &r, nil
}

func (s *Store) save(r *Record) error {
	data, err := canonical.Pretty(r)
	if err != nil {
		return err
	}
	return durable.WriteFile(s.fsys, filepath.Join(s.dir, recordName(r.Agent, r.Place())), data, 0o600)
}

// Note keeps with the record of an agent what running it has shown, and over what;
// nil is over nothing, which proves nothing.
func (s *Store) Note(agent string, p Place, proof string, over *Over) error {
	r, err := s.Find(agent, p)
	if err != nil || r == nil {
		return err
	}
	lock, err := s.lock()
	if err != nil {
		return err
	}
	r.Proof, r.Over = proof, over
	return errors.Join(s.save(r), lock.Close())
}

func (s *Store) remove(r *Record) error {
	if err := s.fsys.Remove(filepath.Join(s.dir, recordName(r.Agent, r.Place()))); err != nil {
		return err
	}
	return s.fsys.SyncDir(s.dir)
}

// backup keeps the bytes of a file under their digest.
func (s *Store) backup(data []byte) (string, error) {
	name := digest(data)
	err := durable.WriteNew(s.fsys, filepath.Join(s.dir, backupsDir, name), data, 0o600)
	if errors.Is(err, fs.ErrExist) {
		err = nil
	}
	return name, err
}

func (s *Store) restore(name string) ([]byte, error) {
	data, _, err := durable.ReadFile(filepath.Join(s.dir, backupsDir, name), maxFile)
	if err == nil && digest(data) != name {
		err = &Error{Reason: RecordBroken, Path: filepath.Join(s.dir, backupsDir, name), Detail: "it is not what its name says; restore it from a copy of the home"}
	}
	return data, err
}

// lock keeps a second connect out, and makes the directories.
func (s *Store) lock() (durable.Lock, error) {
	for _, dir := range []string{s.dir, filepath.Join(s.dir, backupsDir)} {
		if err := s.fsys.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
	}
	lock, err := s.fsys.Lock(filepath.Join(s.dir, "lock"))
	if err != nil {
		return nil, err
	}
	return lock, errors.Join(durable.Sweep(s.fsys, s.dir), durable.Sweep(s.fsys, filepath.Join(s.dir, backupsDir)))
}

// others are the records of other connections.
func (s *Store) others(r *Record) ([]Record, error) {
	all, err := s.Records()
	return slices.DeleteFunc(all, func(o Record) bool { return o.Agent == r.Agent && o.Home == r.Home && o.Dir == r.Dir }), err
}
