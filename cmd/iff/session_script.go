package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/iff-run/iff/internal/canonical"
	"github.com/iff-run/iff/internal/serve"
)

// step is one line of what iff session run plays: a call, a skill to use, or a
// commit.
type step struct {
	line   int
	call   *serve.CallParams
	use    *string // name of the skill; empty goes back to none
	commit bool
}

const (
	// maxStep bounds a line in bytes: a call has to fit a request to the runtime.
	maxStep = 2<<20 - 4096
	// maxSteps bounds the lines of a script.
	maxSteps = 1_000_000
)

// stepForm is all that a line may have. Which members belong together, and what
// is in them, is looked at after that.
type stepForm struct {
	Capability canonical.Raw `json:"capability,omitzero"`
	Target     canonical.Raw `json:"target,omitzero"`
	Arguments  canonical.Raw `json:"arguments,omitzero"`
	Reasoning  canonical.Raw `json:"reasoning,omitzero"`
	Key        canonical.Raw `json:"key,omitzero"`
	Use        canonical.Raw `json:"use,omitzero"`
	Commit     canonical.Raw `json:"commit,omitzero"`
}

var errStep = errors.New(`a line is a call, {"capability":...,"target":...}, or {"use":"SKILL"}, or {"commit":true}`)

// parseStep reads a line strictly, without its newline.
func parseStep(line []byte) (step, error) {
	limits := canonical.Limits{Bytes: maxStep}
	var f stepForm
	if err := canonical.Parse(line, &f, limits); err != nil {
		return step{}, err
	}
	called := f
	called.Use, called.Commit = canonical.Raw{}, canonical.Raw{}
	switch {
	case f == stepForm{Use: f.Use} && !f.Use.IsZero():
		name := new(string)
		return step{use: name}, canonical.Parse([]byte(f.Use.String()), name, limits)
	case f == stepForm{Commit: f.Commit} && f.Commit.String() == "true":
		return step{commit: true}, nil
	case f == called && !f.Capability.IsZero() && !f.Target.IsZero():
		call := new(serve.CallParams)
		return step{call: call}, canonical.Parse(line, call, limits)
	}
	return step{}, errStep
}

// steps reads a script line by line. Lines without anything are skipped.
type steps struct {
	in   *bufio.Reader
	name string // of the file, for errors
	line int
	read int
}

func newSteps(in io.Reader, name string) *steps {
	return &steps{in: bufio.NewReaderSize(in, 64<<10), name: name}
}

// next is the next step; its error is io.EOF behind the last one, or says which
// line is wrong.
func (s *steps) next() (step, error) {
	for {
		line, err := s.nextLine()
		if err != nil {
			return step{}, err
		}
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		if s.read++; s.read > maxSteps {
			return step{}, s.wrong(fmt.Errorf("more than %d lines; play them in several sessions", maxSteps))
		}
		out, err := parseStep(line)
		if err != nil {
			return step{}, s.wrong(err)
		}
		out.line = s.line
		return out, nil
	}
}

func (s *steps) nextLine() ([]byte, error) {
	var line []byte
	s.line++
	for {
		part, err := s.in.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case len(line) > maxStep+1:
			return nil, s.wrong(fmt.Errorf("the line has more than %d bytes", maxStep))
		case err == nil || errors.Is(err, io.EOF) && len(line) > 0:
			return bytes.TrimSuffix(line, []byte("\n")), nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
	}
}

func (s *steps) wrong(err error) error {
	return &usageError{reason: "usage", detail: fmt.Sprintf("%s:%d: %v", said(s.name), s.line, err), remedy: "correct the line; docs/sessions.md has the forms"}
}
