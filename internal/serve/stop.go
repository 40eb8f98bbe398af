package serve

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/iff-run/iff/internal/durable"
)

// Running says whether a runtime serves the directory dir.
func Running(ctx context.Context, dir string) bool {
	c, err := Dial(ctx, filepath.Join(dir, OperatorSocket))
	if err != nil {
		return false
	}
	_ = c.Close()
	return true
}

// Stop ends the runtime that serves the directory dir, and returns when it has closed its log. The error is an *[Error]; NotRunning
// if there is none.
func Stop(ctx context.Context, dir string) error {
	c, err := Dial(ctx, filepath.Join(dir, OperatorSocket))
	if err != nil {
		return err
	}
	defer c.Close()
	var lost *Error
	if err := c.Call(ctx, "shutdown", nil, nil); err != nil && !(errors.As(err, &lost) && lost.Reason == ConnectionLost) {
		return err
	}
	for {
		l, err := durable.OS().Lock(filepath.Join(dir, lockFile))
		var busy *durable.BusyError
		switch {
		case err == nil:
			return l.Close()
		case !errors.As(err, &busy):
			return &Error{SocketFailed, dir, "the lock cannot be taken; check the directory", err}
		}
		if err := pause(ctx); err != nil {
			return &Error{Busy, dir, "the runtime was told to end and has not yet; see " + logFile, err}
		}
	}
}
