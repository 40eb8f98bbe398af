package home

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/iff-run/iff/internal/durable"
	"github.com/iff-run/iff/internal/visible"
)

// anchorPatience is how long an anchor may take to answer at the start.
const anchorPatience = 10 * time.Second

var errNotRun = errors.New("bug: in profile strict a home is opened by Run for a runtime")

// Condition is one of those that profile strict has.
type Condition struct {
	Name   string // signature, anchor, agents or keys
	Detail string // what holds
	Err    error  // why it does not: an *Error that names the command that mends it; nil where it holds
}

// Strict looks at what profile strict needs, also in another profile: the
// signature of the root key over the configuration, an anchor of the log that
// answers, agents of other users than the runtime's, and private keys that those
// cannot read.
func (h *Home) Strict(ctx context.Context) []Condition {
	signature := func(context.Context) (string, error) { return h.mustBeSigned() }
	out := []Condition{{Name: "signature"}, {Name: "anchor"}, {Name: "agents"}, {Name: "keys"}}
	for i, look := range []func(context.Context) (string, error){signature, h.anchorAnswers, h.agentsApart, h.keysApart} {
		out[i].Detail, out[i].Err = look(ctx)
	}
	return out
}

// checkProfile refuses a configuration that was signed and changed, and in
// profile strict one without a signature; to run, everything that strict needs
// has to hold.
func (h *Home) checkProfile(ctx context.Context) error {
	if h.config.Profile != Strict {
		_, err := h.Signed()
		return err
	}
	if h.mode != Run {
		_, err := h.mustBeSigned()
		return err
	}
	var errs []error
	for _, c := range h.Strict(ctx) {
		errs = append(errs, c.Err)
	}
	return errors.Join(errs...)
}

func (h *Home) mustBeSigned() (string, error) {
	signed, err := h.Signed()
	if err == nil && !signed {
		err = &Error{Reason: Unsigned, Path: configFile, Detail: "the root key has not signed it; read it, then iff config sign"}
	}
	if err != nil {
		return "", err
	}
	return "iff.toml is as the root key signed it", nil
}

// anchorAnswers asks the anchors until one answers. What it holds, the log has to
// have.
func (h *Home) anchorAnswers(ctx context.Context) (string, error) {
	if len(h.anchors) == 0 {
		return "", &Error{Reason: Unanchored, Path: configFile, Detail: "there is no [[log.anchor]]; name a file on another disk or a witness there, then iff config sign"}
	}
	ctx, cancel := context.WithTimeout(ctx, anchorPatience)
	defer cancel()
	var errs []error
	for _, a := range h.anchors {
		v, held, err := a.Newest(ctx)
		if err == nil && held {
			err = h.View().Hold(ctx, Anchored(v))
		}
		if err == nil {
			return a.Name() + " answers", nil
		}
		errs = append(errs, err)
	}
	return "", &Error{Reason: Unanchored, Path: configFile, Detail: fmt.Sprintf("no anchor answers: %s; see iff audit anchor", errors.Join(errs...))}
}

// agentsApart sees that every agent has a user other than the runtime's, and not
// one that may do everything.
func (h *Home) agentsApart(context.Context) (string, error) {
	dir := h.config.Serve.AgentDir
	if dir == "" {
		return "", &Error{Reason: Unseparated, Path: configFile, Detail: "there is no serve.agent_dir; set agent_dir and agents of [serve], then iff config sign"}
	}
	uids, err := h.AgentUIDs()
	if err != nil {
		return "", err
	}
	if at := h.config.MCP.Listen; at != "" {
		return "", &Error{Reason: Unseparated, Path: configFile, Detail: fmt.Sprintf("mcp.listen is %s, and of who comes by the network nobody knows the user; take it out, then iff config sign", at)}
	}
	own := os.Geteuid()
	for name, uid := range uids {
		if uid == own || uid == 0 {
			return "", &Error{Reason: Unseparated, Path: configFile, Detail: fmt.Sprintf("serve.agents: %s is uid %d, which iff runs as or which may do everything; have agents run as another user, such as by useradd agent", visible.Escape(name), uid)}
		}
	}
	if err := h.CheckAgentDir(); err != nil {
		return "", err
	}
	return fmt.Sprintf("agents connect in %s as %s, iff runs as uid %d", visible.Escape(dir), strings.Join(h.config.Serve.Agents, ", "), own), nil
}

// AgentUIDs are the ids of the users that may connect in serve.agent_dir, by what
// iff.toml calls them. Errors are *Error with reason agents-unseparated.
func (h *Home) AgentUIDs() (map[string]int, error) {
	out := make(map[string]int)
	for _, name := range h.config.Serve.Agents {
		uid, err := strconv.ParseUint(name, 10, 31)
		if err != nil {
			var u *user.User
			if u, err = user.Lookup(name); err == nil {
				uid, err = strconv.ParseUint(u.Uid, 10, 31)
			}
		}
		if err != nil {
			return nil, &Error{Reason: Unseparated, Path: configFile, Detail: fmt.Sprintf("serve.agents: %s; make the user, such as by useradd %s, or correct iff.toml", err, name), Err: err}
		}
		out[name] = int(uid)
	}
	return out, nil
}

// MakeAgentDir makes serve.agent_dir with mode 0750 if it is not there, whatever
// the process masks, and checks it. Agents get in by its group; who of them may connect, the peer's id on each
// connection says. Without one configured it does nothing. Errors are *Error.
func (h *Home) MakeAgentDir() error {
	dir := h.config.Serve.AgentDir
	if dir == "" {
		return nil
	}
	if err := h.CheckAgentDir(); err != nil {
		return err
	}
	if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
		err := durable.Mkdir(h.fsys, dir, 0o750)
		if err == nil {
			err = os.Chmod(dir, 0o750)
		}
		if err != nil {
			return &Error{Reason: Unreadable, Path: dir, Detail: err.Error(), Err: err}
		}
	}
	return h.CheckAgentDir()
}

// CheckAgentDir says whether sockets may be put into serve.agent_dir: a directory
// of this user that nobody else writes to, and that lies in none in which others
// could put something else in its place. One that is not there is judged by what
// is above it. Errors are *Error.
func (h *Home) CheckAgentDir() error {
	dir := h.config.Serve.AgentDir
	if info, err := os.Lstat(dir); err == nil && info.IsDir() {
		if owner, known := ownerOf(info); !known || owner != os.Geteuid() {
			return &Error{Reason: Exposed, Path: dir, Detail: fmt.Sprintf("it belongs to another user than the one that iff runs as, uid %d; chown it", os.Geteuid())}
		}
	}
	return firmly(dir, os.Geteuid())
}

// firmly says whether a directory is there to stay: neither it nor one above it
// can be changed by anybody but its owner and root, nor put another in its place.
// One that is not there is judged by what is above it.
func firmly(dir string, owner int) error {
	for at := dir; ; at = filepath.Dir(at) {
		info, err := os.Lstat(at)
		if errors.Is(err, fs.ErrNotExist) && at != filepath.Dir(at) {
			continue // what is above it decides
		}
		if err != nil {
			return &Error{Reason: Unreadable, Path: at, Detail: err.Error(), Err: err}
		}
		if problem := looseness(info, owner, at == dir); problem != "" {
			return &Error{Reason: Exposed, Path: at, Detail: problem}
		}
		if at == filepath.Dir(at) {
			return nil
		}
	}
}

// looseness says why nothing is safe in or below a directory that should be an
// owner's. In one that is sticky nobody can move what belongs to others.
func looseness(info fs.FileInfo, owner int, itself bool) string {
	has, known := ownerOf(info)
	shared := info.Mode().Perm()&0o022 != 0 && (itself || info.Mode()&fs.ModeSticky == 0)
	switch {
	case !info.IsDir():
		return "not a directory, and links are not followed; remove it, or name another"
	case !known || has != 0 && has != owner:
		return fmt.Sprintf("it belongs to uid %d, who could put something else there; chown it", has)
	case shared:
		return fmt.Sprintf("mode %04o lets others put something else there; chmod 750", info.Mode().Perm())
	}
	return ""
}

// keysApart sees that no user of an agent could read a private key of the home,
// or put another in its place, or another home in the place of this one.
func (h *Home) keysApart(context.Context) (string, error) {
	uids, err := h.AgentUIDs()
	if err != nil {
		return "", err
	}
	paths, err := filepath.Glob(filepath.Join(h.dir, keysDir, "*.key"))
	if err != nil {
		return "", err
	}
	places := append([]string{h.dir, filepath.Join(h.dir, keysDir)}, paths...)
	for _, path := range places {
		info, err := os.Stat(path)
		if err != nil {
			return "", &Error{Reason: Unreadable, Path: path, Detail: err.Error(), Err: err}
		}
		if problem := keyProblem(info, uids); problem != "" {
			return "", &Error{Reason: KeysExposed, Path: path, Detail: problem}
		}
	}
	info, err := os.Stat(h.dir)
	if err != nil {
		return "", &Error{Reason: Unreadable, Path: h.dir, Detail: err.Error(), Err: err}
	}
	if owner, known := ownerOf(info); known {
		err = firmly(h.dir, owner)
	}
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%d private keys, none of which an agent can read", len(paths)), nil
}

func keyProblem(info fs.FileInfo, agents map[string]int) string {
	owner, known := ownerOf(info)
	for name, uid := range agents {
		if known && owner == uid {
			return fmt.Sprintf("it belongs to %s, which agents run as; chown it", visible.Escape(name))
		}
	}
	mode := "600"
	if info.IsDir() {
		mode = "700"
	}
	switch {
	case !known:
		return "nobody can say whose it is; put the home on another file system"
	case info.Mode().Perm()&0o077 != 0:
		return fmt.Sprintf("mode %04o lets others in; chmod %s", info.Mode().Perm(), mode)
	}
	return ""
}
