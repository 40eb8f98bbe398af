package home

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/iff-run/iff/audit"
	"github.com/iff-run/iff/internal/anchor"
	"github.com/iff-run/iff/internal/durable"
	"github.com/iff-run/iff/internal/keyfile"
	"github.com/iff-run/iff/internal/store/file"
	"github.com/iff-run/iff/label"
	"github.com/iff-run/iff/skill"
	"github.com/iff-run/iff/trust"
)

const (
	configFile = "iff.toml"
	trustDir   = "trust"
	keysDir    = "keys"
	baseDir    = "base"
	skillsDir  = "skills"
	runDir     = "run"

	// maxChainBytes bounds what all trust documents together may have.
	maxChainBytes = 64 << 20
)

// Mode says what a home is opened for.
type Mode int

// The modes. The zero value reads.
const (
	Read  Mode = iota
	Write      // takes the lock
	Run        // Write, for a runtime: what profile strict needs holds
)

// Home is an opened home: everything in it checked. Several goroutines may call
// Config, Root, Terms, State, Read and Narrow at once; nothing else. Close it.
type Home struct {
	dir          string
	fsys         durable.FS
	now          func() time.Time
	mode         Mode
	config       Config
	policies     []PolicyFile
	attested     attested // of the configuration as it was read
	configDigest [32]byte
	root         atomic.Pointer[trust.Root]
	narrowing    sync.Mutex    // orders Narrow
	roots        []*CorpusRoot // locked; nil if they are not
	clearance    label.Label
	progress     func(bytes int64)
	lines        *file.Store
	log          *audit.Log  // nil when reading
	view         *audit.View // nil when writing
	recovered    audit.Recovered
	anchors      []anchor.Anchor
	logKeys      *logKeys
	set          *anchor.Set // nil when reading
	missed       error       // what the anchors said last, where they do not hold the newest checkpoint
}

// Options of [Open] and [Init]. The zero value is what programs use.
type Options struct {
	FS       durable.FS        // durable.OS()
	Now      func() time.Time  // time.Now
	Progress func(bytes int64) // told, while much of the log is read, how many bytes were
}

func (o Options) orDefault() Options {
	if o.FS == nil {
		o.FS = durable.OS()
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}

// Open opens and checks the home at dir. Its errors are *Error, or those of
// package trust.
func Open(ctx context.Context, dir string, mode Mode, opts Options) (*Home, error) {
	opts = opts.orDefault()
	h := &Home{dir: dir, mode: mode, fsys: opts.FS, now: opts.Now, progress: opts.Progress}
	if err := h.checkDirectory(); err != nil {
		return nil, err
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, &Error{Reason: Unreadable, Path: dir, Detail: err.Error(), Err: err}
	}
	h.dir = real
	if err = h.load(ctx); err == nil && mode != Read {
		err = h.start(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, h.Close())
	}
	return h, nil
}

// start makes a home that was read ready to be written to.
func (h *Home) start(ctx context.Context) error {
	for _, step := range []func(context.Context) error{h.checkProfile, h.startLog, h.makeSocketDir, h.catchUp} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (h *Home) checkDirectory() error {
	info, err := os.Stat(h.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return &Error{Reason: Missing, Path: h.dir, Detail: "there is no home here; run iff init, or name another with --home", Err: err}
	}
	if err != nil {
		return &Error{Reason: Unreadable, Path: h.dir, Detail: err.Error(), Err: err}
	}
	if !info.IsDir() {
		return &Error{Reason: Missing, Path: h.dir, Detail: "not a directory"}
	}
	if _, err := os.Stat(filepath.Join(h.dir, configFile)); errors.Is(err, fs.ErrNotExist) {
		return &Error{Reason: Missing, Path: h.dir, Detail: "there is no iff.toml in it; run iff init, or name another with --home", Err: err}
	}
	if owner, known := ownerOf(info); known && owner != os.Geteuid() && os.Geteuid() != 0 {
		return &Error{Reason: Exposed, Path: h.dir, Detail: fmt.Sprintf("it belongs to uid %d, who can change what is in it; iff runs as uid %d; name a home of yours with --home", owner, os.Geteuid())}
	}
	if info.Mode().Perm()&0o022 != 0 {
		return &Error{Reason: Exposed, Path: h.dir, Detail: fmt.Sprintf("mode %04o lets others write to it; chmod 700, then check what is in it", info.Mode().Perm())}
	}
	return nil
}

func (h *Home) load(ctx context.Context) error {
	data, _, err := durable.ReadFile(filepath.Join(h.dir, configFile), maxConfig)
	if err != nil {
		return &Error{Reason: Unreadable, Path: configFile, Detail: err.Error(), Err: err}
	}
	if err := h.setConfig(data); err != nil {
		return err
	}
	if err := h.openLog(ctx); err != nil {
		return err
	}
	root, err := h.storedRoot()
	if err != nil {
		return err
	}
	h.root.Store(root)
	if err := h.checkTrust(); err != nil {
		return err
	}
	if err := h.config.resolve(root.Scheme()); err != nil {
		return err
	}
	h.clearance, err = root.Scheme().Parse(h.config.Operator.Clearance)
	if err != nil {
		return configError("operator.clearance: " + err.Error())
	}
	return nil
}

// openTrust reads the chain, trust/1.json upwards.
func (h *Home) openTrust() (*trust.Draft, error) {
	var chain [][]byte
	total := 0
	for n := 1; n <= trust.MaxChain+1; n++ {
		data, _, err := durable.ReadFile(h.trustPath(int64(n)), trust.MaxDocument)
		if errors.Is(err, fs.ErrNotExist) {
			break
		}
		if err != nil {
			return nil, &Error{Reason: Unreadable, Path: h.trustPath(int64(n)), Detail: err.Error(), Err: err}
		}
		if total += len(data); total > maxChainBytes {
			return nil, &trust.Error{Reason: trust.TooMany, Field: h.trustPath(int64(n)), Detail: fmt.Sprintf("the chain up to here has more than %d bytes; restore it", maxChainBytes)}
		}
		chain = append(chain, data)
	}
	if err := h.checkGap(len(chain)); err != nil {
		return nil, err
	}
	return trust.Open(chain, trust.PublicKey{})
}

// checkGap refuses a document behind a missing one: it may revoke somebody.
func (h *Home) checkGap(have int) error {
	entries, err := os.ReadDir(h.trustDir())
	if err != nil {
		return &Error{Reason: Unreadable, Path: trustDir, Detail: err.Error(), Err: err}
	}
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), ".json")
		if n, err := strconv.Atoi(name); ok && err == nil && n > have {
			return &trust.Error{Reason: trust.VersionGap, Field: h.trustPath(int64(n)), Detail: fmt.Sprintf("document %d is missing; restore it", have+1)}
		}
	}
	return nil
}

// checkTrust holds the chain against the configuration and the records: the
// root key is the configured one and nothing newer was ever recorded.
func (h *Home) checkTrust() error {
	root := h.Root()
	if got := root.Key().Fingerprint(); got != h.config.Trust.Root {
		return &Error{Reason: RootMismatch, Path: trustDir, Detail: fmt.Sprintf("the chain is signed by %s, iff.toml expects %s", got, h.config.Trust.Root)}
	}
	if want := h.State().Root(); want != h.config.Trust.Root {
		return &Error{Reason: RootMismatch, Path: configFile, Detail: fmt.Sprintf("iff.toml expects %s, the records began with %s", h.config.Trust.Root, want)}
	}
	version, digest := h.State().Trust()
	if root.Version() < version {
		return &Error{Reason: RolledBack, Path: trustDir, Detail: fmt.Sprintf("the newest document is %d, but %d was recorded; restore trust/%d.json", root.Version(), version, version)}
	}
	if root.Version() == version && root.Digest() != digest {
		return &Error{Reason: RolledBack, Path: trustDir, Detail: fmt.Sprintf("document %d is not the one that was recorded; restore it", version)}
	}
	return nil
}

// Close closes the log, with a checkpoint if it was written. It is safe to
// call twice.
func (h *Home) Close() error {
	var err, unkept error
	switch {
	case h.log != nil:
		if err = h.log.Close(); errors.Is(err, audit.ErrUnkept) && !poisoned(err) {
			unkept, err = err, nil
		}
	case h.lines != nil:
		err = h.lines.Close()
	}
	if h.set != nil {
		h.missed = h.set.Close()
	}
	h.missed = errors.Join(h.missed, unkept)
	err = errors.Join(err, closeRoots(h.roots))
	h.roots = nil
	return err
}

func poisoned(err error) bool {
	var e *audit.Error
	return errors.As(err, &e) && e.Reason == audit.LogPoisoned
}

// Dir is the home's path.
func (h *Home) Dir() string { return h.dir }

// Config is the configuration.
func (h *Home) Config() Config { return h.config }

// Root is the locked trust root.
func (h *Home) Root() *trust.Root { return h.root.Load() }

// Terms are what skills are measured against here and now.
func (h *Home) Terms() skill.Terms {
	return skill.Terms{Root: h.Root(), Clearance: h.clearance, State: h.State(), Operator: h.config.Operator.Name, Now: h.now()}
}

// Skills lists the directories in which a skill was adopted or signed, in the
// order of their first appearance, without the base manifest's.
func (h *Home) Skills() []string {
	var out []string
	for _, dir := range h.State().Directories() {
		if dir != baseDir {
			out = append(out, dir)
		}
	}
	return out
}

func (h *Home) trustDir() string { return filepath.Join(h.dir, trustDir) }

func (h *Home) trustPath(n int64) string {
	return filepath.Join(h.trustDir(), fmt.Sprintf("%d.json", n))
}

// keyPath is where a key of the home lies. A name with a path separator, or
// one that is not a signer id, is a path of its own.
func (h *Home) keyPath(name string) string {
	if trust.CheckID(name) == nil {
		if inHome := filepath.Join(h.dir, keysDir, name+".key"); exists(inHome) {
			return inHome
		}
	}
	return name
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// OpenKey opens a private key by its name in the home, or by its path.
func (h *Home) OpenKey(name string, pass keyfile.Passphrase) (*keyfile.Key, error) {
	return keyfile.Open(h.keyPath(name), pass)
}
