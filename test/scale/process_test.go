package scale_test

import (
	"crypto/tls"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/client"
)

// spent is how much of a processor the threads of a process have used.
func spent(t *testing.T, pid int) time.Duration {
	t.Helper()
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	if err != nil || len(threads) == 0 {
		t.Fatalf("no thread of %d is there: %v", pid, err)
	}
	total := time.Duration(0)
	for _, name := range threads {
		text, err := os.ReadFile(name)
		if err != nil {
			continue // one that has just ended
		}
		var nanoseconds int64
		if _, err := fmt.Sscan(string(text), &nanoseconds); err != nil {
			t.Fatal(err)
		}
		total += time.Duration(nanoseconds)
	}
	return total
}

// insecureAgent is agentOf for a coordinator of which it is not asked who it is.
func insecureAgent(t *testing.T, url string, space c3po.Space, id c3po.AgentID) *client.Client {
	t.Helper()
	// #nosec G402 -- see waitOn
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
	t.Cleanup(transport.CloseIdleConnections)
	svc := client.New(client.Config{URL: url, Space: space, AgentID: id, HTTP: &http.Client{Transport: transport}})
	must(t, fmt.Sprintf("%s is registered", id), func() bool {
		_, err := svc.RegisterAgent(t.Context(), c3po.RegisterInput{})
		return err == nil
	})
	return svc
}
