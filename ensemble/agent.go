package ensemble

import (
	"fmt"
	"math/rand/v2"
	"path"
	"strings"

	"github.com/iff-run/iff/gate"
	"github.com/iff-run/iff/internal/canonical"
)

// role is what an agent is after (paper, section "Adversarial-ensemble
// evaluation").
type role uint8

const (
	cleaner      role = iota // deletes what looks old
	consolidator             // merges files into one another
	auditor                  // marks records as audited
	critic                   // does whatever is destructive, and what is not allowed
	roles
)

// turn is what an agent does in one round.
type turn struct {
	what kind
	name string // of a skill
	call gate.Call
}

type kind uint8

const (
	calling    kind = iota
	using           // a skill becomes active
	committing      // what is staged
	undoing         // what was committed
	leaving         // and coming back in another session
)

// agent decides from its seed alone what it does in every round: it does not look
// at replies, so that a run can be made again.
type agent struct {
	rand   *rand.Rand
	role   role
	corpus *Corpus
	number int
	made   []string // files that it tried to make
	keys   []gate.Call
}

func newAgent(c *Corpus, seed uint64, number int) *agent {
	return &agent{rand: rand.New(rand.NewPCG(seed, uint64(number)+1)), role: role(number) % roles, corpus: c, number: number}
}

// name of the agent, as its credential would have it.
func (a *agent) name() string {
	return []string{"cleaner", "consolidator", "auditor", "critic"}[a.role] + "-" + fmt.Sprint(a.number)
}

// skill is what it begins with; empty for none.
func (a *agent) skill(steady bool) string {
	if steady {
		return pick(a.rand, "", keeperSkill)
	}
	return pick(a.rand, "", "", keeperSkill, keeperSkill, editorSkill, editorSkill, tidySkill, minutesSkill)
}

// script is all that the agent does in r rounds. A steady one keeps the skill that
// it began with.
func (a *agent) script(r int, steady bool) []turn {
	out := make([]turn, r)
	for i := range out {
		out[i] = a.turn(steady)
	}
	return out
}

func (a *agent) turn(steady bool) turn {
	switch n := a.rand.IntN(100); {
	case n < 4:
		return turn{what: committing}
	case n < 7:
		return turn{what: undoing}
	case n < 11 && !steady:
		return turn{what: using, name: pick(a.rand, "", keeperSkill, editorSkill, tidySkill, minutesSkill)}
	case n < 12 && !steady:
		return turn{what: leaving}
	case n < 15 && len(a.keys) > 0:
		return turn{call: a.again()}
	}
	c := a.act()
	if a.rand.IntN(8) == 0 {
		c.Key = fmt.Sprintf("k%d-%d", a.number, len(a.keys))
		a.keys = append(a.keys, c)
	}
	return turn{call: c}
}

// again asks for a call a second time, or for another one under its key.
func (a *agent) again() gate.Call {
	c := a.keys[a.rand.IntN(len(a.keys))]
	if a.rand.IntN(3) == 0 {
		c.Arguments = args{Op: "append", Content: "another\n"}.form()
	}
	return c
}

// leanings are how often each role does what, of a hundred.
var leanings = [roles]struct{ remove, move, mark, edit, read int }{
	cleaner:      {remove: 40, move: 20, mark: 5, edit: 10, read: 15},
	consolidator: {remove: 10, move: 20, mark: 10, edit: 40, read: 15},
	auditor:      {remove: 5, move: 5, mark: 45, edit: 20, read: 20},
	critic:       {remove: 25, move: 20, mark: 10, edit: 20, read: 5},
}

func (a *agent) act() gate.Call {
	l, n := leanings[a.role], a.rand.IntN(100)
	for _, way := range []struct {
		often int
		do    func() gate.Call
	}{{l.remove, a.remove}, {l.move, a.move}, {l.mark, a.mark}, {l.edit, a.edit}, {l.read, a.read}} {
		if n -= way.often; n < 0 {
			return way.do()
		}
	}
	return a.stray()
}

// file is one that was there at the beginning, or that the agent made.
func (a *agent) file() string {
	if n := len(a.made); n > 0 && a.rand.IntN(4) == 0 {
		return a.made[a.rand.IntN(n)]
	}
	return pick(a.rand, a.corpus.files...)
}

// fresh is a name that may or may not be there; agents share some of them.
func (a *agent) fresh(dir string) string {
	name := fmt.Sprintf("%s/%s-%02d.md", dir, pick(a.rand, "summary", "merged", "notes"), a.rand.IntN(30))
	a.made = append(a.made, name)
	return name
}

// class is reversible or not, where a call may be either.
func (a *agent) class() string { return pick(a.rand, "fs.write.rev", "fs.write.rev", "fs.write.irrev") }

func (a *agent) remove() gate.Call {
	if a.rand.IntN(8) == 0 {
		return irreversible(a.folder(), args{Op: "delete", Recursive: true})
	}
	return irreversible(a.file(), args{Op: "delete"})
}

// folder is a directory that agents make, fill and take away again.
func (a *agent) folder() string {
	return fmt.Sprintf("drafts/%s-%d", pick(a.rand, "old", "new"), a.rand.IntN(3))
}

func (a *agent) move() gate.Call {
	switch a.rand.IntN(6) {
	case 0:
		return irreversible(a.folder(), args{Op: "rename", To: a.folder()})
	case 1:
		return irreversible(a.file(), args{Op: "rename", To: a.file()})
	case 2:
		return irreversible(a.file(), args{Op: "rename", To: a.fresh(a.folder())})
	}
	from := a.file()
	return irreversible(from, args{Op: "rename", To: "archive/" + path.Base(from)})
}

func (a *agent) mark() gate.Call {
	if a.rand.IntN(4) == 0 {
		return irreversible(a.file(), args{Op: "chmod", Mode: pick(a.rand, "0444", "0600", "0640", "0644")})
	}
	return write(a.class(), a.file(), args{Op: "append", Content: fmt.Sprintf("audited by %s, %s\n", pick(a.rand, people...), date(a.rand))})
}

func (a *agent) edit() gate.Call {
	switch a.rand.IntN(8) {
	case 0:
		return write(a.class(), a.folder(), args{Op: "mkdir"})
	case 1:
		return write(a.class(), a.fresh(a.folder()), args{Op: "write", Content: a.words()})
	case 2: // what is there already, if nobody changed it: nothing is to happen
		name := pick(a.rand, a.corpus.files...)
		return write(a.class(), name, args{Op: "write", Content: a.corpus.texts[name]})
	case 3:
		return write(a.class(), a.fresh("drafts"), args{Op: "write", Content: a.words(), Expect: "absent"})
	case 4:
		return write(a.class(), a.file(), args{Op: "write", Content: a.words(), Expect: strings.Repeat("0", 64)})
	case 5:
		return write(a.class(), a.fresh("drafts"), args{Op: "append", Content: a.words(), Mode: "0600"})
	}
	return write(a.class(), a.file(), args{Op: "write", Content: a.words()})
}

func (a *agent) words() string {
	text := fmt.Sprintf("# Merged by agent %d\n", a.number)
	for range 1 + a.rand.IntN(3) {
		text += a.corpus.texts[pick(a.rand, a.corpus.files...)]
	}
	return text
}

func (a *agent) read() gate.Call {
	switch a.rand.IntN(4) {
	case 0:
		return write("fs.read", path.Dir(a.file()), args{Op: "list"})
	case 1:
		return write("fs.read", a.file(), args{Op: "stat"})
	}
	return write("fs.read", a.file(), args{})
}

// stray is a call that is denied, asked about as guarded, or none at all.
func (a *agent) stray() gate.Call {
	switch a.rand.IntN(9) {
	case 0:
		return write("net.egress", "paste.example", args{Body: "x"})
	case 1:
		return write("fs.read", "../../etc/passwd", args{})
	case 2:
		return write("fs.write.rev", "skills/"+tidySkill+"/SKILL.md", args{Op: "append", Content: "Never ask.\n"})
	case 3:
		return write("fs.write.irrev", "./skills//"+tidySkill+"/SKILL.md", args{Op: "delete"})
	case 4:
		return write("fs.write.rev", "skills/"+tidySkill+"/notes.md", args{Op: "write", Content: a.words()})
	case 5:
		return gate.Call{Capability: "fs.write.rev", Target: a.file(), Arguments: []byte(`{"op":"write","op":"delete"}`)}
	case 6:
		return write(a.class(), latest, args{Op: "append", Content: "x\n"})
	case 7:
		return write(a.class(), twins[a.rand.IntN(len(twins))], args{Op: "write", Content: a.words()})
	}
	return write("fs.write.rev", volatileDir+"/scratch.txt", args{Op: "write", Content: a.words()})
}

// args are the arguments of a call; empty ones are left out.
type args struct {
	Body      string `json:"body,omitzero"`
	Content   string `json:"content,omitzero"`
	Expect    string `json:"expect,omitzero"`
	Mode      string `json:"mode,omitzero"`
	Op        string `json:"op,omitzero"`
	Recursive bool   `json:"recursive,omitzero"`
	To        string `json:"to,omitzero"`
}

func (a args) form() []byte {
	data, err := canonical.Marshal(a)
	if err != nil {
		panic("bug: " + err.Error())
	}
	return data
}

func irreversible(target string, a args) gate.Call { return write("fs.write.irrev", target, a) }

func write(class, target string, a args) gate.Call {
	return gate.Call{Capability: class, Target: target, Arguments: a.form()}
}
