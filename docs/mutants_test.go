package docs_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// mutant is an error in verify.py: a text that stands there once, and what
// takes its place.
type mutant struct{ name, old, text string }

var mutants = []mutant{
	{"chain", `chain_broken=r["prevHash"] == prev`, `chain_broken=True`},
	{"number", `seq_gap=r["seq"] == size`, `seq_gap=True`},
	{"batch", `batch_order=r["batch"] in (batch, size)`, `batch_order=True`},
	{"batch before", `.hexdigest(), r["batch"], size,`, `.hexdigest(), size, size,`},
	{"init", `first_record=(r["kind"] == "init") == (size == 0)`, `first_record=True`},
	{"init at the beginning", `(r["kind"] == "init") == (size == 0)`, `r["kind"] != "init" or size == 0`},
	{"origin", `origin_other=args.origin in (None, origin)`, `origin_other=True`},
	{"empty lines", `line_blank=not padding`, `line_blank=True`},
	{"spaces are room", "padding = padding or (place if not line.strip(b\"\\0\\n\") else \"\")  # prepared for lines to come\n        if not line.strip(b\"\\0\\n\")", "padding = padding or (place if not line.strip() else \"\")\n        if not line.strip()"},
	{"names of segments", `segment_name=int(segment.stem) == size`, `segment_name=True`},
	{"checkpoints", `must(checkpoint_off=re.findall(KEPT, str(r["body"].get("note"))) == [("", "", "", *head())])`, `pass`},
	{"root of checkpoints", `str(r["body"].get("note"))) == [("", "", "", *head())]`, `str(r["body"].get("note")))[0][:5] + (prev,) == ("", "", "", *head()[:2], prev)`},
	{"chain of checkpoints", `str(r["body"].get("note"))) == [("", "", "", *head())]`, `str(r["body"].get("note")))[0][:6] == ("", "", "", *head()[:3])`},
	{"size of checkpoints", `str(r["body"].get("note"))) == [("", "", "", *head())]`, `str(r["body"].get("note")))[0][5:] == head()[2:]`},
	{"origin of checkpoints", `str(r["body"].get("note"))) == [("", "", "", *head())]`, `str(r["body"].get("note")))[0][4:] == head()[1:]`},
	{"last checkpoint", `signed = size`, `signed = size - 1`},
	{"forks", `log_forked=all(`, `log_forked=True or all(`},
	{"rollback", `log_rolled_back=max(kept) <= size`, `log_rolled_back=True`},
	{"nothing there", `log_empty=size, `, ``},
	{"anchors", `for place in args.anchor:`, `for place in []:`},
	{"proofs", `proof_invalid=not leaf or`, `proof_invalid=True or`},
	{"proof too short", `if size == 1 or not path: return leaf if size == 1 and index == 0 and not path else b""`, `if size == 1 or not path: return leaf if index == 0 else b""`},
	{"index", `size == 1 and index == 0 and not path`, `size == 1 and not path`},
	{"left and right", `if index < half: return node(implied(index, half, leaf, path[:-1]), path[-1])`, `if index < half: return node(path[-1], implied(index, half, leaf, path[:-1]))`},
	{"half of the tree", `half = 1 << (size - 1).bit_length() - 1`, `half = 1 << size.bit_length() - 1`},
	{"leaf", `sha256(b"\0" + line[:-1])`, `sha256(line[:-1])`},
	{"leaf with its newline", `line[:-1]).hexdigest()`, `line).hexdigest()`},
	{"node", `sha256(b"\1" + left + right)`, `sha256(left + right)`},
	{"edge", `while level & 1:`, `if level & 1:`},
	{"spelling", `.encode() == line and LINE.fullmatch(line)`, `and LINE.fullmatch(line)`},
	{"form", `.encode() == line and LINE.fullmatch(line)`, `.encode() == line`},
	{"order of fields", `, sort_keys=True`, ``},
	{"eight fields", ` and len(r) == 8`, ``},
	{"days", ` and dt.datetime.fromisoformat(r["time"][:19])`, ``},
	{"whole numbers", `, parse_float=int`, ``},
	{"not a number", `, parse_constant=int`, ``},
	{"length", `file.readline(65537)`, `file.readline(1 << 30)`},
	{"controls", `\x7f-\x9f`, `\x80-\x9f`},
	{"bidi", `\u2028-\u202e`, `\u2028-\u202d`},
	{"separators", `\u2028-\u202e`, `\u202a-\u202e`},
	{"too many escapes", `\u2060-\u206f`, `\u2060-\u2070`},
}

// escapes are the parts of the set that lines have as escapes; the mutants above
// take the others.
var escapes = []string{
	`\xad`, `\u061c`, `\u180e`, `\u200b-\u200f`, `\u2060-\u206f`, `\ufeff`, `\ufff9-\ufffb`, `\ufffe`, `\uffff`, `\U000e0000-\U000e0fff`,
}

// attempt is something that verify.py is run on, and what it says.
type attempt struct {
	name string
	args []string
	code int
	out  string
}

// TestMutants plants each error in a copy of verify.py. On one of the logs,
// tampers and receipts the copy has to say something else.
func TestMutants(t *testing.T) {
	script := readFile(t, verifier)
	all, planted := attempts(t), slices.Clone(mutants)
	for _, class := range escapes {
		planted = append(planted, mutant{"without " + class, class, ""})
	}
	for _, m := range planted {
		if strings.Count(script, m.old) != 1 {
			t.Errorf("%s: verify.py has %q %d times", m.name, m.old, strings.Count(script, m.old))
			continue
		}
		path := filepath.Join(t.TempDir(), "mutant.py")
		must(t, os.WriteFile(path, []byte(strings.Replace(script, m.old, m.text, 1)), 0o600))
		py := start(t, path)
		noticed := slices.IndexFunc(all, func(a attempt) bool {
			code, out := py.run(t, a.args...)
			return code != a.code || out != a.out
		})
		if noticed < 0 {
			t.Errorf("%s: nothing notices that %q is %q", m.name, m.old, m.text)
			continue
		}
		t.Logf("%s: noticed by %s", m.name, all[noticed].name)
	}
}

// attempts are made with verify.py as it is.
func attempts(t *testing.T) []attempt {
	s, py := write(t, origin, logKey, someCalls), start(t, verifier)
	out := []attempt{
		{name: "a good log", args: put(t, s.segments, s.notes...).args},
		{name: "good receipts", args: put(t, s.segments, s.receipts...).args},
	}
	for _, x := range tampers() {
		y, _ := x.put(t, s)
		out = append(out, attempt{name: x.name, args: y.args})
	}
	for what, bad := range s.badReceipts(t) {
		out = append(out, attempt{name: "receipt: " + what, args: put(t, s.segments, bad).args})
	}
	for i := range out {
		out[i].code, out[i].out = py.run(t, out[i].args...)
	}
	return out
}
