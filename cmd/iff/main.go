// Command iff inspects, adopts, signs and verifies agent skills, runs the gate
// that decides what agents do, keeps, checks and proves the log of what happened,
// and says whether the world changed as approved.
//
// One file per verb. A verb parses its arguments, calls internal/home or
// skill, and renders the result: a table or a few lines for people, one JSON
// value with --json. Exit codes: 0 holds, 1 does not hold, 2 usage, 3 refused
// or denied, 4 open or in doubt, 70 internal.
//
// The verb config is not among those of the first design: iff.toml now says who
// decides, what agents reach and which programs iff starts, and profile strict
// needs somebody to sign it.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"slices"
	"syscall"
	"time"

	"github.com/alecthomas/kong"
	"golang.org/x/term"

	"github.com/iff-run/iff/internal/anchor"
	"github.com/iff-run/iff/internal/home"
)

// Exit codes.
const (
	exitHolds    = 0
	exitDoesNot  = 1
	exitUsage    = 2
	exitRefused  = 3
	exitOpen     = 4
	exitInternal = 70
)

type cli struct {
	Home string `help:"Directory of the home; by default .iff in your home directory." placeholder:"DIR"`
	JSON bool   `help:"Print one JSON value instead of text."`

	Demo     demoCmd     `cmd:"" help:"Show in seconds what iff does, on a directory of its own."`
	Init     initCmd     `cmd:"" help:"Make a home: keys, trust root, base manifest, configuration."`
	Connect  connectCmd  `cmd:"" help:"Put an agent behind iff: its tools closed, iff's in their place, its skills adopted."`
	Config   configCmd   `cmd:"" help:"Check, show and sign the configuration."`
	Key      keyCmd      `cmd:"" help:"Make, list and export keys."`
	Trust    trustCmd    `cmd:"" help:"Show and extend the trust root."`
	Skill    skillCmd    `cmd:"" help:"Inspect, adopt, sign and verify skills."`
	Serve    serveCmd    `cmd:"" help:"Run the runtime of the home, which decides the calls of agents."`
	MCP      mcpCmd      `cmd:"" name:"mcp" help:"Speak MCP on standard input and output, for an agent that starts it."`
	Hook     hookCmd     `cmd:"" help:"Answer an agent's hook: deny tools that are not of iff."`
	Session  sessionCmd  `cmd:"" help:"Run, watch, pause and undo sessions of agents."`
	Inbox    inboxCmd    `cmd:"" help:"Show the calls that wait for a person, and decide on them."`
	Approve  approveCmd  `cmd:"" help:"Approve calls that wait, each shown, with one signature."`
	Deny     denyCmd     `cmd:"" help:"Deny calls that wait."`
	Policy   policyCmd   `cmd:"" help:"Check, explain and try the rules that answer instead of a person."`
	Upstream upstreamCmd `cmd:"" help:"List the servers whose tools agents are offered, and accept tools that changed."`
	Verdict  verdictCmd  `cmd:"" help:"Say whether the corpora changed exactly as approved."`
	Status   statusCmd   `cmd:"" help:"Say what runs, what waits and what the last verdict was."`
	Audit    auditCmd    `cmd:"" help:"Check, read, prove and anchor the log."`
	Sweep    sweepCmd    `cmd:"" help:"Try the verdict on thousands of runs of agents that do harm, and count what it gets wrong."`
	Ensemble ensembleCmd `cmd:"" help:"Try this home's configuration on agents that want to do harm, on a copy of a corpus."`
	Doctor   doctorCmd   `cmd:"" help:"Say what is in order, what is enforced and what is not."`
	Version  versionCmd  `cmd:"" help:"Print the version."`
}

// app is what every verb runs with.
type app struct {
	ctx    context.Context
	stdin  io.Reader
	out    io.Writer
	err    io.Writer
	json   bool
	colour bool
	tty    bool // standard error is a terminal: progress is shown
	screen bool // standard output is a terminal: lines are cut to its width
	dir    string
	etc    string // the machine's configuration of agents; empty is /etc
	now    func() time.Time
}

func main() { os.Exit(program("")) }

// program is iff on a machine whose configuration of agents lies at etc; empty is
// /etc.
func program(etc string) int {
	scrub()
	// A verb reads much once and ends: collecting less often halves the time of
	// a load, and the limits on content bound the memory.
	debug.SetGCPercent(400)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	a := newApp(ctx, os.Stdin, os.Stdout, os.Stderr)
	a.etc = etc
	return a.execute(os.Args[1:])
}

// scrub removes inherited knobs that change how the runtime or its libraries
// behave: nothing an environment says weakens a check.
func scrub() {
	// The MCP library has read its knob before main began, so the program begins
	// again without it.
	_, again := os.LookupEnv("MCPGODEBUG")
	for _, name := range []string{
		"GODEBUG", "MCPGODEBUG", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY",
		"http_proxy", "https_proxy", "all_proxy", "no_proxy", "SSL_CERT_FILE", "SSL_CERT_DIR",
		"TEA_TRACE", "TEA_DEBUG", // files that the inbox's terminal library would write
	} {
		_ = os.Unsetenv(name)
	}
	if !again {
		return
	}
	exe, err := os.Executable()
	if err == nil {
		err = syscall.Exec(exe, os.Args, os.Environ())
	}
	fmt.Fprintf(os.Stderr, "iff: MCPGODEBUG is set, and cannot be put aside: %v\n  unset it\n", err)
	os.Exit(exitInternal)
}

func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return newApp(ctx, stdin, stdout, stderr).execute(args)
}

func newApp(ctx context.Context, stdin io.Reader, stdout, stderr io.Writer) *app {
	return &app{ctx: ctx, stdin: stdin, out: stdout, err: stderr, now: time.Now, colour: isTerminal(stdout) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb", tty: isTerminal(stderr), screen: isTerminal(stdout)}
}

// execute runs the verb that the arguments name, and is the exit code.
func (a *app) execute(args []string) int {
	var c cli
	code := exitHolds
	parser, err := newParser(&c, a.out, a.err, &code)
	if err != nil {
		return a.fail(err)
	}
	parsed, err := parseArgs(parser, args)
	a.json = c.JSON
	if errors.Is(err, errHelp) {
		return code
	}
	if err != nil {
		a.json = slices.Contains(args, "--json")
		return a.fail(&usageError{reason: "usage", detail: err.Error(), remedy: usageRemedy(err)})
	}
	if a.dir, err = homeDirectory(c.Home); err != nil {
		return a.fail(err)
	}
	if err := parsed.Run(a); err != nil {
		return a.fail(err)
	}
	return exitHolds
}

// errHelp ends parsing once the help text is printed.
var errHelp = errors.New("help was printed")

// parseArgs returns errHelp where the parser would exit the process.
func parseArgs(parser *kong.Kong, args []string) (ctx *kong.Context, err error) {
	defer func() {
		if r := recover(); r == errHelp {
			ctx, err = nil, errHelp
		} else if r != nil {
			panic(r)
		}
	}()
	return parser.Parse(args)
}

func newParser(c *cli, stdout, stderr io.Writer, code *int) (*kong.Kong, error) {
	return kong.New(c,
		kong.Name("iff"),
		kong.Description("iff stands between an AI agent and the world: skills are untrusted code until they are verified."),
		kong.Writers(stdout, stderr),
		kong.Exit(func(n int) { *code = n; panic(errHelp) }),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, NoExpandSubcommands: true}),
	)
}

// homeDirectory is the home that was named, or the default one.
func homeDirectory(named string) (string, error) {
	if named != "" {
		return filepath.Abs(named)
	}
	user, err := os.UserHomeDir()
	if err != nil {
		return "", &usageError{reason: "usage", detail: err.Error(), remedy: "name a home with --home DIR"}
	}
	return filepath.Join(user, ".iff"), nil
}

func usageRemedy(err error) string {
	var p *kong.ParseError
	if errors.As(err, &p) && p.Context != nil && p.Context.Command() != "" {
		return "see: iff " + firstWords(p.Context.Command()) + " --help"
	}
	return "see: iff --help"
}

func firstWords(command string) string {
	out := ""
	for i, c := range command {
		if c == '<' || c == '[' {
			break
		}
		out = command[:i+1]
	}
	for len(out) > 0 && out[len(out)-1] == ' ' {
		out = out[:len(out)-1]
	}
	return out
}

func isTerminal(w any) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// open opens the home.
func (a *app) open(mode home.Mode) (*home.Home, error) {
	if mode == home.Write {
		if err := a.notTaken(); err != nil {
			return nil, err
		}
	}
	m := a.meter("opening the log", logBytes(filepath.Join(a.dir, "log")))
	defer m.done()
	return home.Open(a.ctx, a.dir, mode, home.Options{Now: a.now, Progress: m.at})
}

// withHome runs f with the home open and closes it whatever happens.
func (a *app) withHome(mode home.Mode, f func(*home.Home) error) error {
	h, err := a.open(mode)
	if err != nil {
		return err
	}
	if err := errors.Join(f(h), h.Close()); err != nil {
		return err
	}
	return a.unanchored(h.Unanchored(), mode)
}

// unanchored tells what a home that was written to could not have kept
// elsewhere. That an anchor saw another log is no warning.
func (a *app) unanchored(missed error, mode home.Mode) error {
	if missed == nil || mode != home.Write {
		return nil
	}
	var refused *anchor.Error
	if errors.As(missed, &refused) && (refused.Reason == anchor.Rollback || refused.Reason == anchor.Forked) {
		fmt.Fprintf(a.err, "iff: %s\n  what was done was recorded, in a log that is not the one that was anchored: iff audit verify\n", shown(missed))
		return &outcomeError{exitDoesNot}
	}
	fmt.Fprintf(a.err, "warning: %s\n  what was done is recorded, and not all of it is kept elsewhere yet: iff audit anchor\n", shown(missed))
	return nil
}

// usageError is a mistake in how a verb was called.
type usageError struct {
	reason string
	detail string
	remedy string
}

func (e *usageError) Error() string { return e.detail }

// outcomeError ends a verb whose result was printed already.
type outcomeError struct{ code int }

func (e *outcomeError) Error() string { return fmt.Sprintf("exit %d", e.code) }
