package scale_test

import (
	"crypto/tls"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/c3po-dev/c3po"
	"github.com/c3po-dev/c3po/internal/client"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
)

// resident is how much memory a process really has.
func resident(t *testing.T, pid int) int64 {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	var total, pages int64
	if _, scan := fmt.Sscan(string(text), &total, &pages); err != nil || scan != nil {
		t.Fatal(err, scan)
	}
	return pages * int64(os.Getpagesize())
}

// lowest looks at all for a while: what a burst has left is collected in time.
func lowest(t *testing.T, all []*faultrig.Coordinator, most time.Duration) []int64 {
	t.Helper()
	least := make([]int64, len(all))
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(most); time.Now().Before(end); <-tick.C {
		for i, c := range all {
			if now := resident(t, c.PID()); least[i] == 0 || now < least[i] {
				least[i] = now
			}
		}
	}
	return least
}

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
