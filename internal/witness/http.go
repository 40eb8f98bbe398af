package witness

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/iff-run/iff/internal/visible"
)

const (
	plainText = "text/plain; charset=utf-8"
	treeSize  = "text/x.tlog.size"
)

// answer is a response.
type answer struct {
	status int
	kind   string
	body   []byte
	allow  string // the method, when another was used
}

// ServeHTTP answers as the package's doc says.
func (w *Witness) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	a := w.route(rw, r)
	h := rw.Header()
	h.Set("Content-Type", a.kind)
	h.Set("Content-Length", strconv.Itoa(len(a.body)))
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	if a.allow != "" {
		h.Set("Allow", a.allow)
	}
	rw.WriteHeader(a.status)
	_, _ = rw.Write(a.body) // a client that went away asks again
}

func (w *Witness) route(rw http.ResponseWriter, r *http.Request) answer {
	name, isNewest := strings.CutPrefix(r.URL.Path, "/checkpoint/")
	method, do := http.MethodGet, w.page
	switch {
	case r.URL.Path == "/add-checkpoint":
		method, do = http.MethodPost, func() answer { return w.addCheckpoint(rw, r) }
	case isNewest:
		do = func() answer { return w.newest(name) }
	case r.URL.Path != "/":
		return answer{status: http.StatusNotFound, kind: plainText, body: sentence("there is nothing here")}
	}
	if r.Method != method {
		return answer{status: http.StatusMethodNotAllowed, kind: plainText, body: sentence("use %s", method), allow: method}
	}
	return do()
}

func (w *Witness) addCheckpoint(rw http.ResponseWriter, r *http.Request) answer {
	var out []byte
	e := Event{Outcome: Malformed}
	body, err := io.ReadAll(http.MaxBytesReader(rw, r.Body, maxBody))
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		e.Outcome = TooLarge
		out = sentence("the request has more than %d bytes", maxBody)
	case err != nil:
		out = sentence("the request ends too early")
	default:
		out, e = w.cosign(steps{judge, (*Witness).keep}, body)
	}
	w.event(e)
	return answer{status: status(e.Outcome), kind: kind(e.Outcome), body: out}
}

func kind(o Outcome) string {
	if o == Conflict || o == Forked {
		return treeSize
	}
	return plainText
}

// status is what tlog-witness has for an outcome. The zero value, and any that has none, is an error of ours.
func status(o Outcome) int {
	switch o {
	case Cosigned:
		return http.StatusOK
	case Malformed:
		return http.StatusBadRequest
	case TooLarge:
		return http.StatusRequestEntityTooLarge
	case Unknown:
		return http.StatusNotFound
	case Unsigned:
		return http.StatusForbidden
	case Conflict, Forked:
		return http.StatusConflict
	case Unproven:
		return http.StatusUnprocessableEntity
	}
	return http.StatusInternalServerError
}

func (w *Witness) newest(name string) answer {
	for origin := range w.logs {
		if nameOf(origin) != name {
			continue
		}
		if n := w.Newest(origin); n != nil {
			return answer{status: http.StatusOK, kind: plainText, body: n}
		}
	}
	return answer{status: http.StatusNotFound, kind: plainText, body: sentence("nothing was cosigned for this log")}
}

func (w *Witness) page() answer {
	var b bytes.Buffer
	fmt.Fprintf(&b, "A witness of logs, as C2SP tlog-witness has it. POST /add-checkpoint, GET /checkpoint/<hex SHA-256 of an origin>.\n\nkey %s\n", w.key.vkey)
	for _, origin := range w.origins() {
		w.mu.Lock()
		l := w.logs[origin]
		size := l.held.size
		w.mu.Unlock()
		fmt.Fprintf(&b, "\nlog %s\nname %s\nsize %d\n", visible.Escape(origin), nameOf(origin), size)
		for _, vkey := range l.vkeys {
			fmt.Fprintf(&b, "log-key %s\n", visible.Escape(vkey))
		}
	}
	return answer{status: http.StatusOK, kind: plainText, body: b.Bytes()}
}
