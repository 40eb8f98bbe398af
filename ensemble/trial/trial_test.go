package trial

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/iff-run/iff/approval"
	"github.com/iff-run/iff/broker"
	"github.com/iff-run/iff/capability"
	"github.com/iff-run/iff/ensemble"
	"github.com/iff-run/iff/gate"
	"github.com/iff-run/iff/internal/home"
	"github.com/iff-run/iff/internal/keyfile"
	"github.com/iff-run/iff/internal/keyfile/keyfiletest"
	"github.com/iff-run/iff/label"
	"github.com/iff-run/iff/level"
	"github.com/iff-run/iff/record"
	"github.com/iff-run/iff/trust"
	"github.com/iff-run/iff/verdict"
)

// sum is a digest of a tree: names, modes, times of files, links and contents.
func sum(t testing.TB, dir string) string {
	t.Helper()
	h := sha256.New()
	need(t, filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		fmt.Fprintf(h, "%q %s %d\n", name, info.Mode(), info.ModTime().UnixNano())
		if info.Mode().IsRegular() {
			data, err := os.ReadFile(name)
			fmt.Fprintf(h, "%d %x\n", len(data), sha256.Sum256(data))
			return err
		}
		target, _ := os.Readlink(name)
		fmt.Fprintf(h, "%q\n", target)
		return nil
	}))
	return fmt.Sprintf("%x", h.Sum(nil))
}

// office is an operator's home over a corpus.
type office struct{ home, corpus string }

// asked is who an office asks unless a test says otherwise.
const asked = `["policy", "inbox"]`

const rules = `
@id("marks") permit (principal, action == Action::"fs.write.irrev", resource) when { context.op == "append" && resource.path like "minutes/*" };
@id("figures") forbid (principal, action == Action::"fs.write.irrev", resource) when { resource.path like "figures/*" };
`

// made is a home over a corpus at PLACE: keys take seconds to make.
var made = sync.OnceValues(func() (dir string, err error) {
	if dir, err = os.MkdirTemp("", "iff-trial-test-"); err != nil {
		return "", err
	}
	scheme, _ := label.Builtin("default")
	corpus := filepath.Join(dir, "corpus")
	if err := os.Mkdir(corpus, 0o755); err != nil {
		return dir, err
	}
	h, err := home.Init(context.Background(), filepath.Join(dir, "home"), home.Plan{
		Operator: "me", Scheme: scheme, Passphrase: []byte("correct horse"), Corpora: []home.CorpusPlan{{Name: "work", Root: corpus}},
	}, home.Options{})
	if err != nil {
		return dir, err
	}
	return dir, errors.Join(h.Close(), keyfiletest.Quicken(filepath.Join(dir, "home", "keys"), "correct horse"))
})

func TestMain(m *testing.M) {
	code := m.Run()
	if dir, err := made(); err != nil || os.RemoveAll(dir) != nil {
		code = max(code, 1)
	}
	os.Exit(code)
}

// newOffice makes a home that asks somebody, with more settings, over a corpus of
// minutes and figures.
func newOffice(t testing.TB, ask, more string) office {
	t.Helper()
	from, err := made()
	need(t, err)
	dir := t.TempDir()
	o := office{filepath.Join(dir, "home"), filepath.Join(dir, "corpus")}
	for i := range 6 {
		write(t, o.corpus, fmt.Sprintf("minutes/m%d.md", i), "minutes\n")
		write(t, o.corpus, fmt.Sprintf("figures/f%d.csv", i), "1,2\n")
	}
	need(t, os.CopyFS(o.home, os.DirFS(filepath.Join(from, "home"))))
	need(t, filepath.WalkDir(o.home, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.IsDir() {
			return errors.Join(err, os.Chmod(path, 0o600))
		}
		return os.Chmod(path, 0o700)
	}))
	path := filepath.Join(o.home, "iff.toml")
	text, err := os.ReadFile(path)
	need(t, err)
	config := strings.Replace(string(text), `ask = "inbox"`, "ask = "+ask, 1)
	config = strings.Replace(config, filepath.Join(from, "corpus"), o.corpus, 1)
	if strings.Contains(ask, "policy") {
		config += "\n[policy]\nfiles = [\"policy.cedar\"]\n"
	}
	need(t, os.WriteFile(path, []byte(config+more), 0o600))
	need(t, os.WriteFile(filepath.Join(o.home, "policy.cedar"), []byte(rules), 0o600))
	return o
}

func (o office) open(t testing.TB) *home.Home {
	t.Helper()
	h, err := home.Open(t.Context(), o.home, home.Read, home.Options{})
	need(t, err)
	t.Cleanup(func() { _ = h.Close() })
	return h
}

// trial opens one, to be played in a directory of the test's.
func (o office) trial(t testing.TB, opts Options) *Trial {
	t.Helper()
	if opts.Dir == "" {
		opts.Dir = t.TempDir()
	}
	if opts.Answer == "" {
		opts.Answer = Approve
	}
	opts.Agents, opts.Rounds = max(opts.Agents, 1), max(opts.Rounds, 1)
	made, err := Open(t.Context(), o.open(t), opts)
	need(t, err)
	t.Cleanup(func() { _ = made.Close() })
	return made
}

// mind says what a function says.
type mind struct {
	next  func(ensemble.Turn) (gate.Call, bool)
	tally ensemble.Tally
}

func (m *mind) Next(_ context.Context, t ensemble.Turn) (gate.Call, bool, error) {
	m.tally.Turns++
	c, ok := m.next(t)
	return c, ok, nil
}

func (m *mind) Tally() ensemble.Tally { return m.tally }

// all has every agent say what a function says, to somebody who may hear everything.
func all(t *Trial, next func(ensemble.Turn) (gate.Call, bool)) Cast {
	return Cast{Mind: func(int, ensemble.Role) (ensemble.Mind, error) { return &mind{next: next}, nil }, Outside: t.trust.Scheme().Top()}
}

func idle(ensemble.Turn) (gate.Call, bool) { return gate.Call{}, false }

// TestTrial has scripts act: the same by the same seed, rules decide as they are
// written, and nothing of the operator's changes.
func TestTrial(t *testing.T) {
	o := newOffice(t, asked, "")
	before := sum(t, filepath.Dir(o.home))
	play := func(opts Options) Result {
		made := o.trial(t, opts)
		out, err := made.Play(t.Context(), Cast{}, nil)
		need(t, err)
		dir := made.Dir()
		need(t, made.Close())
		if _, err := os.Lstat(dir); dir == "" || !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%q is left", dir)
		}
		if out.Verdict() != record.Pass {
			t.Errorf("%s: %+v", out.Verdict(), out.Whole.Findings)
		}
		if got := sum(t, filepath.Dir(o.home)); got != before {
			t.Fatal("something of the operator's changed")
		}
		return out
	}
	opts := Options{Agents: 4, Rounds: 25, Seed: 5}
	first, again := play(opts), play(opts)
	if fmt.Sprint(calls(first)) != fmt.Sprint(calls(again)) || len(calls(first)) != 100 {
		t.Errorf("the same seed is not the same trial: %d calls", len(calls(first)))
	}
	var let, forbidden, person int
	for _, c := range calls(first) {
		switch {
		case c.Let(record.CausePolicy):
			let++
			if c.Op != "append" || !strings.HasPrefix(c.Target, "minutes/") || !strings.Contains(c.Rule, "marks") {
				t.Errorf("a policy let through %+v", c)
			}
		case c.Cause == record.CausePolicy:
			forbidden++
		case c.Cause == record.CauseHuman:
			person++
		}
	}
	if let == 0 || forbidden == 0 || person == 0 || len(first.Permits()) == 0 || first.Permits()[0].Done != let {
		t.Errorf("%d let through, %d forbidden, %d answered by a person, %+v", let, forbidden, person, first.Permits())
	}
	opts.Answer = Deny
	for _, c := range calls(play(opts)) {
		if c.Cause == record.CauseHuman && (c.Done() || c.Decision != record.Deny) {
			t.Errorf("a person who denies let through %+v", c)
		}
	}
	opts.Answer, opts.Rounds = Script, 60
	var said []record.Choice
	for _, c := range calls(play(opts)) {
		if c.Cause == record.CauseHuman {
			said = append(said, c.Decision)
		}
	}
	if !slices.Contains(said, record.Deny) || !slices.Contains(said, record.Approve) {
		t.Errorf("a person on a script said %v", said)
	}
}

func calls(r Result) (out []Call) {
	for _, round := range r.Rounds {
		out = append(out, round.Calls...)
	}
	return out
}

// TestEveryRoundIsJudged has somebody write to the copy in the second round of three,
// and put it back in the third: the rounds' verdicts see it.
func TestEveryRoundIsJudged(t *testing.T) {
	o := newOffice(t, asked, "")
	seen := func(by func(*Trial) judge) []record.Result {
		made := o.trial(t, Options{Rounds: 3})
		cast := all(made, func(turn ensemble.Turn) (gate.Call, bool) {
			text := map[int]string{1: "minutes\n", 2: "forged\n", 3: "minutes\n"}[turn.Round]
			if turn.Round > 1 {
				write(t, made.copyDir(), "minutes/m0.md", text)
			}
			return gate.Call{}, false
		})
		out, err := made.play(t.Context(), cast, func(Result) error { return nil }, by(made))
		need(t, err)
		got := []record.Result{out.Verdict()}
		for _, r := range out.Rounds {
			got = append(got, r.Report.Result)
		}
		return got
	}
	real := func(made *Trial) judge {
		return func(ctx context.Context, from int64, hear func(record.Record) error) (verdict.Report, error) {
			return made.runtime.VerdictHeard(ctx, from, 0, hear)
		}
	}
	want := []record.Result{record.Fail, record.Pass, record.Fail, record.Fail}
	if got := seen(real); !slices.Equal(got, want) {
		t.Errorf("%v and not %v", got, want)
	}
	for name, mutant := range map[string]func(*Trial) judge{
		"not looked at": func(*Trial) judge {
			return func(context.Context, int64, func(record.Record) error) (verdict.Report, error) {
				return verdict.Report{Result: record.Pass}, nil
			}
		},
		"only the whole": func(made *Trial) judge {
			return func(ctx context.Context, from int64, hear func(record.Record) error) (verdict.Report, error) {
				if hear == nil {
					return made.runtime.VerdictHeard(ctx, from, 0, nil)
				}
				return verdict.Report{Result: record.Pass}, nil
			}
		},
	} {
		if slices.Equal(seen(mutant), want) {
			t.Errorf("%s: the check lets it pass", name)
		}
	}
	if (Result{}).Verdict() != record.Open {
		t.Error("nothing was judged, and holds")
	}
}

// TestNothingIsSent asks for a request that is approved.
func TestNothingIsSent(t *testing.T) {
	var hits atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { hits.Add(1) }))
	defer server.Close()
	at := strings.TrimPrefix(server.URL, "http://")
	o := newOffice(t, asked, fmt.Sprintf("\n[[net.host]]\nhost = %q\nlabel = \"PUBLIC\"\nprivate = true\n", at))
	made := o.trial(t, Options{})
	out, err := made.Play(t.Context(), all(made, func(ensemble.Turn) (gate.Call, bool) {
		return gate.Call{Capability: "net.egress", Target: at, Arguments: fmt.Appendf(nil, `{"url": "%s/"}`, server.URL)}, true
	}), nil)
	need(t, err)
	c := calls(out)[0]
	if hits.Load() != 0 || c.Decision != record.Approve || c.Cause != record.CauseHuman || c.Reason != gate.NoHost || c.Done() {
		t.Errorf("%d requests, %+v", hits.Load(), c)
	}
	to, err := capability.ParseTarget(capability.NetEgress, at)
	need(t, err)
	if _, _, err := made.Way(to); err == nil {
		t.Error("there is a way that nothing grants")
	}
}

// TestToldOutside has minds that tell somebody what they hear.
func TestToldOutside(t *testing.T) {
	o := newOffice(t, asked, "\n[[corpus.work.path]]\npattern = \"figures\"\nlabel = \"INTERNAL\"\n")
	for name, c := range map[string]struct {
		outside func(*label.Scheme) label.Label
		files   int
		turns   int64
	}{
		"all": {(*label.Scheme).Top, 12, 3}, "little": {(*label.Scheme).Bottom, 6, 1}, "nobody knows": {func(*label.Scheme) label.Label { return label.Label{} }, 0, 0},
	} {
		made := o.trial(t, Options{Rounds: 3})
		files := 0
		cast := all(made, func(turn ensemble.Turn) (gate.Call, bool) {
			files = len(turn.Files)
			return gate.Call{Capability: "fs.read", Target: "figures/f0.csv"}, true
		})
		cast.Outside = c.outside(made.trust.Scheme())
		out, err := made.Play(t.Context(), cast, nil)
		need(t, err)
		if g := out.Agents[0]; files != c.files || g.Tally.Turns != c.turns || (g.Silenced > 0) != (c.turns < 3) {
			t.Errorf("%s: told of %d files, %+v", name, files, g)
		}
	}
}

// TestTrustOfTrial holds the trial's trust root against the operator's.
func TestTrustOfTrial(t *testing.T) {
	o := newOffice(t, asked, "")
	made := o.trial(t, Options{})
	theirs, ours := made.home.Root(), made.trust
	added := ours.Entries()[len(theirs.Entries()):]
	if len(added) != 1 || !added[0].Approver || added[0].Adopter || added[0].Level.String() != "unverified" || fmt.Sprint(ours.Entries()[:len(theirs.Entries())]) != fmt.Sprint(theirs.Entries()) {
		t.Errorf("the trial trusts %+v", ours.Entries())
	}
	if ours.Key() == theirs.Key() {
		t.Error("the trial's root key is the operator's")
	}
	if _, ok := theirs.ByKey(made.approver.Public()); ok {
		t.Error("the operator trusts the played person")
	}
	if id := freeID(added); id == added[0].ID {
		t.Errorf("%s is taken", id)
	}
}

// TestRevokedStays copies the trust root of somebody who trusts one signer no more.
func TestRevokedStays(t *testing.T) {
	scheme, _ := label.Builtin("default")
	keys := make([]*keyfile.Key, 3)
	for i := range keys {
		var err error
		keys[i], err = keyfile.Generate()
		need(t, err)
	}
	theirs, err := trust.NewDraft(keys[0].Public(), scheme)
	need(t, err)
	for i, id := range []string{"gone", "here"} {
		need(t, theirs.Add(trust.Entry{ID: id, PublicKey: keys[i+1].Public(), Clearance: scheme.Bottom().Parts(), Level: level.Declared, NotAfter: trust.Never}))
	}
	need(t, theirs.Revoke("gone", time.Now(), "left"))
	_, err = theirs.Sign(keys[0])
	need(t, err)
	root, err := theirs.Lock()
	need(t, err)
	own, err := trust.NewDraft(keys[0].Public(), scheme)
	need(t, err)
	need(t, enter(own, root))
	_, err = own.Sign(keys[0])
	need(t, err)
	copied, err := own.Lock()
	need(t, err)
	_, gone := copied.Signer("gone", time.Now())
	_, here := copied.Signer("here", time.Now())
	before, _ := root.Revoked("gone")
	after, _ := copied.Revoked("gone")
	if gone == nil || here != nil || before != after {
		t.Errorf("%v, %v, %+v", gone, here, after)
	}
}

func TestWhoIsAsked(t *testing.T) {
	for ask, want := range map[string]string{`["policy", "inbox"]`: "policy, played", `"inbox"`: "played", `["policy"]`: "policy", `"nobody"`: broker.DenyAll{}.Name()} {
		o := newOffice(t, ask, "")
		if got := o.trial(t, Options{}).broker().Name(); got != want {
			t.Errorf("%s: %s is asked, and not %s", ask, got, want)
		}
	}
	if (&person{}).choice(approval.Question{}) != record.Deny {
		t.Error("a person who was told nothing approves")
	}
}

func TestNoTrial(t *testing.T) {
	o := newOffice(t, asked, "")
	h := o.open(t)
	before := sum(t, filepath.Dir(o.home))
	good := Options{Agents: 1, Rounds: 1, Answer: Approve}
	for name, c := range map[string]struct {
		change func(*Options)
		reason Reason
	}{
		"no agents": {func(o *Options) { o.Agents = 0 }, OptionsInvalid}, "many rounds": {func(o *Options) { o.Rounds = MaxRounds + 1 }, OptionsInvalid},
		"no answer": {func(o *Options) { o.Answer = "" }, OptionsInvalid}, "negative": {func(o *Options) { o.Files = -1 }, OptionsInvalid},
		"no corpus": {func(o *Options) { o.Corpus = "none" }, CorpusUnknown}, "few files": {func(o *Options) { o.Files = 3 }, TooLarge},
		"few bytes": {func(o *Options) { o.Bytes = 3 }, TooLarge}, "in the corpus": {func(opts *Options) { opts.Dir = filepath.Join(o.corpus, "minutes") }, PlaceRefused},
		"in the home": {func(opts *Options) { opts.Dir = o.home }, PlaceRefused}, "nowhere": {func(opts *Options) { opts.Dir = filepath.Join(o.corpus, "none") }, PlaceRefused},
		"a file": {func(opts *Options) { opts.Dir = filepath.Join(o.corpus, "minutes", "m0.md") }, PlaceRefused},
	} {
		opts := good
		opts.Dir = t.TempDir()
		c.change(&opts)
		made, err := Open(t.Context(), h, opts)
		if err == nil {
			_, err = made.Play(t.Context(), Cast{}, nil)
			need(t, made.Close())
		}
		var e *Error
		if !errors.As(err, &e) || e.Reason != c.reason {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got := sum(t, filepath.Dir(o.home)); got != before {
		t.Error("something of the operator's changed")
	}
	if _, err := new(Trial).Play(t.Context(), Cast{}, nil); err == nil {
		t.Error("the zero trial was played")
	}
	if _, err := Open(t.Context(), nil, good); err == nil {
		t.Error("a trial without a home was opened")
	}
}

// TestPlayedOnce, and a trial whose context ends leaves nothing.
func TestPlayedOnce(t *testing.T) {
	o := newOffice(t, asked, "")
	made := o.trial(t, Options{Dir: t.TempDir()})
	_, err := made.Play(t.Context(), all(made, idle), nil)
	need(t, err)
	if _, err := made.Play(t.Context(), Cast{}, nil); err == nil {
		t.Error("it was played twice")
	}
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	cut := o.trial(t, Options{Dir: dir, Rounds: 5})
	_, err = cut.Play(ctx, Cast{}, func(r Result) error {
		if len(r.Rounds) == 2 {
			cancel()
		}
		return nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	need(t, cut.Close())
	if there, err := os.ReadDir(dir); err != nil || len(there) > 0 {
		t.Errorf("%v %v is left", there, err)
	}
}
