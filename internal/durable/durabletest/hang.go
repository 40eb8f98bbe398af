package durabletest

// Hung gives each call that a fault of mode Hang strikes, when it has begun to wait. It is made by Arm; before, nothing
// ever comes.
func (d *Disk) Hung() <-chan Call {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.hung
}

// Release lets the calls go that hang now, as if they were struck by then: the zero Mode lets them succeed. A mode that does
// not strike such a call lets it succeed too.
func (d *Disk) Release(then Mode) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if then == Crash {
		d.stop()
	}
	d.release(then)
}

// Stop is a power cut at this instant: what hangs, and every later call and read, fails with ErrCrashed.
func (d *Disk) Stop() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stop()
}

func (d *Disk) stop() {
	d.crashed = true
	d.release(Crash)
}

func (d *Disk) release(then Mode) {
	for _, waiting := range d.hanging {
		waiting <- then
	}
	d.hanging = nil
}

// hang waits without the lock, which is held before and after, and says how the call goes on.
func (d *Disk) hang(c Call) Mode {
	waiting := make(chan Mode, 1)
	d.hanging = append(d.hanging, waiting)
	d.hung <- c
	d.mu.Unlock()
	then := <-waiting
	d.mu.Lock()
	if then == Hang || !then.strikes(c.Op) {
		return 0
	}
	return then
}
