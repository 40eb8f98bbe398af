package runtime

import (
	"context"
	"errors"
	"strings"

	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/internal/observe/rehash"
)

// skillFiles reads files of skills that lie in no corpus, so that a mutation
// record says what they are: directories by name of the skill. It keeps none of
// them open, and follows no link below them.
type skillFiles map[string]string

// Name implements [corpus.Observer].
func (skillFiles) Name() string { return "rehash" }

// Blind implements [corpus.Observer].
func (skillFiles) Blind() []string { return []string{"everything, but for the file that is asked for"} }

// Snapshot implements [corpus.Observer]. No barrier takes one.
func (skillFiles) Snapshot(context.Context) (*corpus.Snapshot, error) {
	return nil, errors.New("skills outside of every corpus are not a corpus; name one that is")
}

// Read implements [corpus.Observer].
func (s skillFiles) Read(ctx context.Context, objects []corpus.Object) ([]corpus.State, error) {
	out := make([]corpus.State, len(objects))
	for i, o := range objects {
		var err error
		if out[i], err = s.read(ctx, o); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (s skillFiles) read(ctx context.Context, o corpus.Object) (state corpus.State, err error) {
	name, path, _ := strings.Cut(o.Path(), "/")
	dir, ok := s[name]
	if !ok {
		return corpus.Unreadable, nil
	}
	if path == "" {
		path = "."
	}
	files, err := rehash.New(follow("/", dir), SkillsCorpus, corpus.Patterns{}, rehash.Options{})
	if err != nil {
		return corpus.Unreadable, nil // it may be gone
	}
	defer func() { err = errors.Join(err, files.Close()) }()
	states, err := files.Read(ctx, []corpus.Object{corpus.Name(SkillsCorpus, path)})
	if err != nil {
		return corpus.Unreadable, err
	}
	return states[0], nil
}
