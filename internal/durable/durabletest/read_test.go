package durabletest_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"syscall"
	"testing"

	"github.com/iff-run/iff/internal/durable"
	"github.com/iff-run/iff/internal/durable/durabletest"
)

func TestLockInMemory(t *testing.T) {
	d := durabletest.New()
	l, err := d.Lock("/lock")
	must(t, err)
	var busy *durable.BusyError
	for range 2 { // to be refused gives up nothing
		if _, err := d.Lock("/lock"); !errors.As(err, &busy) || busy.Holder != "process 1" || busy.Path != "/lock" {
			t.Errorf("%v", err)
		}
	}
	// Whoever held it is dead.
	for what, next := range map[string]*durabletest.Disk{"Reopen": d.Reopen(), "Restart": d.Restart(durabletest.Survivals()[1])} {
		l, err := next.Lock("/lock")
		must(t, err)
		if _, err := next.Lock("/lock"); !errors.As(err, &busy) || busy.Holder != "process 2" {
			t.Errorf("%s: %v", what, err)
		}
		must(t, l.Close())
	}
	must(t, l.Close())
	l, err = d.Lock("/lock")
	must(t, err)
	d.Arm(durabletest.Fault{At: 0, Mode: durabletest.FailLost})
	if err := l.Close(); !errors.Is(err, syscall.EIO) {
		t.Errorf("%v", err)
	}
	for _, mode := range []durabletest.Mode{durabletest.FailLost, durabletest.FailKept} {
		d.Arm(durabletest.Fault{At: 0, Mode: mode})
		if _, err := d.Lock("/lock"); !errors.Is(err, syscall.EIO) {
			t.Errorf("%v: %v", mode, err)
		}
	}
	if _, err := d.Lock("/lock"); err != nil {
		t.Errorf("who was told of an error holds it: %v", err)
	}
}

// A lock is lost with its file, and asking is a read.
func TestLockHeldInMemory(t *testing.T) {
	for what, then := range map[string]func(d *durabletest.Disk) error{
		"removed":  func(d *durabletest.Disk) error { return d.Remove("/lock") },
		"renamed":  func(d *durabletest.Disk) error { return d.Rename("/lock", "/other") },
		"replaced": func(d *durabletest.Disk) error { return durable.WriteFile(d, "/lock", nil, 0o600) },
		"taken anew": func(d *durabletest.Disk) error {
			_, refused := d.Lock("/lock")
			return errors.Join(d.Remove("/lock"), again(refused, d))
		},
		"not read": func(d *durabletest.Disk) error {
			d.Arm(durabletest.Fault{Read: true, Mode: durabletest.FailLost})
			return nil
		},
		"the machine": func(d *durabletest.Disk) error { d.Stop(); return nil },
	} {
		d := durabletest.New()
		l, err := d.Lock("/lock")
		must(t, err)
		must(t, l.Held())
		must(t, d.Link("/lock", "/second"))
		must(t, l.Held())
		must(t, then(d))
		calls := len(d.Calls())
		var lost *durable.LostError
		if err := l.Held(); !errors.As(err, &lost) || lost.Path != "/lock" {
			t.Errorf("%s: %v", what, err)
		}
		if len(d.Calls()) != calls {
			t.Errorf("%s: to ask is a call", what)
		}
		_ = l.Close() // the machine may have stopped
		if err := l.Held(); err == nil {
			t.Errorf("%s: held after Close", what)
		}
	}
}

// again takes a lock that is refused to a second taker and free once its file is gone.
func again(refused error, d *durabletest.Disk) error {
	var busy *durable.BusyError
	if !errors.As(refused, &busy) {
		return fmt.Errorf("taken twice: %w", refused)
	}
	_, err := d.Lock("/lock")
	return err
}

// Reads are numbered by themselves, and each can fail.
func TestReadFaults(t *testing.T) {
	read := func(d *durabletest.Disk) error {
		names, err := d.List("/")
		if err != nil {
			return err
		}
		if fmt.Sprint(names) != "[f]" {
			return fmt.Errorf("%v", names)
		}
		r, err := d.Open("/f")
		if err != nil {
			return err
		}
		_, err = r.Size()
		if err != nil {
			return err
		}
		p := make([]byte, 5)
		n, err := r.ReadAt(p, 1)
		if err != io.EOF || string(p[:n]) != "234" {
			return fmt.Errorf("%q, %w", p[:n], err)
		}
		return r.Close()
	}
	d := durabletest.New()
	f := create(t, d, "/f", "1234")
	for at, op := range []string{"list /", "open /f", "size /f", "readat /f"} {
		d.Arm(durabletest.Fault{At: at, Mode: durabletest.FailLost, Read: true}, durabletest.Fault{At: 1, Mode: durabletest.FailLost})
		if err := read(d); !errors.Is(err, syscall.EIO) {
			t.Errorf("%s: %v", op, err)
		}
		if reads := d.Reads(); len(reads) != at+1 || reads[at].String() != op {
			t.Errorf("%v", reads)
		}
		if len(d.Calls()) != 0 || fmt.Sprint(d.Fired()) != fmt.Sprintf("[fail-lost at read %d]", at) {
			t.Errorf("%v %v", d.Calls(), d.Fired())
		}
		must(t, read(d), f.Sync())
		if err := f.Sync(); !errors.Is(err, syscall.EIO) { // the call numbered 1
			t.Errorf("%v", err)
		}
	}
	r, err := d.Open("/f")
	must(t, err)
	d.Stop()
	_, err = r.ReadAt(make([]byte, 1), 0)
	if !errors.Is(err, durabletest.ErrCrashed) || !errors.Is(read(d), durabletest.ErrCrashed) {
		t.Errorf("after a crash: %v", err)
	}
	must(t, r.Close())
	if err := r.Close(); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("%v", err)
	}
}

func TestMatrixReadsReports(t *testing.T) {
	body := func(fsys durable.FS) error {
		_, err := fsys.List("/")
		return errors.Join(err, fsys.Mkdir("/d", 0o700))
	}
	struck := 0
	n, err := durabletest.MatrixReads(nil, body, func(c *durabletest.Case) error {
		if c.Struck(durabletest.List) && c.Survival == "" {
			struck++
			return errors.New("no")
		}
		return nil
	})
	want := "[mkdir /d, read 0: list / <fail-lost>] returned list /: input/output error; running on: no"
	if n != 2*(1+len(durabletest.Survivals())) || struck != 1 || err == nil || err.Error() != want {
		t.Errorf("%d cases, %d struck: %v", n, struck, err)
	}
	endless := func(fsys durable.FS) error {
		for range 1001 {
			fsys.List("/")
		}
		return nil
	}
	if _, err := durabletest.MatrixReads(nil, endless, func(*durabletest.Case) error { return nil }); err == nil {
		t.Error("a body of 1001 reads passes")
	}
	once := func(fsys durable.FS) error { return errors.Join(endless(fsys), fsys.Mkdir("/d", 0o700)) }
	if _, err := durabletest.Matrix(nil, once, func(*durabletest.Case) error { return nil }); err != nil {
		t.Errorf("reads are no calls: %v", err)
	}
}
