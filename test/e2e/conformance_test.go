package e2e

import (
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestConformance runs the official suite against a server, and against iff in front of the same server. What passes bare has to
// pass through iff.
func TestConformance(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	bare := w.conformance("http://"+w.everythingServer(), "bare")
	w.init()
	listen := free(t)
	w.configure(fmt.Sprintf("[mcp]\nlisten = %q\n[upstream.everything]\ncommand = [%q]\nlabel = \"PUBLIC\"\nrelay = [\"sampling\", \"elicitation\"]\n", listen, built.everything))
	w.serve()
	a := w.answering(func(question) bool { return true })
	through := w.conformance(w.withToken(listen), "iff")
	a.close()
	report := "scenario, passed and failed, bare and through iff:\n"
	for _, name := range slices.Sorted(maps.Keys(bare)) {
		b, i := bare[name], through[name]
		report += fmt.Sprintf("  %-34s %d/%d  %d/%d\n", name, b.passed, b.failed, i.passed, i.failed)
		if i.passed < b.passed || i.failed > b.failed {
			t.Errorf("%s: %d of %d pass bare, %d of %d through iff\n%s", name, b.passed, b.passed+b.failed, i.passed, i.passed+i.failed, i.why)
		}
	}
	t.Log(report)
	if len(bare) < 25 {
		t.Errorf("the suite has run %d scenarios bare", len(bare))
	}
	if out := w.iff("verdict"); !strings.HasPrefix(out, "PASS") {
		t.Error(out)
	}
}

// outcome is how one scenario ended.
type outcome struct {
	passed, failed int
	why            string
}

var outcomeLine = regexp.MustCompile(`(?m)^. ([a-z0-9-]+): (\d+) passed, (\d+) failed`)

// conformance runs the suite against a server and gives the outcomes by scenario.
func (w *world) conformance(at, name string) map[string]outcome {
	w.t.Helper()
	dir := filepath.Join(w.dir, "conformance-"+name)
	r := w.run(100*time.Second, "conformance", "server", "--url", at, "--spec-version", "2025-11-25", "--output-dir", dir)
	out := make(map[string]outcome)
	for _, m := range outcomeLine.FindAllStringSubmatch(r.out, -1) {
		passed, _ := strconv.Atoi(m[2]) // digits
		failed, _ := strconv.Atoi(m[3])
		out[m[1]] = outcome{passed, failed, w.checks(dir, m[1])}
	}
	if len(out) == 0 {
		w.t.Fatalf("the conformance suite: %v\n%s", r.err, r.tail())
	}
	return out
}

// checks is what the suite noted of the failures of a scenario.
func (w *world) checks(dir, scenario string) string {
	paths, _ := filepath.Glob(filepath.Join(dir, "server-"+scenario+"-*", "checks.json")) // the pattern is well formed
	var why []string
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			w.t.Fatal(err)
		}
		for _, check := range parse(w.t, string(data)).list() {
			if check.at("status").text() == "FAILURE" {
				why = append(why, "  "+check.at("id").text()+": "+check.at("errorMessage").text())
			}
		}
	}
	return strings.Join(why, "\n")
}

// everythingServer runs the SDK's conformance server on HTTP, and says where.
func (w *world) everythingServer() string {
	w.t.Helper()
	at := free(w.t)
	cmd := w.command(w.t.Context(), built.everything, "-http="+at, "-stateless=false")
	if err := cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = cmd.Wait() }) // it is killed when the test ends
	w.await(at)
	return at
}

// serve starts the runtime, as the first agent would.
func (w *world) serve() {
	w.t.Helper()
	cmd := w.command(w.t.Context(), built.iff, "serve")
	var out output
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() {
		_ = cmd.Wait() // serve --stop, or the end of the test, ends it
		if w.t.Failed() {
			w.t.Logf("iff serve:\n%s", ran{out: out.all.String()}.tail())
		}
	})
	for range 100 {
		if r := w.run(10*time.Second, built.iff, "status"); strings.Contains(r.out, "serving") || strings.Contains(r.out, "runtime") && r.err == nil {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	w.t.Fatalf("the runtime does not come up:\n%s", out.all.String())
}

// withToken is a door to iff's MCP over HTTP for clients that have no way to send a token. Everything else is left as it is; a client
// that calls the door by its name calls iff by its name.
func (w *world) withToken(listen string) string {
	w.t.Helper()
	w.await(listen)
	token, ok := w.get("home/.iff/run/mcp.token")
	if !ok {
		w.t.Fatal("there is no mcp.token")
	}
	var door *httptest.Server
	door = httptest.NewServer(&httputil.ReverseProxy{FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(&url.URL{Scheme: "http", Host: listen})
		r.Out.Host = r.In.Host
		mine := door.Listener.Addr().String()
		if r.In.Host == mine {
			r.Out.Host = listen
		}
		if r.In.Header.Get("Origin") == "http://"+mine {
			r.Out.Header.Set("Origin", "http://"+listen)
		}
		r.Out.Header.Set("Authorization", "Bearer "+strings.TrimSpace(token))
	}})
	door.Config.ErrorLog = nil
	w.t.Cleanup(door.Close)
	return door.URL
}

// free is an address of loopback that nobody listens on.
func free(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// await waits until somebody listens.
func (w *world) await(at string) {
	w.t.Helper()
	for range 100 {
		if r, err := http.Get("http://" + at); err == nil {
			r.Body.Close()
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	w.t.Fatalf("nobody listens at %s", at)
}
