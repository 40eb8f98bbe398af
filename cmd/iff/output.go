package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/iff-run/iff/approval"
	"github.com/iff-run/iff/audit"
	"github.com/iff-run/iff/broker"
	"github.com/iff-run/iff/ensemble/model"
	"github.com/iff-run/iff/ensemble/sweep"
	"github.com/iff-run/iff/ensemble/trial"
	"github.com/iff-run/iff/gate"
	"github.com/iff-run/iff/internal/anchor"
	"github.com/iff-run/iff/internal/connect"
	"github.com/iff-run/iff/internal/home"
	"github.com/iff-run/iff/internal/keyfile"
	"github.com/iff-run/iff/internal/observe/rehash"
	"github.com/iff-run/iff/internal/serve"
	"github.com/iff-run/iff/internal/skillmd"
	"github.com/iff-run/iff/internal/visible"
	"github.com/iff-run/iff/internal/witness"
	"github.com/iff-run/iff/manifest"
	"github.com/iff-run/iff/skill"
)

// print writes the machine form with --json, else calls text.
func (a *app) print(machine any, text func() error) error {
	if !a.json {
		return text()
	}
	return writeJSON(a.out, machine)
}

func writeJSON(to io.Writer, machine any) error {
	enc := json.NewEncoder(to)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(machine)
}

func (a *app) printf(format string, args ...any) {
	fmt.Fprintf(a.out, format, args...)
}

// table writes rows in aligned columns.
func (a *app) table(rows [][]string) error {
	w := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	for _, r := range rows {
		fmt.Fprintln(w, strings.Join(r, "\t"))
	}
	return w.Flush()
}

const (
	green = "32"
	red   = "31"
	faint = "90"
)

func (a *app) paint(colour, s string) string {
	if !a.colour {
		return s
	}
	return "\x1b[" + colour + "m" + s + "\x1b[0m"
}

// progress tells a person what a long loop is doing, once a second, on the
// terminal only.
func (a *app) progress(what string, total int) func(done int) {
	last := time.Now()
	return func(done int) {
		if !a.tty {
			return
		}
		if done == total {
			fmt.Fprint(a.err, "\r\x1b[K")
		} else if time.Since(last) > time.Second {
			last = time.Now()
			fmt.Fprintf(a.err, "\r%s %d of %d", what, done, total)
		}
	}
}

// errorJSON is what --json prints for an error, on standard output.
type errorJSON struct {
	Error struct {
		Reason  string `json:"reason" doc:"closed token, see docs/reasons.md; empty for an internal error"`
		Message string `json:"message" doc:"what is wrong and where"`
		Remedy  string `json:"remedy" doc:"what to do"`
	} `json:"error"`
}

// fail prints an error, what is wrong first and what to do last, and returns
// the exit code.
func (a *app) fail(err error) int {
	var done *outcomeError
	if errors.As(err, &done) {
		return done.code
	}
	if errors.Is(err, context.Canceled) {
		err = &usageError{reason: "interrupted", detail: "interrupted; what was not printed as done was not done"}
	}
	reason, code := classify(err)
	remedy := remedyFor(reason)
	var usage *usageError
	var advised *advisedError
	if errors.As(err, &usage) && usage.remedy != "" {
		remedy = usage.remedy
	} else if errors.As(err, &advised) {
		remedy = advised.remedy
	}
	message := shown(err)
	var fault *serve.Fault
	if errors.As(err, &fault) && fault.Remedy != "" && advised == nil {
		remedy = undouble(visible.Escape(fault.Remedy))
		message = strings.TrimSuffix(message, "; "+remedy)
	}
	if a.json {
		var out errorJSON
		out.Error.Reason, out.Error.Message, out.Error.Remedy = reason, message, remedy
		if a.print(out, nil) != nil {
			return exitInternal
		}
		return code
	}
	fmt.Fprintf(a.err, "iff: %s\n", message)
	if remedy != "" {
		fmt.Fprintf(a.err, "  %s\n", remedy)
	}
	return code
}

// classify finds the closed token and the exit code of an error.
func classify(err error) (reason string, code int) {
	var usage *usageError
	var hm *home.Error
	var kf *keyfile.Error
	var au *audit.Error
	var sv *serve.Error
	var fl *serve.Fault
	var sw *sweep.Error
	var tr *trial.Error
	var mo *model.Error
	reason = reasonOf(err)
	switch {
	case errors.As(err, &sw), errors.As(err, &tr) && tr.Reason != trial.CopyFailed, errors.As(err, &mo) && mo.Reason == model.OptionsInvalid:
		return reason, exitUsage
	case errors.As(err, &usage):
		return usage.reason, exitUsage
	case errors.As(err, &hm) && (hm.Reason == home.Missing || hm.Reason == home.ConfigInvalid || hm.Reason == home.Exists || hm.Reason == home.NameInvalid):
		return reason, exitUsage
	case errors.As(err, &kf) && (kf.Reason == keyfile.Missing || kf.Reason == keyfile.Exists):
		return reason, exitUsage
	case errors.As(err, &au) && au.Reason == audit.NoRecord:
		return reason, exitUsage
	case errors.As(err, &au) && au.Reason == audit.AppendUnknown:
		return reason, exitOpen
	case errors.As(err, &sv) && sv.Reason == serve.ConnectionLost:
		return reason, exitOpen
	case errors.As(err, &fl) && fl.Code == serve.CodeParams:
		return reason, exitUsage
	case errors.As(err, &fl) && fl.Code == serve.CodeInternal:
		return reason, exitInternal
	case reason != "":
		return reason, exitRefused
	case errors.Is(err, fs.ErrPermission):
		return "", exitRefused
	}
	return "", exitInternal
}

// reasonOf returns the token of whichever package refused; empty if none did.
func reasonOf(err error) string {
	var ld *skill.LoadError
	var rd *skill.ReadError
	var ft *skill.FormatError
	var hm *home.Error
	var kf *keyfile.Error
	var md *skillmd.Error
	var au *audit.Error
	var an *anchor.Error
	var wi *witness.Error
	var ap *approval.Error
	var br *broker.Error
	var sv *serve.Error
	var fl *serve.Fault
	var rf *gate.Refusal
	var rh *rehash.Error
	var cn *connect.Error
	var sw *sweep.Error
	var tr *trial.Error
	var mo *model.Error
	switch {
	case errors.As(err, &sw):
		return string(sw.Reason)
	case errors.As(err, &tr):
		return string(tr.Reason)
	case errors.As(err, &mo):
		return string(mo.Reason)
	case errors.As(err, &cn):
		return string(cn.Reason)
	case errors.As(err, &rf):
		return string(rf.Reason)
	case errors.As(err, &rh):
		return string(rh.Reason)
	case errors.As(err, &ap):
		return string(ap.Reason)
	case errors.As(err, &br):
		return string(br.Reason)
	case errors.As(err, &sv):
		return string(sv.Reason)
	case errors.As(err, &fl):
		return fl.Reason
	case errors.As(err, &au):
		return string(au.Reason)
	case errors.As(err, &an):
		return string(an.Reason)
	case errors.As(err, &wi):
		return string(wi.Reason)
	case errors.As(err, &ld):
		return string(ld.Reason)
	case errors.As(err, &rd):
		return string(rd.Reason)
	case errors.As(err, &ft):
		return string(ft.Reason)
	case errors.As(err, &hm):
		return string(hm.Reason)
	case errors.As(err, &kf):
		return string(kf.Reason)
	case errors.As(err, &md):
		return string(md.Reason)
	}
	return manifest.Token(err)
}

// list makes an empty list of no list: JSON readers see [] and never null.
func list[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

// shown makes an error's text safe for a terminal. Most errors escape what they
// quote already; escaping doubles the backslash of an escape that it meets.
func shown(err error) string {
	return undouble(visible.Escape(strings.ReplaceAll(err.Error(), "\n", "; ")))
}

func undouble(s string) string {
	return strings.NewReplacer(`\\u{`, `\u{`, `\\x{`, `\x{`).Replace(s)
}

func plural(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
}
