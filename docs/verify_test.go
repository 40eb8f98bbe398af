package docs_test

import (
	"bufio"
	"crypto/sha256"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/iff-run/iff/audit"
	"github.com/iff-run/iff/internal/trusttest"
)

const verifier = "verify.py"

func readFile(t testing.TB, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	must(t, err)
	return string(data)
}

func TestVerifierIsShort(t *testing.T) {
	lines := strings.Split(strings.TrimSuffix(readFile(t, verifier), "\n"), "\n")
	if len(lines) > 60 {
		t.Errorf("verify.py has %d lines, at most 60", len(lines))
	}
	for i, l := range lines {
		if len([]rune(l)) > 120 || strings.TrimRight(l, " \t") != l {
			t.Errorf("verify.py line %d: over 120 characters, or space at its end", i+1)
		}
	}
	if text := readFile(t, verifier); strings.Contains(text, "subprocess") || strings.Contains(text, "socket") {
		t.Error("verify.py starts something")
	}
}

// subject is something that verify.py is run on: a log and what was kept of
// it.
type subject struct {
	dir  string
	args []string
}

func put(t testing.TB, s segments, kept ...[]byte) subject {
	t.Helper()
	dir := t.TempDir()
	s.write(t, dir)
	out := subject{dir: dir, args: []string{dir, "--origin", origin}}
	for i, data := range kept {
		path := filepath.Join(dir, fmt.Sprintf("kept-%d", i))
		must(t, os.WriteFile(path, data, 0o600))
		out.args = append(out.args, "--anchor", path)
	}
	return out
}

// anchored is what an anchor says that has a note.
func anchored(t testing.TB, note []byte) audit.Anchored {
	t.Helper()
	for _, key := range []byte{logKey, nextKey} {
		v, err := audit.Verifier(origin, trusttest.NewKey(key).Public())
		must(t, err)
		if c, err := audit.OpenCheckpoint(note, v); err == nil {
			return audit.Anchored{By: "the test", Size: c.Size, Root: c.Root}
		}
	}
	t.Fatal("not a checkpoint of the log's keys")
	return audit.Anchored{}
}

// A log that iff wrote, with each checkpoint and receipt that was ever given
// out, holds for both.
func TestGoodLogs(t *testing.T) {
	for _, calls := range []int{1, 2, 40} {
		s := write(t, origin, logKey, calls)
		o := audit.VerifyOptions{Pin: pinned(logKey)}
		for _, n := range s.notes {
			o.Anchors = append(o.Anchors, anchored(t, n))
		}
		if calls == 40 && (len(s.segments) < 5 || len(s.notes) < 10 || len(s.receipts) < 30) {
			t.Fatalf("%d segments, %d notes, %d receipts: this tests less than it says", len(s.segments), len(s.notes), len(s.receipts))
		}
		names := s.names()
		if end := s.segments[names[len(names)-1]]; !strings.HasSuffix(string(end), "\n\n\n") {
			t.Fatal("there is no room at the end")
		}
		x := put(t, s.segments, slices.Concat(s.notes, s.receipts)...)
		rep := auditedAt(t, x.dir, o)
		if !rep.Holds() {
			t.Fatal(rep.Problem.Error())
		}
		code, out := run(t, x.args...)
		if want := okLine(rep); code != 0 || out != want {
			t.Errorf("verify.py says %d %s, want %s", code, out, want)
		}
	}
}

// okLine is what verify.py says about a log that holds.
func okLine(rep *audit.Report) string {
	return fmt.Sprintf("ok, %d records, root %s, last checkpoint %d, anchored %d; signatures not checked\n",
		rep.Records, base64Of(rep.Root[:]), rep.Signed, rep.AnchoredTo)
}

// A finished log, one without room at its end, and one in a single segment.
func TestGoodLogsInOtherForms(t *testing.T) {
	s := write(t, origin, logKey, 8)
	f := forge(t, s.segments)
	f.starts = []int{0}
	sealed := f.segments()
	begun := sealed.clone()
	begun[name(len(f.records))] = []byte("\n\n\n")
	for what, form := range map[string]segments{"one segment": sealed, "a segment begun and not used": begun} {
		rep := audited(t, form, audit.VerifyOptions{Pin: pinned(logKey)})
		if !rep.Holds() {
			t.Errorf("%s: %v", what, rep.Problem.Error())
		}
		if code, out := run(t, put(t, form).args...); code != 0 {
			t.Errorf("%s: verify.py says %d %s", what, code, out)
		}
	}
}

func TestUsage(t *testing.T) {
	for _, args := range [][]string{nil, {"--anchor"}, {".", "--colour"}} {
		if code, out := run(t, args...); code != 2 || !strings.Contains(out, "usage: ") {
			t.Errorf("%q: %d %s", args, code, out)
		}
	}
	if code, out := run(t, filepath.Join(t.TempDir(), "gone")); code != 1 || out != "no segment: log-empty\n" {
		t.Errorf("a directory that is not there: %d %s", code, out)
	}
	s := write(t, origin, logKey, 1)
	if code, out := run(t, append(put(t, s.segments).args, "--anchor", "gone")...); code != 1 || strings.Contains(out, "Traceback") {
		t.Errorf("an anchor that is not there: %d %s", code, out)
	}
}

// Each tamper is refused by package audit and by verify.py, for the same reason
// and at the same place, but for what verify.py says that it does not see.
func TestTampers(t *testing.T) {
	all := tampers()
	must(t, checkTampers(all))
	s, py := write(t, origin, logKey, someCalls), start(t, verifier)
	var unseen []string
	for _, x := range all {
		y, rep := x.put(t, s)
		if rep.Holds() || rep.Problem.Reason != x.audit {
			t.Errorf("%s: package audit says %+v, want %s", x.name, rep.Problem, x.audit)
			continue
		}
		code, out := py.run(t, y.args...)
		if x.python == "" {
			unseen = append(unseen, x.name+": "+x.unseen)
			if code != 0 {
				t.Errorf("%s: verify.py says %d %s; it was not to see that", x.name, code, out)
			}
			continue
		}
		if code != 1 || reasonOf(out) != x.python {
			t.Errorf("%s: verify.py says %d %s, want %s", x.name, code, out, x.python)
		}
		if place := placeOf(rep.Problem); x.samePlace() && !strings.HasPrefix(out, place+": ") {
			t.Errorf("%s: verify.py says %s, package audit %s", x.name, out, place)
		}
	}
	t.Logf("%d tampers; verify.py does not see:\n%s", len(all), strings.Join(unseen, "\n"))
}

// put puts a tampered log somewhere and has package audit look at it.
func (x tamper) put(t *testing.T, s sample) (subject, *audit.Report) {
	t.Helper()
	edited := x.edit(t, s.segments.clone())
	if maps.EqualFunc(edited, s.segments, func(a, b []byte) bool { return string(a) == string(b) }) {
		t.Fatalf("%s: the tamper changes nothing", x.name)
	}
	o := audit.VerifyOptions{Pin: pinned(logKey)}
	var kept [][]byte
	if x.anchored {
		kept = s.notes[len(s.notes)-1:]
		o.Anchors = []audit.Anchored{anchored(t, kept[0])}
	}
	y := put(t, edited, kept...)
	return y, auditedAt(t, y.dir, o)
}

// samePlace: both stop at the same line. Not where one looks at anchors before
// the other, nor where room stands in an old segment, which package audit
// notices at the next one.
func (x tamper) samePlace() bool {
	return !x.anchored && x.name != "room in an old segment" && x.audit != audit.LogEmpty
}

func placeOf(p *audit.Problem) string {
	if p.Reason == audit.SegmentName { // which line that is depends on whom one believes
		return fmt.Sprintf("%v, line 1", p.At)
	}
	return fmt.Sprintf("%v, line %d", p.At, p.Line())
}

// reasonOf is the token in a line of verify.py. What Python itself says when it
// reads a line means line-invalid.
func reasonOf(out string) string {
	_, reason, _ := strings.Cut(strings.TrimSuffix(out, "\n"), ": ")
	if strings.Contains(reason, "\n") || strings.Contains(reason, "Traceback") {
		return "bug in verify.py: " + out
	}
	if strings.Trim(reason, "abcdefghijklmnopqrstuvwxyz-") != "" {
		return lineInvalid
	}
	return reason
}

// receiptTampers are done to the text of a receipt.
var receiptTampers = map[string]func(r receiptParts) receiptParts{
	"index above":      func(r receiptParts) receiptParts { r.index++; return r },
	"index beyond":     func(r receiptParts) receiptParts { r.index += 1 << 20; return r },
	"index below":      func(r receiptParts) receiptParts { r.index--; return r },
	"leaf":             func(r receiptParts) receiptParts { r.leaf = r.path[0]; return r },
	"node as a leaf":   nodeAsLeaf,
	"path shorter":     func(r receiptParts) receiptParts { r.path = r.path[1:]; return r },
	"path without end": func(r receiptParts) receiptParts { r.path = r.path[:len(r.path)-1]; return r },
	"path longer":      func(r receiptParts) receiptParts { r.path = append(r.path, r.path[0]); return r },
	"no path":          func(r receiptParts) receiptParts { r.path = nil; return r },
	"path swapped":     func(r receiptParts) receiptParts { r.path[0], r.path[1] = r.path[1], r.path[0]; return r },
	"padding":          func(r receiptParts) receiptParts { r.leaf = strings.TrimSuffix(r.leaf, "="); return r },
	"header":           func(r receiptParts) receiptParts { r.header = "c2sp.org/tlog-proof@v2"; return r },
	"root":             func(r receiptParts) receiptParts { r.note = swapLine(r.note, 2, r.path[0]); return r },
	"size":             func(r receiptParts) receiptParts { r.note = swapLine(r.note, 1, "77"); return r },
	"size with a zero": func(r receiptParts) receiptParts { r.note = strings.Replace(r.note, "\n", "\n0", 1); return r },
	"chain": func(r receiptParts) receiptParts {
		r.note = swapLine(r.note, 3, "chain "+strings.Repeat("0", 64))
		return r
	},
	"origin":            func(r receiptParts) receiptParts { r.note = swapLine(r.note, 0, "iff/log/other"); return r },
	"without signature": func(r receiptParts) receiptParts { r.note = r.note[:strings.Index(r.note, "— ")]; return r },
}

func swapLine(text string, n int, line string) string {
	lines := strings.Split(text, "\n")
	lines[n] = line
	return strings.Join(lines, "\n")
}

// receiptParts are the lines of a receipt.
type receiptParts struct {
	header, leaf string
	index        int
	path         []string
	note         string
}

func splitReceipt(t testing.TB, data []byte) receiptParts {
	t.Helper()
	head, note, _ := strings.Cut(string(data), "\n\n")
	lines := strings.Split(head, "\n")
	index, err := strconv.Atoi(strings.TrimPrefix(lines[2], "index "))
	must(t, err)
	return receiptParts{lines[0], strings.TrimPrefix(lines[1], "extra "), index, lines[3:], note}
}

func (r receiptParts) join() []byte {
	lines := append([]string{r.header, "extra " + r.leaf, fmt.Sprintf("index %d", r.index)}, r.path...)
	return []byte(strings.Join(lines, "\n") + "\n\n" + r.note)
}

// nodeAsLeaf proves that the tree has a node, as if that were a record.
func nodeAsLeaf(r receiptParts) receiptParts {
	left, right := r.leaf, r.path[0]
	if r.index&1 == 1 {
		left, right = right, left
	}
	sum := sha256.Sum256(slices.Concat([]byte{1}, fromBase64(left), fromBase64(right)))
	r.leaf, r.path, r.index = base64Of(sum[:]), r.path[1:], r.index/2
	return r
}

// badReceipts are the tampers of three receipts, of the first record, of one in
// the middle and of the last one.
func (s sample) badReceipts(t testing.TB) map[string][]byte {
	t.Helper()
	out := map[string][]byte{}
	for i, which := range []string{"first", "middle", "last"} {
		good := s.receipts[len(s.receipts)-3+i]
		if r := splitReceipt(t, good); string(r.join()) != string(good) || len(r.path) < 3 {
			t.Fatalf("%q", good)
		}
		for what, edit := range receiptTampers {
			out[what+", "+which] = edit(splitReceipt(t, good)).join()
		}
	}
	return out
}

// A receipt that proves nothing, or is of other records, is refused by both.
func TestReceiptTampers(t *testing.T) {
	s, py := write(t, origin, logKey, someCalls), start(t, verifier)
	v, err := audit.Verifier(origin, trusttest.NewKey(logKey).Public())
	must(t, err)
	for what, bad := range s.badReceipts(t) {
		r, err := audit.ParseReceipt(bad)
		if err == nil {
			_, err = r.Check(v)
		}
		if err == nil {
			t.Errorf("%s: package audit takes it", what)
		}
		code, out := py.run(t, put(t, s.segments, bad).args...)
		if reason := reasonOf(out); code != 1 || !slices.Contains([]string{"proof-invalid", "note-invalid", "log-forked", "log-rolled-back"}, reason) {
			t.Errorf("%s: verify.py says %d %s", what, code, out)
		}
	}
}

// session is one Python that runs a verifier again and again.
type session struct {
	in  io.Writer
	out *bufio.Reader
}

// again is the program of a session. It runs verify.py as Python does, but for
// starting anew.
const again = `
import contextlib, io, sys
code = compile(open(sys.argv[1], encoding="utf-8").read(), "verify.py", "exec")
for request in sys.stdin:
    sys.argv, out, names, status = ["verify.py", *request[:-1].split("\t")], io.StringIO(), {"__name__": "__main__"}, 0
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out): exec(code, names)
    except SystemExit as end: status = end.code
    except Exception as why: status = 1; print(f"{names.get('place')}: {why}", file=out)
    print(status, out.getvalue()[:-1].replace("\n", " | "), flush=True)
`

func start(t testing.TB, script string) *session {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), python(t), "-c", again, script)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	must(t, err)
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	t.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait() // it ends with its input
	})
	return &session{in, bufio.NewReader(out)}
}

// run gives the exit code and what was printed, on one line.
func (s *session) run(t testing.TB, args ...string) (code int, out string) {
	t.Helper()
	_, err := io.WriteString(s.in, strings.Join(args, "\t")+"\n")
	must(t, err)
	line, err := s.out.ReadString('\n')
	must(t, err)
	status, out, _ := strings.Cut(line, " ")
	code, err = strconv.Atoi(status)
	must(t, err)
	return code, out
}

// Every byte of a small log, changed by one bit: both refuse, or both take it
// because nothing vouches for the last record; verify.py also takes what it
// says that it does not see, in that record alone.
func TestEveryByteChanged(t *testing.T) {
	f := forge(t, write(t, origin, logKey, 1).segments)
	f.starts = []int{0}
	f.cut(f.find("checkpoint", -1) + 1)
	all := f.segments()
	data := all[name(0)]
	last := strings.LastIndex(strings.TrimSuffix(string(data), "\n"), "\n") + 1
	x, py := put(t, all), start(t, verifier)
	path := filepath.Join(x.dir, name(0))
	taken := map[audit.Reason]int{}
	for i := range data {
		bad := slices.Clone(data)
		bad[i] ^= 1 << (i % 7)
		must(t, os.WriteFile(path, bad, 0o600))
		rep := auditedAt(t, x.dir, audit.VerifyOptions{Pin: pinned(logKey)})
		code, out := py.run(t, x.args...)
		switch refused := code == 1; {
		case refused != rep.Holds():
		case refused || i < last || rep.Problem.Reason != audit.NoteSignature && rep.Problem.Reason != audit.LineInvalid:
			t.Errorf("byte %d of %d: verify.py says %s, package audit %+v", i, len(data), out, rep.Problem)
		default:
			taken[rep.Problem.Reason]++
		}
	}
	if taken[audit.NoteSignature] == 0 {
		t.Error("verify.py takes no bad signature: the test is not what it says")
	}
	t.Logf("%d bytes; of the last %d verify.py alone takes %v", len(data), len(data)-last, taken)
}
