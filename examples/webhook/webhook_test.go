package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/iff-run/iff/approval"
	"github.com/iff-run/iff/capability"
	"github.com/iff-run/iff/examples/webhook/receiver"
	"github.com/iff-run/iff/internal/ask/webhook"
	"github.com/iff-run/iff/internal/durable"
	"github.com/iff-run/iff/internal/keyfile"
	"github.com/iff-run/iff/internal/trusttest"
	"github.com/iff-run/iff/record"
)

var (
	now      = trusttest.Now
	runtime  = trusttest.NewKey(30)
	approver = trusttest.NewKey(31)
)

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

func question(tb testing.TB, c capability.Capability, target string, n int) approval.Question {
	tb.Helper()
	where, err := capability.ParseTarget(c, target)
	must(tb, err)
	env, err := capability.NewEnvelope(capability.Call{Target: where})
	must(tb, err)
	return approval.Question{
		Log: "iff/log/1", Fence: 1, Session: "S", Request: fmt.Sprint("R-", n), Seq: int64(n), Agent: "uid-1000", Profile: "dev",
		Envelope: env, Op: "write", Level: "unverified", Mark: "PUBLIC", Asked: now, Deadline: now.Add(time.Minute),
	}
}

// start is a receiver with these rules, and the broker that asks it.
func start(tb testing.TB, text string, out io.Writer) (*webhook.Broker, *httptest.Server) {
	tb.Helper()
	rules, err := parseRules(text)
	must(tb, err)
	r := &receiver.Receiver{Runtime: runtime.Public(), Approver: "hook", Signer: approver, Now: func() time.Time { return now }}
	configure(r, rules, out)
	s := httptest.NewServer(r)
	tb.Cleanup(s.Close)
	locked := trusttest.Locked(trusttest.Approver("hook", approver.Public()))
	b, err := webhook.New(webhook.Options{
		URL: s.URL, Key: runtime, Log: "iff/log/1", Fence: 1, Now: func() time.Time { return now },
		Check: func(q approval.Question, a approval.Answer) error { return q.Check(a, locked, now) },
	})
	must(tb, err)
	return b, s
}

// The broker and the receiver understand each other: what a rule approves counts,
// with the approver's signature.
func TestRules(t *testing.T) {
	var out bytes.Buffer
	b, _ := start(t, "# notes are fine\napprove fs.write.rev(notes/**)\ndeny net.egress(*.example.com)\n\npass fs.write.irrev(**)\ndeny fs.write.irrev(**)\n", &out)
	guarded := question(t, capability.FSWriteRev, "notes/skill.md", 4)
	guarded.Guarded = "skill notes"
	got, err := b.Ask(t.Context(), []approval.Question{
		question(t, capability.FSWriteRev, "notes/a", 0), question(t, capability.NetEgress, "api.example.com", 1),
		question(t, capability.FSWriteIrrev, "a", 2), question(t, capability.FSWriteRev, "notes/b", 3), guarded,
	})
	must(t, err)
	for i, want := range []record.Choice{record.Approve, record.Deny, "", record.Approve, ""} {
		if got[i].Choice != want || want != "" && (got[i].Cause != record.CauseWebhook || got[i].Approver != "hook") {
			t.Errorf("%d: %+v", i, got[i])
		}
	}
	if !strings.Contains(out.String(), "WRITE  notes/a\n") || !strings.Contains(out.String(), "approve R-0") {
		t.Errorf("printed %q", out.String())
	}
	if got, _ := b.Ask(t.Context(), []approval.Question{question(t, capability.FSRead, "x", 5)}); got[0].Choice != "" {
		t.Errorf("%+v", got)
	}
}

func TestRuleErrors(t *testing.T) {
	for _, text := range []string{"allow fs.read(**)", "approve", "approve fs.read", "approve fs.raed(x)", "approve fs.read(x"} {
		if _, err := parseRules("# first\n" + text); err == nil || !strings.Contains(err.Error(), "line 2") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// A receiver answers its runtime, now, once.
func TestWhatIsRefused(t *testing.T) {
	_, s := start(t, "", io.Discard)
	var header string
	var body []byte
	spy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header = r.Header.Get(webhook.Header)
		body, _ = io.ReadAll(r.Body)
	}))
	defer spy.Close()
	ask := func(key trusttest.Key, at time.Time) {
		b, err := webhook.New(webhook.Options{
			URL: spy.URL, Key: key, Log: "iff/log/1", Fence: 1, Now: func() time.Time { return at },
			Check: func(approval.Question, approval.Answer) error { return nil },
		})
		must(t, err)
		_, err = b.Ask(t.Context(), []approval.Question{question(t, capability.FSRead, "x", 0)})
		must(t, err)
	}
	post := func(what string, want int) {
		t.Helper()
		req, err := http.NewRequest(http.MethodPost, s.URL, bytes.NewReader(body))
		must(t, err)
		req.Header.Set(webhook.Header, header)
		resp, err := http.DefaultClient.Do(req)
		must(t, err)
		_ = resp.Body.Close()
		if resp.StatusCode != want {
			t.Errorf("%s: %s", what, resp.Status)
		}
	}
	ask(runtime, now)
	post("good", http.StatusNoContent)
	post("replayed", http.StatusForbidden)
	ask(runtime, now.Add(-time.Hour))
	post("old", http.StatusForbidden)
	ask(runtime, now.Add(time.Hour))
	post("of the future", http.StatusForbidden)
	ask(trusttest.NewKey(32), now)
	post("of another runtime", http.StatusForbidden)
	ask(runtime, now)
	body = bytes.Replace(body, []byte("R-0"), []byte("R-1"), 1)
	post("changed", http.StatusForbidden)
	resp, err := http.Get(s.URL)
	must(t, err)
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusMethodNotAllowed {
		t.Error(resp.Status)
	}
}

// The program itself, with keys from files.
func TestProgram(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		must(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	asking, err := keyfile.Generate()
	must(t, err)
	must(t, asking.WritePublic(durable.OS(), filepath.Join(dir, "log.pub"), "log"))
	must(t, asking.WritePlain(durable.OS(), filepath.Join(dir, "hook.key")))
	good := []string{
		"-listen", "127.0.0.1:0", "-runtime", filepath.Join(dir, "log.pub"), "-key", filepath.Join(dir, "hook.key"), "-id", "hook",
		"-rules", file("rules", "deny fs.read(**)\n"),
	}
	for what, args := range map[string][]string{
		"nothing": nil, "no id": good[:6], "elsewhere": append(slices.Clone(good), "-listen", "0.0.0.0:0"), "no such flag": {"-x"},
		"rules": append(slices.Clone(good), "-rules", file("bad", "allow\n")), "no rules": append(slices.Clone(good), "-rules", "none"),
		"the key": append(slices.Clone(good), "-key", "none"), "the certificate": append(slices.Clone(good), "-cert", "none"),
	} {
		if err := run(t.Context(), args, io.Discard); err == nil {
			t.Errorf("%s: taken", what)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	said, out := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- run(ctx, good, out) }()
	lines := bufio.NewReader(said)
	line, err := lines.ReadString('\n')
	must(t, err)
	address, ok := strings.CutPrefix(strings.TrimSpace(line), "listening on ")
	if !ok {
		t.Fatal(line)
	}
	printed := make(chan struct{})
	go func() { defer close(printed); _, _ = io.Copy(io.Discard, lines) }()
	b, err := webhook.New(webhook.Options{
		URL: "http://" + address, Key: asking, Log: "iff/log/1", Fence: 1, Check: func(approval.Question, approval.Answer) error { return nil },
	})
	must(t, err)
	got, err := b.Ask(t.Context(), []approval.Question{question(t, capability.FSRead, "x", 0)})
	if err != nil || got[0].Choice != record.Deny || got[0].Cause != record.CauseWebhook {
		t.Errorf("%+v %v", got, err)
	}
	cancel()
	must(t, <-done)
	must(t, out.Close())
	<-printed
}
