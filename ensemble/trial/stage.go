package trial

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"

	"github.com/iff-run/iff/audit"
	"github.com/iff-run/iff/capability"
	"github.com/iff-run/iff/gate"
	"github.com/iff-run/iff/internal/durable"
	"github.com/iff-run/iff/internal/home"
	hostfs "github.com/iff-run/iff/internal/host/fs"
	hostnet "github.com/iff-run/iff/internal/host/net"
	"github.com/iff-run/iff/internal/observe/rehash"
	"github.com/iff-run/iff/internal/runtime"
	"github.com/iff-run/iff/internal/scratch"
	"github.com/iff-run/iff/internal/store/file"
	"github.com/iff-run/iff/label"
	"github.com/iff-run/iff/record"
	"github.com/iff-run/iff/skill"
)

// Names in the directory of a trial.
const (
	CorpusDir = "corpus"
	LogDir    = "log"
)

// kind is that of the directories of trials.
func kind() scratch.Kind {
	return scratch.Kind{
		Prefix: "iff-trial-", Marker: "made-by-iff-ensemble-run",
		Text: "A copy of a corpus, and a log: removed when the run ends, or when the next one begins.\n",
	}
}

// Trial is one that can be played, once. Close it. The zero value plays nothing.
type Trial struct {
	terms
	options Options
	corpus  home.CorpusConfig
	real    string // its root, without links
	place   *scratch.Dir
	copied  Copied

	log      *audit.Log
	files    *hostfs.Host
	observer *rehash.Observer
	runtime  *runtime.Runtime
}

// Open looks at the configuration of a home, which it only reads and which has to
// stay open, and loads its skills. Nothing is copied yet. Errors are *[Error], and
// those that keep a runtime of the home from starting.
func Open(ctx context.Context, h *home.Home, o Options) (*Trial, error) {
	if h == nil {
		return nil, errors.New("a trial needs a home")
	}
	o, err := o.check()
	if err != nil {
		return nil, err
	}
	t := &Trial{terms: terms{home: h}, options: o}
	if t.corpus, err = o.corpus(h.Config()); err != nil {
		return nil, err
	}
	if err := t.read(ctx, o.Now()); err != nil {
		return nil, err
	}
	if t.real, err = filepath.EvalSymlinks(t.corpus.Root); err != nil {
		return nil, refuse(CopyFailed, err, "the corpus cannot be read: %v", err)
	}
	return t, nil
}

// Refused lists the skills that are not loaded.
func (t *Trial) Refused() []Refused { return append([]Refused(nil), t.refused...) }

// Way leads to a host, for minds: where the base manifest grants it and the
// configuration has a label for it, which is given too. The error is a
// *[gate.Refusal].
func (t *Trial) Way(to capability.Target) (http.RoundTripper, label.Label, error) {
	base, ok := t.skills.Skill(skill.BaseName)
	if !ok {
		return nil, label.Label{}, errors.New("there is no base manifest")
	}
	c := t.home.Config()
	own := func() []netip.AddrPort {
		var out []netip.AddrPort
		if at, ok := c.WebhookAddress(); ok {
			out = append(out, at)
		}
		if at, err := netip.ParseAddrPort(c.MCP.Listen); err == nil {
			out = append(out, at)
		}
		return out
	}
	way, err := hostnet.NewWay(base.Manifest.Grants(), to, c.Network(own))
	if err != nil {
		return nil, label.Label{}, err
	}
	l, _, _ := c.HostLabel(to)
	return way, l, nil
}

// Dir is where the copy and the log lie; empty if there are none.
func (t *Trial) Dir() string { return t.place.Path() }

// Close removes the copy and the log.
func (t *Trial) Close() error {
	if t.place.Path() == "" {
		return nil
	}
	return t.place.Close()
}

// Keep leaves the copy and the log to whoever wants them.
func (t *Trial) Keep() error {
	if t.place.Path() == "" {
		return nil
	}
	return t.place.Keep()
}

// begin makes the copy and the log, and starts a runtime over both.
func (t *Trial) begin(ctx context.Context, scripts bool) error {
	where := t.options.Dir
	if where == "" {
		where = os.TempDir()
	}
	if err := t.outOfReach(where); err != nil {
		return err
	}
	var err error
	if t.place, err = kind().Make(where); err != nil {
		return refuse(PlaceRefused, err, "no directory can be made in %q: %v; name another place with --dir", where, err)
	}
	dir := t.copyDir()
	if err := os.Mkdir(dir, 0o700); err != nil {
		return failed(err, "")
	}
	if t.copied, err = copyTree(ctx, t.real, dir, t.options.Files, t.options.Bytes); err != nil {
		return err
	}
	if scripts {
		t.copied.Made = furnish(dir)
	}
	if err := t.openLog(ctx); err != nil {
		return fmt.Errorf("the trial's log: %w", err)
	}
	return t.start(ctx)
}

// furnish makes the directories that scripts put things into, where there is nothing
// of that name. That one cannot be made is no harm: what goes there is refused.
func furnish(dir string) []string {
	made := []string{}
	for _, name := range []string{"archive", "drafts"} {
		if os.Mkdir(filepath.Join(dir, name), 0o755) == nil {
			made = append(made, name)
		}
	}
	return made
}

func (t *Trial) copyDir() string { return filepath.Join(t.place.Path(), CorpusDir) }

func (t *Trial) openLog(ctx context.Context) error {
	store, err := file.Create(durable.OS(), filepath.Join(t.place.Path(), LogDir), nil)
	if err != nil {
		return err
	}
	c := t.home.Config()
	t.log, err = audit.Create(ctx, store, record.Init{
		Origin: fmt.Sprintf("iff/log/trial-%d", t.options.Seed), Operator: c.Operator.Name, Profile: string(c.Profile),
		Scheme: t.trust.Scheme().Name(), Root: t.trust.Key().Fingerprint(), TrustDigest: t.trust.Digest(),
	}, t.logKey, audit.Options{Now: t.options.Now})
	if err != nil {
		return errors.Join(err, store.Close())
	}
	_, err = t.log.Append(ctx, t.loads...)
	return err
}

// start starts a runtime, of the parts that one of the home has, over the copy.
func (t *Trial) start(ctx context.Context) error {
	c, dir := t.home.Config(), t.copyDir()
	var err error
	if t.observer, err = rehash.New(dir, t.corpus.Name, t.corpus.Volatile, rehash.Options{}); err != nil {
		return err
	}
	if t.files, err = hostfs.New([]hostfs.Root{{Corpus: t.corpus.Name, Dir: dir, Volatile: t.corpus.Volatile}}); err != nil {
		return err
	}
	policy := ""
	if t.policy != nil {
		policy = t.policy.Digest().String()
	}
	net := c.Network(nil)
	t.runtime, err = runtime.Start(ctx, runtime.Parts{
		Log: t.log, Trust: t.trust, Skills: t.skills, Directories: t.moved(t.real, dir),
		Corpora: []runtime.Corpus{{
			Name: t.corpus.Name, Dir: dir, Label: t.corpus.LabelOf, Volatile: t.corpus.Volatile, Observer: t.observer, Most: rehash.DefaultObjects,
		}},
		Hosts: map[capability.Capability]gate.Host{
			capability.FSRead: t.files, capability.FSWriteRev: t.files, capability.FSWriteIrrev: t.files,
			capability.NetEgress: sealed{hostnet.New(net)},
		},
		Broker: t.broker(), ControlFiles: c.Guarded, Clearance: t.home.Clearance(), Profile: string(c.Profile), Config: t.home.ConfigDigest(),
		Policy: policy, Version: t.options.Version, SameUID: c.Profile != home.Strict,
		Limits: gate.Limits{Ask: c.Gate.Timeout, Call: c.Gate.CallTimeout, Buffer: c.Gate.Buffer}, Now: t.options.Now,
	})
	return err
}

// end lets go of what begin opened, but for the directory.
func (t *Trial) end(ctx context.Context) error {
	var errs []error
	if t.runtime != nil {
		errs = append(errs, t.runtime.Close(ctx))
	}
	if t.files != nil {
		t.files.Close()
	}
	if t.observer != nil {
		errs = append(errs, t.observer.Close())
	}
	if t.log != nil {
		errs = append(errs, t.log.Close())
	}
	return errors.Join(errs...)
}

// sealed says what a request would reach, and sends none.
type sealed struct{ gate.Host }

// Do implements [gate.Host].
func (sealed) Do(_ context.Context, p *gate.Permit) (gate.Result, error) {
	if _, err := p.Take(); err != nil {
		return gate.Result{}, err
	}
	return gate.Result{}, &gate.Refusal{Reason: gate.NoHost, Detail: "it was decided, and a trial sends nothing"}
}
