//go:build unix

package connect

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// TestMain is the tests, or the agent that they run: a program with its name.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) != "opencode" {
		goleak.VerifyTestMain(m)
		return
	}
	if err := fakeAgent(); err != nil {
		fmt.Fprintln(os.Stderr, "fake:", err)
		os.Exit(3)
	}
}

// fakeAgent is an opencode that does what its settings name. It fails if it was given
// what it must not have.
func fakeAgent() error {
	settings := filepath.Join(os.Getenv("XDG_CONFIG_HOME"), "opencode", "opencode.json")
	data, err := os.ReadFile(settings)
	if err != nil {
		return err
	}
	for _, name := range []string{"ANTHROPIC_API_KEY", "HTTPS_PROXY"} {
		if os.Getenv(name) != "" {
			return fmt.Errorf("it has %s", name)
		}
	}
	if err := os.WriteFile(settings, []byte("changed"), 0o600); err != nil {
		return err
	}
	provider, err := everything.parse(os.Getenv("OPENCODE_CONFIG_CONTENT"))
	if err != nil {
		return err
	}
	base, _ := at(provider, "provider", "iff-live", "options", "baseURL")
	f := fake{mode: string(data), url: fmt.Sprint(base), offered: []string{"iff_list_skills"}}
	return f.play()
}

type fake struct {
	mode, url string
	offered   []string
	history   []string
}

func (f *fake) play() error {
	switch f.mode {
	case "open":
		f.offered = append(f.offered, "bash")
	case "bare":
		f.offered = nil
	case "silent":
		return errors.New("no \x1b[31mmodel")
	case "late": // its server starts after the first run
		mark := filepath.Join(os.Getenv("XDG_DATA_HOME"), "ran")
		if _, err := os.Stat(mark); err != nil {
			f.offered = []string{}
			_ = os.MkdirAll(filepath.Dir(mark), 0o700)
			if err := os.WriteFile(mark, nil, 0o600); err != nil {
				return err
			}
		}
	case "hang", "child":
		if err := f.hold(); err != nil {
			return err
		}
	}
	for range 10 {
		name, command, err := f.ask()
		if name == "" || err != nil || f.mode == "stops" {
			return err
		}
		result := "no such tool"
		if name == "iff_list_skills" && f.mode != "mute" {
			result = "skills"
		} else if f.mode == "mute" {
			result = ""
		}
		if name == "bash" && (f.mode == "open" || f.mode == "hidden") {
			if err := exec.Command("sh", "-c", command).Run(); err != nil {
				return err
			}
		}
		f.history = append(f.history, fmt.Sprintf(`{"role":"assistant","tool_calls":[{"id":"own"}]},{"role":"tool","tool_call_id":"own","content":%q}`, result))
	}
	return nil
}

// hold leaves a process behind that holds a lock, and the output; or is one.
func (f *fake) hold() error {
	lock, err := os.OpenFile("lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return err
	}
	cmd := exec.Command("sleep", "3600")
	cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = os.Stdout, os.Stderr, []*os.File{lock}
	if err := cmd.Start(); err != nil {
		return err
	}
	if err := os.WriteFile("held", nil, 0o600); err != nil || f.mode == "child" {
		return err
	}
	return cmd.Wait()
}

// ask asks the model, and returns the tool that it calls.
func (f *fake) ask() (name, command string, err error) {
	messages := strings.Join(append([]string{`{"role":"user","content":"go"}`}, f.history...), ",")
	var tools []string
	for _, t := range f.offered {
		tools = append(tools, fmt.Sprintf(`{"type":"function","function":{"name":%q}}`, t))
	}
	body := fmt.Sprintf(`{"messages":[%s],"tools":[%s]}`, messages, strings.Join(tools, ","))
	r, err := http.Post(f.url+"/chat/completions", "application/json", bytes.NewBufferString(body))
	if err != nil {
		return "", "", err
	}
	defer r.Body.Close()
	data, err := io.ReadAll(r.Body)
	if err != nil {
		return "", "", err
	}
	reply, err := everything.parse(string(data))
	if err != nil {
		return "", "", err
	}
	choices, _ := reply["choices"].([]any)
	message, _ := at(choices[0].(tree), "message")
	calls, _ := message.(tree)["tool_calls"].([]any)
	if len(calls) == 0 {
		return "", "", nil
	}
	function, _ := at(calls[0].(tree), "function")
	name, _ = function.(tree)["name"].(string)
	text, _ := function.(tree)["arguments"].(string)
	arguments, err := everything.parse(text)
	command, _ = arguments["command"].(string)
	return name, command, err
}

// fakeWorld is a home whose opencode is the fake with that mode.
func fakeWorld(t *testing.T, mode string) LiveOptions {
	t.Helper()
	root := t.TempDir()
	t.Setenv("TMPDIR", root)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"bin", "dir", "home/.config/opencode"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(self, filepath.Join(root, "bin", "opencode")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "home/.config/opencode/opencode.json"), []byte(mode), 0o600); err != nil {
		t.Fatal(err)
	}
	a, _ := Find("opencode")
	return LiveOptions{
		Agent: a, Tools: []string{"list_skills"}, Place: Place{Home: filepath.Join(root, "home"), Dir: filepath.Join(root, "dir")},
		Env: []string{"PATH=relative:" + filepath.Join(root, "bin") + ":/usr/bin:/bin", "ANTHROPIC_API_KEY=secret", "HTTPS_PROXY=http://192.0.2.1", "TMPDIR=" + root},
	}
}

// TestLive runs an agent that keeps to its closure, and others that do not.
func TestLive(t *testing.T) {
	for _, c := range []struct {
		mode string
		want Verdict
		says string
	}{
		{"closed", Proved, "offers iff's 1 tools and nothing else"},
		{"open", Open, "it offers bash; it ran bash"},
		{"hidden", Open, "it ran bash when the model called it"},
		{"stops", NotProved, "after 0 of 2 calls"},
		{"mute", NotProved, "did not answer"},
		{"bare", NotProved, "no tools at all"},
		{"silent", NotProved, "saying: fake: no"},
		{"child", Proved, ""},
	} {
		t.Run(c.mode, func(t *testing.T) {
			o := fakeWorld(t, c.mode)
			p, err := live(t.Context(), o, 0)
			if err != nil || p.Verdict != c.want || !strings.Contains(p.String(), c.says) || strings.Contains(p.String(), "\x1b") {
				t.Errorf("%v, %v, want %v", p, err, c.want)
			}
			untouched(t, o, c.mode)
		})
	}
}

// untouched: the user's settings are as they were, no copy is left, and no process.
func untouched(t *testing.T, o LiveOptions, mode string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(o.Place.Home, ".config/opencode/opencode.json"))
	if err != nil || string(data) != mode {
		t.Errorf("the settings are %q, %v", data, err)
	}
	left, err := filepath.Glob(filepath.Join(filepath.Dir(o.Place.Home), "iff-live-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
	lock, err := os.OpenFile(filepath.Join(o.Place.Dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil { // waits for whoever has it
		t.Error(err)
	}
}

// TestLiveCancelled: an agent that hangs is ended with all that it has started.
func TestLiveCancelled(t *testing.T) {
	o := fakeWorld(t, "hang")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	over := make(chan error)
	go func() { _, err := Live(ctx, o); over <- err }()
	for held := filepath.Join(o.Place.Dir, "held"); ; {
		if _, err := os.Stat(held); err == nil {
			break
		}
		time.Sleep(time.Millisecond)
	}
	cancel()
	if err := <-over; !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	untouched(t, o, "hang")
}

// TestLiveAbsent: no program is no proof, and no fault.
func TestLiveAbsent(t *testing.T) {
	o := fakeWorld(t, "closed")
	o.Env = []string{"PATH=/nowhere"}
	if p, err := Live(t.Context(), o); err != nil || p.Verdict != NotProved || !strings.Contains(p.Why, "not on PATH") {
		t.Errorf("%v, %v", p, err)
	}
	o.Program = "/nowhere/opencode"
	if p, err := Live(t.Context(), o); err != nil || p.Verdict != NotProved || !strings.Contains(p.Why, "cannot be run") {
		t.Errorf("%v, %v", p, err)
	}
	o = fakeWorld(t, "closed")
	o.Tools, o.Place.Iff = nil, "/nowhere/iff"
	if p, err := Live(t.Context(), o); err != nil || p.Verdict != NotProved || !strings.Contains(p.Why, "`iff mcp` does not answer") {
		t.Errorf("%v, %v", p, err)
	}
	o.Agent = Agent{Name: "other"}
	if p, err := Live(t.Context(), o); err != nil || p.Verdict != NotProved {
		t.Errorf("%v, %v", p, err)
	}
}

// TestLiveLate: an agent that does not wait for its servers gets a second run, in
// which the model is slow.
func TestLiveLate(t *testing.T) {
	o := fakeWorld(t, "late")
	p, err := live(t.Context(), o, 0)
	if err != nil || p.Verdict != Proved || !slices.Equal(p.Iff, []string{"iff_list_skills"}) {
		t.Errorf("%v, %v", p, err)
	}
}
