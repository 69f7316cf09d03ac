// Package join proves that a host joins, between two hosts that have a network,
// addresses and nothing else in common.
package join_test

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/internal/auth/pki"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
)

// goal is how long a person should have to wait, from no program at all to a
// question answered across hosts.
const goal = 30 * time.Second

// The test binary is also the impostor that the script starts.
func TestMain(m *testing.M) {
	if address := os.Getenv("IMPOSTOR"); address != "" {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		err := impostor(ctx, address, os.Getenv("IMPOSTOR_FOLDER"))
		stop()
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	faultrig.Main(m)
}

// impostor poses as a coordinator as well as somebody can who does not have its
// key. Whoever falls for it leaves a file in the folder.
func impostor(ctx context.Context, address, folder string) error {
	secret, err := pki.New()
	if err != nil {
		return err
	}
	authority, err := pki.Parse(secret)
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /install", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "touch '%s'\n", filepath.Join(folder, "pwned"))
	})
	mux.HandleFunc("GET /api/ca", func(w http.ResponseWriter, r *http.Request) {
		shown := authority.PEM()
		// Once it could get hold of the true one, which is no secret, it shows that.
		if genuine, err := os.ReadFile(filepath.Join(folder, "true-ca.pem")); err == nil {
			shown = genuine
		}
		_, _ = w.Write(shown)
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		_ = os.WriteFile(filepath.Join(folder, "secrets"), body, 0o600)
	})
	listener, err := tls.Listen("tcp", address, &tls.Config{GetCertificate: authority.Leaf([]string{address}, nil).GetCertificate})
	if err != nil {
		return err
	}
	server := &http.Server{Handler: mux, ReadHeaderTimeout: goal}
	context.AfterFunc(ctx, func() { server.Close() })
	if err := server.Serve(listener); ctx.Err() == nil {
		return err
	}
	return nil
}

func TestAHostJoinsAcrossTheNetworkFromNoProgramAtAll(t *testing.T) {
	if why := missing(); why != "" {
		if os.Getenv("CI") == "true" {
			t.Fatal(why)
		}
		t.Skip(why)
	}
	folder := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*goal)
	defer cancel()
	run := exec.CommandContext(ctx, "./run.sh", faultrig.Binary(t), self, filepath.Join(folder, "work"))
	// Its own cleanup takes the namespaces away.
	run.Cancel = func() error { return run.Process.Signal(syscall.SIGTERM) }
	run.WaitDelay = goal
	out, err := run.CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Fatal(err)
	}
	times := regexp.MustCompile(`until_answered_ms=(\d+)`).FindSubmatch(out)
	if times == nil {
		t.Fatal("the script does not say how long it took")
	}
	ms, err := strconv.Atoi(string(times[1]))
	if err != nil {
		t.Fatal(err)
	}
	took := time.Duration(ms) * time.Millisecond
	faultrig.Hold(t, "from no program to an answered question", took, goal)
}

// missing says why the script cannot run here.
func missing() string {
	if os.Geteuid() != 0 {
		return "only root can make network namespaces"
	}
	for _, program := range []string{"ip", "curl", "bash", "redis-server"} {
		if _, err := exec.LookPath(program); err != nil {
			return program + " is not installed"
		}
	}
	probe := "c3j-probe-" + strconv.Itoa(os.Getpid())
	if out, err := exec.Command("ip", "netns", "add", probe).CombinedOutput(); err != nil {
		return "network namespaces cannot be made here: " + string(out)
	}
	if out, err := exec.Command("ip", "netns", "del", probe).CombinedOutput(); err != nil {
		return "network namespaces cannot be removed here: " + string(out)
	}
	return ""
}
