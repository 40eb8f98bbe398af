package skill

import (
	"crypto/sha256"
	"runtime"
	"sync"
)

// worthSharing is how large a file must be to be hashed beside the reading.
const worthSharing = 16 << 10

// hasher hashes files on the other cores while the next ones are read. Its
// goroutines end in wait, which whoever made it must call.
type hasher struct {
	jobs    chan job
	helpers sync.WaitGroup
}

type job struct {
	data []byte
	into *Hash
}

func (j job) do() { *j.into = sha256.Sum256(j.data) }

// sum returns where the hash of data will be once wait has returned.
func (h *hasher) sum(data []byte) *Hash {
	j := job{data: data, into: new(Hash)}
	if len(data) < worthSharing || runtime.GOMAXPROCS(0) == 1 {
		j.do()
		return j.into
	}
	if h.jobs == nil {
		h.start()
	}
	select {
	case h.jobs <- j:
	default: // the others have enough to do
		j.do()
	}
	return j.into
}

func (h *hasher) start() {
	h.jobs = make(chan job, 64)
	for range runtime.GOMAXPROCS(0) - 1 {
		h.helpers.Go(func() {
			for j := range h.jobs {
				j.do()
			}
		})
	}
}

// wait helps with what is left and returns when all is hashed.
func (h *hasher) wait() {
	if h.jobs == nil {
		return
	}
	close(h.jobs)
	for j := range h.jobs {
		j.do()
	}
	h.helpers.Wait()
}
