package gate

import (
	"slices"

	"github.com/iff-run/iff/capability"
	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/label"
	"github.com/iff-run/iff/level"
)

// kind is a sort of call. Its words are the complete lives that it may have in
// the log, a letter for each record:
//
//	q request  a approve  d deny  s staged  i intent  o done  f failed
//	e not tried  x dropped  u intent to undo  v undone  w not undone
//	D E X R what a recovery writes: denied, expired, dropped, resolved
type kind struct {
	name           string
	session        string
	class          capability.Capability
	target         string
	guarded, hides bool
	secret         bool // it reads what nothing may be written from
	words          []string
}

var (
	wordsRefused = []string{"qd", "qD"}
	wordsRead    = []string{"qd", "qao", "qaf"}
	wordsAsked   = []string{"qd", "qD", "qae", "qaE", "qao", "qaf"}
	wordsIrrev   = []string{"qd", "qD", "qae", "qaE", "qaio", "qaif", "qaiR"}
	wordsCommit  = []string{"qd", "qD", "qasio", "qasif", "qasiR", "qasiouv", "qasiouw", "qasiouR", "qae", "qaE", "qaio", "qaif", "qaiR", "qaiouv", "qaiouw", "qaiouR"}
	wordsStaged  = []string{"qd", "qsd", "qsx", "qsX", "qsae", "qsaX", "qsaio", "qsaif", "qsaiR", "qsaiouv", "qsaiouw", "qsaiouR"}
	wordsHidden  = []string{"qd", "qD", "qae", "qaE"}
)

// kinds are all sorts of calls: d is a session under a skill at declared, u one
// under an unverified skill.
var kinds = []kind{
	{name: "read", session: "d", class: capability.FSRead, target: "in/x", words: wordsRead},
	{name: "read-asked", session: "d", class: capability.FSRead, target: "out/x", words: wordsAsked},
	{name: "read-secret", session: "d", class: capability.FSRead, target: "in/x", secret: true, words: wordsRead},
	{name: "auto", session: "d", class: capability.FSWriteIrrev, target: "in/x", words: wordsIrrev},
	{name: "asked", session: "d", class: capability.FSWriteIrrev, target: "out/x", words: wordsIrrev},
	{name: "commit", session: "d", class: capability.FSWriteRev, target: "in/x", words: slices.Concat(wordsCommit, wordsStaged)},
	{name: "rev-asked", session: "d", class: capability.FSWriteRev, target: "out/x", words: wordsCommit},
	{name: "staged", session: "u", class: capability.FSWriteRev, target: "in/x", words: wordsStaged},
	{name: "unverified", session: "u", class: capability.FSWriteIrrev, target: "in/x", words: wordsIrrev},
	{name: "guarded", session: "d", class: capability.FSWriteIrrev, target: "in/x", guarded: true, words: wordsIrrev},
	{name: "hidden", session: "d", class: capability.FSWriteIrrev, target: "in/x", guarded: true, hides: true, words: wordsHidden},
	{name: "undeclared", session: "d", class: capability.Publish, target: "news", words: wordsRefused},
}

func kindOf(name string) *kind {
	i := slices.IndexFunc(kinds, func(k kind) bool { return k.name == name })
	return &kinds[i]
}

// The objects: two beside each other, and the directory above the first.
var stageObjects = []corpus.Object{"work/t/x", "work/y", "work/t"}

// role is a call of a scenario: what sort, and on which objects.
type role struct {
	kind *kind
	on   []int
}

func (p role) same(q role) bool { return p.kind == q.kind && slices.Equal(p.on, q.on) }

func (p role) objects() []corpus.Object {
	if p.kind.class.Effect() == capability.None {
		return nil
	}
	var out []corpus.Object
	for _, o := range p.on {
		out = append(out, stageObjects[o])
	}
	return out
}

// stage is what all scenarios have in common.
type stageSet struct {
	low, high label.Label
	skills    map[string]Skill
	targets   map[*kind]capability.Target
}

func newStage() (*stageSet, error) {
	scheme, _ := label.Builtin("generic")
	t := &stageSet{low: scheme.Bottom(), high: scheme.Top(), targets: make(map[*kind]capability.Target)}
	grants, err := capability.ParseGrants([]string{"fs.read(in/**)", "fs.write.irrev(in/**)", "fs.write.rev(in/**)"})
	if err != nil {
		return nil, err
	}
	t.skills = make(map[string]Skill)
	for subject, lv := range map[string]level.Level{"": level.Declared, "dd": level.Declared, "uu": level.Unverified} {
		t.skills[subject] = Skill{Name: "of " + subject, Subject: subject, Level: lv, Label: t.low, Grants: grants}
	}
	for i := range kinds {
		k := &kinds[i]
		if t.targets[k], err = capability.ParseTarget(k.class, k.target); err != nil {
			return nil, err
		}
	}
	return t, nil
}

func (t *stageSet) rules() Rules {
	return Rules{Skills: t.skills, Clearance: t.high, Bottom: t.low, Calls: 64, Asked: 20, Unwanted: 1 << 20, Buffer: 1 << 20}
}

// agentOf and skillOf are who the sessions belong to, and under what they are.
func agentIn(session string) string { return "agent-" + session }
func skillIn(session string) string { return session + session }

// facts are what the machine is told of a call.
func (t *stageSet) facts(id, key string, envelope byte, p role) Facts {
	f := Facts{
		ID: id, Session: p.kind.session, Key: key, Envelope: [32]byte{envelope}, Target: t.targets[p.kind],
		Changes: p.objects(), Reversible: true, Guarded: p.kind.guarded, Spelled: p.kind.hides,
	}
	if p.kind.hides {
		f.Void = CallMalformed
	}
	if p.kind.class.Effect() == capability.None {
		f.Reads = []label.Label{t.low}
		if p.kind.secret {
			f.Reads[0] = t.high
		}
		return f
	}
	f.Sinks = []label.Label{t.low}
	return f
}

// vocabulary of lives: which words are complete, and which begin one.
type lives struct{ complete, begun map[string]bool }

func newLives(words []string) lives {
	l := lives{make(map[string]bool), make(map[string]bool)}
	for _, w := range words {
		l.complete[w] = true
		for i := range len(w) + 1 {
			l.begun[w[:i]] = true
		}
	}
	return l
}

var kindLives, refusedLives = func() (map[*kind]lives, lives) {
	all := make(map[*kind]lives)
	for i := range kinds {
		all[&kinds[i]] = newLives(kinds[i].words)
	}
	return all, newLives(wordsRefused)
}()
