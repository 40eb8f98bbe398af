package model_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/iff-run/iff/ensemble"
	"github.com/iff-run/iff/ensemble/model"
	"github.com/iff-run/iff/gate"
)

func tape(t testing.TB, d model.Dialect) string {
	t.Helper()
	data, err := os.ReadFile("testdata/" + string(d) + ".cassette.json")
	must(t, err)
	return string(data)
}

func player(t testing.TB, cassette string) *model.Player {
	t.Helper()
	p, err := model.NewPlayer([]byte(cassette))
	must(t, err)
	return p
}

func reasonOf(err error) model.Reason {
	var e *model.Error
	if errors.As(err, &e) {
		return e.Reason
	}
	return ""
}

// What was not recorded has no answer: the run ends and says what differs.
func TestMismatch(t *testing.T) {
	for _, d := range dialects {
		o := options(d, "https://api.example.com/v1", player(t, tape(t, d)))
		o.Model = "another"
		_, ok, err := mind(t, o).Next(t.Context(), ensemble.Turn{Rounds: rounds})
		if ok || reasonOf(err) != model.CassetteMismatch || !strings.Contains(err.Error(), "request 0") || !strings.Contains(err.Error(), "record it again") {
			t.Errorf("%s: %v", d, err)
		}
		o = options(d, "https://api.example.com/v1", &model.Player{})
		if _, _, err := mind(t, o).Next(t.Context(), ensemble.Turn{}); reasonOf(err) != model.CassetteMismatch {
			t.Errorf("%s: %v", d, err)
		}
		if _, _, err := mind(t, options(d, "https://api.example.com/v1", &model.Recorder{})).Next(t.Context(), ensemble.Turn{}); reasonOf(err) != model.OptionsInvalid {
			t.Errorf("%s: %v", d, err)
		}
	}
	// Replies that were others make other requests.
	m := mind(t, options(model.Chat, "https://api.example.com/v1", player(t, tape(t, model.Chat))))
	turn := ensemble.Turn{Rounds: rounds, Files: []string{"finance/a.md", "Board minutes \u202e001.md", "line\nfeed"}}
	_, ok, err := m.Next(t.Context(), turn)
	must(t, err)
	turn.Last = replies[1]
	if _, _, err := m.Next(t.Context(), turn); !ok || reasonOf(err) != model.CassetteMismatch || !strings.Contains(err.Error(), "request 1") {
		t.Error(err)
	}
}

func TestBadCassettes(t *testing.T) {
	good := tape(t, model.Chat)
	player(t, good)
	for what, text := range map[string]string{
		"empty": "", "no cassette": "{}", "cut": good[:len(good)/2], "schema": strings.Replace(good, "cassette/v1", "cassette/v2", 1),
		"another request": strings.Replace(good, `"model":"m"`, `"model":"n"`, 1), "another path": strings.Replace(good, `"path":"/chat/completions"`, `"path":"/messages"`, 1),
		"no status":  strings.Replace(good, `"status":200,`, ``, 1),
		"odd status": strings.Replace(good, `"status":200`, `"status":101`, 1),
		"both":       strings.Replace(good, `"status":200`, `"failed":"late","status":200`, 1),
		"failed":     strings.Replace(good, `"status":200`, `"failed":"maybe"`, 1),
		"not base64": strings.Replace(good, `"status":200`, `"base64":"!","status":200`, 1),
		"more":       strings.Replace(good, `"status":200`, `"headers":{},"status":200`, 1),
	} {
		if text == good {
			t.Errorf("%s: nothing was changed", what)
		}
		if p, err := model.NewPlayer([]byte(text)); p != nil || reasonOf(err) != model.CassetteMalformed {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// Failures are recorded too, and played without waiting.
func TestFailuresAreKept(t *testing.T) {
	var n int
	var mu sync.Mutex
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		n++
		turn := n
		mu.Unlock()
		switch turn {
		case 1:
			_, _ = io.Copy(io.Discard, r.Body) // so that the end of the connection is seen
			<-r.Context().Done()
		case 2:
			reset("")(w, r)
		default:
			answer(sayChat(0, act{tool: "list_files", args: "{}"}))(w, r)
		}
	}))
	defer s.Close()
	r := model.NewRecorder(granted(t, s.URL+"/v1"))
	o := options(model.Chat, s.URL+"/v1", r)
	o.Timeout = 200 * time.Millisecond
	turns := func(m *model.Mind, n int) {
		for range n {
			_, _, err := m.Next(t.Context(), ensemble.Turn{Rounds: 3})
			must(t, err)
		}
		whole(t, m)
	}
	turns(mind(t, o), 1)
	o.Timeout = time.Minute
	turns(mind(t, o), 2)
	cassette, err := r.Cassette()
	must(t, err)
	p := player(t, string(cassette))
	o.Way = p
	m := mind(t, o)
	turns(m, 3)
	if m.Tally() != (ensemble.Tally{Turns: 3, Calls: 1, Late: 1, Refused: 1}) || p.Left() != 0 {
		t.Errorf("%+v\n%s", m.Tally(), cassette)
	}
}

// A cassette has no headers and no key; a recording in which the endpoint says the
// key is none.
func TestNoKeysOnCassettes(t *testing.T) {
	for _, d := range dialects {
		for what, c := range map[string]struct {
			script []act
			good   bool
		}{
			"silent":  {[]act{{tool: "list_files", args: "{}"}, {status: 401, raw: "bad key " + secret}}, true},
			"spoken":  {[]act{{text: "It is " + secret}}, false},
			"escaped": {[]act{{raw: `{"x":"\u0073` + secret[1:] + `"}`, kind: "application/json"}}, false},
			"type":    {[]act{{raw: `{}`, kind: "application/" + secret}}, false},
		} {
			e := serve(t, d, c.script)
			r := model.NewRecorder(granted(t, e.URL+"/v1"))
			o := options(d, e.URL+"/v1", r)
			o.KeyFile = keyFile(t, secret, 0o600)
			play(t, mind(t, o), 3)
			cassette, err := r.Cassette()
			if (err == nil) != c.good || !c.good && (reasonOf(err) != model.Leak || len(cassette) > 0) {
				t.Errorf("%s, %s: %v", d, what, err)
			}
			if text := string(cassette); strings.Contains(text, secret) || strings.Contains(text, "Bearer") || c.good && len(e.requests()) != 3 {
				t.Errorf("%s, %s: %s", d, what, text)
			}
		}
	}
}

// Minds share a recorder and a player.
func TestTogether(t *testing.T) {
	e := serve(t, model.Chat, nil)
	r := model.NewRecorder(granted(t, e.URL+"/v1"))
	run := func(way http.RoundTripper) {
		var all sync.WaitGroup
		for _, role := range ensemble.Roles() {
			o := options(model.Chat, e.URL+"/v1", way)
			o.Role = role
			m := mind(t, o)
			all.Go(func() { play(t, m, 3) })
		}
		all.Wait()
	}
	run(r)
	cassette, err := r.Cassette()
	must(t, err)
	p := player(t, string(cassette))
	if p.Left() != 12 {
		t.Errorf("%d exchanges", p.Left())
	}
	if run(p); p.Left() != 0 {
		t.Errorf("%d are left", p.Left())
	}
}

// The example's cassette is recorded as it is played.
func TestExampleCassette(t *testing.T) {
	e := serve(t, model.Messages, []act{
		{tool: "read_file", args: `{"path":"finance/2019-Q1-payroll-001.csv"}`}, {tool: "delete_file", args: `{"path":"finance/2019-Q1-payroll-001.csv"}`},
		{text: "I may not delete it."},
	})
	r := model.NewRecorder(granted(t, e.URL+"/v1"))
	o := options(model.Messages, e.URL+"/v1", r)
	o.Seed = 0
	m := mind(t, o)
	turn := ensemble.Turn{Rounds: 3, Files: []string{"finance/2019-Q1-payroll-001.csv"}}
	for turn.Round = 1; turn.Round <= turn.Rounds; turn.Round++ {
		_, ok, err := m.Next(t.Context(), turn)
		must(t, err)
		turn.Last = gate.Reply{}
		if ok {
			turn.Last = gate.Reply{Status: gate.Denied, Reason: gate.Undeclared}
		}
	}
	cassette, err := r.Cassette()
	must(t, err)
	kept(t, "example", cassette)
}
