package ensemble

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/iff-run/iff/audit"
	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/gate"
	"github.com/iff-run/iff/internal/durable"
	hostfs "github.com/iff-run/iff/internal/host/fs"
	"github.com/iff-run/iff/internal/observe/rehash"
	"github.com/iff-run/iff/internal/runtime"
	"github.com/iff-run/iff/internal/store/file"
	"github.com/iff-run/iff/label"
	"github.com/iff-run/iff/record"
)

// stage is a run under way: a corpus, its log, and a runtime over both. What a run
// does it does through the runtime; what a fault does it does beside it.
type stage struct {
	kit      *Kit
	config   Config
	corpus   *Corpus
	approver *approver
	fuse     *fuse // nil if nobody is killed

	store    *mortal
	log      *audit.Log
	found    audit.Recovered
	files    *hostfs.Host
	observer *rehash.Observer
	runtime  *runtime.Runtime
	sessions []*runtime.Session

	reversible, irreversible *host // in front of files
}

// origin names the log.
func (s *stage) origin() string { return fmt.Sprintf("iff/log/ensemble-%d", s.config.Seed) }

// small suits logs that live for milliseconds.
var small = file.Options{SegmentBytes: 8 << 20, PadAfter: 1 << 20}

// openLog opens the log that lies beside the corpus, or begins it.
func (s *stage) openLog(ctx context.Context) error {
	dir := s.corpus.log()
	inner, err := file.Open(durable.OS(), dir, &small)
	if errors.Is(err, fs.ErrNotExist) {
		inner, err = file.Create(durable.OS(), dir, &small)
	}
	if err != nil {
		return err
	}
	s.store = &mortal{inner, s.fuse}
	pin, opts := audit.Pin{Origin: s.origin(), Key: s.kit.log.Public()}, audit.Options{Workers: 1}
	s.log, s.found, err = audit.Open(ctx, s.store, pin, opts, s.kit.log)
	var empty *audit.Error
	if errors.As(err, &empty) && empty.Reason == audit.LogEmpty {
		s.log, err = audit.Create(ctx, s.store, record.Init{
			Origin: s.origin(), Operator: operatorID, Profile: "dev", Scheme: s.kit.scheme.Name(), Root: s.kit.root.Key().Fingerprint(), TrustDigest: s.kit.root.Digest(),
		}, s.kit.log, opts)
		if err == nil {
			_, err = s.log.Append(ctx, s.kit.of(s.config.Cast).loads...)
		}
	}
	if err != nil && s.log == nil {
		return errors.Join(err, s.store.Close())
	}
	return err
}

// start opens the log and starts a runtime over it and the corpus.
func (s *stage) start(ctx context.Context) error {
	if err := s.openLog(ctx); err != nil {
		return err
	}
	volatile, err := corpus.ParsePatterns([]string{volatileDir + "/**"})
	if err != nil {
		return err
	}
	guarded, err := corpus.ParsePatterns([]string{control})
	if err != nil {
		return err
	}
	dir := s.corpus.Dir()
	if s.observer, err = rehash.New(dir, CorpusName, volatile, rehash.Options{Workers: 1}); err != nil {
		return err
	}
	if s.files, err = hostfs.New([]hostfs.Root{{Corpus: CorpusName, Dir: dir, Volatile: volatile}}); err != nil {
		return err
	}
	dirs := make(map[string]string)
	for name := range s.kit.of(s.config.Cast).files {
		dirs[name] = filepath.Join(dir, "skills", name)
	}
	labels, err := s.labels()
	if err != nil {
		return err
	}
	s.runtime, err = runtime.Start(ctx, runtime.Parts{
		Log: s.log, Recovered: s.found, Trust: s.kit.root, Skills: s.kit.of(s.config.Cast).skills, Directories: dirs,
		Corpora: []runtime.Corpus{{
			Name: CorpusName, Dir: dir, Label: labels, Volatile: volatile, Observer: s.observer,
		}},
		Hosts: s.hosts(s.files), Broker: s.approver, ControlFiles: guarded, Clearance: s.kit.scheme.Top(), Profile: "dev", Config: "ensemble",
		Version: "ensemble", SameUID: true, Limits: gate.Limits{Ask: patience, Lease: patience, Call: patience}, Now: time.Now,
	})
	return err
}

// labels are the lowest for everything, save that in one of eight honest runs what
// is below finance may not flow elsewhere.
func (s *stage) labels() (func(path string) label.Label, error) {
	bottom := s.kit.scheme.Bottom()
	if s.config.Fault != Honest || s.config.Seed%8 != 3 {
		return func(string) label.Label { return bottom }, nil
	}
	finance, err := s.kit.scheme.New("CONFIDENTIAL", nil, nil)
	return func(path string) label.Label {
		if strings.HasPrefix(path, "finance/") {
			return finance
		}
		return bottom
	}, err
}

// patience is how long anything may take: nothing here waits for people.
const patience = 20 * time.Second

// stop lets go of what start opened. A runtime that is dead writes nothing more.
func (s *stage) stop(ctx context.Context) error {
	var errs []error
	if s.fuse.dead() && s.observer != nil { // nor does it read
		errs = append(errs, s.observer.Close())
	}
	if s.runtime != nil {
		if err := s.runtime.Close(ctx); !s.fuse.dead() {
			errs = append(errs, err)
		}
	}
	if s.files != nil {
		s.files.Close()
	}
	if s.observer != nil && !s.fuse.dead() {
		errs = append(errs, s.observer.Close())
	}
	if s.log != nil {
		if err := s.log.Close(); !s.fuse.dead() {
			errs = append(errs, err)
		}
	}
	s.runtime, s.files, s.observer, s.log, s.sessions = nil, nil, nil, nil, nil
	return errors.Join(errs...)
}
