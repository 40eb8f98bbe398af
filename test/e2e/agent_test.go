package e2e

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/iff-run/iff/internal/connect/model"
)

// arguments are those of a tool.
type arguments = map[string]any

// step is one thing that the played model says: call this tool.
type step = model.Step

// agent is what the story has to know about one of them. Paths of files, skills and control are below the world's directory, and
// control's below the project.
type agent struct {
	name     string                              // as iff connect knows it
	words    func(url, prompt string) []string   // one run without a person, with the most permissive flag that there is
	env      func(url string) []string           // where the model is
	files    map[string]string                   // what its user has configured before
	skills   []string                            // directories in which it looks for skills; the last one is the user's, and guarded
	control  string                              // the file by which the project tells it what it may do
	write    func(path, text string) step        // its built-in tools
	shell    func(command string) step           //
	iff      func(tool string, a arguments) step // a tool of iff mcp
	mine     string                              // how the names of iff's tools begin
	harmless func(tool string) bool              // built-in tools that stay offered and touch nothing that counts; may be nil
}

// TestAgents tells the same story of each agent.
func TestAgents(t *testing.T) {
	for _, a := range []agent{opencode(), claude(), codex(), qwen(), gemini()} {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			newStory(t, a).alone()
			newStory(t, a).tell()
		})
	}
}

// played is what came of one run.
type played struct {
	offered []string // tools, as the first request names them
	results []string // of the steps, as the model was told them
}

// play runs the agent once while the model says the steps.
func (s *story) play(steps ...step) played {
	s.t.Helper()
	m, err := model.Start(s.t.Context(), model.Script{Main: steps})
	if err != nil {
		s.t.Fatal(err)
	}
	begin := time.Now()
	r := s.runWith(150*time.Second, s.agent.env(m.URL()), s.agent.words(m.URL(), "do the task")...)
	if err := m.Close(); err != nil {
		s.t.Error(err)
	}
	made := 0
	for _, r := range m.Requests() {
		if r.Who == model.Main {
			made = max(made, r.Step)
		}
	}
	s.t.Logf("%s: %d steps in %v", s.agent.name, made, time.Since(begin).Round(100*time.Millisecond))
	if r.err != nil || made < len(steps) {
		s.t.Fatalf("%s has made %d of %d steps: %v\n%s", s.agent.name, made, len(steps), r.err, r.tail())
	}
	return played{m.Offered(), m.Results()}
}

// builtins has the agent use its own tools, and says which of them had an effect.
func (s *story) builtins() (wrote, executed bool) {
	s.t.Helper()
	s.play(s.builtinSteps()...)
	return s.effects()
}

func (s *story) builtinSteps() []step {
	return []step{
		s.agent.write(filepath.Join(s.project, "w.txt"), "WRITTEN"),
		s.agent.shell("echo EXECUTED > '" + filepath.Join(s.project, "sh.txt") + "'"),
	}
}

func (s *story) effects() (wrote, executed bool) {
	w, _ := s.get("project/w.txt")
	e, _ := s.get("project/sh.txt")
	return strings.Contains(w, "WRITTEN"), strings.Contains(e, "EXECUTED")
}

// foreign are the tools offered that are neither iff's nor known to be harmless.
func (s *story) foreign(p played) []string {
	return slices.DeleteFunc(slices.Clone(p.offered), func(tool string) bool {
		return strings.HasPrefix(tool, s.agent.mine) || s.agent.harmless != nil && s.agent.harmless(tool)
	})
}
