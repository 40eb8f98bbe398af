//go:build !unix

package serve

import (
	"errors"
	"fmt"
	"os"
)

func openAppend(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600)
}

type child struct{}

type ending struct{}

func (ending) String() string { return "never begun" }

func spawn(string, []string, *os.File, []string) (*child, error) {
	return nil, fmt.Errorf("a process cannot be detached on this system; run iff serve: %w", errors.ErrUnsupported)
}

func (*child) ended() (ending, bool) { return ending{}, true }

func (*child) leave() {}
