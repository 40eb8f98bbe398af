package runtime_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/iff-run/iff/approval"
	"github.com/iff-run/iff/audit"
	"github.com/iff-run/iff/capability"
	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/gate"
	"github.com/iff-run/iff/internal/home"
	hostfs "github.com/iff-run/iff/internal/host/fs"
	"github.com/iff-run/iff/internal/keyfile"
	"github.com/iff-run/iff/internal/observe/rehash"
	"github.com/iff-run/iff/internal/runtime"
	"github.com/iff-run/iff/internal/trusttest"
	"github.com/iff-run/iff/label"
	"github.com/iff-run/iff/level"
	"github.com/iff-run/iff/manifest"
	"github.com/iff-run/iff/record"
	"github.com/iff-run/iff/skill"
	"github.com/iff-run/iff/trust"
)

// template is a home that every test copies: keys under a passphrase are slow on
// purpose, so they are made and opened once.
var template struct {
	dir, work, mail          string
	scheme                   *label.Scheme
	operator, approver, root *keyfile.Key
	author                   trusttest.Key // signs the skill helper
}

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "iff-runtime-")
	if err == nil {
		err = makeTemplate(dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

func makeTemplate(base string) error {
	template.dir, template.work, template.mail = filepath.Join(base, "home"), filepath.Join(base, "work"), filepath.Join(base, "mail")
	template.scheme, _ = label.Builtin("default")
	for _, d := range []string{template.work, template.mail} {
		if err := os.Mkdir(d, 0o755); err != nil {
			return err
		}
	}
	pass := []byte("of no use elsewhere")
	h, err := home.Init(context.Background(), template.dir, home.Plan{
		Operator: "me", Scheme: template.scheme, Passphrase: pass,
		Corpora: []home.CorpusPlan{{Name: "work", Root: template.work}, {Name: "mail", Root: template.mail}},
	}, home.Options{})
	if err != nil {
		return err
	}
	template.author = trusttest.NewKey(42)
	err = h.AddSigner(context.Background(), trust.Entry{
		ID: "author", PublicKey: template.author.Public(), Clearance: template.scheme.Top().Parts(), Level: level.Declared, NotAfter: trust.Never,
	}, func(string) ([]byte, error) { return pass, nil })
	if err != nil {
		return errors.Join(err, h.Close())
	}
	var wg sync.WaitGroup
	errs := make([]error, 3)
	for i, k := range []struct {
		name string
		to   **keyfile.Key
	}{{"me", &template.operator}, {home.ApproverKey, &template.approver}, {home.RootKey, &template.root}} {
		wg.Go(func() { *k.to, errs[i] = h.OpenKey(k.name, func(string) ([]byte, error) { return pass, nil }) })
	}
	wg.Wait()
	return errors.Join(errors.Join(errs...), h.Close())
}

// env is a home of its own with two corpora, an unverified and two declared
// skills, one of them outside of every corpus.
type env struct {
	testing.TB
	home, work, mail, outside string
	skills                    []string
}

const skillText = "---\nname: %s\ndescription: does what it says\n---\n\n# %s\n"

var allFiles = []string{"fs.read(**)", "fs.read(mail:**)", "fs.write.irrev(**)", "fs.write.irrev(mail:**)", "fs.write.rev(**)", "fs.write.rev(mail:**)"}

func newEnv(t testing.TB) *env {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	e := &env{TB: t, home: filepath.Join(base, "home"), work: filepath.Join(base, "work"), mail: filepath.Join(base, "mail"), outside: filepath.Join(base, "outside")}
	if err := os.CopyFS(e.home, os.DirFS(template.dir)); err != nil {
		t.Fatal(err)
	}
	// A copy has the modes of its source less the umask: keys and sockets are nobody else's.
	e.must(filepath.WalkDir(e.home, func(p string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			err = os.Chmod(p, 0o700)
		} else if err == nil {
			err = os.Chmod(p, 0o600)
		}
		return err
	}))
	config := filepath.Join(e.home, "iff.toml")
	text, err := os.ReadFile(config)
	e.must(err)
	text = []byte(strings.NewReplacer(template.work, e.work, template.mail, e.mail).Replace(string(text)))
	e.must(os.WriteFile(config, text, 0o600))
	for path, data := range map[string]string{
		"work/a.md": "a\n", "work/notes/b.md": "b\n", "work/notes/c.md": "c\n", "work/AGENTS.md": "be good\n", "work/deep/er/AGENTS.md": "be better\n",
		"work/deep/er/x.md": "x\n", "mail/m.txt": "m\n", "outside/plain.txt": "p\n",
	} {
		e.write(filepath.Join(base, path), data)
	}
	e.sign("base", "base", "declared", allFiles, 2)
	e.skill(filepath.Join(e.work, "skills", "helper"), "helper", "declared", allFiles)
	e.skill(filepath.Join(e.work, "skills", "wíld"), "wild", "unverified", allFiles)
	e.skill(filepath.Join(e.outside, "remote"), "remote", "declared", allFiles)
	return e
}

func (e *env) must(err error) {
	e.Helper()
	if err != nil {
		e.Fatal(err)
	}
}

func (e *env) write(path, data string) {
	e.Helper()
	e.must(os.MkdirAll(filepath.Dir(path), 0o755))
	e.must(os.WriteFile(path, []byte(data), 0o644))
}

func (e *env) read(path string) string {
	e.Helper()
	data, err := os.ReadFile(path)
	e.must(err)
	return string(data)
}

// skill writes a skill and signs it.
func (e *env) skill(dir, name, level string, caps []string) {
	e.Helper()
	e.write(filepath.Join(dir, "SKILL.md"), fmt.Sprintf(skillText, name, name))
	e.write(filepath.Join(dir, "run.sh"), "echo "+name+"\n")
	e.write(filepath.Join(dir, "sub", "more.md"), "more of "+name+"\n")
	e.sign(dir, name, level, caps, 1)
	e.skills = append(e.skills, dir)
}

// sign signs what lies in a directory; base is the home's own.
func (e *env) sign(dir, name, level string, caps []string, version int64) {
	e.Helper()
	key, signer := trust.Signer(template.operator), "me"
	if name == "base" {
		dir = filepath.Join(e.home, "base")
	}
	if name == "helper" {
		key, signer = template.author, "author"
	}
	if level == "unverified" {
		adopter, err := keyfile.Open(filepath.Join(e.home, "keys", home.AdopterKey+".key"), nil)
		e.must(err)
		key, signer = adopter, home.AdopterKey
	}
	m, err := manifest.Fields{
		Schema: manifest.Schema, Name: name, Version: version, Label: template.scheme.Bottom().Parts(), Signer: signer,
		Verification: level, Caps: caps, Summary: "does what it says",
	}.Freeze(template.scheme)
	e.must(err)
	p, err := skill.Read(dir, skill.Limits{})
	e.must(err)
	c, err := p.Content()
	e.must(err)
	s, err := skill.Sign(c, m, key)
	e.must(err)
	mode := fs.FileMode(0o644)
	if name == "base" {
		mode = 0o600
	}
	e.must(os.WriteFile(filepath.Join(dir, manifest.FileName), s.Manifest, mode))
	e.must(os.WriteFile(filepath.Join(dir, manifest.SignatureFileName), s.Signature, mode))
}

// world is a runtime over an env.
type world struct {
	*env
	rt      *runtime.Runtime
	h       *home.Home
	parts   runtime.Parts
	ask     *approver
	files   *hooked
	refused map[string]error // skills that were not loaded, by directory
	close   []func() error
}

// start starts a runtime; change may change its parts.
func (e *env) start(change ...func(*world)) *world {
	e.Helper()
	w, err := e.tryStart(change...)
	e.must(err)
	return w
}

func (e *env) tryStart(change ...func(*world)) (*world, error) {
	e.Helper()
	w := &world{env: e, refused: map[string]error{}, ask: &approver{choice: func(approval.Question) record.Choice { return record.Deny }}}
	if err := w.open(); err != nil {
		return nil, errors.Join(err, w.release())
	}
	for _, f := range change {
		f(w)
	}
	var err error
	if w.rt, err = runtime.Start(e.Context(), w.parts); err != nil {
		return nil, errors.Join(err, w.release())
	}
	return w, nil
}

func (w *world) open() (err error) {
	if w.h, err = home.Open(w.Context(), w.home, home.Write, home.Options{}); err != nil {
		return err
	}
	w.close = append(w.close, w.h.Close)
	roots, err := w.h.LockCorpora()
	if err != nil {
		return err
	}
	set, dirs, err := w.load()
	if err != nil {
		return err
	}
	var on []hostfs.Root
	var corpora []runtime.Corpus
	for _, r := range roots {
		o, err := rehash.New(r.Path(), r.Name, r.Volatile, rehash.Options{})
		if err != nil {
			return err
		}
		w.close = append(w.close, o.Close)
		on = append(on, hostfs.Root{Corpus: r.Name, Dir: r.Path(), Volatile: r.Volatile})
		corpora = append(corpora, runtime.Corpus{Name: r.Name, Dir: r.Path(), Label: r.LabelOf, Volatile: r.Volatile, Observer: o})
	}
	files, err := hostfs.New(on)
	if err != nil {
		return err
	}
	w.close = append(w.close, func() error { files.Close(); return nil })
	w.files = &hooked{Host: files}
	w.parts = runtime.Parts{
		Log: w.h.Log(), Recovered: w.h.Recovered(), Trust: w.h.Root(), Skills: set, Directories: dirs, Corpora: corpora,
		Hosts:  map[capability.Capability]gate.Host{capability.FSRead: w.files, capability.FSWriteRev: w.files, capability.FSWriteIrrev: w.files},
		Broker: w.ask, ControlFiles: w.h.Config().Guarded, Clearance: w.h.Clearance(), Profile: "dev", Config: w.h.ConfigDigest(), Version: "test",
		SameUID: true, Limits: gate.Limits{Ask: 20 * time.Second, Call: 20 * time.Second, Lease: 20 * time.Second},
	}
	return nil
}

// hooked is the host for files, which can be made to hang before it does a thing.
type hooked struct {
	*hostfs.Host
	mu   sync.Mutex
	hold chan struct{} // if set, Do waits until it is closed
	busy chan struct{} // told of each Do that waits
}

func (h *hooked) Do(ctx context.Context, p *gate.Permit) (gate.Result, error) {
	h.mu.Lock()
	hold, busy := h.hold, h.busy
	h.mu.Unlock()
	if hold != nil {
		busy <- struct{}{}
		<-hold
	}
	return h.Host.Do(ctx, p)
}

// hang has every Do wait until free is called; busy is told of each.
func (h *hooked) hang() (busy <-chan struct{}, free func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	hold := make(chan struct{})
	h.hold, h.busy = hold, make(chan struct{}, 100)
	return h.busy, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.hold = nil
		close(hold)
	}
}

func (w *world) load() (*skill.Set, map[string]string, error) {
	loader, dirs := skill.NewLoader(w.h.Terms(), w.h.Log()), map[string]string{}
	base, err := w.h.ReadBase()
	if err != nil {
		return nil, nil, err
	}
	if _, err := loader.Load(w.Context(), base); err != nil {
		return nil, nil, fmt.Errorf("base: %w", err)
	}
	for _, dir := range w.skills {
		p, err := w.h.Read(dir)
		var report skill.Report
		if err == nil {
			report, err = loader.Load(w.Context(), p)
		}
		if err != nil {
			w.refused[dir] = err
			continue
		}
		dirs[report.Skill.Name] = dir
	}
	return loader.Freeze(), dirs, nil
}

func (w *world) release() error {
	var errs []error
	for _, f := range slices.Backward(w.close) {
		errs = append(errs, f())
	}
	w.close = nil
	return errors.Join(errs...)
}

// stop ends the runtime as a program would.
func (w *world) stop() {
	w.Helper()
	w.must(errors.Join(w.rt.Close(w.Context()), w.release()))
}

// crash takes the log away first, so that nothing that is under way is recorded
// any more. free lets hosts that hang come back.
func (w *world) crash(free ...func()) {
	w.Helper()
	w.must(w.h.Log().Close())
	for _, f := range free {
		f()
	}
	ctx, cancel := context.WithTimeout(w.Context(), 5*time.Second)
	defer cancel()
	_ = w.rt.Close(ctx) // it cannot record that
	_ = w.release()     // the log is closed
}

func (w *world) session(agent string) *runtime.Session {
	w.Helper()
	s, err := w.rt.Open(w.Context(), runtime.Principal(agent), runtime.OpenOptions{})
	w.must(err)
	return s
}

// records are those of the log from a sequence number on.
func (w *world) records(from int64) []record.Record {
	w.Helper()
	var out []record.Record
	for s, err := range audit.Records(w.Context(), w.parts.Log.Store(), audit.Position{}) {
		w.must(err)
		if s.Seq >= from {
			out = append(out, s.Record)
		}
	}
	return out
}

func (w *world) size() int64 { return w.parts.Log.State().Size() }

// of are the bodies of one type in records of one request; an empty one is any.
func of[T record.Body](records []record.Record, request string) []T {
	var out []T
	for _, r := range records {
		if b, ok := r.Body.(T); ok && (request == "" || r.Request == request) {
			out = append(out, b)
		}
	}
	return out
}

func call(class, target, arguments string) gate.Call {
	return gate.Call{Capability: class, Target: target, Arguments: []byte(arguments)}
}

// state is what an observer sees of a path in a corpus.
func (w *world) state(o corpus.Object) corpus.State {
	w.Helper()
	for _, c := range w.parts.Corpora {
		if c.Name == o.Corpus() {
			states, err := c.Observer.Read(w.Context(), []corpus.Object{o})
			w.must(err)
			return states[0]
		}
	}
	w.Fatalf("%s is in no corpus", o)
	return ""
}

// tree is what all corpora hold, by root.
func (w *world) tree() string {
	w.Helper()
	var out strings.Builder
	for _, c := range w.parts.Corpora {
		s, err := c.Observer.(*rehash.Observer).Full(w.Context())
		w.must(err)
		fmt.Fprintln(&out, c.Name, s.Root())
	}
	return out.String()
}

func (w *world) verdict(session string) record.Result {
	w.Helper()
	report, err := w.rt.Verdict(w.Context(), session)
	w.must(err)
	if report.Result != record.Pass {
		w.Logf("%s: %+v", report.Result, report.Findings)
	}
	return report.Result
}

// approver answers each question as choice says, and signs approvals.
type approver struct {
	mu     sync.Mutex
	choice func(approval.Question) record.Choice
	asked  []approval.Question
	hold   chan struct{} // if set, answers wait until it is closed
	busy   chan struct{} // told of each question that waits
}

func (a *approver) Name() string { return "test" }

func (a *approver) Ask(ctx context.Context, qs []approval.Question) ([]approval.Answer, error) {
	a.mu.Lock()
	a.asked = append(a.asked, qs...)
	choice, hold, busy := a.choice(qs[0]), a.hold, a.busy
	a.mu.Unlock()
	if hold != nil {
		busy <- struct{}{}
		select {
		case <-hold:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	var random [16]byte
	_, _ = rand.Read(random[:])
	return approval.Sign(qs, choice, home.ApproverKey, template.approver, approval.Nonce(random), time.Now().Add(approval.Validity))
}

func (a *approver) says(c record.Choice) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.choice, a.asked = func(approval.Question) record.Choice { return c }, nil
}

// hang has every answer wait until free is called; busy is told of each.
func (a *approver) hang() (busy <-chan struct{}, free func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	hold := make(chan struct{})
	a.hold, a.busy = hold, make(chan struct{}, 100)
	return a.busy, func() { close(hold) }
}

func (a *approver) questions() []approval.Question {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.asked)
}
