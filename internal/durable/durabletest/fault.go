package durabletest

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"syscall"
)

// Mode is how a fault strikes. The zero value never does.
type Mode uint8

// The modes. Short and ShortFull strike only writes; at another call they do nothing. Short at a WriteAt tells io.ErrShortWrite.
const (
	FailLost  Mode = iota + 1 // the call fails with EIO and has no effect; a sync drops what it was to sync
	FailKept                  // the call has its effect and fails with EIO; a write then says it wrote nothing
	Short                     // half of the bytes are written, without an error
	ShortFull                 // half of the bytes are written, then ENOSPC
	Crash                     // the machine stops before the call; this and every later call fail with ErrCrashed
	Hang                      // the call has no effect yet and waits for Release, which says how it goes on
)

var modeNames = [...]string{"none", "fail-lost", "fail-kept", "short", "short-full", "crash", "hang"}

// String is the mode's name.
func (m Mode) String() string {
	if int(m) >= len(modeNames) {
		return "invalid"
	}
	return modeNames[m]
}

// Fault strikes the call numbered At.
type Fault struct {
	At   int
	Mode Mode
	Read bool // At counts reads and not calls
}

// String is for example "crash at 3", or "fail-lost at read 3".
func (f Fault) String() string {
	if f.Read {
		return fmt.Sprintf("%v at read %d", f.Mode, f.At)
	}
	return fmt.Sprintf("%v at %d", f.Mode, f.At)
}

// ErrCrashed is what every call answers once the machine stopped.
var ErrCrashed = errors.New("durabletest: the machine stopped")

// Op is a method of durable.FS or of what it opens, in lower case.
type Op string

// The calls, which are counted together.
const (
	Create     Op = "create"
	OpenAppend Op = "openappend"
	OpenAt     Op = "openat"
	Rename     Op = "rename"
	Link       Op = "link"
	Remove     Op = "remove"
	Mkdir      Op = "mkdir"
	SyncDir    Op = "syncdir"
	Lock       Op = "lock"
	Write      Op = "write"
	WriteAt    Op = "writeat"
	Size       Op = "size" // of a durable.Reader it is a read
	Truncate   Op = "truncate"
	Sync       Op = "sync"
	Close      Op = "close"
)

// The reads, which are counted by themselves.
const (
	Open   Op = "open"
	List   Op = "list"
	ReadAt Op = "readat"
	Held   Op = "held" // of a durable.Lock
)

// Call is one call that was made: for Rename and Link Path is the new name.
type Call struct {
	Op   Op
	Path string
}

// String is for example "sync /a".
func (c Call) String() string { return string(c.Op) + " " + c.Path }

// Arm sets the faults to come and starts the counts of calls and reads anew.
func (d *Disk) Arm(faults ...Fault) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.faults, d.fired, d.calls, d.reads = slices.Clone(faults), nil, nil, nil
	d.hung = make(chan Call, len(faults))
}

// Calls are those made since Arm or New, until the machine stopped.
func (d *Disk) Calls() []Call {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.calls)
}

// Reads are those made since Arm or New, until the machine stopped.
func (d *Disk) Reads() []Call {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.reads)
}

// Fired are the faults that struck since Arm.
func (d *Disk) Fired() []Fault {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.fired)
}

// Crashed says that the machine stopped.
func (d *Disk) Crashed() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.crashed
}

// begin counts a call and gives the fault that strikes it. The lock is held.
func (d *Disk) begin(op Op, name string) (Mode, error) {
	return d.strike(&d.calls, Call{op, clean(name)})
}

// strike is begin for a list, that of the calls or that of the reads.
func (d *Disk) strike(list *[]Call, c Call) (Mode, error) {
	if d.crashed {
		return 0, ErrCrashed
	}
	at := len(*list)
	*list = append(*list, c)
	i := slices.IndexFunc(d.faults, func(f Fault) bool {
		return f.At == at && f.Read == (list == &d.reads) && f.Mode.strikes(c.Op)
	})
	if i < 0 {
		return 0, nil
	}
	d.fired = append(d.fired, d.faults[i])
	mode := d.faults[i].Mode
	if mode == Hang {
		mode = d.hang(c)
	}
	if mode == Crash {
		d.stop()
	}
	if d.crashed {
		return Crash, ErrCrashed
	}
	return mode, nil
}

func (m Mode) strikes(op Op) bool {
	switch m {
	case FailLost, FailKept, Crash, Hang:
		return true
	case Short, ShortFull:
		return op == Write || op == WriteAt
	}
	return false
}

// call runs do as the disk's next call, under its faults. do checks before it changes anything.
func (d *Disk) call(op Op, name string, do func() error) error {
	return d.run(&d.calls, op, name, do)
}

// read is call for a read.
func (d *Disk) read(op Op, name string, do func() error) error {
	return d.run(&d.reads, op, name, do)
}

func (d *Disk) run(list *[]Call, op Op, name string, do func() error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	mode, err := d.strike(list, Call{op, clean(name)})
	if err != nil {
		return err
	}
	if mode != FailLost {
		err = do()
	}
	if err == nil && mode != 0 {
		err = syscall.EIO
	}
	if err != nil {
		return &fs.PathError{Op: string(op), Path: name, Err: err}
	}
	return nil
}
