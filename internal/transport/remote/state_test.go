package remote_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
)

// What waits for the mail of a remote agent is the coordinator, and says nothing of it.
func TestNothingIsClaimedOfARemoteThatIsDead(t *testing.T) {
	t.Parallel()
	f := newForeign(t, "1.0", func(string, int) (int, string) { return 200, result(`{"task":` + completed + `}`) })
	s := newSite(t)
	s.run()
	s.add(f.URL, "")
	if got := s.ask("order 7"); got.Response != "Invoice 7" {
		t.Fatalf("the answer is %+v", got)
	}
	f.Close()
	web := s.as("web")
	agent, err := web.GetAgentStatus(t.Context(), c3po.AgentInput{AgentID: "billing"})
	if err != nil || agent.Status != c3po.StatusUnknown || agent.Alive != nil || agent.Reachability != c3po.ReachForwarded || agent.State != "" || agent.StateSince != nil {
		t.Errorf("it is said to be %+v, %v", agent, err)
	}
	if said := agent.Standing(time.Now(), time.Now()); said != "remote, state unknown" {
		t.Errorf("others see %q", said)
	}
	receipt, err := web.SendMessage(t.Context(), c3po.SendInput{Target: "billing", Message: "are you there"})
	if err != nil || receipt.Recipient != c3po.StatusUnknown || receipt.Reachability != c3po.ReachForwarded {
		t.Errorf("the receipt says %s, %s, %v", receipt.Recipient, receipt.Reachability, err)
	}
	online, err := web.ListAgents(t.Context(), c3po.ListAgentsInput{Status: c3po.Online})
	if err != nil || slices.ContainsFunc(online.Agents, func(a c3po.Agent) bool { return a.ID == "billing" }) {
		t.Errorf("online are %+v, %v", online.Agents, err)
	}
	if !faultrig.Within(10*time.Second, func() bool {
		health, err := s.hub.Health(t.Context())
		return err == nil && health.AgentsOnline == 1
	}) {
		t.Error("it counts as online")
	}
	cast, err := web.Broadcast(t.Context(), c3po.BroadcastInput{Message: "stop all work"})
	if err != nil || len(cast.Live) != 0 || !strings.Contains(cast.Notice, "other systems get no broadcasts") {
		t.Errorf("the broadcast is live for %v, and says %q, %v", cast.Live, cast.Notice, err)
	}
}
