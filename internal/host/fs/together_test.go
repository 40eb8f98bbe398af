package fs

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
)

// names is a directory whose names are changed one after the other. A disk lets
// go of one fsync at a time.
type names struct {
	mu               sync.Mutex
	changed, durable int
	fsyncs           int
	disk             chan error
}

func (n *names) change() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.changed++
	return n.changed
}

func (n *names) fsync() error {
	n.mu.Lock()
	n.fsyncs++
	changed := n.changed
	n.mu.Unlock()
	err := <-n.disk
	n.mu.Lock()
	defer n.mu.Unlock()
	if err == nil {
		n.durable = changed
	}
	return err
}

// several change a directory while its first fsync is under way. Whoever is told
// that all is well has a durable name; the errors are those of all in order.
func several(t *testing.T, syncOf func(directory, func() error) error, disk ...error) (n *names, told []error, lost error) {
	n = &names{disk: make(chan error)}
	told = make([]error, 5)
	var all sync.WaitGroup
	for i := range told {
		all.Go(func() {
			at := n.change()
			told[i] = syncOf(directory{1, 2}, n.fsync)
			n.mu.Lock()
			defer n.mu.Unlock()
			if told[i] == nil && n.durable < at {
				lost = fmt.Errorf("change %d is said to be durable, and %d are", at, n.durable)
			}
		})
		synctest.Wait()
	}
	for _, err := range disk {
		n.disk <- err
		synctest.Wait()
	}
	close(n.disk) // nobody is left there
	all.Wait()
	return n, told, lost
}

func TestSyncsTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s syncs
		n, told, lost := several(t, s.sync, nil, nil)
		if err := errors.Join(append(told, lost)...); err != nil || n.fsyncs != 2 || len(s.next) != 0 {
			t.Errorf("%d fsyncs, %d rounds left, %v", n.fsyncs, len(s.next), err)
		}
		bad := errors.New("bad sector")
		_, told, _ = several(t, s.sync, bad, nil)
		for i, err := range told {
			if !errors.Is(err, bad) {
				t.Errorf("the first fsync failed, and %d was told %v", i, err)
			}
		}
		n, told, lost = several(t, s.sync, nil, bad)
		if told[0] != nil || lost != nil || !errors.Is(told[1], bad) || !errors.Is(told[4], bad) || n.fsyncs != 2 {
			t.Errorf("the second fsync failed, told: %v, lost: %v", told, lost)
		}
	})
}

// A directory does not wait for another one.
func TestSyncsApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s syncs
		disk := make(chan error)
		go func() { _ = s.sync(directory{1, 1}, func() error { return <-disk }) }()
		synctest.Wait()
		if err := s.sync(directory{1, 2}, func() error { return nil }); err != nil {
			t.Error(err)
		}
		close(disk)
	})
}

// The planted bug: who comes while an fsync is under way is content with that one.
func TestSyncsPlanted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var under *round
		shared := func(_ directory, fsync func() error) error {
			mu.Lock()
			r := under
			if r != nil {
				mu.Unlock()
				<-r.done
				return r.err
			}
			r = newRound()
			under = r
			mu.Unlock()
			r.err = fsync()
			close(r.done)
			return r.err
		}
		if _, _, lost := several(t, shared, nil); lost == nil {
			t.Error("an fsync that began before a change is taken for one of the change, and nobody notices")
		}
	})
}
