package sweep

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/iff-run/iff/ensemble"
	"github.com/iff-run/iff/internal/canonical"
	"github.com/iff-run/iff/internal/durable"
)

// header is the first line.
type header struct {
	Format    string   `json:"format"`
	Version   string   `json:"version"`
	Seed      string   `json:"seed"`
	Seeds     int      `json:"seeds"`
	Cells     []string `json:"cells"`
	Scenarios []string `json:"scenarios"`
}

func (p Plan) header() header {
	h := header{Format: format, Version: p.Version, Seed: strconv.FormatUint(p.Seed, 10), Seeds: p.Seeds, Scenarios: names(p.Scenarios)}
	for _, c := range p.Cells {
		h.Cells = append(h.Cells, c.String())
	}
	return h
}

// differs names the first field in which a journal is of another plan; empty if
// there is none.
func (h header) differs(from header) (field, is, should string) {
	for _, f := range []struct{ name, is, should string }{
		{"format", h.Format, from.Format}, {"version", h.Version, from.Version}, {"seed", h.Seed, from.Seed},
		{"seeds", strconv.Itoa(h.Seeds), strconv.Itoa(from.Seeds)},
		{"cells", strings.Join(h.Cells, " "), strings.Join(from.Cells, " ")},
		{"scenarios", strings.Join(h.Scenarios, " "), strings.Join(from.Scenarios, " ")},
	} {
		if f.is != f.should {
			return f.name, f.is, f.should
		}
	}
	return "", "", ""
}

func readHeader(path string, text []byte) (header, error) {
	var h header
	if err := canonical.Parse(text, &h, canonical.Limits{Bytes: maxLine}); err != nil {
		return h, &Error{Reason: Foreign, Detail: fmt.Sprintf("%q line 1 is not that of a sweep", path), Err: err}
	}
	return h, nil
}

// Planned is the plan of the journal in a directory. ok is false if there is none.
// Scenarios are looked up in what this program knows.
func Planned(dir string) (p Plan, ok bool, err error) {
	path := filepath.Join(dir, JournalName)
	r, err := open(durable.OS(), path)
	if errors.Is(err, fs.ErrNotExist) {
		return Plan{}, false, nil
	}
	if err != nil {
		return Plan{}, false, err
	}
	in := bufio.NewReaderSize(io.NewSectionReader(r, 0, math.MaxInt64), maxLine)
	text, _, ends, err := next(in)
	if err := errors.Join(err, r.Close()); err != nil || !ends {
		return Plan{}, false, err
	}
	h, err := readHeader(path, text)
	if err != nil {
		return Plan{}, false, err
	}
	p, err = h.plan()
	if err != nil {
		return Plan{}, false, &Error{Reason: Foreign, Detail: fmt.Sprintf("%q line 1", path), Err: err}
	}
	return p, true, nil
}

func (h header) plan() (Plan, error) {
	p := Plan{Version: h.Version, Seeds: h.Seeds}
	var err error
	if p.Seed, err = strconv.ParseUint(h.Seed, 10, 64); err != nil {
		return p, fmt.Errorf("seed: %w", err)
	}
	for _, text := range h.Cells {
		c, err := ParseCell(text)
		if err != nil {
			return p, fmt.Errorf("cells: %w", err)
		}
		p.Cells = append(p.Cells, c)
	}
	for _, name := range h.Scenarios {
		s, err := Scenario(name)
		if err != nil {
			return p, fmt.Errorf("scenarios: %w", err)
		}
		p.Scenarios = append(p.Scenarios, s)
	}
	return p, p.Check()
}

// Scenario is the one of that name.
func Scenario(name string) (ensemble.Scenario, error) {
	all := ensemble.Scenarios()
	for _, s := range all {
		if s.Name == name {
			return s, nil
		}
	}
	return ensemble.Scenario{}, fmt.Errorf("there is no scenario %q; there are %s", name, strings.Join(names(all), ", "))
}
