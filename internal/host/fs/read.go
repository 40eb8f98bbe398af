package fs

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"unicode/utf8"

	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/gate"
	"github.com/iff-run/iff/internal/canonical"
)

type readResult struct {
	Content *string `json:"content,omitempty"`
	Base64  *string `json:"base64,omitempty"`
	Size    int64   `json:"size"`
	State   string  `json:"state"`
}

// listResult has no sizes: an entry may have a label above its directory's.
type listResult struct {
	Entries []entry `json:"entries"`
}

type entry struct {
	Name string `json:"name"`
	Kind string `json:"kind"`
}

type statResult struct {
	Kind  string `json:"kind"`
	Mode  string `json:"mode,omitempty"`
	Size  *int64 `json:"size,omitempty"`
	State string `json:"state,omitempty"`
}

type writeResult struct {
	State string `json:"state,omitempty"`
}

// read does a call of fs.read.
func (h *Host) read(ctx context.Context, r *root, c call, staged gate.Staged) (gate.Result, error) {
	v := view{h, r, staged}
	var answer any
	var err error
	switch c.op {
	case opRead:
		answer, err = v.read(ctx, c)
	case opList:
		answer, err = v.list(ctx, c.object)
	default:
		answer, err = v.stat(ctx, c.object)
	}
	if err != nil {
		return gate.Result{}, refusal(c.object, err)
	}
	data, err := canonical.Marshal(answer)
	return gate.Result{Data: data}, err
}

func (v view) read(ctx context.Context, c call) (readResult, error) {
	var part []byte
	end := c.offset + c.limit
	window := func(off int64, p []byte) {
		from, to := max(c.offset, off), min(end, off+int64(len(p)))
		if from < to {
			part = append(part, p[from-off:to-off]...)
		}
	}
	f, err := v.look(ctx, c.object, keeping{whole: small, window: window})
	switch {
	case err != nil:
		return readResult{}, err
	case f.absent():
		return readResult{}, fs.ErrNotExist
	case f.Facts.Kind == corpus.Directory:
		return readResult{}, wrong(gate.NotAFile, "a directory; use op list")
	}
	if err := ordinary(f); err != nil {
		return readResult{}, err
	}
	text := string(part)
	if !f.Cut {
		text = f.Data[min(c.offset, int64(len(f.Data))):]
		text = text[:min(c.limit, int64(len(text)))]
	}
	out := readResult{Size: f.stat.size, State: string(f.State())}
	if utf8.ValidString(text) {
		out.Content = &text
	} else {
		text = base64.StdEncoding.EncodeToString(bytesOf(text))
		out.Base64 = &text
	}
	return out, nil
}

func (v view) list(ctx context.Context, dir corpus.Object) (listResult, error) {
	f, err := v.look(ctx, dir, anySize)
	switch {
	case err != nil:
		return listResult{}, err
	case f.absent():
		return listResult{}, fs.ErrNotExist
	case f.Facts.Kind != corpus.Directory:
		return listResult{}, wrong(gate.NotADirectory, "a %s; use op read or stat", f.Facts.Kind)
	}
	at, err := v.h.dir(v.root, dir.Path())
	if err == nil {
		defer v.h.sys.close(at)
	} else if _, made := v.overlaid(dir); !made || !errors.Is(err, fs.ErrNotExist) {
		return listResult{}, err
	}
	entries, err := v.listed(at, dir)
	if err != nil {
		return listResult{}, err
	}
	out := listResult{Entries: make([]entry, 0, len(entries))}
	for _, e := range entries {
		if reserved(e.name) {
			continue
		}
		if e.kind == "" {
			st, err := v.h.sys.lstat(at, e.name)
			if err != nil {
				continue // gone since it was listed
			}
			e.kind = st.kind
		}
		name := corpus.Name(v.root.Corpus, e.name)[len(v.root.Corpus)+1:] // as names of objects are spelled
		out.Entries = append(out.Entries, entry{Name: string(name), Kind: string(e.kind)})
	}
	return out, ctx.Err()
}

func (v view) stat(ctx context.Context, o corpus.Object) (statResult, error) {
	f, err := v.look(ctx, o, anySize)
	if reasonOf(err) == gate.NotFound || err == nil && f.absent() {
		return statResult{Kind: "absent"}, nil
	}
	if err != nil {
		return statResult{}, err
	}
	out := statResult{Kind: string(f.Facts.Kind), Mode: fmt.Sprintf("%04o", f.Facts.Mode), State: string(f.State())}
	size := int64(0)
	if f.Facts.Kind == corpus.File {
		size = f.stat.size
	}
	out.Size = &size
	return out, nil
}
