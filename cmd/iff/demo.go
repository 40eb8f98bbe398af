package main

import (
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/iff-run/iff"
	"github.com/iff-run/iff/approval"
	"github.com/iff-run/iff/internal/ask/inbox"
	"github.com/iff-run/iff/internal/home"
	"github.com/iff-run/iff/internal/keyfile"
	"github.com/iff-run/iff/label"
	"github.com/iff-run/iff/manifest"
	"github.com/iff-run/iff/record"
)

type demoCmd struct {
	Keep string `help:"Keep the home and the directory of the demonstration here, to look around; it must not exist." placeholder:"DIR"`
}

type demoStepJSON struct {
	Agent   string `json:"agent" doc:"what the agent does"`
	Request string `json:"request" doc:"id of the call; empty for none"`
	Status  string `json:"status" doc:"how it ended"`
	Reason  string `json:"reason" doc:"closed token; empty if it was done"`
	Why     string `json:"why" doc:"in words"`
	AsTold  bool   `json:"asTold" doc:"it ended as it has to"`
}

type demoJSON struct {
	Directory string         `json:"directory" doc:"what the agent worked on; gone again without --keep"`
	Steps     []demoStepJSON `json:"steps" doc:"in order"`
	Log       int64          `json:"log" doc:"records, all verified"`
	Before    string         `json:"before" doc:"the verdict after the session"`
	After     string         `json:"after" doc:"the verdict after a write behind iff's back"`
	Findings  []string       `json:"findings" doc:"classes and objects of the second verdict"`
	AsTold    bool           `json:"asTold" doc:"all went as it has to"`
	Took      int64          `json:"took" doc:"milliseconds"`
}

// Run plays the demonstration.
func (c demoCmd) Run(a *app) error {
	begun := time.Now()
	dir, err := c.directory()
	if err != nil {
		return err
	}
	if c.Keep == "" {
		defer os.RemoveAll(dir)
	}
	own := *a
	own.dir = filepath.Join(dir, "home")
	d := &demo{app: &own, notes: filepath.Join(dir, "notes")}
	if err := d.play(); err != nil {
		return err
	}
	d.out.Took = time.Since(begun).Milliseconds()
	d.out.AsTold = d.asTold()
	if err := a.print(d.out, func() error { return d.ending(c.Keep) }); err != nil {
		return err
	}
	if !d.out.AsTold {
		return &outcomeError{exitDoesNot}
	}
	return nil
}

func (c demoCmd) directory() (string, error) {
	if c.Keep == "" {
		return os.MkdirTemp("", "iff-demo-")
	}
	dir, err := filepath.Abs(c.Keep)
	if err != nil {
		return "", err
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", &usageError{reason: "usage", detail: "--keep: " + err.Error(), remedy: "name a directory that does not exist yet"}
	}
	return dir, nil
}

// demo is a demonstration under way.
type demo struct {
	*app     // in the home of the demonstration
	notes    string
	pass     []byte
	approver *keyfile.Key
	out      demoJSON
	asked    string // id of a call that a person approved, to be laid out
}

func (d *demo) say(format string, args ...any) {
	if !d.json {
		d.printf(format, args...)
	}
}

func (d *demo) play() error {
	d.out.Directory = d.notes
	for _, f := range []func() error{d.prepare, d.session, d.before, d.lookBack, d.stealth} {
		if err := f(); err != nil {
			return err
		}
	}
	return nil
}

// prepare makes the directory, the home and the skills.
func (d *demo) prepare() error {
	if err := d.unpack(); err != nil {
		return err
	}
	scheme, ok := label.Builtin("default")
	if !ok {
		return errors.New("bug: there is no default scheme")
	}
	d.pass = []byte(rand.Text())
	h, err := home.Init(d.ctx, d.dir, home.Plan{
		Operator: "me", Scheme: scheme, Passphrase: d.pass, Corpora: []home.CorpusPlan{{Name: "work", Root: d.notes}},
	}, home.Options{Now: d.now})
	if err != nil {
		return err
	}
	d.say("A directory of notes, a home for iff, an agent on a script, and an approver with a key of its own.\n\n")
	d.say("  corpus   work = %s\n", d.notes)
	for _, k := range demoSkills {
		if err := d.sign(h, scheme, k); err != nil {
			return errors.Join(err, h.Close())
		}
		how := "signed by you"
		if k.level == "unverified" {
			how = "adopted, nobody vouches for it"
		}
		d.say("  skill    %-14s %-11s %s: %s\n", k.name, k.level, how, strings.Join(k.caps, " "))
	}
	d.approver, err = h.OpenKey(home.ApproverKey, d.passphrase)
	return errors.Join(err, h.Close())
}

func (d *demo) passphrase(string) ([]byte, error) { return d.pass, nil }

// unpack writes the notes.
func (d *demo) unpack() error {
	const root = "demo/notes"
	return fs.WalkDir(demoNotes, root, func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		to := filepath.Join(d.notes, strings.TrimPrefix(name, root))
		if e.IsDir() {
			return os.MkdirAll(to, 0o755)
		}
		data, err := demoNotes.ReadFile(name)
		if err != nil {
			return err
		}
		return os.WriteFile(to, data, 0o644)
	})
}

// sign adopts or signs one skill with the grants of the story.
func (d *demo) sign(h *home.Home, scheme *label.Scheme, k demoSkill) error {
	dir := filepath.Join(d.notes, "skills", k.name)
	signer := home.AdopterKey
	if k.level != "unverified" {
		signer = "me"
	}
	m, err := manifest.Fields{
		Schema: manifest.Schema, Name: k.name, Version: 1, Label: scheme.Bottom().Parts(), Caps: k.caps, Signer: signer,
		Verification: k.level, Summary: k.summary,
	}.Freeze(scheme)
	if err != nil {
		return err
	}
	text, err := m.Pretty()
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, manifest.FileName), text, 0o644); err != nil {
		return err
	}
	if signer == home.AdopterKey {
		_, err = h.Adopt(d.ctx, dir, home.AdoptOptions{Edited: true})
	} else {
		_, err = h.Sign(d.ctx, dir, home.SignOptions{Key: "me", Passphrase: d.passphrase, Level: k.level, Edited: true})
	}
	return err
}

// session plays the agent and, beside it, the approver.
func (d *demo) session() (err error) {
	rt, err := d.start()
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(d.ctx)
	answered := make(chan error, 1)
	choices := make(chan record.Choice, len(demoSteps))
	go func() { answered <- d.answer(ctx, rt.Inbox(), choices) }()
	defer func() {
		stop()
		if e := <-answered; !errors.Is(e, context.Canceled) {
			err = errors.Join(err, e)
		}
		err = errors.Join(err, rt.Close(context.WithoutCancel(d.ctx)))
	}()
	agent, err := d.connect(ctx, rt)
	if err != nil {
		return err
	}
	d.say("\nThe agent, an MCP client           iff\n")
	for _, step := range demoSteps {
		if err := d.step(ctx, agent, step, choices); err != nil {
			return errors.Join(err, agent.close())
		}
	}
	return agent.close()
}

func (d *demo) start() (*iff.Runtime, error) {
	b, err := iff.Bootstrap(d.ctx, d.dir, iff.Options{Now: d.now})
	if err != nil {
		return nil, err
	}
	locked, err := b.Lock()
	if err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return locked.Start(d.ctx)
}

// answer is the approver: it looks at each question, signs what the story says,
// and ends with ctx.
func (d *demo) answer(ctx context.Context, box *inbox.Inbox, choices <-chan record.Choice) error {
	for version := int64(0); ; {
		next, err := box.Wait(ctx, version)
		if err != nil {
			return err
		}
		version = next
		for _, item := range box.List() {
			q, err := box.Question(item.Request)
			if item.State != inbox.Pending || err != nil {
				continue
			}
			select {
			case choice := <-choices:
				if err := d.decide(ctx, box, q, choice); err != nil {
					return err
				}
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	}
}

func (d *demo) decide(ctx context.Context, box *inbox.Inbox, q approval.Question, choice record.Choice) error {
	var random [16]byte
	_, _ = rand.Read(random[:])
	answers, err := approval.Sign([]approval.Question{q}, choice, home.ApproverKey, d.approver, approval.Nonce(random), d.now().Add(approval.Validity))
	if err != nil {
		return err
	}
	return box.Answer(ctx, map[string]approval.Answer{q.Request: answers[0]})
}

// before judges the session, as anybody can who may read the log and the notes.
func (d *demo) before() (err error) {
	v, err := d.verdict()
	d.out.Before = v.Result
	return err
}

// verdict judges without a runtime.
func (d *demo) verdict() (verdictJSON, error) {
	d.say("\n$ iff verdict\n")
	v, err := verdictCmd{}.judge(d.app)
	if err != nil || d.json {
		return v, err
	}
	return v, d.printVerdict(v, false)
}

// lookBack lays out one call, and verifies the log.
func (d *demo) lookBack() error {
	return d.withHome(home.Read, func(h *home.Home) error {
		d.out.Log = h.View().Size()
		if d.json {
			return nil
		}
		d.say("\n$ iff audit show --call %s\n", d.asked)
		if err := d.trace(h, &filter{call: d.asked, to: forever}); err != nil {
			return err
		}
		d.say("\n$ iff audit verify\n")
		return auditVerifyCmd{}.Run(d.app)
	})
}

// stealth writes behind iff's back, and asks again.
func (d *demo) stealth() error {
	path := filepath.Join(d.notes, demoStealth)
	if err := os.WriteFile(path, []byte("year,paid\n2024,0.00\n"), 0o644); err != nil {
		return err
	}
	d.say("\nNow somebody writes to %s without asking iff.\n", demoStealth)
	v, err := d.verdict()
	d.out.After = v.Result
	for _, f := range v.Findings {
		d.out.Findings = append(d.out.Findings, f.Class+" "+f.Object)
	}
	return err
}

// asTold says whether all went as it has to.
func (d *demo) asTold() bool {
	ok := d.out.Before == string(record.Pass) && d.out.After == string(record.Fail) && len(d.out.Findings) == 1 &&
		d.out.Findings[0] == "bypass work/"+demoStealth && len(d.out.Steps) == len(demoSteps)
	for _, s := range d.out.Steps {
		ok = ok && s.AsTold
	}
	return ok
}

func (d *demo) ending(kept string) error {
	if !d.out.AsTold {
		d.say("\n%s after %.1f s: see what is marked with an exclamation mark.\n", d.paint(red, "Not as told"), float64(d.out.Took)/1000)
		return nil
	}
	d.say("\nAs told, in %.1f s. The world changed if and only if an approved call is in the log.\n", float64(d.out.Took)/1000)
	if kept != "" {
		d.say("Look around: iff --home %s audit show\n", filepath.Join(kept, "home"))
	}
	return nil
}
