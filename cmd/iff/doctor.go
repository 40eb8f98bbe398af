package main

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/iff-run/iff/internal/home"
	"github.com/iff-run/iff/internal/visible"
	"github.com/iff-run/iff/skill"
)

type doctorCmd struct{}

type checkJSON struct {
	Check  string `json:"check" doc:"what was looked at"`
	Status string `json:"status" doc:"ok, no (does not hold) or open (not enforced by this version)"`
	Detail string `json:"detail" doc:"what was found, and what to do"`
}

type doctorJSON struct {
	Checks []checkJSON `json:"checks" doc:"in the order they were made"`
	Holds  bool        `json:"holds" doc:"no check says no"`
}

// Run looks at everything that a home promises and says what no version of
// this program yet enforces.
func (doctorCmd) Run(a *app) error {
	d := &doctor{holds: true}
	h, err := a.open(home.Read)
	if err != nil {
		d.no("home", shown(err)+"; "+remedyFor(reasonOf(err)))
	} else {
		d.home(h)
		d.log(a, h)
		d.keys(h)
		d.base(h)
		d.skills(h)
		d.corpora(h)
		d.readable(a, h)
		d.gate(a, h)
		d.strict(a, h)
		d.control(h)
		d.agents(h)
		if err := h.Close(); err != nil {
			return err
		}
	}
	d.unenforced()
	out := doctorJSON{Checks: d.checks, Holds: d.holds}
	if err := a.print(out, func() error { return a.printDoctor(out) }); err != nil {
		return err
	}
	if !d.holds {
		return &outcomeError{code: exitDoesNot}
	}
	return nil
}

func (a *app) printDoctor(out doctorJSON) error {
	colours := map[string]string{"ok": green, "no": red, "open": faint}
	var rows [][]string
	for _, c := range out.Checks {
		rows = append(rows, []string{a.paint(colours[c.Status], fmt.Sprintf("%-4s", c.Status)), c.Check, c.Detail})
	}
	return a.table(rows)
}

type doctor struct {
	checks []checkJSON
	holds  bool
	apart  bool // profile strict is in force, and each of its conditions holds
}

func (d *doctor) ok(check, detail string) {
	d.checks = append(d.checks, checkJSON{check, "ok", detail})
}
func (d *doctor) open(check, detail string) {
	d.checks = append(d.checks, checkJSON{check, "open", detail})
}
func (d *doctor) no(check, detail string) {
	d.checks = append(d.checks, checkJSON{check, "no", detail})
	d.holds = false
}

func (d *doctor) home(h *home.Home) {
	info, err := os.Stat(h.Dir())
	if err != nil || info.Mode().Perm()&0o077 != 0 {
		d.no("home", fmt.Sprintf("%s is readable by others; chmod 700", visible.Escape(h.Dir())))
	} else {
		d.ok("home", visible.Escape(h.Dir())+", mode 0700, profile "+string(h.Config().Profile))
	}
	d.ok("trust", fmt.Sprintf("%s signed by %s, nothing newer recorded", plural(int(h.Root().Version()), "document"), h.Root().Key().Fingerprint()))
}

// log says how far the log is vouched for. That it holds was found when the
// home was opened, from the newest checkpoint on.
func (d *doctor) log(a *app, h *home.Home) {
	v := h.View()
	_, signed := v.Newest()
	d.ok("log", fmt.Sprintf("%s records, chained, checkpointed by itself to %s; iff audit verify reads all of it", count(v.Size()), count(signed)))
	if p := v.Torn(); p != nil {
		d.open("log end", fmt.Sprintf("what stands from %s on is no record: a batch under way, or what a crash left; the next verb that writes cuts it off", p.At))
	}
	anchors, to := a.anchorsOf(h)
	switch {
	case len(anchors) == 0:
		d.open("anchor", "none: whoever may write the home could cut the log back or write another; [[log.anchor]] in iff.toml names a place elsewhere")
	case to == 0:
		d.open("anchor", "none holds a checkpoint yet: iff audit anchor")
	default:
		d.ok("anchor", anchoredWords(anchors, to, v.Size()))
	}
	for _, k := range anchors {
		if k.Status != "holds" && k.Status != "nothing" {
			d.open("anchor", k.Name+": "+k.Detail)
		}
	}
	for _, line := range doubtLines(openCalls(h.State().Calls())) {
		d.open("in doubt", line)
	}
}

func (d *doctor) keys(h *home.Home) {
	keys, err := h.Keys()
	if err != nil {
		d.no("keys", shown(err))
		return
	}
	for _, k := range keys {
		path := filepath.Join(h.Dir(), "keys", k.Name+".key")
		info, err := os.Lstat(path)
		e, known := h.Root().ByKey(k.Public)
		switch {
		case err == nil && info.Mode().Perm()&0o077 != 0:
			d.no("key "+k.Name, fmt.Sprintf("mode %04o lets others read it; chmod 600, and revoke it if others could", info.Mode().Perm()))
		case k.Private && !k.Protected && (known && !e.Adopter || k.Public == h.Root().Key()):
			d.no("key "+k.Name, "it has no passphrase, yet the trust root gives it authority; revoke it and make another")
		case known && revokedOrExpired(h, e.ID):
			d.ok("key "+k.Name, keyUse(h.Root(), k.Public, time.Now()))
		case !k.Private:
			d.ok("key "+k.Name, "only its public half is here")
		case isLogKey(h, k):
			d.ok("key "+k.Name, "no passphrase; signs the log's checkpoints and nothing else")
		case k.Name == home.WebhookKey:
			d.ok("key "+k.Name, "no passphrase; signs questions to the webhook and nothing else")
		case !k.Protected:
			d.ok("key "+k.Name, "no passphrase; adopts at unverified only")
		default:
			d.ok("key "+k.Name, "protected by a passphrase")
		}
	}
}

func revokedOrExpired(h *home.Home, id string) bool {
	_, err := h.Root().Signer(id, time.Now())
	return err != nil
}

func (d *doctor) base(h *home.Home) {
	p, err := h.Read(filepath.Join(h.Dir(), "base"))
	if err != nil {
		d.no("base", shown(err))
		return
	}
	if r := skill.Verify(p, h.Terms()); r.Err != nil {
		d.no("base", shown(r.Err)+"; "+remedyFor(string(r.Err.Reason)))
		return
	}
	d.ok("base", "calls outside any skill: signed, loads")
}

func (d *doctor) skills(h *home.Home) {
	loads := 0
	for _, dir := range h.Skills() {
		switch s := listOne(h, dir); s.Status {
		case "loads":
			loads++
		case "gone":
			d.ok("skill "+s.Skill.Name, "its directory is gone: "+short(dir))
		default:
			d.no("skill "+s.Skill.Name, fmt.Sprintf("%s in %s; iff skill verify says why", s.Status, short(dir)))
		}
	}
	d.ok("skills", fmt.Sprintf("%d load", loads))
}
