package durabletest_test

import (
	"errors"
	"fmt"
	"syscall"
	"testing"

	"github.com/iff-run/iff/internal/durable"
	"github.com/iff-run/iff/internal/durable/durabletest"
)

// hanging starts what and gives its answer to come, when the disk's call at hangs.
func hanging(d *durabletest.Disk, at int, what func() error) <-chan error {
	d.Arm(durabletest.Fault{At: at, Mode: durabletest.Hang})
	answer := make(chan error, 1)
	go func() { answer <- what() }()
	<-d.Hung()
	return answer
}

func TestHang(t *testing.T) {
	for what, c := range map[string]struct {
		release func(*durabletest.Disk)
		want    error
		text    string // behind a power cut that loses everything that was not synced
	}{
		"succeeds":            {func(d *durabletest.Disk) { d.Release(0) }, nil, "1"},
		"fails":               {func(d *durabletest.Disk) { d.Release(durabletest.FailLost) }, syscall.EIO, ""},
		"fails, kept":         {func(d *durabletest.Disk) { d.Release(durabletest.FailKept) }, syscall.EIO, "1"},
		"short is no sync":    {func(d *durabletest.Disk) { d.Release(durabletest.Short) }, nil, "1"},
		"hang is no end":      {func(d *durabletest.Disk) { d.Release(durabletest.Hang) }, nil, "1"},
		"crash":               {func(d *durabletest.Disk) { d.Release(durabletest.Crash) }, durabletest.ErrCrashed, ""},
		"power cut":           {func(d *durabletest.Disk) { d.Stop() }, durabletest.ErrCrashed, ""},
		"crash at other call": {func(d *durabletest.Disk) { d.SyncDir("/") }, durabletest.ErrCrashed, ""},
	} {
		d := durabletest.New()
		f := create(t, d, "/f", "1")
		must(t, d.SyncDir("/"))
		answer := hanging(d, 0, f.Sync)
		// Nobody else is held up, and what is changed meanwhile the sync does not cover.
		_, err := f.Write([]byte("2"))
		must(t, err)
		if text, err := durable.Load(d, "/f", 10); err != nil || string(text) != "12" {
			t.Errorf("%s: while it hangs %q, %v", what, text, err)
		}
		select {
		case err := <-answer:
			t.Errorf("%s: it does not hang: %v", what, err)
		default:
		}
		if what == "crash at other call" {
			d.Arm(durabletest.Fault{At: 0, Mode: durabletest.Crash})
		}
		c.release(d)
		if err := <-answer; !errors.Is(err, c.want) {
			t.Errorf("%s: %v", what, err)
		}
		if d.Crashed() != errors.Is(c.want, durabletest.ErrCrashed) {
			t.Errorf("%s: crashed %v", what, d.Crashed())
		}
		if text, err := d.Restart(durabletest.Survivals()[0]).ReadFile("/f"); err != nil || string(text) != c.text {
			t.Errorf("%s: on the platter %q, %v", what, text, err)
		}
	}
}

func TestHangsOfOtherCalls(t *testing.T) {
	d := durabletest.New()
	f := create(t, d, "/f", "")
	answer := hanging(d, 0, func() error {
		n, err := f.Write([]byte("1234"))
		return errors.Join(err, fmt.Errorf("%d bytes", n))
	})
	if text, _ := d.ReadFile("/f"); len(text) != 0 {
		t.Errorf("it has its effect before it ends: %q", text)
	}
	d.Release(durabletest.ShortFull)
	if err := <-answer; !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("%v", err)
	}
	if text, _ := d.ReadFile("/f"); string(text) != "12" {
		t.Errorf("%q", text)
	}
	d.Release(0) // nothing hangs

	d.Arm(durabletest.Fault{At: 0, Mode: durabletest.Hang, Read: true})
	read := make(chan error, 1)
	go func() { _, err := d.List("/"); read <- err }()
	if call := <-d.Hung(); call.String() != "list /" || fmt.Sprint(d.Fired()) != "[hang at read 0]" {
		t.Errorf("%v, %v", call, d.Fired())
	}
	again := d.Restart(durabletest.Survivals()[1]) // what hangs has no part in the next start
	if text, err := again.ReadFile("/f"); err != nil || string(text) != "12" {
		t.Errorf("%q, %v", text, err)
	}
	d.Release(0)
	must(t, <-read)
}
