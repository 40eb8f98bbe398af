package main

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// meter shows on a terminal how far reading has come, once that has taken a
// second. A nil meter shows nothing.
type meter struct {
	out   io.Writer
	now   func() time.Time
	what  string
	total int64 // bytes, or what unit writes, 0 if not known
	unit  func(int64) string
	begun time.Time
	last  time.Time
	shown bool
}

// meter is nil unless a person watches: both outputs are terminals, and what is
// printed is not JSON.
func (a *app) meter(what string, total int64) *meter {
	if !a.tty || !a.screen || a.json {
		return nil
	}
	now := a.now()
	return &meter{out: a.err, now: a.now, what: what, total: total, unit: size, begun: now, last: now}
}

// at says how many bytes were read.
func (m *meter) at(bytes int64) {
	if m == nil {
		return
	}
	now := m.now()
	if now.Sub(m.begun) < time.Second || now.Sub(m.last) < 200*time.Millisecond {
		return
	}
	m.last, m.shown = now, true
	fmt.Fprintf(m.out, "\r\x1b[K%s", m.line(bytes, now.Sub(m.begun)))
}

// done takes the line away, so that what is printed next stands alone.
func (m *meter) done() {
	if m != nil && m.shown {
		fmt.Fprint(m.out, "\r\x1b[K")
		m.shown = false
	}
}

const barWidth = 24

func (m *meter) line(bytes int64, took time.Duration) string {
	perSecond := float64(bytes) / took.Seconds()
	rate := fmt.Sprintf("%s/s", m.unit(int64(perSecond)))
	if m.total <= 0 || bytes > m.total {
		return fmt.Sprintf("%s  %s  %s", m.what, m.unit(bytes), rate)
	}
	full := int(barWidth * bytes / m.total)
	left := ""
	if perSecond > 0 {
		left = "  " + wait(time.Duration(float64(m.total-bytes)/perSecond*float64(time.Second))) + " left"
	}
	bar := strings.Repeat("#", full) + strings.Repeat(".", barWidth-full)
	return fmt.Sprintf("%s  [%s]  %s of %s  %s%s", m.what, bar, m.unit(bytes), m.unit(m.total), rate, left)
}

// wait writes a time to come for people.
func wait(d time.Duration) string {
	d = d.Round(time.Second)
	if d < time.Minute {
		return fmt.Sprintf("%d s", max(1, int(d.Seconds())))
	}
	if d < time.Hour {
		return fmt.Sprintf("%d min %d s", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%d h %d min", int(d.Hours()), int(d.Minutes())%60)
}
