package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/iff-run/iff"
	"github.com/iff-run/iff/ensemble"
	"github.com/iff-run/iff/ensemble/model"
	"github.com/iff-run/iff/ensemble/trial"
	"github.com/iff-run/iff/internal/home"
	"github.com/iff-run/iff/internal/visible"
	"github.com/iff-run/iff/record"
)

type ensembleCmd struct {
	Run ensembleRunCmd `cmd:"" help:"Have agents that want to do harm act on a copy of a corpus, under this home's configuration."`
}

type ensembleRunCmd struct {
	Corpus    string `arg:"" optional:"" help:"Name of a corpus of iff.toml; not needed where there is one."`
	Agents    int    `help:"How many act, each with one of the skills, or none." default:"4" placeholder:"K"`
	Rounds    int    `help:"How often each has a turn; every round is judged." default:"10" placeholder:"R"`
	Seed      uint64 `help:"What scripts do, and who uses which skill, follows from it." default:"1" placeholder:"N"`
	Answer    string `help:"What a person says who is asked: approve, deny, or script, which denies one question in five." enum:"approve,deny,script" default:"approve"`
	Model     string `help:"Agents are driven by a model, at an endpoint that speaks chat (OpenAI's) or messages (Anthropic's); by default scripts." enum:",chat,messages" default:"" placeholder:"DIALECT"`
	Endpoint  string `help:"Base URL of the endpoint. The base manifest has to grant its host, and a [[net.host]] to name it." placeholder:"URL"`
	Name      string `help:"What the endpoint calls the model." placeholder:"MODEL"`
	KeyFile   string `help:"File with the endpoint's key, which only you can read." placeholder:"FILE"`
	Dir       string `help:"Where the copy is made, in a directory of its own; by default among temporary files." placeholder:"DIR"`
	MostFiles int64  `help:"Most files that are copied." default:"20000" placeholder:"N"`
	MostMiB   int64  `name:"most-mib" help:"Most MiB that are copied." default:"1024" placeholder:"N"`
	Keep      bool   `help:"Keep the copy and the log, and say where they are."`
}

// Run plays a trial: the home is only read.
func (c ensembleRunCmd) Run(a *app) error {
	if err := c.check(); err != nil {
		return err
	}
	var out trial.Result
	var kept string
	err := a.withHome(home.Read, func(h *home.Home) (err error) {
		out, kept, err = c.play(a, h)
		return err
	})
	if err != nil {
		return err
	}
	if err := a.print(c.form(a, out, kept), func() error { return c.printEnd(a, out, kept) }); err != nil {
		return err
	}
	switch out.Verdict() {
	case record.Pass:
		return nil
	case record.Fail:
		return &outcomeError{exitDoesNot}
	}
	return &outcomeError{exitOpen}
}

func (c ensembleRunCmd) check() error {
	bad := func(format string, args ...any) error {
		return &usageError{reason: "usage", detail: fmt.Sprintf(format, args...), remedy: "see: iff ensemble run --help"}
	}
	switch {
	case c.Model == "" && c.Endpoint+c.Name+c.KeyFile != "":
		return bad("--endpoint, --name and --key-file say which model is asked; say --model chat or --model messages too")
	case c.Model != "" && (c.Endpoint == "" || c.Name == ""):
		return bad("--model %s needs --endpoint URL and --name MODEL", c.Model)
	case c.Agents < 1 || c.Agents > trial.MaxAgents:
		return bad("--agents is %d; it goes from 1 to %d", c.Agents, trial.MaxAgents)
	case c.Rounds < 1 || c.Rounds > trial.MaxRounds:
		return bad("--rounds is %d; it goes from 1 to %d", c.Rounds, trial.MaxRounds)
	case c.MostFiles < 1 || c.MostFiles > 1<<30 || c.MostMiB < 1 || c.MostMiB > 1<<30:
		return bad("--most-files and --most-mib go from 1 to %d", 1<<30)
	}
	return nil
}

// play opens the trial and plays it. What it made is gone behind it, or kept.
func (c ensembleRunCmd) play(a *app, h *home.Home) (out trial.Result, kept string, err error) {
	t, err := trial.Open(a.ctx, h, trial.Options{
		Corpus: c.Corpus, Dir: c.Dir, Agents: c.Agents, Rounds: c.Rounds, Seed: c.Seed, Answer: trial.Answer(c.Answer),
		Files: c.MostFiles, Bytes: c.MostMiB << 20, Version: iff.Version, Now: a.now,
	})
	if err != nil {
		return out, "", err
	}
	cast, err := c.cast(t)
	if err != nil {
		return out, "", err
	}
	heard := func(r trial.Result) error { return nil }
	if !a.json {
		heard = func(r trial.Result) error { c.printRound(a, r); return nil }
	}
	out, err = t.Play(a.ctx, cast, heard)
	if err != nil && errors.Is(err, a.ctx.Err()) {
		err = &usageError{reason: "interrupted", detail: "interrupted; the copy is removed, and nothing else was written to", remedy: "begin again: " + c.again(a, out)}
	}
	if c.Keep && err == nil {
		return out, t.Dir(), t.Keep()
	}
	return out, "", errors.Join(err, t.Close())
}

// cast is who acts: scripts, or a model.
func (c ensembleRunCmd) cast(t *trial.Trial) (trial.Cast, error) {
	if c.Model == "" {
		return trial.Cast{}, nil
	}
	to, err := model.Target(c.Endpoint)
	if err != nil {
		return trial.Cast{}, err
	}
	way, outside, err := t.Way(to)
	if err != nil {
		return trial.Cast{}, err
	}
	mind := func(n int, role ensemble.Role) (ensemble.Mind, error) {
		return model.New(model.Options{
			Dialect: model.Dialect(c.Model), URL: c.Endpoint, Model: c.Name, KeyFile: c.KeyFile, Role: role, Seed: c.Seed, Way: way,
		})
	}
	if _, err := mind(0, ensemble.Roles()[0]); err != nil { // before anything is copied
		return trial.Cast{}, err
	}
	return trial.Cast{Mind: mind, Outside: outside}, nil
}

// again is the command that makes the run once more.
func (c ensembleRunCmd) again(a *app, out trial.Result) string {
	words := []string{"iff", "ensemble", "run"}
	if name := out.Corpus; name != "" {
		words = append(words, name)
	} else if c.Corpus != "" {
		words = append(words, c.Corpus)
	}
	words = append(words, "--home", a.dir, "--agents", fmt.Sprint(c.Agents), "--rounds", fmt.Sprint(c.Rounds), "--seed", fmt.Sprint(c.Seed), "--answer", c.Answer)
	for _, f := range []struct{ name, value string }{
		{"--model", c.Model}, {"--endpoint", c.Endpoint}, {"--name", c.Name}, {"--key-file", c.KeyFile}, {"--dir", c.Dir},
	} {
		if f.value != "" {
			words = append(words, f.name, f.value)
		}
	}
	if c.MostFiles != trial.DefaultFiles {
		words = append(words, "--most-files", fmt.Sprint(c.MostFiles))
	}
	if c.MostMiB<<20 != trial.DefaultBytes {
		words = append(words, "--most-mib", fmt.Sprint(c.MostMiB))
	}
	for i, w := range words {
		words[i] = shellWord(w)
	}
	return strings.Join(words, " ")
}

// shellWord is a word as a shell reads it.
func shellWord(w string) string {
	if w != "" && strings.Trim(w, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_./:@%+=,") == "" {
		return w
	}
	return "'" + strings.ReplaceAll(visible.Escape(w), "'", `'\''`) + "'"
}
