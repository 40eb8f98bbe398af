package e2e

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

var (
	installed = flag.String("e2e", "", "directory that test/e2e/install has filled")
	keep      = flag.Bool("keep", false, "leave the directories of the tests for looking at")
)

const (
	// apart is set in the namespaces, to the process that made them: exec keeps its id.
	apart = "IFF_E2E_APART"
	// asServer makes the test binary an MCP server; see upstreamMain.
	asServer = "IFF_E2E_SERVER"
	// withBuilt is a directory with the programs that are built otherwise.
	withBuilt = "IFF_E2E_BUILT"
)

// built are the programs that the tests run, made once by TestMain.
var built struct{ dir, iff, everything string }

func TestMain(m *testing.M) {
	if os.Getenv(asServer) != "" {
		upstreamMain()
		return
	}
	flag.Parse()
	if *installed == "" {
		fmt.Println("NOT CHECKED: real agents and MCP programs, because there is no -e2e DIR; fill one by test/e2e/install DIR")
		return
	}
	if err := leaveNetwork(); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	os.Exit(prepared(m))
}

// leaveNetwork runs the tests again where there is nothing but loopback.
func leaveNetwork() error {
	if os.Geteuid() != 0 {
		fmt.Println("NOT CHECKED: that no program needs a network, because only root can take it away")
		return nil
	}
	me := fmt.Sprint(os.Getpid())
	if os.Getenv(apart) == me {
		out, err := exec.Command("ip", "link", "set", "lo", "up").CombinedOutput()
		if err != nil {
			return fmt.Errorf("ip link set lo up: %w: %s", err, out)
		}
		return nil
	}
	unshare, err := exec.LookPath("unshare")
	if err != nil {
		return fmt.Errorf("unshare of util-linux is needed as root: %w", err)
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	args := append([]string{"unshare", "-nm", self}, os.Args[1:]...)
	return syscall.Exec(unshare, args, append(os.Environ(), apart+"="+me))
}

// prepared builds the programs and runs the tests.
func prepared(m *testing.M) int {
	var err error
	if *installed, err = filepath.Abs(*installed); err != nil {
		fmt.Println(err)
		return 1
	}
	// Not below /tmp: codex does not keep its helpers there.
	if built.dir, err = os.MkdirTemp("/var/tmp", "iff-e2e-"); err != nil {
		fmt.Println(err)
		return 1
	}
	if *keep {
		fmt.Println("kept:", built.dir)
	} else {
		defer os.RemoveAll(built.dir)
	}
	built.iff, built.everything = filepath.Join(built.dir, "iff"), filepath.Join(built.dir, "everything-server")
	for path, pkg := range map[string]string{
		built.iff:        "github.com/iff-run/iff/cmd/iff",
		built.everything: "github.com/modelcontextprotocol/go-sdk/conformance/everything-server",
	} {
		if err := build(path, pkg); err != nil {
			fmt.Println(err)
			return 1
		}
	}
	return m.Run()
}

// build makes a program, or takes it from the directory that has it already.
func build(path, pkg string) error {
	if ready := os.Getenv(withBuilt); ready != "" {
		return os.Symlink(filepath.Join(ready, filepath.Base(path)), path)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-o", path, pkg)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-buildvcs=false")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build %s: %w\n%s", pkg, err, out)
	}
	return nil
}
