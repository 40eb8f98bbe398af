package control_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/internal/observe/control"
)

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

// write makes a file, and the directories above it.
func write(tb testing.TB, path, text string) {
	tb.Helper()
	must(tb, os.MkdirAll(filepath.Dir(path), 0o755))
	must(tb, os.WriteFile(path, []byte(text), 0o644))
}

func observer(tb testing.TB, files ...control.File) *control.Observer {
	tb.Helper()
	o, err := control.New(files)
	must(tb, err)
	return o
}

// changed is what differs between now and before, by name.
func changed(t *testing.T, o *control.Observer, before *corpus.Snapshot) []string {
	t.Helper()
	var out []string
	for _, read := range []func(context.Context) (*corpus.Snapshot, error){o.Snapshot, o.Full} {
		now, err := read(t.Context())
		must(t, err)
		var names []string
		for _, c := range corpus.Diff(before, now) {
			names = append(names, c.Object.Path())
			states, err := o.Read(t.Context(), []corpus.Object{c.Object})
			must(t, err)
			if states[0] != c.After && c.After != corpus.Absent {
				t.Errorf("%s is %s alone and %s in a snapshot", c.Object, states[0], c.After)
			}
		}
		if out != nil && !slices.Equal(out, names) {
			t.Errorf("a snapshot finds %v, a full one %v", out, names)
		}
		out = names
	}
	return out
}

func TestChangesAreSeen(t *testing.T) {
	const before = `{"mcpServers":{"iff":{"command":"iff","args":["mcp"]}},"projects":{"/a/b":{"mcpServers":{},"history":[1]}},"count":1}`
	for name, c := range map[string]struct {
		change func(t *testing.T, dir string)
		want   []string
	}{
		"nothing": {func(*testing.T, string) {}, nil},
		"what does not count": {func(t *testing.T, d string) {
			write(t, d+"/claude.json", strings.Replace(before, `"count":1`, `"count":2,"x":[]`, 1))
		}, nil},
		"spelled otherwise":   {func(t *testing.T, d string) { write(t, d+"/claude.json", "\n"+strings.ReplaceAll(before, ",", ", ")) }, nil},
		"mode of what counts": {func(t *testing.T, d string) { must(t, os.Chmod(d+"/claude.json", 0o600)) }, nil},
		"a member": {func(t *testing.T, d string) {
			write(t, d+"/claude.json", strings.Replace(before, `"mcp"`, `"evil"`, 1))
		}, []string{"~/claude.json"}},
		"a member below": {func(t *testing.T, d string) {
			write(t, d+"/claude.json", strings.Replace(before, `{"mcpServers":{},`, `{"mcpServers":{"x":1},`, 1))
		}, []string{"~/claude.json"}},
		"history":              {func(t *testing.T, d string) { write(t, d+"/claude.json", strings.Replace(before, `[1]`, `[1,2]`, 1)) }, nil},
		"a member twice":       {func(t *testing.T, d string) { write(t, d+"/claude.json", `{"mcpServers":{},`+before[1:]) }, []string{"~/claude.json"}},
		"broken":               {func(t *testing.T, d string) { write(t, d+"/claude.json", before[1:]) }, []string{"~/claude.json"}},
		"emptied":              {func(t *testing.T, d string) { write(t, d+"/claude.json", " \n") }, []string{"~/claude.json"}},
		"removed":              {func(t *testing.T, d string) { must(t, os.Remove(d+"/claude.json")) }, []string{"~/claude.json"}},
		"made without members": {func(t *testing.T, d string) { write(t, d+"/other.json", `{"a":1}`) }, nil},
		"made with a member":   {func(t *testing.T, d string) { write(t, d+"/other.json", `{"hooks":null}`) }, []string{"~/other.json"}},
		"toml":                 {func(t *testing.T, d string) { write(t, d+"/config.toml", "x=2\n[mcp_servers.iff]\ncommand='evil'\n") }, []string{"~/config.toml"}},
		"toml, other member": {func(t *testing.T, d string) {
			write(t, d+"/config.toml", "x=3\n[mcp_servers.iff]\ncommand = \"iff\"\n")
		}, nil},
		"broken toml": {func(t *testing.T, d string) { write(t, d+"/config.toml", "[") }, []string{"~/config.toml"}},
		"a file in a directory": {func(t *testing.T, d string) { write(t, d+"/opencode/plugin/a.js", "evil") },
			[]string{"~/opencode/plugin", "~/opencode/plugin/a.js"}},
		"bytes in a directory":    {func(t *testing.T, d string) { write(t, d+"/opencode/a.json", "[2]") }, []string{"~/opencode/a.json"}},
		"mode in a directory":     {func(t *testing.T, d string) { must(t, os.Chmod(d+"/opencode/a.json", 0o755)) }, []string{"~/opencode/a.json"}},
		"own file in a directory": {func(t *testing.T, d string) { write(t, d+"/opencode/own.json", `{"theme":2,"permission":1}`) }, nil},
		"a link in a directory":   {func(t *testing.T, d string) { must(t, os.Symlink("/etc/passwd", d+"/opencode/l")) }, []string{"~/opencode/l"}},
		"behind a link":           {func(t *testing.T, d string) { write(t, d+"/elsewhere", "2") }, nil},
		"where a link leads": {func(t *testing.T, d string) {
			must(t, os.Remove(d+"/link"))
			must(t, os.Symlink("claude.json", d+"/link"))
		}, []string{"~/link"}},
		"a FIFO": {func(t *testing.T, d string) {
			must(t, os.Remove(d+"/opencode/a.json"))
			must(t, syscall.Mkfifo(d+"/opencode/a.json", 0o644))
		}, []string{"~/opencode/a.json"}},
		"a directory goes": {func(t *testing.T, d string) { must(t, os.RemoveAll(d+"/opencode")) }, []string{"~/opencode", "~/opencode/a.json", "~/opencode/own.json"}},
		"a large file":     {func(t *testing.T, d string) { write(t, d+"/opencode/a.json", strings.Repeat("a", 4<<20+1)) }, []string{"~/opencode", "~/opencode/a.json"}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir+"/claude.json", before)
			write(t, dir+"/config.toml", "x = 2\n[mcp_servers.iff]\ncommand = 'iff'\n")
			write(t, dir+"/opencode/a.json", "[1]")
			write(t, dir+"/opencode/own.json", `{"permission":1,"theme":1}`)
			write(t, dir+"/elsewhere", "1")
			must(t, os.Symlink("elsewhere", dir+"/link"))
			o := observer(t,
				control.File{Object: "~/claude.json", Path: dir + "/claude.json", Keys: []string{"mcpServers", "/projects/~1a~1b/mcpServers"}},
				control.File{Object: "~/other.json", Path: dir + "/other.json", Keys: []string{"hooks"}},
				control.File{Object: "~/config.toml", Path: dir + "/config.toml", Keys: []string{"mcp_servers"}},
				control.File{Object: "~/opencode", Path: dir + "/opencode"},
				control.File{Object: "~/opencode/own.json", Path: dir + "/opencode/own.json", Keys: []string{"permission"}},
				control.File{Object: "~/link", Path: dir + "/link"},
				control.File{Object: "~/nothing/here", Path: dir + "/nothing/here"},
			)
			first, err := o.Snapshot(t.Context())
			must(t, err)
			if first.Unread() > 0 || first.Len() != 6 {
				t.Fatalf("%d objects, %d unread: %v", first.Len(), first.Unread(), first.Entries())
			}
			c.change(t, dir)
			if got := changed(t, o, first); !slices.Equal(got, c.want) {
				t.Errorf("%v changed, want %v", got, c.want)
			}
		})
	}
}

// Beyond a bound nothing is vouched for, and the rest is read all the same.
func TestBounds(t *testing.T) {
	dir := t.TempDir()
	for i := range 2001 {
		write(t, fmt.Sprintf("%s/many/%04d", dir, i), "")
	}
	write(t, dir+"/deep/"+strings.Repeat("d/", 33)+"x", "")
	write(t, dir+"/good", "")
	o := observer(t, control.File{Object: "many", Path: dir + "/many"}, control.File{Object: "deep", Path: dir + "/deep"}, control.File{Object: "good", Path: dir + "/good"})
	s, err := o.Snapshot(t.Context())
	must(t, err)
	if s.Len() != 3 || s.Unread() != 2 {
		t.Errorf("%d objects, %d unread", s.Len(), s.Unread())
	}
	states, err := o.Read(t.Context(), []corpus.Object{"iff-control/many/0000", "iff-control/good", "iff-control/goods", "work/good"})
	must(t, err)
	if states[0] != corpus.Unreadable || !states[1].Known() || states[2] != corpus.Unreadable || states[3] != corpus.Unreadable {
		t.Errorf("%v", states)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := o.Snapshot(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("when nobody waits any more: %v", err)
	}
}

func TestFilesThatCannotBeNamed(t *testing.T) {
	for name, files := range map[string][]control.File{
		"relative":    {{Object: "a", Path: "a"}},
		"not clean":   {{Object: "a", Path: "/a/../b"}},
		"everything":  {{Object: "a", Path: "/"}},
		"no name":     {{Object: "", Path: "/a"}},
		"the corpus":  {{Object: ".", Path: "/a"}},
		"above":       {{Object: "../a", Path: "/a"}},
		"path twice":  {{Object: "a", Path: "/a"}, {Object: "b", Path: "/a"}},
		"name twice":  {{Object: "a", Path: "/a"}, {Object: "a", Path: "/b"}},
		"many files":  make([]control.File, control.MaxFiles+1),
		"second file": {{Object: "a", Path: "/a"}, {Object: "b", Path: ""}},
	} {
		if _, err := control.New(files); !errors.Is(err, control.ErrFiles) {
			t.Errorf("%s: %v", name, err)
		}
	}
	var none control.Observer
	s, err := none.Snapshot(t.Context())
	if must(t, err); s.Len() != 0 || none.Name() != "control" || len(none.Blind()) == 0 {
		t.Error("the zero observer sees something, or does not say what it is blind to")
	}
}
