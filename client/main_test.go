package client_test

import (
	"testing"

	"github.com/c3po-dev/c3po/client"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
	"github.com/c3po-dev/c3po/internal/testkit/workerrig"
)

func TestMain(m *testing.M) { faultrig.Main(m) }

// start starts a coordinator that every client of the test finds.
func start(t *testing.T) *faultrig.Coordinator {
	t.Helper()
	coordinator := faultrig.StartWith(t, redistest.Start(t), workerrig.Limits)
	t.Setenv("HOME", faultrig.Home(t))
	t.Setenv("C3PO_COORDINATOR_URL", coordinator.URL())
	return coordinator
}

// open is an agent of the test.
func open(t *testing.T, id string, capabilities ...string) *client.Client {
	t.Helper()
	agent, err := client.Open(t.Context(), client.Config{Agent: id, Capabilities: capabilities})
	if err != nil {
		t.Fatal(err)
	}
	return agent
}
