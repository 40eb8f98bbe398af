package durable

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestListIsBounded(t *testing.T) {
	dir := t.TempDir()
	var want []string
	for i := range 5 {
		want = append(want, fmt.Sprint(i))
		if err := os.WriteFile(filepath.Join(dir, want[i]), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := list(dir, 5); err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := list(dir, 4); !errors.Is(err, ErrTooLarge) {
		t.Errorf("5 names where 4 are read: %v", err)
	}
}

// Whatever a lock file holds, the holder is a number or unknown: it is shown on terminals.
func FuzzHolder(f *testing.F) {
	for text, want := range map[string]string{
		"4711\n": "process 4711", "1\n22\n": "process 1", strings.Repeat("9", 20) + "\n": "process " + strings.Repeat("9", 20),
		"": "unknown", "\n": "unknown", "\n711\n": "unknown", "4711": "unknown", "47a1\n": "unknown", "-1\n": "unknown",
		" 1\n": "unknown", "\x1b[2J\n": "unknown", "٣\n": "unknown", strings.Repeat("9", 21) + "\n": "unknown",
	} {
		if got := holder(strings.NewReader(text)); got != want {
			f.Errorf("%q: %q, want %q", text, got, want)
		}
		f.Add(text)
	}
	known := regexp.MustCompile(`^(unknown|process [0-9]{1,20})$`)
	f.Fuzz(func(t *testing.T, text string) {
		got := holder(strings.NewReader(text))
		if !known.MatchString(got) {
			t.Errorf("%q", got)
		}
		if pid, named := strings.CutPrefix(got, "process "); named && !strings.HasPrefix(text, pid+"\n") {
			t.Errorf("%q from %q", got, text)
		}
	})
}
