//go:build linux || darwin

package fs

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/iff-run/iff/capability"
	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/gate"
)

// thing is an object of the model, thought up from the documentation alone.
type thing struct {
	dir     bool
	content string
	mode    uint32
}

// model is a corpus by path.
type model map[string]thing

func (m model) parent(p string) (gate.Reason, bool) {
	dir, _, below := cutLast(p)
	if !below {
		return "", true
	}
	t, there := m[dir]
	switch {
	case there && t.dir:
		return "", true
	case there:
		return gate.NotADirectory, false
	}
	if r, ok := m.parent(dir); !ok {
		return r, false
	}
	return gate.NotFound, false
}

func cutLast(p string) (dir, name string, below bool) {
	i := strings.LastIndexByte(p, '/')
	if i < 0 {
		return "", p, false
	}
	return p[:i], p[i+1:], true
}

func (m model) below(p string) []string {
	var out []string
	for o := range m {
		if strings.HasPrefix(o, p+"/") {
			out = append(out, o)
		}
	}
	return out
}

// apply does a call to the model, or says why not.
func (m model) apply(op, p, to, content string, mode uint32, recursive bool) gate.Reason {
	if op == opRename && (p == to || strings.HasPrefix(to, p+"/") || strings.HasPrefix(p, to+"/")) {
		return gate.ArgumentsBad
	}
	if r, ok := m.parent(p); !ok {
		return r
	}
	t, there := m[p]
	switch op {
	case opWrite, opAppend:
		return m.write(op, p, t, there, content, mode)
	case opMkdir:
		if there {
			return gate.AlreadyThere
		}
		m[p] = thing{dir: true, mode: mode}
		return ""
	}
	if !there {
		return gate.NotFound
	}
	switch op {
	case opChmod:
		t.mode = mode
		m[p] = t
	case opDelete:
		inside := m.below(p)
		if len(inside) > 0 && !recursive {
			return gate.NotEmpty
		}
		for _, o := range append(inside, p) {
			delete(m, o)
		}
	case opRename:
		return m.rename(p, to, t)
	}
	return ""
}

func (m model) write(op, p string, t thing, there bool, content string, mode uint32) gate.Reason {
	if t.dir {
		return gate.NotAFile
	}
	if !there {
		t.mode = mode
	}
	if op == opAppend {
		content = t.content + content
	}
	m[p] = thing{content: content, mode: t.mode}
	return ""
}

func (m model) rename(p, to string, t thing) gate.Reason {
	if r, ok := m.parent(to); !ok {
		return r
	}
	if other, there := m[to]; there && (other.dir || t.dir) {
		return gate.AlreadyThere
	}
	for _, o := range append(m.below(p), p) {
		m[to+o[len(p):]] = m[o]
		delete(m, o)
	}
	return ""
}

// states are those that the objects of the model must have.
func (m model) states(h *Host) map[corpus.Object]corpus.State {
	out := map[corpus.Object]corpus.State{}
	for p, t := range m {
		f := corpus.Facts{Kind: corpus.File, Mode: t.mode, UID: h.uid, GID: h.gid}
		if t.dir {
			f.Kind = corpus.Directory
		}
		out[corpus.Name("work", p)] = corpus.NewCopy(f, t.content, nil).State()
	}
	return out
}

// Random calls do to a directory what they do to the model, each exactly as
// planned; reversible ones are undone now and then.
func TestModel(t *testing.T) {
	names := []string{"a", "b", "a/a", "a/b", "b/a", "b/b", "a/a/a", "a/b/ü", "b/a*"}
	rapid.Check(t, func(rt *rapid.T) {
		dir, err := os.MkdirTemp(t.TempDir(), "")
		must(t, err)
		s, err := system()
		must(t, err)
		b := benchOver(t, s, dir)
		defer b.h.Close()
		m := model{}
		for range rapid.IntRange(1, 25).Draw(rt, "calls") {
			op := rapid.SampledFrom([]string{opWrite, opWrite, opAppend, opMkdir, opMkdir, opDelete, opRename, opChmod}).Draw(rt, "op")
			p, to := rapid.SampledFrom(names).Draw(rt, "path"), rapid.SampledFrom(names).Draw(rt, "to")
			content, mode := rapid.StringN(0, 5, -1).Draw(rt, "content"), rapid.SampledFrom([]uint32{0o700, 0o755, 0o777}).Draw(rt, "mode")
			recursive := rapid.Bool().Draw(rt, "recursive")
			before := maps.Clone(m)
			want := m.apply(op, p, to, content, mode, recursive)
			o, err := b.call(envelope(b, capability.FSWriteIrrev, strings.ReplaceAll(p, "*", `\*`), arguments(op, strings.ReplaceAll(to, "*", `\*`), content, mode, recursive)))
			if reasonOf(err) != want {
				rt.Fatalf("%s %s (to %s): %v, the model says %q", op, p, to, err, want)
			}
			if (op == opWrite || op == opAppend || op == opMkdir) && err == nil && rapid.IntRange(0, 3).Draw(rt, "undo") == 0 {
				m = before
				if _, err = b.h.do(b.Context(), undone(o)); err != nil {
					rt.Fatalf("undoing %s %s: %v", op, p, err)
				}
			} else if err == nil {
				b.asPlanned(o.Plan)
			}
			if now, want := b.states(), m.states(b.h); !maps.Equal(now, want) {
				rt.Fatalf("after %s %s there is %v, in the model %v", op, p, slices.Sorted(maps.Keys(now)), slices.Sorted(maps.Keys(want)))
			}
		}
	})
}

func arguments(op, to, content string, mode uint32, recursive bool) string {
	switch op {
	case opWrite, opAppend:
		return fmt.Sprintf(`{"op":%q,"content":%s,"mode":"%04o"}`, op, quoteJSON(content), mode)
	case opMkdir, opChmod:
		return fmt.Sprintf(`{"op":%q,"mode":"%04o"}`, op, mode)
	case opDelete:
		return fmt.Sprintf(`{"op":%q,"recursive":%v}`, op, recursive)
	}
	return fmt.Sprintf(`{"op":%q,"to":%s}`, op, quoteJSON(to))
}
