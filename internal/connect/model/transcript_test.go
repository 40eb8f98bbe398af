package model

import (
	"bytes"
	"flag"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the replies to testdata")

// dialects are the four, and two requests of each: the first of a run, with a
// stream, and the one after a tool call, without.
var dialects = []struct {
	name, begin, goOn string
	offered           []string
}{
	{"chat", "/v1/chat/completions", "/v1/chat/completions", []string{"bash", "iff_fs_read"}},
	{"responses", "/v1/responses", "/v1/responses", []string{"exec_command", "mcp__iff/fs_read", "mcp__iff/fs_list", "apply_patch", "web_search"}},
	{"messages", "/v1/messages", "/v1/messages", []string{"Grep", "mcp__iff__fs_read", "web_search"}},
	{"gemini", "/v1beta/models/g:streamGenerateContent", "/v1beta/models/g:generateContent", []string{"run_shell_command", "mcp_iff_fs_read", "googleSearch"}},
}

func start(t *testing.T, s Script) *Endpoint {
	t.Helper()
	e, err := Start(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	return e
}

// post sends a request and returns the status and the body.
func post(t *testing.T, e *Endpoint, path string, body []byte) (int, string) {
	t.Helper()
	r, err := http.Post(e.URL()+path, "application/json", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	data, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return r.StatusCode, string(data)
}

func fixture(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestTranscripts plays one tool call and one text in each dialect, and compares
// the replies to the byte.
func TestTranscripts(t *testing.T) {
	for _, d := range dialects {
		t.Run(d.name, func(t *testing.T) {
			e := start(t, Script{Main: []Step{{Tool: "*fs_read", Args: map[string]any{"path": "a <b>"}}, {Text: "well done"}}})
			check := func(name, path string) {
				t.Helper()
				status, got := post(t, e, path, fixture(t, d.name+"-"+name+".json"))
				file := filepath.Join("testdata", d.name+"-"+name+".reply")
				if *update {
					if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
						t.Fatal(err)
					}
				}
				want := string(fixture(t, d.name+"-"+name+".reply"))
				if status != http.StatusOK || got != want {
					t.Errorf("%s: status %d\n%s\nwant\n%s", name, status, got, want)
				}
			}
			check("begin", d.begin)
			check("go-on", d.goOn)
			if got := e.Offered(); !slices.Equal(got, d.offered) {
				t.Errorf("offered %q, want %q", got, d.offered)
			}
			want := []string{"the file\nhas null \U0001f600", ""}
			if got := e.Results(); !slices.Equal(got, want) {
				t.Errorf("results %q, want %q", got, want)
			}
			for i, r := range e.Requests() {
				if r.Who != Main || r.Step != i || r.Refused != "" || r.Body == "" || !strings.Contains(r.Opening, "do the task") && d.name != "gemini" {
					t.Errorf("request %d was noted as %+v", i, r)
				}
			}
		})
	}
}

// TestCustom plays a custom tool call of the responses dialect.
func TestCustom(t *testing.T) {
	for _, stream := range []string{"true", "false"} {
		e := start(t, Script{Main: []Step{{Tool: "apply_patch", Input: "*** Begin"}}})
		_, got := post(t, e, "/responses", []byte(`{"stream":`+stream+`,"input":"go","tools":[{"type":"custom","name":"apply_patch"}]}`))
		if !strings.Contains(got, `"input":"*** Begin"`) || !strings.Contains(got, `"type":"custom_tool_call"`) {
			t.Errorf("stream %s: %s", stream, got)
		}
	}
}

// TestAside: what offers no tools of the agent's own takes no step.
func TestAside(t *testing.T) {
	e := start(t, Script{Main: []Step{{Text: "a step"}}})
	for _, c := range []struct{ path, body, want string }{
		{"/v1/chat/completions", `{"messages":[{"role":"user","content":"a title"}]}`, "title"},
		{"/v1/chat/completions", `{"messages":[],"tools":[]}`, "title"},
		{"/v1/responses", `{"input":"a title","tools":null}`, "title"},
		{"/v1/messages", `{"messages":[]}`, "title"},
		{"/v1/messages", `{"messages":[],"tools":[{"type":"web_search_20250305","name":"web_search"}]}`, "title"},
		{"/v1beta/models/g:generateContent", `{"contents":[],"tools":[{"googleSearch":{}}]}`, "next_speaker"},
		{"/v1beta/models/g:countTokens", `{}`, "totalTokens"},
		{"/v1/messages/count_tokens?beta=true", `{"messages":[]}`, "input_tokens"},
		{"/api/event_logging/batch", `{"events":[]}`, "{}"},
		{"/api/empty", ``, "{}"},
	} {
		if status, got := post(t, e, c.path, []byte(c.body)); status != http.StatusOK || !strings.Contains(got, c.want) || strings.Contains(got, "a step") {
			t.Errorf("%s: %d %s, want %s", c.path, status, got, c.want)
		}
	}
	if r, err := http.Get(e.URL() + "/v1/models"); err != nil || r.StatusCode != http.StatusOK {
		t.Errorf("models: %v %v", r, err)
	} else {
		_ = r.Body.Close()
	}
	if e.Offered() != nil || e.Results() != nil {
		t.Errorf("offered %q, results %q", e.Offered(), e.Results())
	}
	for _, r := range e.Requests() {
		if r.Who != Aux {
			t.Errorf("noted as %q: %s %s", r.Who, r.Method, r.Path)
		}
	}
}
