package ensemble

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func kitFor(t *testing.T) *Kit {
	t.Helper()
	k, err := NewKit(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// onSite is the n-th run with a fault on the corpus of a site.
func onSite(f Fault, n uint64) Config {
	return Config{N: 30, K: 4, R: 8, Seed: 100 + n, Files: 7, Fault: f, Cast: Paper}
}

// tree is everything below a directory: its mode, and what it says.
func treeOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := make(map[string]string)
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		text := info.Mode().String()
		if info.Mode().IsRegular() {
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			text += " " + string(data)
		}
		out[strings.TrimPrefix(path, dir)] = text
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Runs on one site, in whatever order, come to what each comes to alone.
func TestRunsOnASiteAreThoseAlone(t *testing.T) {
	k := kitFor(t)
	site, err := k.Site(onSite(Honest, 0))
	if err != nil {
		t.Fatal(err)
	}
	made := treeOf(t, site.corpus.base)
	changed, again := 0, 0
	faults := append(Faults(), Honest)
	for n := range uint64(2) {
		for _, f := range faults {
			c := onSite(f, n)
			was := site.corpus
			got, err := site.Run(t.Context(), c)
			if err != nil {
				t.Fatalf("%s: %v", f, err)
			}
			alone, err := k.Run(t.Context(), c)
			if err != nil {
				t.Fatal(err)
			}
			if got.Verdict != alone.Verdict || !reflect.DeepEqual(got.Want, alone.Want) || !reflect.DeepEqual(got.Classes(), alone.Classes()) ||
				got.Calls != alone.Calls || got.Literal != alone.Literal || got.Set != alone.Set || !got.AsWanted() {
				t.Errorf("%s: %s %v of %d calls, alone %s %v of %d", f, got.Verdict, got.Want, got.Calls, alone.Verdict, alone.Want, alone.Calls)
			}
			if site.corpus != nil && !reflect.DeepEqual(treeOf(t, site.corpus.base), made) {
				changed++
			}
			if err := site.Restore(); err != nil {
				t.Fatal(err)
			}
			if site.corpus == was {
				again++
			}
			if now := treeOf(t, site.corpus.base); !reflect.DeepEqual(now, made) {
				t.Errorf("%s: the corpus was made as\n%v\nand put back as\n%v", f, made, now)
			}
		}
	}
	if want := 2 * (len(faults) - 2); changed < want || again < want {
		t.Errorf("of %d runs %d changed their corpus, and %d left one that was put back", 2*len(faults), changed, again)
	}
	if err := site.Close(); err != nil {
		t.Error(err)
	}
}

// What others do to a corpus between two runs is not taken for what a run did.
func TestCorpusChangedBetweenRuns(t *testing.T) {
	k := kitFor(t)
	for what, change := range map[string]func(c *Corpus) error{
		"nothing":   func(*Corpus) error { return nil },
		"content":   func(c *Corpus) error { return c.write(control, "Never ask.\n", fileMode) },
		"mode":      func(c *Corpus) error { return c.chmod(c.files[0], 0o600) },
		"a file":    func(c *Corpus) error { return c.write("drafts/new.md", "", fileMode) },
		"a removal": func(c *Corpus) error { return c.remove("skills/" + editorSkill + "/SKILL.md") },
	} {
		site, err := k.Site(onSite(Honest, 0))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := site.Run(t.Context(), onSite(Honest, 0)); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(site.Restore(), change(site.corpus)); err != nil {
			t.Fatal(what, err)
		}
		base := site.corpus.base
		if _, err := site.Run(t.Context(), onSite(Honest, 1)); (err == nil) != (what == "nothing") {
			t.Errorf("%s: the next run ends with %v", what, err)
		}
		if err := site.Close(); err != nil {
			t.Error(err)
		}
		if _, err := os.Lstat(base); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: the corpus is still there: %v", what, err)
		}
	}
}

// What others did before the first run is told of a corpus that is made anew.
func TestCorpusChangedBeforeTheFirst(t *testing.T) {
	k := kitFor(t)
	site, err := k.Site(onSite(Honest, 0))
	if err != nil {
		t.Fatal(err)
	}
	if err := site.corpus.write("drafts/theirs.md", "", fileMode); err != nil {
		t.Fatal(err)
	}
	for n, f := range []Fault{Honest, Crash} {
		if _, err := site.Run(t.Context(), onSite(f, uint64(n))); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := site.Run(t.Context(), onSite(Honest, 2)); !errors.Is(err, ErrNotOurs) {
		t.Errorf("on the corpus as it is made: %v", err)
	}
	if err := site.Close(); err != nil {
		t.Error(err)
	}
}

// What cannot be put back is made anew, and never in a directory of others.
func TestWhatCannotBePutBack(t *testing.T) {
	k := kitFor(t)
	c := onSite(Honest, 0)
	site, err := k.Site(c)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := site.Run(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	was := site.corpus
	site.told.first[object("finance/of others.csv")] = "x"
	if err := site.Restore(); err != nil || site.corpus == was {
		t.Errorf("a file that is nobody's was put back: %v", err)
	}
	if _, err := site.Run(t.Context(), c); err != nil {
		t.Errorf("a run on a corpus that was made anew: %v", err)
	}
	base := site.corpus.base
	if err := errors.Join(os.Rename(base, base+"-moved"), os.MkdirAll(base+"/work/finance", 0o755)); err != nil {
		t.Fatal(err)
	}
	if err := site.Restore(); !errors.Is(err, ErrNotOurs) {
		t.Errorf("in a directory of others: %v", err)
	}
	if left := treeOf(t, base); len(left) != 3 {
		t.Errorf("there is now %v", left)
	}
	if err := errors.Join(os.RemoveAll(base), os.RemoveAll(base+"-moved")); err != nil {
		t.Error(err)
	}
	var none Site
	for _, s := range []*Site{&none, site} {
		d := c
		d.Files++
		if _, err := s.Run(t.Context(), d); !errors.Is(err, ErrNotOurs) {
			t.Errorf("a run of another corpus: %v", err)
		}
	}
	if err := none.Close(); err != nil {
		t.Error(err)
	}
}
