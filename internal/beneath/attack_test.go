//go:build unix

package beneath

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// attacked builds a directory in which somebody keeps putting links in the place of files "f", "g" and of directories
// "sub", "tree" and takes them away again. f and sub point to the outside, g and tree elsewhere in the directory. stop ends it.
func attacked(t *testing.T) (dir string, stop func()) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "inside")
	outside := filepath.Join(filepath.Dir(dir), "outside")
	for _, place := range []string{outside, filepath.Join(dir, ".other")} {
		mkdir(t, place)
		write(t, filepath.Join(place, "f"), "ELSEWHERE", 0o644)
	}
	for _, sub := range []string{"sub", "tree"} {
		mkdir(t, filepath.Join(dir, sub))
		write(t, filepath.Join(dir, sub, "f"), "inside", 0o644)
	}
	write(t, filepath.Join(dir, "f"), "inside", 0o644)
	write(t, filepath.Join(dir, "g"), "inside", 0o644)
	done := make(chan struct{})
	var attackers sync.WaitGroup
	for name, target := range map[string]string{"f": filepath.Join(outside, "f"), "sub": outside, "g": ".other/f", "tree": ".other"} {
		link, kept := filepath.Join(dir, ".link-"+name), filepath.Join(dir, ".kept-"+name)
		attackers.Go(func() { swap(t, filepath.Join(dir, name), target, link, kept, done) })
	}
	return dir, func() { close(done); attackers.Wait() }
}

func swap(t *testing.T, victim, target, link, kept string, done <-chan struct{}) {
	for {
		select {
		case <-done:
			return
		default:
		}
		err := errors.Join(
			os.Symlink(target, link),
			os.Rename(victim, kept),
			os.Rename(link, victim),
			os.Remove(victim),
			os.Rename(kept, victim),
		)
		if err != nil {
			t.Errorf("the attack itself: %v", err)
			return
		}
	}
}

// tally counts what a reader saw.
type tally struct{ inside, escaped, refused int }

func (c *tally) count(data []byte, err error) {
	switch {
	case err != nil:
		c.refused++
	case string(data) == "inside":
		c.inside++
	default:
		c.escaped++
	}
}

func TestSwappedForLinks(t *testing.T) {
	everyWay(t, func(t *testing.T, open func(string) (*Dir, error)) {
		dir, stop := attacked(t)
		defer stop()
		d := mustOpen(t, open, dir)
		var seen tally
		start := time.Now()
		// A second, and longer where the machine is too busy for the attacker to have had a turn.
		for time.Since(start) < time.Second || (seen.inside == 0 || seen.refused == 0) && time.Since(start) < time.Minute {
			seen.count(readBy(t, d, "f"))
			seen.count(readBy(t, d, "g"))
			seen.count(readBelow(t, d, "sub"))
			seen.count(readBelow(t, d, "tree"))
		}
		if seen.escaped > 0 || seen.inside == 0 || seen.refused == 0 {
			t.Errorf("%+v", seen)
		}
		t.Logf("%+v", seen)
	})
}

func readBy(t *testing.T, d *Dir, name string) ([]byte, error) {
	f, err := d.ReadFile(name, 100)
	switch reasonOf(t, err) {
	case "", FileLink, FileChanging, NotFound:
	default:
		t.Errorf("%s: an unexpected reason: %v", name, err)
	}
	return f.Data, err
}

func readBelow(t *testing.T, d *Dir, name string) ([]byte, error) {
	sub, err := d.Dir(name)
	if err != nil {
		reasonOf(t, err)
		return nil, err
	}
	defer sub.Close()
	return readBy(t, sub, "f")
}

// The planted bug: resolve, compare the prefix, read by path. The same attack must get through, or it proves nothing.
func TestSwappedForLinksCatchesNaiveReader(t *testing.T) {
	dir, stop := attacked(t)
	defer stop()
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	var seen tally
	for end := time.Now().Add(time.Minute); seen.escaped == 0 && time.Now().Before(end); {
		for _, path := range []string{"f", "sub/f"} {
			seen.count(naiveRead(real, filepath.Join(real, path)))
		}
	}
	if seen.escaped == 0 {
		t.Errorf("the naive reader never escaped: %+v", seen)
	}
	t.Logf("%+v", seen)
}

func naiveRead(root, path string) ([]byte, error) {
	resolved, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, err
	}
	if !strings.HasPrefix(resolved, root+"/") {
		return nil, errors.New("outside")
	}
	time.Sleep(time.Millisecond) // so that the attacker has a turn, also on a busy machine
	return os.ReadFile(path)
}
