package gatetest

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/iff-run/iff/capability"
	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/gate"
	"github.com/iff-run/iff/internal/trusttest"
	"github.com/iff-run/iff/label"
	"github.com/iff-run/iff/level"
	"github.com/iff-run/iff/record"
)

// Subjects of the skills of a [Bench]. All cover out/** and read everything.
var (
	// Base is no skill: as Declared, with irreversible writes uncovered.
	Base = ""
	// Declared covers irreversible writes to out/** too.
	Declared = strings.Repeat("d", 64)
	// Unverified is as Declared, at level unverified.
	Unverified = strings.Repeat("a", 64)
	// Reader declares reading and nothing else.
	Reader = strings.Repeat("e", 64)
)

// Bench is a gate over a world.
type Bench struct {
	testing.TB
	World  *World
	Log    *Log
	Broker *Broker
	Guard  *Guard
	Gate   *gate.Gate
	Parts  gate.Parts // as the gate got them
	ahead  atomic.Int64
	start  time.Time
}

// New puts a gate over a world of files; change alters its parts beforehand. It is
// closed by the test that uses it.
func New(t testing.TB, files map[string]string, change ...func(*gate.Parts)) *Bench {
	t.Helper()
	b := &Bench{TB: t, World: NewWorld(files), Log: new(Log), Broker: new(Broker), Guard: new(Guard), start: time.Now()}
	scheme, root := trusttest.Scheme("default"), Root()
	b.Parts = gate.Parts{
		Sink: b.Log, Keep: b.Log.Keep, Broker: b.Broker, Guard: b.Guard,
		Hosts:     map[capability.Capability]gate.Host{capability.FSRead: b.World, capability.FSWriteRev: b.World, capability.FSWriteIrrev: b.World},
		Observers: map[string]corpus.Observer{Corpus: b.World},
		Label:     func(corpus.Object) label.Label { return scheme.Bottom() },
		Skills:    skills(t, scheme.Bottom()), About: make(map[string]record.Skill),
		Scheme: scheme, Clearance: scheme.Top(), Origin: "iff/log/test", Fence: 3, Profile: "dev", Now: b.Now,
	}
	for _, k := range b.Parts.Skills {
		if k.Subject != "" {
			b.Parts.About[k.Subject] = record.Skill{Name: k.Name, Version: 1, Signer: "ops", Level: k.Level.String(), Content: k.Subject, Subject: k.Subject}
		}
	}
	for _, f := range change {
		f(&b.Parts)
	}
	if b.Parts.Check == nil {
		b.Parts.Check = Check(root, b.Now)
	}
	g, err := gate.New(t.Context(), b.Parts)
	if err != nil {
		t.Fatal(err)
	}
	b.Gate = g
	return b
}

func skills(t testing.TB, bottom label.Label) []gate.Skill {
	read, rev, irrev := "fs.read(**)", "fs.write.rev(out/**)", "fs.write.irrev(out/**)"
	return []gate.Skill{
		{Name: "base", Subject: Base, Level: level.Declared, Label: bottom, Grants: Grants(t, read, rev, "fs.write.irrev")},
		{Name: "declared", Subject: Declared, Level: level.Declared, Label: bottom, Grants: Grants(t, read, rev, irrev)},
		{Name: "unverified", Subject: Unverified, Level: level.Unverified, Label: bottom, Grants: Grants(t, read, rev, irrev)},
		{Name: "reader", Subject: Reader, Level: level.Declared, Label: bottom, Grants: Grants(t, read)},
	}
}

// Grants are grants by their texts.
func Grants(t testing.TB, texts ...string) capability.Grants {
	t.Helper()
	var out []capability.Grant
	for _, text := range texts {
		g, err := capability.ParseGrant(text)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, g)
	}
	return capability.NewGrants(out...)
}

// Now is an instant at which the approver may approve, and goes on with the clock.
func (b *Bench) Now() time.Time {
	return trusttest.Now.Add(time.Since(b.start) + time.Duration(b.ahead.Load()))
}

// Advance puts Now forward, and no timer.
func (b *Bench) Advance(d time.Duration) { b.ahead.Add(int64(d)) }

// Open begins a session of an agent with a skill active.
func (b *Bench) Open(agent, subject string) *gate.Session {
	b.Helper()
	s, err := b.Gate.Open(b.Context(), record.Agent{Name: agent}, nil)
	if err == nil && subject != Base {
		err = s.Use(b.Context(), subject)
	}
	if err != nil {
		b.Fatal(err)
	}
	return s
}

// Close closes the gate.
func (b *Bench) Close() {
	b.Helper()
	if err := b.Gate.Close(b.Context()); err != nil {
		b.Error(err)
	}
}

// Read is a call that reads a file.
func Read(path string) gate.Call {
	return gate.Call{Capability: "fs.read", Target: path}
}

// Write is a reversible call that writes a file.
func Write(path, content string) gate.Call {
	return gate.Call{Capability: "fs.write.rev", Target: path, Arguments: fmt.Appendf(nil, `{"op":"write","content":%q}`, content)}
}

// Irreversibly is an irreversible call: op is write, append or delete.
func Irreversibly(op, path, content string) gate.Call {
	if op == "delete" {
		return gate.Call{Capability: "fs.write.irrev", Target: path, Arguments: []byte(`{"op":"delete"}`)}
	}
	return gate.Call{Capability: "fs.write.irrev", Target: path, Arguments: fmt.Appendf(nil, `{"op":%q,"content":%q}`, op, content)}
}

// Rename is an irreversible call that renames a file.
func Rename(path, to string) gate.Call {
	return gate.Call{Capability: "fs.write.irrev", Target: path, Arguments: fmt.Appendf(nil, `{"op":"rename","to":%q}`, to)}
}
