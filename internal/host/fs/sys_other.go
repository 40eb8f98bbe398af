//go:build !linux && !darwin

package fs

import "errors"

const (
	newFilesTakeGroup = false
	unknownFolds      = true
)

func system() (sys, error) { return nil, errors.ErrUnsupported }
