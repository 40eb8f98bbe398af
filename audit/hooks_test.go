package audit_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"iter"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"
	"golang.org/x/mod/sumdb/note"

	"github.com/iff-run/iff/audit"
	"github.com/iff-run/iff/audit/audittest"
	"github.com/iff-run/iff/internal/durable"
	"github.com/iff-run/iff/internal/store/file"
	"github.com/iff-run/iff/internal/trusttest"
	"github.com/iff-run/iff/record"
)

// role has a test start its own program as another process that does something in a directory.
var role = flag.String("log.role", "", "be another process, for the tests that start one: second:DIR")

// No test leaves a goroutine behind.
func TestMain(m *testing.M) {
	flag.Parse()
	if as, dir, ok := strings.Cut(*role, ":"); ok {
		if err := roles[as](dir); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m, goleak.Cleanup(os.Exit))
}

var roles = map[string]func(dir string) error{"second": second}

func child(as, dir string) *exec.Cmd {
	return exec.Command(os.Args[0], "-log.role", as+":"+dir)
}

// second tries to write to a log that another process has, and reads it.
func second(dir string) error {
	_, err := file.Open(durable.OS(), dir, nil)
	var busy *durable.BusyError
	if !errors.As(err, &busy) {
		return fmt.Errorf("it was not refused: %w", err)
	}
	store, err := file.OpenRead(durable.OS(), dir)
	if err != nil {
		return err
	}
	v, err := audit.Read(context.Background(), store, pin(), options(), trusttest.NewKey(1).Public())
	if err != nil {
		return err
	}
	fmt.Println(busy, "; read", v.Size(), "records")
	return store.Close()
}

// hooked is a store with some of its methods replaced: for faults, and for bugs that a check has to catch.
type hooked struct {
	audit.Store
	append func(context.Context, audit.Batch) error
	blocks func(context.Context, audit.Position) iter.Seq2[audit.Block, error]
	cut    func(context.Context, audit.Position) error
	save   func(context.Context, string, []byte) error
	extend func(context.Context, string, int64, []byte) error
	close  func() error
}

func (h *hooked) Append(ctx context.Context, b audit.Batch) error {
	if h.append != nil {
		return h.append(ctx, b)
	}
	return h.Store.Append(ctx, b)
}

func (h *hooked) Blocks(ctx context.Context, from audit.Position) iter.Seq2[audit.Block, error] {
	if h.blocks != nil {
		return h.blocks(ctx, from)
	}
	return h.Store.Blocks(ctx, from)
}

func (h *hooked) Cut(ctx context.Context, at audit.Position) error {
	if h.cut != nil {
		return h.cut(ctx, at)
	}
	return h.Store.Cut(ctx, at)
}

func (h *hooked) Save(ctx context.Context, name string, data []byte) error {
	if h.save != nil {
		return h.save(ctx, name, data)
	}
	return h.Store.Save(ctx, name, data)
}

func (h *hooked) Extend(ctx context.Context, name string, at int64, data []byte) error {
	if h.extend != nil {
		return h.extend(ctx, name, at, data)
	}
	return h.Store.Extend(ctx, name, at, data)
}

func (h *hooked) Close() error {
	if h.close != nil {
		return h.close()
	}
	return h.Store.Close()
}

// hookedFS is a file system whose files opened for writing at offsets, and new ones, are wrapped.
type hookedFS struct {
	durable.FS
	at func(durable.FileAt) durable.FileAt
}

func (h hookedFS) OpenAt(path string) (durable.FileAt, error) {
	f, err := h.FS.OpenAt(path)
	if err != nil {
		return nil, err
	}
	return h.at(f), nil
}

// syncer is a file with another Sync.
type syncer struct {
	durable.FileAt
	sync func(durable.FileAt) error
}

func (s syncer) Sync() error { return s.sync(s.FileAt) }

// logKeys are the keys that logs of these tests sign with, in the order in which they take each other's place.
func logKeys() []trusttest.Key {
	return []trusttest.Key{trusttest.NewKey(1), trusttest.NewKey(2), trusttest.NewKey(3)}
}

// openLog opens a log with all keys at hand. Where it fails it closes the store.
func openLog(ctx context.Context, store audit.Store, opts audit.Options) (*audit.Log, audit.Recovered, error) {
	k := logKeys()
	l, found, err := audit.Open(ctx, store, pin(), opts, k[0], k[1], k[2])
	if err != nil {
		err = errors.Join(err, store.Close())
	}
	return l, found, err
}

// linesOf is every line of a store, without newlines, as long as they are whole.
func linesOf(ctx context.Context, store audit.Store) ([][]byte, error) {
	var data []byte
	for b, err := range store.Blocks(ctx, audit.Position{}) {
		if err != nil {
			return nil, err
		}
		data = append(data, b.Data...)
	}
	all := bytes.SplitAfter(bytes.TrimRight(data, "\n"), []byte("\n"))
	for i := range all {
		all[i] = bytes.TrimSuffix(all[i], []byte("\n"))
	}
	return slices.DeleteFunc(all, func(l []byte) bool { return len(l) == 0 }), nil
}

// reasonOf is the reason of an error, empty if it has none.
func reasonOf(err error) audit.Reason {
	var e *audit.Error
	if errors.As(err, &e) {
		return e.Reason
	}
	return ""
}

// kept reads what a store in memory keeps under a name.
func kept(t testing.TB, m *audittest.Memory, name string) []byte {
	t.Helper()
	store, err := m.Open()
	must(t, err)
	defer store.Close()
	data, err := store.Load(t.Context(), name, 1<<30)
	must(t, err)
	return data
}

// keep replaces what a store in memory keeps under a name; nil takes all of it away.
func keep(t testing.TB, m *audittest.Memory, name string, data []byte) {
	t.Helper()
	store, err := m.Open()
	must(t, err)
	must(t, store.Save(t.Context(), name, data))
	must(t, store.Close())
}

// small is a record with a body of about n bytes.
func small(n int) record.Entry {
	return record.Of(record.KeyCreated{Name: string(bytes.Repeat([]byte("x"), n)), Fingerprint: "SHA256:x"})
}

// noteKey signs notes with a key of these tests.
type noteKey struct {
	note.Verifier
	key trusttest.Key
}

func (k noteKey) Sign(msg []byte) ([]byte, error) {
	sig, err := k.key.SignMessage(msg)
	return sig[:], err
}

// newLog makes a log of calls in one segment in memory, with checkpoints, and closes it.
func newLog(t testing.TB, b *book, calls int) *audittest.Memory {
	t.Helper()
	m := &audittest.Memory{}
	l := create(t, m, options())
	for i := range calls {
		must(t, b.append(l, call(i)...))
	}
	must(t, l.Close())
	return m
}
