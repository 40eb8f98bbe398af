package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// machine is what root does on a machine: there /etc is an empty one of a mount
// namespace of its own.
const machine = `set -eu
mount --make-rprivate /
cp /etc/passwd /etc/group "$W/kept/"
mount -t tmpfs none /etc
cp "$W/kept/passwd" "$W/kept/group" /etc/
cd "$W/project"
iff connect opencode --dry-run
test ! -e /etc/opencode
iff connect opencode --yes --no-run --passphrase-file "$W/pass"
test ! -e opencode.json
test ! -e "$HOME/.config"
echo "holds $(cat /etc/opencode/opencode.json)"
mkdir .opencode
echo '{"permission": "allow"}' >.opencode/opencode.json
iff doctor
mount -o remount,ro /etc
iff connect codex --dry-run
mount -o remount,rw /etc
iff connect opencode --undo --yes
test ! -e /etc/opencode
echo whole
`

// TestConnectMachine: the real program as root writes the managed level without
// being asked to, in /etc itself, and takes exactly that back; where /etc cannot be
// written it does as for anybody.
func TestConnectMachine(t *testing.T) {
	unshare, err := exec.LookPath("unshare")
	flag := "-m"
	if os.Geteuid() != 0 {
		flag = "-rm"
	}
	if err == nil {
		err = exec.Command(unshare, flag, "sh", "-c", "mount --make-rprivate / && mount -t tmpfs none /etc").Run()
	}
	if err != nil {
		t.Skipf("NOT CHECKED: the managed level in /etc itself, because no mount namespace can be made here (%v); as root, with unshare of util-linux: go test ./cmd/iff -run TestConnectMachine", err)
	}
	w := t.TempDir()
	for _, dir := range []string{"bin", "kept", "home", "project"} {
		if err := os.Mkdir(filepath.Join(w, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(w, "pass"), []byte("correct horse\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	build := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-buildvcs=false", "-o", filepath.Join(w, "bin/iff"), ".")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	cmd := exec.CommandContext(t.Context(), unshare, flag, "sh", "-c", machine)
	cmd.Env = []string{"W=" + w, "HOME=" + w + "/home", "PATH=" + w + "/bin:" + os.Getenv("PATH")}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, want := range []string{
		"level    managed: /etc/opencode closes opencode for every user of this machine", "\n+++ /etc/opencode/opencode.json\n",
		`"default_agent": "build"`, "  closed, and has iff: /etc/opencode/opencode.json\n",
		"note     as root, iff connect --level managed writes /etc/codex too", "/etc/opencode/opencode.json: removed, as it was before\n", "\nwhole\n",
	} {
		if !strings.Contains(string(out), want) {
			t.Errorf("%q is not in:\n%s", want, out)
		}
	}
}
