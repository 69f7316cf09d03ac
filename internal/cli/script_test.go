package cli_test

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/c3po-dev/c3po/internal/cli"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
)

// The scripts run the test binary as c3po, so they run the code under test,
// race detector included, in processes of their own.
func TestMain(m *testing.M) {
	// What runs a test, a coding agent for one, is not what the test is about.
	if os.Getenv(topVariable) == "" {
		_ = os.Setenv(topVariable, strconv.Itoa(os.Getpid())) // it fails for no such name
	}
	program := func() {
		top, _ := strconv.Atoi(os.Getenv(topVariable))
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		os.Exit(cli.Main(ctx, cli.Process{
			Name: os.Args[0], Args: os.Args[1:], Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Getenv: os.Getenv, Version: cmp.Or(os.Getenv(versionVariable), "test"), Commit: "none", Top: top, TabTimeout: 30 * time.Second,
		}))
	}
	testscript.Main(m, map[string]func(){"c3po": program, "bridge-register": program, "bridge-reply": program, "bridgectl": program, "format-stream": program, "claude-docker": program})
}

// versionVariable is the version that the program takes itself for.
const versionVariable = "TEST_VERSION"

const topVariable = cli.TopVariable

const (
	scripts = "testdata/script"
	newUser = scripts + "/new-user.txtar"
)

func TestANewUsersFirstExchangeTakesUnderTenSeconds(t *testing.T) {
	const aim = 10 * time.Second
	var began time.Time
	p := params(t)
	p.Files = []string{newUser}
	prepare := p.Setup
	p.Setup = func(env *testscript.Env) error {
		if err := prepare(env); err != nil {
			return err
		}
		began = time.Now()
		env.Defer(func() {
			took := time.Since(began)
			t.Logf("from an empty home to an answered question and back: %v (aim %v)", took, aim)
			// A machine that does much else at the time is not our fault.
			if took > 5*aim {
				t.Errorf("it took %v", took)
			}
		})
		return nil
	}
	testscript.Run(t, p)
}

func TestScripts(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(scripts + "/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	p := params(t)
	p.Files = slices.DeleteFunc(files, func(name string) bool { return name == newUser })
	testscript.Run(t, p)
}

func params(t *testing.T) testscript.Params {
	t.Helper()
	if _, err := exec.LookPath("redis-server"); err != nil {
		if _, err := exec.LookPath("valkey-server"); err != nil {
			if os.Getenv("CI") == "true" {
				t.Fatal("no redis-server is installed")
			}
			t.Skip("no redis-server is installed")
		}
	}
	return testscript.Params{
		Setup:               setUp,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"agent-run": agentRun, "await": await, "exits": exits, "field": field, "inzip": inZip, "hangup": hangUp, "killpid": killPID, "line": line,
			"op": op, "redises": redises, "up-cut-short": upCutShort,
		},
	}
}

// setUp gives a script an empty home, and takes away what it leaves running.
func setUp(env *testscript.Env) error {
	program, err := exec.LookPath("c3po")
	if err != nil {
		return err
	}
	home := filepath.Join(env.WorkDir, "home")
	if err := os.Mkdir(home, 0o700); err != nil {
		return err
	}
	env.Setenv("HOME", home)
	env.Setenv("BIN", filepath.Dir(program))
	env.Setenv(topVariable, os.Getenv(topVariable))
	env.Setenv("C3PO_LISTEN", "127.0.0.1:0")
	examples, err := filepath.Abs("../../examples")
	if err != nil {
		return err
	}
	env.Setenv("EXAMPLES", examples)
	runtime, err := filepath.Abs("../runner/container/testdata/fake.sh")
	if err != nil {
		return err
	}
	env.Setenv("FAKE_RUNTIME", runtime)
	// The race detector lets a process sleep for a second before it exits.
	env.Setenv("GORACE", "atexit_sleep_ms=0")
	env.Defer(func() {
		down := exec.Command(program, "down")
		down.Env = append(slices.Clone(env.Vars), "PATH="+os.Getenv("PATH"))
		if out, err := down.CombinedOutput(); err != nil {
			env.T().Fatal(fmt.Sprintf("c3po down: %v\n%s", err, out))
		}
		if fault := faultrig.FaultBelow(home); fault != "" {
			env.T().Fatal(fault)
		}
		if n := len(redisProcesses(home)); n > 0 {
			env.T().Fatal(fmt.Sprintf("%d Redis servers were left running", n))
		}
	})
	return nil
}

func stateFolder(home string) string { return filepath.Join(home, ".local", "state", "c3po") }

// redisProcesses finds the servers whose data folder is that of a home.
func redisProcesses(home string) []string {
	var found []string
	folders, _ := filepath.Glob("/proc/[0-9]*")
	for _, folder := range folders {
		name, _ := os.ReadFile(filepath.Join(folder, "comm"))
		cwd, _ := os.Readlink(filepath.Join(folder, "cwd"))
		server := strings.TrimSpace(string(name))
		if (server == "redis-server" || server == "valkey-server") && cwd == filepath.Join(stateFolder(home), "redis") {
			found = append(found, folder)
		}
	}
	return found
}
