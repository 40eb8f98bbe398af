package e2e

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/iff-run/iff/internal/connect/model"
)

// story is one agent, from before it is connected until after it is disconnected.
type story struct {
	*world
	agent agent
	given map[string]bool // files of the project before the agent ran for the first time
}

func newStory(t *testing.T, a agent) *story {
	s := &story{world: newWorld(t), agent: a}
	if r := s.run(20*time.Second, "git", "init", "-q"); r.err != nil {
		t.Fatal(r.out)
	}
	for path, text := range a.files {
		s.put(path, text)
	}
	for path, text := range map[string]string{"notes.txt": "the notes\n", "old.txt": "old\n", "keep.txt": "keep\n"} {
		s.put("project/"+path, text)
	}
	s.put("elsewhere/secret.txt", "SECRET\n")
	for i, dir := range a.skills {
		name := skillName(i)
		s.put(dir+"/"+name+"/SKILL.md", fmt.Sprintf("---\nname: %s\ndescription: Skill number %d.\n---\nBODY-%s of %s\n", name, i, name, dir))
	}
	s.given = s.files()
	return s
}

func skillName(i int) string { return fmt.Sprintf("greet-%d", i) }

// alone is the agent before anybody has connected it, in a world of its own: in the other one it has never run.
func (s *story) alone() {
	if wrote, executed := s.builtins(); !wrote || !executed {
		s.t.Fatalf("before connect a built-in tool has no effect: write %v, shell %v", wrote, executed)
	}
	s.forget("w.txt", "sh.txt")
	s.t.Logf("%s by itself leaves in the project: %v", s.agent.name, s.appeared(s.given))
}

// tell is the story.
func (s *story) tell() {
	s.connect()
	s.quicken()
	connected := s.files()
	s.work()
	s.t.Logf("%s with iff leaves in the project: %v", s.agent.name, s.appeared(connected))
	s.verdict("PASS")

	s.put("project/notes.txt", "written behind its back\n")
	s.verdict("FAIL", "bypass", "notes.txt")
	s.append(s.agent.control, "\n")
	s.verdict("FAIL", "tamper", s.agent.control)
	s.put(s.agent.skills[len(s.agent.skills)-1]+"/planted/SKILL.md", "---\nname: planted\ndescription: x\n---\nObey.\n")
	s.verdict("FAIL", "tamper", "planted/SKILL.md")

	s.iff("connect", s.agent.name, s.project, "--undo", "--yes", "--passphrase-file", s.dir+"/pass")
	s.forget("w.txt", "sh.txt")
	if wrote, executed := s.builtins(); !wrote || !executed {
		s.t.Errorf("after --undo a built-in tool has no effect: write %v, shell %v", wrote, executed)
	}
}

// connect puts the agent behind iff, which proves what it did by running the agent.
func (s *story) connect() {
	s.t.Helper()
	out := s.iff("connect", s.agent.name, s.project, "--level", "user,project", "--yes", "--passphrase-file", s.dir+"/pass")
	for line := range strings.Lines(out) {
		for _, word := range []string{"ok ", "open ", "note ", "proved:"} {
			if strings.HasPrefix(line, word) {
				s.t.Log(strings.TrimSpace(line))
			}
		}
	}
	if !strings.Contains(out, "\nproved: "+s.agent.name+" offers iff's ") {
		s.t.Errorf("iff connect has not proved that %s is closed:\n%s", s.agent.name, ran{out: out}.tail())
	}
}

// expected is a step and how it has to end.
type expected struct {
	model.Step
	holds  string // in the result
	denied bool
}

// work is the run behind iff: built-in tools are gone, iff's work, and what is denied is told as that.
func (s *story) work() {
	s.t.Helper()
	plan := s.plan()
	var steps []step
	for _, e := range plan {
		steps = append(steps, e.Step)
	}
	a := s.answering(func(q question) bool { return q.target == "old.txt" })
	p := s.play(steps...)
	asked := a.close()
	if wrote, executed := s.effects(); wrote || executed {
		s.t.Errorf("behind iff a built-in tool has an effect: write %v, shell %v", wrote, executed)
	}
	if left := s.foreign(p); len(left) > 0 || len(p.offered) == 0 {
		s.t.Errorf("offered are %v; not iff's: %v", p.offered, left)
	}
	for i, e := range plan {
		text := p.results[i]
		denied := strings.Contains(text, "denied") || strings.Contains(text, "refused")
		if !strings.Contains(text, e.holds) || strings.Contains(text, "SECRET") || i > 1 && denied != e.denied {
			s.t.Errorf("step %d, %s %v: the model is told %q", i, e.Tool, e.Args, text)
		}
	}
	if len(asked) != 3 {
		s.t.Errorf("asked were %v; want the deletion of old.txt and of keep.txt, and %s", asked, s.agent.control)
	}
	for path, want := range map[string]string{"new.txt": "new", "keep.txt": "keep\n", "old.txt": ""} {
		if got, _ := s.get("project/" + path); got != want {
			s.t.Errorf("%s holds %q, want %q", path, got, want)
		}
	}
}

func (s *story) plan() []expected {
	built := s.builtinSteps()
	iff := func(holds string, denied bool, tool string, words ...string) expected {
		args := arguments{}
		for i := 0; i < len(words); i += 2 {
			args[words[i]] = words[i+1]
		}
		return expected{s.agent.iff(tool, args), holds, denied}
	}
	plan := []expected{
		{Step: built[0]}, {Step: built[1]},
		iff("the notes", false, "fs_read", "path", "notes.txt"),
		iff("", false, "fs_write", "path", s.project+"/new.txt", "content", "new"),
		iff("", true, "fs_read", "path", s.dir+"/elsewhere/secret.txt"),
		iff("", true, "fs_write", "path", s.agent.control, "content", "{}"),
		iff("", false, "fs_delete", "path", "old.txt"),
		iff("", true, "fs_delete", "path", "keep.txt"),
	}
	for i, dir := range s.agent.skills {
		name := skillName(i)
		plan = append(plan,
			iff(name, false, "list_skills"),
			iff("BODY-"+name+" of "+dir, false, "use_skill", "name", name),
			iff("BODY-"+name+" of "+dir, false, "read_skill_file", "name", name, "path", "SKILL.md"))
	}
	return append(plan, iff("", false, "end_round"))
}

// verdict sees that the verdict is as it has to be, and names all words.
func (s *story) verdict(result string, words ...string) {
	s.t.Helper()
	r := s.run(time.Minute, built.iff, "verdict")
	ok := strings.HasPrefix(r.stdout, result) && (r.code == 0) == (result == "PASS")
	for _, word := range words {
		ok = ok && strings.Contains(r.stdout, word)
	}
	if !ok {
		s.t.Errorf("want %s %v, exit %d:\n%s", result, words, r.code, r.tail())
	}
}

// append writes to the end of a file of the project, behind iff's back.
func (s *story) append(path, text string) {
	s.t.Helper()
	f, err := os.OpenFile(filepath.Join(s.project, path), os.O_APPEND|os.O_WRONLY, 0)
	if err == nil {
		_, err = f.WriteString(text)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		s.t.Error(err)
	}
}

// forget takes files of the project away.
func (s *story) forget(paths ...string) {
	for _, path := range paths {
		if err := os.Remove(filepath.Join(s.project, path)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			s.t.Fatal(err)
		}
	}
}
