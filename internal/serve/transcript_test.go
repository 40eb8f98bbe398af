package serve

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

const guide = "../../docs/agent-api.md"

// play holds one conversation. The connection is left open, so that its session lasts while others are played.
func play(t *testing.T, c *raw, script string) {
	t.Helper()
	for line := range strings.Lines(script) {
		line = strings.TrimSuffix(line, "\n")
		switch what, text, _ := strings.Cut(line, " "); what {
		case ">":
			c.say(text)
		case "<":
			if got := c.hear(); got != text {
				t.Fatalf("heard %s\nwant  %s", got, text)
			}
		case "=":
			if rest := c.gone(); rest != "" {
				t.Fatalf("before the end: %s", rest)
			}
		default:
			t.Fatalf("a line begins with >, < or =: %q", line)
		}
	}
}

func TestTranscripts(t *testing.T) {
	said := map[string]bool{}
	for _, path := range unwrap(filepath.Glob("testdata/*.txtar"))(t) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			r := run(t, nil)
			for _, f := range unwrap(txtar.ParseFile(path))(t).Files {
				socket, _, _ := strings.Cut(f.Name, ":")
				play(t, r.raw(t, socket+".sock"), string(f.Data))
				for _, m := range regexp.MustCompile(`"method":"([^"]+)"`).FindAllStringSubmatch(string(f.Data), -1) {
					said[socket+" "+m[1]] = true
				}
			}
		})
	}
	for socket, ms := range map[string]map[string]method{"agent": agentMethods(), "operator": operatorMethods()} {
		for _, name := range names(ms) {
			if !said[socket+" "+name] {
				t.Errorf("no transcript says %s %s", socket, name)
			}
		}
	}
}

// fenced are the blocks of a language in a document.
func fenced(t *testing.T, text, language string) []string {
	t.Helper()
	var out []string
	for _, part := range strings.Split(text, "\n```"+language+"\n")[1:] {
		block, _, ok := strings.Cut(part, "\n```")
		if !ok {
			t.Fatal("a block does not end")
		}
		out = append(out, block+"\n")
	}
	return out
}

func TestGuide(t *testing.T) {
	text := string(unwrap(os.ReadFile(guide))(t))
	script := string(unwrap(txtar.ParseFile("testdata/agent.txtar"))(t).Files[0].Data)
	if got := fenced(t, text, "console"); !slices.Contains(got, script) {
		t.Error("the transcript of docs/agent-api.md is not that of testdata/agent.txtar")
	}
	for _, name := range names(agentMethods()) {
		if !strings.Contains(text, "`"+name+"`") {
			t.Errorf("docs/agent-api.md does not name %s", name)
		}
	}
	for _, r := range []Reason{FrameTooLarge, FrameLate, OpenLate, BatchRefused, VersionInvalid, NotificationGiven, IDInvalid, IDInFlight, MethodUnknown,
		NoSession, SessionOpened, TooManyRequests, TooManyConnections, PeerUnknown, ResultTooLarge, Internal} {
		if !strings.Contains(text, "`"+string(r)+"`") {
			t.Errorf("docs/agent-api.md does not name %s", r)
		}
	}
}

// The client that docs/agent-api.md shows talks to a server.
func TestPythonClient(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Fatalf("python3 is not in PATH (%v): the client in docs/agent-api.md is not checked; install Python 3.8 or newer", err)
	}
	blocks := fenced(t, string(unwrap(os.ReadFile(guide))(t)), "python")
	if len(blocks) != 1 {
		t.Fatalf("%d programs", len(blocks))
	}
	r := run(t, nil)
	program := filepath.Join(t.TempDir(), "client.py")
	must(t, os.WriteFile(program, []byte(blocks[0]), 0o600))
	out, err := exec.CommandContext(t.Context(), python, "-I", program, r.path(AgentSocket), "work/notes.txt").CombinedOutput()
	if want := "session s-1 as uid-1000\nwork/notes.txt: done hello\nnet.fetch: denied (undeclared); allowed: fs.read work/**\n"; err != nil || string(out) != want {
		t.Errorf("%v: %s\nwant %s", err, out, want)
	}
}
