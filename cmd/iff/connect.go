package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/iff-run/iff/capability"
	"github.com/iff-run/iff/internal/connect"
	"github.com/iff-run/iff/internal/home"
	"github.com/iff-run/iff/internal/visible"
	"github.com/iff-run/iff/label"
)

type connectCmd struct {
	Agent       string   `arg:"" enum:"opencode,claude-code,codex,qwen,gemini" help:"opencode, claude-code, codex, qwen or gemini."`
	Dir         string   `arg:"" optional:"" default:"." help:"The project: the directory the agent works in; by default this one."`
	Undo        bool     `help:"Take back exactly what connecting added." xor:"do"`
	DryRun      bool     `help:"Show what would change, and change nothing." xor:"do"`
	Yes         bool     `help:"Do not ask before writing."`
	Level       []string `help:"Where to close its tools, several with commas: managed is for every user of this machine; auto is managed where that can be written, as by root, else user,project." enum:"auto,user,project,managed" default:"auto" placeholder:"LEVEL"`
	Name        string   `help:"Name of the corpus, if the project is not under iff yet; work if that is free." placeholder:"NAME"`
	AgentBinary string   `help:"The agent's program, if it is not on PATH." placeholder:"FILE"`
	NoRun       bool     `help:"Do not run the agent to prove that it is closed."`
	passphraseFlags
}

type connectJSON struct {
	Agent   string               `json:"agent" doc:"which one"`
	Dir     string               `json:"dir" doc:"the project"`
	Home    string               `json:"home" doc:"directory of iff's home"`
	Levels  []string             `json:"levels" doc:"user, project or managed"`
	Dry     bool                 `json:"dry" doc:"nothing was changed: these are the changes that there would be"`
	Undone  bool                 `json:"undone" doc:"the agent was disconnected"`
	Corpus  string               `json:"corpus" doc:"the corpus that holds the project"`
	Skills  []adoptedJSON        `json:"skills" doc:"the skills found where the agent looks"`
	Changes []connectChangeJSON  `json:"changes" doc:"the files that were changed"`
	Checks  []connectFindingJSON `json:"checks" doc:"what is in force, and what stays open"`
	Proof   string               `json:"proof" doc:"what running the agent has shown: proved, open or not proved, and why"`
}

type connectChangeJSON struct {
	Path   string   `json:"path" doc:"as the agent names it"`
	Real   string   `json:"real" doc:"where a link there leads; else the same"`
	Was    bool     `json:"was" doc:"it was there before"`
	Gone   bool     `json:"gone" doc:"it is removed"`
	Shared bool     `json:"shared" doc:"another connection needs it, so it stays"`
	Diff   []string `json:"diff" doc:"unified, a line each"`
	Kept   []string `json:"kept" doc:"what somebody changed since, and is left alone"`
}

type connectFindingJSON struct {
	Status string `json:"status" doc:"ok, no (does not hold) or open (nothing closes it)"`
	What   string `json:"what" doc:"what was found"`
	Remedy string `json:"remedy" doc:"what to do"`
}

func (c connectCmd) Run(a *app) error {
	agent, place, err := c.place(a)
	if err != nil {
		return err
	}
	if c.Undo {
		return c.undo(a, agent, place)
	}
	levels, err := c.levels(agent, place)
	if err != nil {
		return err
	}
	r := &connecting{app: a, connectCmd: c, agent: agent, place: place, levels: levels, store: connect.NewStore(a.dir, nil)}
	return r.run()
}

func (c connectCmd) place(a *app) (connect.Agent, connect.Place, error) {
	agent, ok := connect.Find(c.Agent)
	if !ok {
		return agent, connect.Place{}, &usageError{reason: "usage", detail: "there is no agent " + c.Agent}
	}
	dir, err := filepath.Abs(c.Dir)
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return agent, connect.Place{}, &usageError{reason: "usage", detail: err.Error(), remedy: "name the directory that the agent works in"}
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return agent, connect.Place{}, &usageError{reason: "usage", detail: visible.Escape(dir) + " is no directory", remedy: "name the directory that the agent works in"}
	}
	user, err := os.UserHomeDir()
	if err != nil {
		return agent, connect.Place{}, err
	}
	exe, err := os.Executable()
	if err != nil {
		return agent, connect.Place{}, err
	}
	p := connect.Place{Home: user, Dir: dir, Etc: a.etc, Iff: exe}
	if a.dir != filepath.Join(user, ".iff") {
		p.IffHome = a.dir
	}
	return agent, p, nil
}

// levels are those that were asked for, each once, or else the strongest.
func (c connectCmd) levels(agent connect.Agent, p connect.Place) ([]connect.Level, error) {
	if slices.Equal(c.Level, []string{"auto"}) {
		return agent.Strongest(p), nil
	}
	if slices.Contains(c.Level, "auto") || len(c.Level) == 0 {
		return nil, &usageError{reason: "usage", detail: "--level auto stands alone", remedy: "name levels, such as --level user,project, or none"}
	}
	var out []connect.Level
	for _, l := range []connect.Level{connect.Managed, connect.User, connect.Project} {
		if slices.Contains(c.Level, string(l)) {
			out = append(out, l)
		}
	}
	return out, nil
}

// confirm asks on the terminal.
func (c connectCmd) confirm(a *app, question string) error {
	if c.Yes {
		return nil
	}
	if !isTerminal(a.stdin) {
		return &usageError{reason: "usage", detail: "nothing was changed: there is no terminal to ask on", remedy: "read what would change, then add --yes"}
	}
	fmt.Fprintf(a.err, "%s [y/N] ", question)
	line, err := bufio.NewReader(a.stdin).ReadString('\n')
	if answer := strings.ToLower(strings.TrimSpace(line)); err == nil && (answer == "y" || answer == "yes") {
		return nil
	}
	return &usageError{reason: "interrupted", detail: "nothing was changed"}
}

// connecting is one run of the verb.
type connecting struct {
	*app
	connectCmd
	agent  connect.Agent
	place  connect.Place
	levels []connect.Level
	store  *connect.Store
	plan   *connect.Plan
	ground connect.Ground
	fresh  bool // there is no home yet
	out    connectJSON
}

func (r *connecting) run() error {
	r.out = connectJSON{Agent: r.agent.Name, Dir: r.place.Dir, Home: r.dir, Dry: r.DryRun, Skills: []adoptedJSON{}, Changes: []connectChangeJSON{}, Checks: []connectFindingJSON{}}
	for _, l := range r.levels {
		r.out.Levels = append(r.out.Levels, string(l))
	}
	if err := r.prepare(); err != nil {
		return err
	}
	r.show()
	if r.DryRun {
		return r.print(r.out, func() error { return r.printDry() })
	}
	if r.needed() {
		if err := r.confirm(r.app, "write this?"); err != nil {
			return err
		}
	}
	for _, step := range []func() error{r.lay, r.adopt, r.apply, r.prove} {
		if err := step(); err != nil {
			return err
		}
	}
	return r.report()
}

// prepare works out everything that will change.
func (r *connecting) prepare() (err error) {
	if r.plan, err = connect.Prepare(r.agent, r.place, r.levels); err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(r.dir, "iff.toml")); err != nil {
		r.fresh = true
		r.out.Corpus = capability.DefaultCorpus
		if r.Name != "" {
			r.out.Corpus = r.Name
		}
		plan, err := r.home()
		if err != nil {
			return err
		}
		return home.CheckPlan(r.dir, plan)
	}
	return r.withHome(home.Read, func(h *home.Home) error {
		if r.ground, err = connect.Survey(h, r.place.Dir); err != nil {
			return err
		}
		if r.ground.New && r.Name != "" {
			r.ground, err = r.ground.Called(r.Name)
		}
		r.out.Corpus = r.ground.Corpus
		return errors.Join(err, r.plan.Watch(r.dir))
	})
}

func (r *connecting) home() (home.Plan, error) {
	scheme, ok := label.Builtin("default")
	if !ok {
		return home.Plan{}, errors.New("there is no scheme default")
	}
	return home.Plan{Operator: "me", Scheme: scheme, Corpora: []home.CorpusPlan{{Name: r.out.Corpus, Root: r.place.Dir}}}, nil
}

// needed says whether there is anything to write.
func (r *connecting) needed() bool {
	return r.fresh || !r.ground.Ready() || len(r.plan.Changed()) > 0
}

// lay makes the home, or what it lacks.
func (r *connecting) lay() error {
	if !r.fresh {
		if r.ground.Ready() {
			return nil
		}
		if err := r.notTaken(); err != nil {
			return err
		}
		if err := r.ground.Lay(r.ctx, r.dir, home.Options{Now: r.now}, r.source(r.app)); err != nil {
			return err
		}
		return r.plan.Watch(r.dir)
	}
	plan, err := r.home()
	if err != nil {
		return err
	}
	if plan.Passphrase, err = r.choose(r.app, "one passphrase for the root, me and approver keys"); err != nil {
		return err
	}
	h, err := home.Init(r.ctx, r.dir, plan, home.Options{Now: r.now})
	if err != nil {
		return err
	}
	ground, err := connect.Survey(h, r.place.Dir)
	if err := errors.Join(err, h.Close()); err != nil {
		return err
	}
	if len(ground.Grants) > 0 { // the corpus is not called work
		pass := plan.Passphrase
		ground.New, ground.Inbox = false, false
		if err := ground.Lay(r.ctx, r.dir, home.Options{Now: r.now}, func(string) ([]byte, error) { return pass, nil }); err != nil {
			return err
		}
	}
	return r.plan.Watch(r.dir)
}

// apply writes the agent's files and the list of those that are watched.
func (r *connecting) apply() error {
	if len(r.plan.Changed()) == 0 {
		if known, err := r.store.Find(r.agent.Name, r.place); err != nil || known != nil {
			return err
		}
	}
	var signed bool
	if err := r.withHome(home.Read, func(h *home.Home) (err error) { signed, err = h.Signed(); return err }); err != nil {
		return err
	}
	known, err := r.store.Find(r.agent.Name, r.place)
	if err != nil {
		return err
	}
	if err := r.store.Apply(r.plan); err != nil {
		return err
	}
	err = connect.Resign(r.ctx, r.dir, home.Options{Now: r.now}, signed, r.source(r.app))
	if err != nil && known == nil { // a home that does not open closes the agent for nothing
		_, undone := r.store.Undo(r.agent.Name, r.place, nil)
		err = errors.Join(err, undone)
	}
	return err
}
