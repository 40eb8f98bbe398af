package main

import (
	"fmt"
	"strings"

	"github.com/iff-run/iff/internal/home"
)

// corpora says of each directory under iff what holds, and whom the gate asks.
func (d *doctor) corpora(h *home.Home) {
	cfg := h.Config()
	if len(cfg.Corpora) == 0 {
		d.open("corpora", "none: no directory is under iff; [corpus.work] in iff.toml names one")
	}
	err := h.CheckCorpora()
	if err != nil {
		d.no("corpora", shown(err)+"; "+remedyFor(reasonOf(err)))
	}
	for _, c := range cfg.Corpora {
		if err == nil {
			d.ok("corpus "+c.Name, corpusWords(c))
		}
		if !c.Label.LessEq(h.Clearance()) {
			d.open("corpus "+c.Name, fmt.Sprintf("its label %s is above your clearance, so nothing of it can be read", c.Label))
		}
		if mounts := h.MountsIn(c); len(mounts) > 0 {
			d.open("corpus "+c.Name, fmt.Sprintf("not on one file system: calls do not reach what is mounted at %s", shortList(mounts)))
		}
	}
	if len(cfg.Gate.Chain) == 0 {
		d.ok("ask", "nobody: a call that needs a person is denied; gate.ask in iff.toml")
		return
	}
	d.ok("ask", fmt.Sprintf("%s; a question waits %s, then it is denied", cfg.Gate.Asked(), cfg.Gate.Timeout))
}

func corpusWords(c home.CorpusConfig) string {
	out := fmt.Sprintf("%s, label %s", short(c.Root), c.Label)
	if n := len(c.Paths); n > 0 {
		out += fmt.Sprintf(", raised for %s", plural(n, "pattern"))
	}
	if n := c.Volatile.Len(); n > 0 {
		return out + fmt.Sprintf(", %s volatile", plural(n, "pattern"))
	}
	return out + ", nothing volatile"
}

// shortList names the first few.
func shortList(paths []string) string {
	const most = 3
	var out []string
	for _, p := range paths[:min(most, len(paths))] {
		out = append(out, short(p))
	}
	if more := len(paths) - most; more > 0 {
		out = append(out, fmt.Sprintf("%d more", more))
	}
	return strings.Join(out, ", ")
}
