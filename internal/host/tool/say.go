package tool

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/iff-run/iff/internal/canonical"
)

// Notifications that are passed on.
const (
	notifyProgress = "notifications/progress"
	notifyMessage  = "notifications/message"
)

const (
	maxMessage = 1 << 10  // bytes of what is said of progress, and of the name of a logger
	maxLogged  = 16 << 10 // bytes of what is logged
)

// levels of logging, the most talkative first.
var levels = []string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}

// pass notes what the client of a call is to be told of a notification, and says
// whether it was one that ends here.
func (s *screen) pass(req *jsonrpc.Request) bool {
	if req.Method != notifyProgress && req.Method != notifyMessage {
		return false
	}
	raw, err := canonical.NewRaw(req.Params, limits)
	if err != nil {
		return true
	}
	list := members(raw.String())
	if req.Method == notifyProgress {
		s.progress(list)
	} else {
		s.log(list)
	}
	return true
}

// progress is that of the call whose number the token is.
func (s *screen) progress(list []member) {
	number, err := strconv.ParseInt(find(list, "progressToken"), 10, 64)
	done, wrong := strconv.ParseFloat(find(list, "progress"), 64)
	if err != nil || wrong != nil {
		return
	}
	total, _ := strconv.ParseFloat(find(list, "total"), 64) // zero is none
	said, _ := text(find(list, "message"))
	p := Progress{Done: done, Total: total, Message: plain(said, maxMessage)}
	s.mu.Lock()
	var f *flight
	for _, g := range s.flights {
		if g.number == number && g.left.IsZero() && g.talk != nil && g.talk.follows && g.talk.progress.allows(time.Now()) {
			f = g
		}
	}
	s.mu.Unlock()
	if f != nil {
		f.notes.add(func(ctx context.Context) { f.talk.client.Progress(ctx, f.talk.caller, p) })
	}
}

// log is for the only session that has anything under way here: it could tell
// another one what that one does.
func (s *screen) log(list []member) {
	f := s.sole()
	level, _ := text(find(list, "level"))
	if f == nil || !slices.Contains(levels, level) {
		return
	}
	s.mu.Lock()
	room := f.talk.logs.allows(time.Now())
	s.mu.Unlock()
	if !room {
		return
	}
	l := Log{Level: level, Logger: s.name}
	if logger, _ := text(find(list, "logger")); logger != "" {
		l.Logger += "/" + plain(logger, maxMessage)
	}
	data := plainJSON(find(list, "data"))
	if data == "" || len(data) > maxLogged {
		data = `"[iff: what it logs is not told: it has more than ` + strconv.Itoa(maxLogged) + ` bytes, or is nothing]"`
	}
	l.Data = []byte(data)
	f.notes.add(func(ctx context.Context) { f.talk.client.Log(ctx, f.talk.caller, l) })
}

// sole is the latest call of the only session that has any here, as far as is
// known. One that was not answered in time still counts: nobody knows whether the
// server is done with it.
func (s *screen) sole() *flight {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.blurred {
		return nil
	}
	var latest *flight
	session := ""
	for _, f := range s.flights {
		switch {
		case f.own:
			continue
		case f.talk == nil || session != "" && session != f.talk.caller.Session:
			return nil
		}
		session = f.talk.caller.Session
		if f.left.IsZero() && (latest == nil || f.number > latest.number) {
			latest = f
		}
	}
	return latest
}

// plain is somebody else's text without controls, but for line ends and tabs, and
// without what turns the direction of writing; bounded.
func plain(s string, most int) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case unicode.IsControl(r) || unicode.In(r, unicode.Bidi_Control, unicode.Zl, unicode.Zp):
			return -1
		}
		return r
	}, s)
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}

// plainJSON is canonical JSON whose texts are plain, the names of members too;
// empty if that cannot be.
func plainJSON(json string) string {
	switch {
	case strings.HasPrefix(json, `"`):
		s, ok := text(json)
		quoted, fine := quote(plain(s, maxLogged))
		if !ok || !fine {
			return ""
		}
		return quoted
	case strings.HasPrefix(json, "{"):
		var list []member
		for _, m := range members(json) {
			name := plain(m.name, maxMessage)
			if !slices.ContainsFunc(list, func(other member) bool { return other.name == name }) {
				list = append(list, member{name, plainJSON(m.value)})
			}
		}
		out, err := join(list)
		if err != nil {
			return ""
		}
		return out
	case strings.HasPrefix(json, "["):
		list := elements(json)
		for i := range list {
			list[i] = plainJSON(list[i])
		}
		return "[" + strings.Join(list, ",") + "]"
	}
	return json
}
