package gate

// replies remembers how calls with an idempotency key ended, beyond the end of
// their sessions. The zero value remembers none.
type replies struct {
	by    map[string]Reply // by request
	order []string         // oldest first
	held  []string         // those with a result, oldest first
	bytes int              // of results
}

// Bounds of what is remembered: the oldest is forgotten, its result first.
const (
	maxReplies = 1 << 17
	maxHeld    = 16 << 20 // bytes of results
)

func (r *replies) get(request string) (Reply, bool) {
	reply, ok := r.by[request]
	return reply, ok
}

// put remembers the newest reply of a request.
func (r *replies) put(request string, reply Reply) {
	if r.by == nil {
		r.by = make(map[string]Reply)
	}
	old, known := r.by[request]
	if !known {
		if r.order = append(r.order, request); len(r.order) > maxReplies {
			r.bytes -= len(r.by[r.order[0]].Result)
			delete(r.by, r.order[0])
			r.order = r.order[1:]
		}
	}
	r.bytes += len(reply.Result) - len(old.Result)
	if r.by[request] = reply; len(reply.Result) > 0 && len(old.Result) == 0 {
		r.held = append(r.held, request)
	}
	r.shrink()
}

// shrink lets go of the oldest results while there are too many.
func (r *replies) shrink() {
	for len(r.held) > 0 && (r.bytes > maxHeld || len(r.held) > maxReplies) {
		id := r.held[0]
		r.held = r.held[1:]
		r.empty(id)
	}
}

// empty lets go of the result of a request, and keeps how it ended.
func (r *replies) empty(request string) {
	reply, ok := r.by[request]
	if !ok || len(reply.Result) == 0 {
		return
	}
	r.bytes -= len(reply.Result)
	reply.Result, reply.Message = nil, "its result is not kept any more; ask with another key if it can be done twice"
	r.by[request] = reply
}
