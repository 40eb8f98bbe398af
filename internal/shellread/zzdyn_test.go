package shellread

import (
	"context"
	"fmt"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestZZDyn(t *testing.T) {
	seed := int64(1)
	if s := os.Getenv("SEED"); s != "" { fmt.Sscan(s, &seed) }
	r := rand.New(rand.NewSource(seed))
	atoms := []string{"c1", "c2", "c3", "c4", "c5 a", "c6", "\n", "\n", "\n", ";", "&&", "||", "|", " ", " ", " ", "{ ", "; }", "(", ")", "$(", "`", "\"", "'", "\\", "\\\n", "# x", "# y \\\n", "f() { ", "f", "g() { ", "g", "unset -f f\n", "V=c1", "V=c2\n", "$V", "\"$V\"", "export V=c4\n", "eval ", "eval 'c5 x'\n", "if c1; then ", "fi\n", "else ", "while false; do ", "done\n", "for i in c1 c2; do ", "$i", "case x in x) ", ";; esac\n", "c\"3\"", "c''1", "$'c\\x32'", "<<E\n", "\nE\n", "<<'E'\n", ">o", "2>&1", "trap 'c6' EXIT\n", "alias c1=c2\n", "command ", "builtin ", "exec ", "! ", "{c4,c5}", "true ", "false ", "W=$V ", "local V\n", "V=c5 f\n", "read V <<<c6\n", "${V:=c3}", "((V=1))", "set -- c1 c2\n", "\"$@\"", "$1", "IFS=2\n", "declare -n R=V\n", "R=c6\n", "printf -v V c3\n", "time ", "time ! ", "select i in c1; do break; ", "f(){ c6; }\n", "unset f\n", "(f() { :; })\n", "if f; then c3; fi\n", "$V c1\n", "V=\"c1 c2\"\n", "[[ -n $(c2) ]]\n", "source /dev/stdin <<< c3\n", "f\n", "g\n", "main() {\n", "}\n", "main\n", "echo x ", "hash -r\n", "coproc ", "&\n", "cd . \n", "$((V+1))", "~", "*", "?", "[", "]"}
	dir := t.TempDir()
	log := filepath.Join(dir, "log")
	n, bad, ran := 0, 0, 0
	deadline := time.Now().Add(150 * time.Second)
	for time.Now().Before(deadline) {
		var b strings.Builder
		for j := 0; j < 2+r.Intn(14); j++ {
			b.WriteString(atoms[r.Intn(len(atoms))])
		}
		src := b.String() + "\n"
		ps := Script("s.sh", []byte(src))
		if strings.Contains(ps[0].Why, "does not parse") {
			continue
		}
		n++
		have := map[string]bool{}
		bare := false
		for _, p := range ps {
			if p.Grant == "spawn.proc" { bare = true }
			if s, ok := strings.CutPrefix(p.Grant, "spawn.proc("); ok {
				have[strings.TrimSuffix(firstArg(s), ")")] = true
			}
		}
		if bare { continue }
		log = filepath.Join(dir, fmt.Sprint("log", n))
		work := filepath.Join(dir, "w"); os.RemoveAll(work); os.Mkdir(work, 0o755)
		os.WriteFile(filepath.Join(dir, "s.sh"), []byte(src), 0o644)
		os.WriteFile(filepath.Join(dir, "env"), []byte("command_not_found_handle() { printf '%s\\0' \"$1\" >> "+log+"; return 0; }\nulimit -u 400\nulimit -f 1000\n"), 0o644)
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		cmd := exec.CommandContext(ctx, "/bin/bash", filepath.Join(dir, "s.sh"))
		cmd.Dir = work
		cmd.Env = []string{"PATH=/nonexistent", "BASH_ENV=" + filepath.Join(dir, "env")}
		cmd.WaitDelay = time.Second
		cmd.Run()
		cancel()
		out, _ := os.ReadFile(log)
		for _, name := range strings.Split(strings.TrimSuffix(string(out),"\x00"), "\x00") {
			ran++
			if name == "" || wrappers[name].letters != "" || name == "time" || name == "builtin" { continue }
			if !have[escaped(name)] {
				bad++
				if bad < 12 { fmt.Printf("MISSED %q in %q\n", name, src); for _, p := range ps { fmt.Println("   ", p.Grant, p.Why) } }
				break
			}
		}
	}
	fmt.Println("scripts", n, "commands", ran, "missed", bad)
}

func firstArg(s string) string {
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' { i++; continue }
		if s[i] == ' ' { return s[:i] }
	}
	return s
}
