//go:build linux || darwin

package fs

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/iff-run/iff/gate"
)

// arena is a corpus beside a place outside, and somebody who keeps changing
// names in it, so that writing to the corpus might lead outside.
type arena struct {
	*bench
	outside string
}

// attacks are what one turn of the attacker does.
var attacks = map[string]func(a *arena) error{
	"directory for link": func(a *arena) error { return a.swapForLink("sub", a.outside) },
	"file for link":      func(a *arena) error { return a.swapForLink("sub/f", filepath.Join(a.outside, "f")) },
	"relative link":      func(a *arena) error { return a.swapForLink("sub", "../outside") },
	"magic link":         func(a *arena) error { return a.swapForLink("sub", "/proc/self/cwd/../outside") },
	"hard link": func(a *arena) error {
		planted := a.in("planted")
		return errors.Join(ignore(os.Link(filepath.Join(a.outside, "f"), planted), fs.ErrExist),
			os.Rename(planted, a.in("sub/f")), ignore(os.Remove(a.in("sub/f")), fs.ErrNotExist))
	},
	"directory moved out": func(a *arena) error {
		away := filepath.Join(filepath.Dir(a.outside), "away")
		return errors.Join(os.Rename(a.in("sub"), away), os.Rename(away, a.in("sub")))
	},
	"file renamed": func(a *arena) error {
		return errors.Join(ignore(os.Rename(a.in("sub/f"), a.in("sub/k")), fs.ErrNotExist),
			ignore(os.Rename(a.in("sub/k"), a.in("sub/f")), fs.ErrNotExist))
	},
}

func ignore(err, which error) error {
	if errors.Is(err, which) {
		return nil
	}
	return err
}

func (a *arena) swapForLink(name, target string) error {
	link, keep := a.in("link-to-be"), a.in("kept")
	err := ignore(os.Rename(a.in(name), keep), fs.ErrNotExist)
	err = errors.Join(err, os.Symlink(target, link), os.Rename(link, a.in(name)))
	time.Sleep(20 * time.Microsecond) // the link is there as long as the other
	return errors.Join(err, os.Remove(a.in(name)), ignore(os.Rename(keep, a.in(name)), fs.ErrNotExist))
}

func newArena(t testing.TB, s sys) *arena {
	top := t.TempDir()
	for _, dir := range []string{"inside/sub", "outside"} {
		must(t, os.MkdirAll(filepath.Join(top, dir), 0o755))
	}
	a := &arena{benchOver(t, s, filepath.Join(top, "inside")), filepath.Join(top, "outside")}
	must(t, os.WriteFile(filepath.Join(a.outside, "f"), []byte("OUTSIDE"), 0o644))
	a.file("sub/f", "inside")
	return a
}

// untouched says whether the outside is as it was.
func (a *arena) untouched() bool {
	entries, err := os.ReadDir(a.outside)
	data, readErr := os.ReadFile(filepath.Join(a.outside, "f"))
	i, statErr := os.Stat(filepath.Join(a.outside, "f"))
	return err == nil && readErr == nil && statErr == nil && len(entries) == 1 && string(data) == "OUTSIDE" && i.Mode().Perm() == 0o644
}

// during attacks until work returns.
func (a *arena) during(turn func(*arena) error, work func()) {
	done := make(chan struct{})
	var attacker sync.WaitGroup
	attacker.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
			}
			// A rename may fail when the host has the name in its hand.
			if err := turn(a); err != nil && !errors.Is(err, unix.EEXIST) && !errors.Is(err, unix.ENOENT) && !errors.Is(err, unix.ENOTDIR) && !errors.Is(err, unix.EISDIR) && !errors.Is(err, unix.ENOTEMPTY) {
				a.Errorf("the attack itself: %v", err)
				return
			}
			// Gives the victim a turn, and what it may have deleted back.
			_ = os.Mkdir(a.in("sub"), 0o755)
			if f, err := os.OpenFile(a.in("sub/f"), unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW, 0o644); err == nil {
				_, _ = f.WriteString("inside")
				_ = f.Close()
			}
			time.Sleep(20 * time.Microsecond)
		}
	})
	work()
	close(done)
	attacker.Wait()
}

// batter does calls of every kind and reads what it can.
func (a *arena) batter(done, refused *int) {
	for _, c := range []struct{ target, args string }{
		{"sub/f", `{"op":"write","content":"mine"}`}, {"sub/f", `{"op":"append","content":"x"}`},
		{"sub/f", `{"op":"chmod","mode":"0600"}`}, {"sub/f", `{"op":"chmod","mode":"0644"}`},
		{"sub/new", `{"op":"write","content":"mine"}`}, {"sub/d", `{"op":"mkdir"}`}, {"sub/d", `{"op":"delete"}`},
		{"sub/new", `{"op":"rename","to":"sub/f"}`}, {"sub/f", `{"op":"rename","to":"sub/moved"}`},
		{"sub/moved", `{"op":"delete"}`},
	} {
		o, err := a.order(write(a, c.target, c.args))
		o.Staging = Reserved + rand.Text()
		if err == nil {
			_, err = a.h.do(a.Context(), o)
		}
		if err == nil {
			*done++
			continue
		}
		*refused++
		var r *gate.Refusal
		if !errors.As(err, &r) {
			a.Errorf("%s %s: not a refusal: %v", c.target, c.args, err)
		}
	}
	if got, err := a.read("sub/f", `{}`); err == nil && strings.Contains(got, "OUTSIDE") {
		a.Errorf("the outside was read: %s", got)
	}
}

func TestAttacks(t *testing.T) {
	for name, turn := range attacks {
		for how, s := range ways(t) {
			t.Run(name+"/"+how, func(t *testing.T) {
				a := newArena(t, s)
				done, refused := 0, 0
				a.during(turn, func() {
					start := time.Now()
					for time.Since(start) < 400*time.Millisecond || (done == 0 || refused == 0) && time.Since(start) < time.Minute {
						a.batter(&done, &refused)
					}
				})
				if !a.untouched() || done == 0 || refused == 0 {
					t.Errorf("outside untouched %v, %d calls done, %d refused", a.untouched(), done, refused)
				}
				t.Logf("%d calls done, %d refused", done, refused)
			})
		}
	}
}

// BenchmarkAttacks is the same for as long as is wanted: -benchtime 60s.
func BenchmarkAttacks(b *testing.B) {
	for name, turn := range attacks {
		b.Run(name, func(b *testing.B) {
			s, err := system()
			must(b, err)
			a := newArena(b, s)
			done, refused := 0, 0
			a.during(turn, func() {
				for b.Loop() {
					a.batter(&done, &refused)
				}
			})
			if !a.untouched() {
				b.Error("it escaped")
			}
			b.ReportMetric(float64(done), "done")
			b.ReportMetric(float64(refused), "refused")
		})
	}
}

// naive is the planted bug: resolve, compare the prefix, write by path.
func (a *arena) naive(name string) {
	real, err := filepath.EvalSymlinks(a.in(name))
	if err != nil || !strings.HasPrefix(real, a.dir+"/") {
		return
	}
	time.Sleep(time.Millisecond) // so that the attacker has a turn, also on a busy machine
	_ = os.WriteFile(filepath.Join(a.dir, name), []byte("mine"), 0o644)
}

func TestAttacksCatchNaiveWriter(t *testing.T) {
	for _, name := range []string{"directory for link", "file for link", "relative link", "hard link"} {
		s, err := system()
		must(t, err)
		a := newArena(t, s)
		start := time.Now()
		a.during(attacks[name], func() {
			for start := time.Now(); a.untouched() && time.Since(start) < time.Minute; {
				for range 10 {
					a.naive("sub/f")
				}
			}
		})
		if a.untouched() {
			t.Errorf("%s: the naive writer never escaped", name)
		}
		t.Logf("%s: escaped after %v", name, time.Since(start))
	}
}

// Somebody edits a file all the time, by rename, as editors do, while calls
// append to it. Every version of his that a call replaced was in the plan.
func TestConcurrentWriter(t *testing.T) {
	b := newBench(t)
	b.file("f", "")
	stop := make(chan struct{})
	var somebody sync.WaitGroup
	edits := 0
	somebody.Go(func() {
		for ; ; edits++ {
			select {
			case <-stop:
				return
			default:
			}
			must(t, os.WriteFile(b.dir+"-edit", []byte("edit "+rand.Text()), 0o644))
			must(t, os.Rename(b.dir+"-edit", b.in("f")))
			time.Sleep(300 * time.Microsecond)
		}
	})
	done, conflicts := 0, 0
	for start := time.Now(); time.Since(start) < time.Second || (done == 0 || conflicts == 0) && time.Since(start) < time.Minute; {
		o, err := b.order(write(t, "f", `{"op":"append","content":"."}`))
		if err == nil {
			_, err = b.h.do(t.Context(), o)
		}
		switch {
		case err == nil:
			done++
		case reasonOf(err) == gate.Conflict:
			conflicts++
		case reasonOf(err) != gate.Changing && reasonOf(err) != gate.HardLinked:
			t.Errorf("%v", err)
		}
		if left, err := b.h.Leftover(t.Context(), "work/.", staging); err != nil || left.State() != "absent" {
			must(t, os.Remove(b.in(staging))) // both versions were kept, as documented
		}
	}
	close(stop)
	somebody.Wait()
	t.Logf("%d edits, %d calls done, %d conflicts", edits, done, conflicts)
	if done == 0 || conflicts == 0 {
		t.Error("the two never met")
	}
}
