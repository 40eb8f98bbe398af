package ensemble

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/iff-run/iff/record"
)

// Site is a corpus on which runs are played one after the other. Before each but the
// first what the last one changed is put back, so that every run finds the same
// files: its first reading, of every byte, has to come to what that of the first run
// came to. A corpus that cannot be put back is made anew. The zero value plays
// nothing. It is not safe for concurrent use; whoever has it closes it.
type Site struct {
	kit    *Kit
	config Config // of the corpus: what says nothing of it is zero
	corpus *Corpus
	began  record.Hash // root of what the first run found, also if the corpus was made anew since; zero before it
	told   *talk       // of the last run; nil if there is nothing to put back
}

// spares is how many files the worst fault needs.
const spares = 4

// ground is what of a Config makes a corpus.
func (c Config) ground() Config {
	g := Config{Dir: c.Dir, N: c.N, Files: cmp.Or(c.Files, c.Seed), Cast: c.Cast}
	if c.Cast == Wild {
		g.Fault = c.Fault // it may need spares
	}
	return g
}

// Site makes the corpus of a run. One that was made some time ahead is as those of
// people are, whose files were not all written within the last tick of a clock: the
// observer knows them by their times.
func (k *Kit) Site(c Config) (*Site, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	s := &Site{kit: k, config: c.ground()}
	if err := s.make(); err != nil {
		return nil, err
	}
	return s, nil
}

func (s *Site) make() (err error) {
	extra := 0
	if s.config.Fault != Honest {
		extra = spares
	}
	s.corpus, err = s.kit.newCorpus(s.config.Dir, s.config.N, extra, s.config.Files, s.config.Cast)
	return err
}

// Run plays a run. An error means that it could not be made, or that others changed
// the corpus between two runs, not that the verdict is not as wanted.
func (s *Site) Run(ctx context.Context, c Config) (Result, error) {
	if err := c.check(); err != nil {
		return Result{}, err
	}
	if s.kit == nil || c.ground() != s.config {
		return Result{}, fmt.Errorf("ensemble: the run is of another corpus than the one that was made: %w", ErrNotOurs)
	}
	err := ctx.Err()
	if err == nil {
		err = s.Restore()
	}
	if err != nil {
		return Result{}, err
	}
	p := newPlay(s.kit, c, s.corpus)
	if err := p.run(ctx); err != nil {
		return p.out, errors.Join(err, s.Close())
	}
	if s.began == (record.Hash{}) {
		s.began = p.told.began
	}
	if p.told.began != s.began {
		return p.out, errors.Join(fmt.Errorf("%s: somebody else changed it: %w", s.corpus.Dir(), ErrNotOurs), s.Close())
	}
	if c.Cast == Wild || c.Fault == Crash || c.Fault == Unobserved || len(p.out.Odd) > 0 {
		return p.out, s.Close() // it left what the log does not tell
	}
	s.told = p.told
	return p.out, nil
}

// Restore puts back what the last run changed, or makes the corpus anew. Run does it
// if nobody did before.
func (s *Site) Restore() error {
	if s.corpus == nil {
		return s.make()
	}
	if s.told == nil {
		return nil
	}
	told := s.told
	s.told = nil
	if s.corpus.restore(told.first, told.last) == nil {
		return nil
	}
	if err := s.Close(); err != nil {
		return err
	}
	return s.make()
}

// Close removes the corpus and its log. A run makes another one.
func (s *Site) Close() error {
	if s.corpus == nil {
		return nil
	}
	c := s.corpus
	s.corpus = nil
	return c.Close()
}
