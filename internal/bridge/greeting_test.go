package bridge_test

import (
	"strings"
	"testing"

	"github.com/c3po-dev/c3po"
)

func TestAGreetingNamesWhoIsOnlineWhenItIsGiven(t *testing.T) {
	t.Parallel()
	r := start(t, coordinator(t).URL(), "box:1:1")
	early := r.as("early")
	if _, err := early.Ping(t.Context(), c3po.None{}); err != nil {
		t.Fatal(err)
	}
	r.call("", "ping", nil) // registers it, and no hook has run
	eventually(t, "it is registered", func() bool { return r.agents()["api"].Status == c3po.Online })
	if _, err := early.Unregister(t.Context(), c3po.None{}); err != nil {
		t.Fatal(err)
	}
	if _, err := r.as("late").Ping(t.Context(), c3po.None{}); err != nil {
		t.Fatal(err)
	}
	if said := r.prompt(); !strings.Contains(said, "c3po: you are api. Online: late.") {
		t.Errorf("the greeting says %s", said)
	}
}
