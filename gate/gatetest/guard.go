package gatetest

import (
	"maps"
	"sync"
	"time"

	"github.com/iff-run/iff/approval"
	"github.com/iff-run/iff/capability"
	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/gate"
	"github.com/iff-run/iff/trust"
)

// Guard guards what it is told. The zero value guards nothing. It is safe for
// concurrent use.
type Guard struct {
	mu        sync.Mutex
	objects   map[corpus.Object]gate.Guarded
	spellings map[string]gate.Guarded
	tells     map[corpus.Object]string
}

// AddSkill has reads of a file tell a skill; its subject is empty for one that is
// not loaded.
func (g *Guard) AddSkill(path, subject string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	tells := maps.Clone(g.tells)
	if tells == nil {
		tells = make(map[corpus.Object]string)
	}
	tells[corpus.Name(Corpus, path)] = subject
	g.tells = tells
}

// Tells implements [gate.Guard].
func (g *Guard) Tells(objects []corpus.Object) []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	var out []string
	for _, o := range objects {
		if subject, ok := g.tells[o]; ok {
			out = append(out, subject)
		}
	}
	return out
}

// Add guards a file for a skill, under its path and under further spellings that
// are refused as targets.
func (g *Guard) Add(path, skill string, spellings ...string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	o := corpus.Name(Corpus, path)
	found := gate.Guarded{Name: skill, Subject: Declared, Object: o, Route: "path"}
	objects, texts := maps.Clone(g.objects), maps.Clone(g.spellings)
	if objects == nil {
		objects, texts = make(map[corpus.Object]gate.Guarded), make(map[string]gate.Guarded)
	}
	objects[o] = found
	for _, s := range spellings {
		found.Route = "spelling"
		texts[s] = found
	}
	g.objects, g.spellings = objects, texts
}

// Find implements [gate.Guard].
func (g *Guard) Find(objects []corpus.Object) (gate.Guarded, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, o := range objects {
		if found, ok := g.objects[o]; ok {
			return found, true
		}
	}
	return gate.Guarded{}, false
}

// FindSpelling implements [gate.Guard].
func (g *Guard) FindSpelling(_ capability.Capability, target string) (gate.Guarded, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if found, ok := g.spellings[target]; ok {
		return found, true
	}
	found, ok := g.objects[corpus.Name(Corpus, target)]
	return found, ok
}

// Check holds answers against a trust root.
func Check(root *trust.Root, now func() time.Time) func(*approval.Posed, approval.Answer) error {
	return func(q *approval.Posed, a approval.Answer) error { return q.Check(a, root, now()) }
}
