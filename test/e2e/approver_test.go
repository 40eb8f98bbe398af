package e2e

import (
	"path"
	"sync"
	"time"
)

// question is one that waits, as iff inbox lists it.
type question struct{ class, target string }

// approver answers what waits as a person with iff inbox would, until it is stopped.
type approver struct {
	w       *world
	approve func(question) bool
	stop    chan struct{}
	done    sync.WaitGroup

	mu    sync.Mutex
	asked []question // guarded by mu
}

// answering begins to answer. Close it.
func (w *world) answering(approve func(question) bool) *approver {
	a := &approver{w: w, approve: approve, stop: make(chan struct{})}
	a.done.Go(a.run)
	return a
}

// close ends it and gives what was asked.
func (a *approver) close() []question {
	close(a.stop)
	a.done.Wait()
	return a.asked
}

func (a *approver) run() {
	seen := make(map[string]bool)
	for {
		select {
		case <-a.stop:
			return
		case <-time.After(100 * time.Millisecond):
		}
		r := a.w.run(20*time.Second, built.iff, "inbox", "--json")
		if r.err != nil {
			continue // the runtime is being started or ended
		}
		for _, q := range parse(a.w.t, r.stdout).at("questions").list() {
			id := q.at("request").text()
			if q.at("answered").text() != "" || seen[id] {
				continue
			}
			seen[id] = true
			a.answer(id, question{q.at("capability").text(), q.at("target").text()})
		}
	}
}

func (a *approver) answer(id string, q question) {
	a.mu.Lock()
	a.asked = append(a.asked, q)
	a.mu.Unlock()
	words := []string{built.iff, "deny", id}
	if a.approve(q) {
		words = []string{built.iff, "approve", "--yes", "--name", path.Base(q.target), "--passphrase-file", a.w.dir + "/pass", id}
	}
	if r := a.w.run(20*time.Second, words...); r.err != nil {
		a.w.t.Errorf("%v: %v\n%s", words[1:], r.err, r.tail())
	}
}
