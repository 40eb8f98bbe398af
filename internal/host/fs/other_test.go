//go:build !linux && !darwin

package fs

import (
	"errors"
	"testing"
)

func TestUnsupported(t *testing.T) {
	if _, err := New([]Root{{Corpus: "work", Dir: t.TempDir()}}); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("%v", err)
	}
}
