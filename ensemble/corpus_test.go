package ensemble

import (
	"errors"
	"os"
	"testing"
)

func TestCorpusIsOurs(t *testing.T) {
	k, err := NewKit(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c, err := k.NewCorpus(t.TempDir(), 5, spares, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, away := range []string{"../outside", "/etc/hostname", "finance/../../outside"} {
		if err := c.write(away, "x", 0o644); err == nil {
			t.Errorf("%s was written", away)
		}
	}
	// Somebody puts another directory in its place.
	if err := errors.Join(os.Rename(c.base, c.base+"-moved"), os.Mkdir(c.base, 0o755), os.WriteFile(c.base+"/theirs", nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); !errors.Is(err, ErrNotOurs) {
		t.Errorf("another directory was removed: %v", err)
	}
	if _, err := os.Stat(c.base + "/theirs"); err != nil {
		t.Error(err)
	}
}

func TestZeroCorpusRefuses(t *testing.T) {
	for _, c := range []*Corpus{nil, new(Corpus)} {
		for what, f := range map[string]func() error{
			"write": func() error { return c.write("a", "", 0o600) }, "remove": func() error { return c.remove("a") },
			"mkdir": func() error { return c.mkdir("a") }, "chmod": func() error { return c.chmod("a", 0o600) }, "close": c.Close,
		} {
			if err := f(); !errors.Is(err, ErrNotOurs) {
				t.Errorf("%s: %v", what, err)
			}
		}
	}
}

func TestSameSeedSameCorpus(t *testing.T) {
	k, err := NewKit(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var texts [3]map[string]string
	for i, seed := range []uint64{4, 4, 5} {
		c, err := k.NewCorpus(t.TempDir(), 30, spares, seed)
		if err != nil {
			t.Fatal(err)
		}
		if texts[i] = c.texts; len(c.files) != 30 || len(c.spares) != spares {
			t.Errorf("%d files, %d spares", len(c.files), len(c.spares))
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
	same := func(a, b map[string]string) bool {
		for name, text := range a {
			if b[name] != text {
				return false
			}
		}
		return len(a) == len(b)
	}
	if !same(texts[0], texts[1]) || same(texts[0], texts[2]) {
		t.Error("the seed does not decide what the files are")
	}
}
