package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/iff-run/iff/approval"
	"github.com/iff-run/iff/capability"
	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/internal/ask/inbox"
	"github.com/iff-run/iff/internal/canonical"
	"github.com/iff-run/iff/internal/home"
	"github.com/iff-run/iff/internal/serve"
	"github.com/iff-run/iff/record"
)

// asker is a runtime that does nothing but ask: the real inbox behind the real
// operator's socket.
type asker struct {
	serve.Operator // what is not asked of it here
	box            *inbox.Inbox
	log            string
	server         *serve.Server
	ctx            context.Context
	stop           context.CancelFunc
	work           sync.WaitGroup

	mu      sync.Mutex
	answers map[string]approval.Answer // by request, of what ended
	late    []string
}

func newAsker(dir string) (*asker, error) {
	h, err := home.Open(context.Background(), dir, home.Read, home.Options{})
	if err != nil {
		return nil, err
	}
	root := h.Root()
	k := &asker{log: h.Config().Log.Origin, answers: map[string]approval.Answer{}}
	k.ctx, k.stop = context.WithCancel(context.Background())
	k.box = inbox.New(inbox.Options{
		Check: func(q approval.Question, a approval.Answer) error { return q.Check(a, root, time.Now()) },
		Late:  k.noteLate,
	})
	if err := h.Close(); err != nil {
		return nil, err
	}
	if k.server, err = serve.Listen(h.SocketDir(), serve.Options{Agents: noAgents{}, Operator: k}); err != nil {
		return nil, err
	}
	k.work.Go(func() { _ = k.server.Serve(k.ctx) })
	return k, nil
}

type noAgents struct{ serve.Agents }

func (k *asker) Close() error {
	k.stop()
	err := k.server.Close()
	k.work.Wait()
	return err
}

func (k *asker) noteLate(request string, _ approval.Answer) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.late = append(k.late, request)
	return nil
}

// ask asks one question and notes how it ends.
func (k *asker) ask(q approval.Question) {
	k.work.Go(func() {
		answers, err := k.box.Ask(k.ctx, []approval.Question{q})
		if err != nil {
			return
		}
		k.mu.Lock()
		defer k.mu.Unlock()
		k.answers[q.Request] = answers[0]
	})
}

// patience is how long tests wait for what has to come, on a machine however busy.
const patience = 2 * time.Minute

// outcome waits until a question has ended.
func (k *asker) outcome(id string) (approval.Answer, bool) {
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		k.mu.Lock()
		a, ok := k.answers[id]
		k.mu.Unlock()
		if ok {
			return a, true
		}
	}
	return approval.Answer{}, false
}

// waiting waits until a question is there.
func (k *asker) waiting(id string) bool {
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if _, err := k.box.Question(id); err == nil {
			return true
		}
	}
	return false
}

func (k *asker) lateOnes() []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return append([]string(nil), k.late...)
}

// elsewhere denies a question as another program of the operator would.
func (k *asker) elsewhere(id string) error {
	return k.box.Answer(k.ctx, map[string]approval.Answer{id: denial()})
}

func (k *asker) Status(context.Context) (serve.Status, error) { return serve.Status{Log: k.log}, nil }

func (k *asker) Inbox(ctx context.Context) (serve.Inbox, error) {
	ended, stop := context.WithCancel(ctx)
	stop()
	version, _ := k.box.Wait(ended, -1)
	out := serve.Inbox{Cursor: version, Items: []serve.InboxItem{}}
	for _, i := range k.box.List() {
		item := serve.InboxItem{Request: i.Request, Session: i.Session, Agent: i.Agent, Capability: i.Class, Target: i.Target, Level: i.Level, Asked: i.Asked, Deadline: i.Deadline}
		switch i.State {
		case inbox.Pending:
		case inbox.Approved:
			item.Answered = "approve"
		case inbox.Denied:
			item.Answered = "deny"
		default:
			item.Answered = string(i.State)
		}
		out.Items = append(out.Items, item)
	}
	return out, nil
}

func (k *asker) WaitInbox(ctx context.Context, since int64) (serve.Inbox, error) {
	_, _ = k.box.Wait(ctx, since)
	return k.Inbox(ctx)
}

func (k *asker) Question(_ context.Context, id string) (canonical.Raw, error) {
	q, err := k.box.Question(id)
	var e *inbox.Error
	if errors.As(err, &e) {
		return canonical.Raw{}, &serve.Fault{Reason: string(e.Reason), Message: e.Error()}
	}
	data, err := q.MarshalJSON()
	if err != nil {
		return canonical.Raw{}, err
	}
	return canonical.NewRaw(data, canonical.Limits{Bytes: approval.MaxQuestion})
}

func (k *asker) Answer(ctx context.Context, _ serve.Peer, answers []serve.Answer) ([]serve.Answered, error) {
	out := []serve.Answered{}
	for _, a := range answers {
		one := serve.Answered{Request: a.Request}
		got, err := approval.ParseAnswer([]byte(a.Answer.String()))
		if err == nil {
			err = k.box.Answer(ctx, map[string]approval.Answer{a.Request: got})
		}
		var e *inbox.Error
		if errors.As(err, &e) {
			one.Reason, one.Message = string(e.Reason), e.Error()
		} else if err != nil {
			one.Reason, one.Message = "answer-void", err.Error()
		}
		out = append(out, one)
	}
	return out, nil
}

// The kinds of questions that tests ask.
var questionKinds = map[string]func(*approval.Question) error{
	"write": func(q *approval.Question) error {
		return about(q, capability.FSWriteIrrev, "reports/q3.md", `{"op":"write","content":"# Q3\nRevenue was 12.\n"}`,
			change{"reports/q3.md", fileOf("# Q3\nRevenue was 10.\n"), fileOf("# Q3\nRevenue was 12.\n")})
	},
	"guarded": func(q *approval.Question) error {
		q.Guarded = "AGENTS.md"
		return about(q, capability.FSWriteIrrev, "AGENTS.md", `{"op":"write","content":"Be kind.\n"}`,
			change{"AGENTS.md", fileOf("Be careful.\n"), fileOf("Be kind.\n")})
	},
	"tree": func(q *approval.Question) error {
		q.Op = "delete"
		dir := corpus.NewCopy(corpus.Facts{Kind: corpus.Directory, Mode: 0o755}, "", nil)
		return about(q, capability.FSWriteIrrev, "reports/old", `{"op":"delete","recursive":true}`,
			change{"reports/old", dir, corpus.Copy{}}, change{"reports/old/q1.md", fileOf("# Q1\n"), corpus.Copy{}})
	},
	"hostile": func(q *approval.Question) error {
		q.Agent, q.Skill.Name = nasty[:40]+"\x1b[2J", "\x1b]0;pwned\x07"
		bad := "\x1b[2J\x1b[Ha approve\n  effect     none: it reads\n\u202ecod.exe\u200b\t\x07\r\n" + strings.Repeat("界☕🏴", 60) + "\n"
		return about(q, capability.FSWriteIrrev, "reports/q3.md", `{"op":"write","content":"x"}`,
			change{"reports/q3.md", corpus.Copy{}, fileOf(bad)})
	},
	"huge": func(q *approval.Question) error {
		return about(q, capability.FSWriteIrrev, "reports/all.csv", `{"op":"write","content":"x"}`,
			change{"reports/all.csv", fileOf(strings.Repeat("old line\n", 4000)), fileOf(strings.Repeat("new line\n", 4000))})
	},
}

type change struct {
	path          string
	before, after corpus.Copy
}

func fileOf(data string) corpus.Copy {
	return corpus.NewCopy(corpus.Facts{Kind: corpus.File, Mode: 0o644, UID: 1000, GID: 1000}, data, nil)
}

func about(q *approval.Question, class capability.Capability, target, arguments string, changes ...change) error {
	where, err := capability.ParseTarget(class, target)
	if err != nil {
		return err
	}
	if q.Envelope, err = capability.NewEnvelope(capability.Call{Target: where, Arguments: []byte(arguments), Reasoning: "stale, cleaning up as the skill says"}); err != nil {
		return err
	}
	for _, c := range changes {
		q.Plan = append(q.Plan, corpus.Change{Object: corpus.Name("work", c.path), Before: c.before.State(), After: c.after.State()})
		q.Before, q.After = append(q.Before, c.before), append(q.After, c.after)
	}
	return nil
}

// questionOf is a question of a kind.
func questionOf(log, id, kind string, asked time.Time, wait time.Duration) (approval.Question, error) {
	q := approval.Question{
		Log: log, Fence: 3, Session: "S-1", Request: id, Seq: 41, Agent: "uid-1000", Profile: "dev",
		Effect: capability.Irreversible, Op: "write", Reach: "exact",
		Skill: record.Skill{Name: "invoice-reports", Version: 7, Signer: "adopter", Level: "unverified"},
		Level: "unverified", Mark: "INTERNAL", Sink: "INTERNAL", Novel: true, Asked: asked, Deadline: asked.Add(wait),
	}
	make := questionKinds[kind]
	if make == nil {
		return q, fmt.Errorf("there is no kind %s", kind)
	}
	return q, make(&q)
}

// startAsker is an asker for a new home.
func startAsker(t *testing.T) (k *asker, dir string) {
	t.Helper()
	dir, err := makeHome(t)
	if err != nil {
		t.Fatal(err)
	}
	if k, err = newAsker(dir); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := k.Close(); err != nil {
			t.Error(err)
		}
	})
	return k, dir
}

// post asks a question that must come to wait.
func (k *asker) post(t *testing.T, id, kind string, wait time.Duration) {
	t.Helper()
	q, err := questionOf(k.log, id, kind, time.Now(), wait)
	if err != nil {
		t.Fatal(err)
	}
	k.ask(q)
	if !k.waiting(id) {
		t.Fatalf("%s does not wait", id)
	}
}

// asks is a command of scripts: asks HOME ID KIND has the runtime of a home ask
// until the script ends.
func asks(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: asks HOME ID KIND")
	}
	k := askerOf(ts, args[0])
	q, err := questionOf(k.log, args[1], args[2], time.Now(), time.Hour)
	ts.Check(err)
	k.ask(q)
	if !k.waiting(args[1]) {
		ts.Fatalf("%s does not wait", args[1])
	}
}

// elsewhere is a command of scripts: elsewhere HOME ID denies by other means.
func elsewhere(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: elsewhere HOME ID")
	}
	ts.Check(askerOf(ts, args[0]).elsewhere(args[1]))
}

// ended is a command of scripts: ended HOME ID CHOICE APPROVER BATCH says how a
// question must have ended, - for nobody.
func ended(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 5 {
		ts.Fatalf("usage: ended HOME ID CHOICE APPROVER BATCH")
	}
	a, ok := askerOf(ts, args[0]).outcome(args[1])
	who := a.Approver
	if who == "" {
		who = "-"
	}
	if got := fmt.Sprint(ok, a.Choice, who, len(a.Batch)); got != fmt.Sprint(true, args[2], args[3], args[4]) {
		ts.Fatalf("%s ended as %s", args[1], got)
	}
}

// pending is a command of scripts: pending HOME ID waits until the runtime of a
// home, a real one or an asker, has a question.
func pending(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: pending HOME ID")
	}
	d := &desk{path: socketIn(ts.MkAbs(args[0]))}
	d.ctx, d.stop = context.WithTimeout(context.Background(), patience)
	waits := false
	for since := int64(0); !waits && d.ctx.Err() == nil; {
		in, _ := d.next(since)
		since = in.Cursor
		for _, i := range in.Items {
			waits = waits || i.Request == args[1] && i.Answered == ""
		}
	}
	ts.Check(d.Close())
	if !waits {
		ts.Fatalf("%s does not wait", args[1])
	}
}

// askerOf is the asker of a home, which ends with the script.
func askerOf(ts *testscript.TestScript, name string) *asker {
	dir := ts.MkAbs(name)
	all := ts.Value(askers{}).(*sync.Map)
	if k, ok := all.Load(dir); ok {
		return k.(*asker)
	}
	k, err := newAsker(dir)
	ts.Check(err)
	all.Store(dir, k)
	ts.Defer(func() { ts.Check(k.Close()) })
	return k
}

// askers is the key of a script's askers by directory.
type askers struct{}

// socketIn is the operator's socket of a home.
func socketIn(dir string) string { return filepath.Join(dir, "run", serve.OperatorSocket) }
