package main

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/crypto/ssh"

	"github.com/iff-run/iff/internal/keyfile/keyfiletest"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"iff": func() { os.Exit(program(testEtc())) }})
}

// testEtc is where the iff of the tests looks for the machine's configuration of
// agents: beside the script's home directory. So no test writes to /etc, whoever runs it.
func testEtc() string { return filepath.Join(filepath.Dir(os.Getenv("HOME")), "etc") }

// TestScripts runs each script under testdata/script with the real program.
// The script's own commands:
//
//	home DIR          puts a fresh home at DIR (operator me, scheme default)
//	notty ARGS...     runs iff without a terminal; it must say so and exit 2
//	sshkey FILE PASS  makes an OpenSSH key pair, as ssh-keygen -t ed25519 does
//	calls DIR N       appends N calls of agents to the log of a home
//	busy DIR          appends calls until the script ends
//	asks HOME ID KIND the runtime of a home asks for an approval until the script ends
//	elsewhere HOME ID a question is denied by other means
//	ended HOME ID ... says how a question must have ended
//	pending HOME ID   waits until a question of a runtime waits
//	under HOME DIR    puts a directory under iff, as corpus work of the home
//	writes FILE N     makes a script of N calls that write
//	play HOME FILE OUT  an agent plays a script, its session open until the test ends
//	crash HOME        kills the runtime of a home
//	waitfor FILE RE   waits until the file has a match
//	clean FILE...     no file has anything that a terminal acts on
//
// $PASS is the file with the passphrase of that home.
func TestScripts(t *testing.T) {
	template := sync.OnceValues(func() (string, error) { return makeHome(t) })
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(e *testscript.Env) error {
			pass := filepath.Join(e.WorkDir, ".pass")
			e.Setenv("PASS", pass)
			e.Setenv("GORACE", endsAtOnce)
			e.Values[askers{}] = new(sync.Map)
			e.Setenv("HOME", filepath.Join(e.WorkDir, "user"))
			e.Defer(func() {
				if err := stopRuntimes(e.WorkDir); err != nil {
					t.Errorf("a runtime is left: %v", err)
				}
			})
			return os.WriteFile(pass, []byte("correct horse\n"), 0o600)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"home": func(ts *testscript.TestScript, neg bool, args []string) {
				if neg || len(args) != 1 {
					ts.Fatalf("usage: home DIR")
				}
				from, err := template()
				ts.Check(err)
				ts.Check(os.CopyFS(ts.MkAbs(args[0]), os.DirFS(from)))
				ts.Check(tighten(ts.MkAbs(args[0])))
			},
			"notty": noTerminal,
			"asks":  asks, "elsewhere": elsewhere, "ended": ended, "pending": pending,
			"calls": appendCalls, "busy": busy, "waitfor": waitFor, "clean": clean,
			"under": under, "writes": writes, "play": play, "crash": killRuntime,
			"sshkey": func(ts *testscript.TestScript, neg bool, args []string) {
				if neg || len(args) != 2 {
					ts.Fatalf("usage: sshkey FILE PASS")
				}
				ts.Check(makeSSHKey(ts.MkAbs(args[0]), args[1]))
			},
		},
	})
}

// endsAtOnce keeps a program that the race detector watches from waiting a
// second as it ends; it has exited with 66 by its own then, if there was a race.
const endsAtOnce = "atexit_sleep_ms=0"

// noTerminal runs iff in a session of its own, which has no terminal, and
// expects it to fail saying so.
func noTerminal(ts *testscript.TestScript, neg bool, args []string) {
	program := filepath.Join(filepath.SplitList(ts.Getenv("PATH"))[0], "iff")
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Env = ts.MkAbs("."), []string{"HOME=" + ts.Getenv("HOME"), "PATH=" + ts.Getenv("PATH"), "GORACE=" + endsAtOnce}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != exitUsage {
		ts.Fatalf("want exit %d: %v\n%s", exitUsage, err, out)
	}
	for _, want := range []string{"no terminal", "--passphrase-file FILE"} {
		if !strings.Contains(string(out), want) {
			ts.Fatalf("%q is not in:\n%s", want, out)
		}
	}
}

func makeSSHKey(path, passphrase string) error {
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return err
	}
	block, err := ssh.MarshalPrivateKeyWithPassphrase(private, "", []byte(passphrase))
	if err != nil {
		return err
	}
	line, err := ssh.NewPublicKey(public)
	if err != nil {
		return err
	}
	return errors.Join(os.WriteFile(path, pem.EncodeToMemory(block), 0o600), os.WriteFile(path+".pub", ssh.MarshalAuthorizedKey(line), 0o644))
}

// makeHome runs iff init once for all scripts: deriving keys is slow on
// purpose.
func makeHome(t *testing.T) (string, error) {
	dir := t.TempDir()
	pass := filepath.Join(dir, "pass")
	if err := os.WriteFile(pass, []byte("correct horse\n"), 0o600); err != nil {
		return "", err
	}
	home := filepath.Join(dir, "home")
	var out strings.Builder
	code := run(t.Context(), []string{"init", "--home", home, "--operator", "me", "--passphrase-file", pass}, nil, &out, &out)
	if code != exitHolds {
		t.Errorf("init: exit %d: %s", code, out.String())
	}
	return home, keyfiletest.Quicken(filepath.Join(home, "keys"), "correct horse")
}

// tighten gives a copied home the modes of a made one.
func tighten(dir string) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			return os.Chmod(path, 0o700)
		}
		return os.Chmod(path, 0o600)
	})
}
