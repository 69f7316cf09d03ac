package hub_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/transport/dialect"
)

func TestWhoIsAwayIsNamedWithOthersOfItsCapabilities(t *testing.T) {
	t.Parallel()
	h := build(t)
	h.enter("ann", "carl")
	for id, capabilities := range map[c3po.AgentID][]string{"mesh": {"mqtt", "radio"}, "ha": {"mqtt"}, "asleep": {"mqtt"}} {
		must(h.as(id).RegisterAgent(t.Context(), c3po.RegisterInput{Capabilities: capabilities}))(t)
	}
	for _, id := range []c3po.AgentID{"mesh", "asleep"} {
		must(h.as(id).SetStatus(t.Context(), c3po.StatusInput{Status: c3po.Away}))(t)
	}
	_, err := h.as("ann").SendMessage(t.Context(), c3po.SendInput{Target: "mesh", Message: "hello?", IfAway: "fail"})
	refused(t, err, c3po.AgentUnavailable, "Agent 'mesh' is not available")
	var refusal *c3po.Error
	if !errors.As(err, &refusal) || !strings.Contains(refusal.Suggestion, "Available with the same capabilities: 'ha'.") {
		t.Errorf("the suggestion is %q", refusal.Suggestion)
	}
	receipt := must(h.as("ann").SendMessage(t.Context(), c3po.SendInput{Target: "mesh", Message: "hello?"}))(t)
	for _, want := range []string{"'mesh' has said that it is away", "Available with the same capabilities: 'ha'"} {
		if !strings.Contains(receipt.Notice, want) {
			t.Errorf("the notice is %q, without %q", receipt.Notice, want)
		}
	}
	if receipt := must(h.as("ha").SendMessage(t.Context(), c3po.SendInput{Target: "ann", Message: "hello"}))(t); receipt.Notice != "" {
		t.Errorf("of who is there the notice is %q", receipt.Notice)
	}
}

func TestNobodyIsAdvisedToAskItself(t *testing.T) {
	t.Parallel()
	h := build(t)
	for _, id := range []c3po.AgentID{"mesh", "ha"} {
		must(h.as(id).RegisterAgent(t.Context(), c3po.RegisterInput{Capabilities: []string{"mqtt"}}))(t)
	}
	must(h.as("mesh").SetStatus(t.Context(), c3po.StatusInput{Status: c3po.Away}))(t)
	receipt := must(h.as("ha").SendMessage(t.Context(), c3po.SendInput{Target: "mesh", Message: "hello?"}))(t)
	if !strings.Contains(receipt.Notice, "'mesh' has said that it is away") || strings.Contains(receipt.Notice, "'ha'") {
		t.Errorf("the notice is %q", receipt.Notice)
	}
}

func TestTheFirstDialectSaysThatAnAwayAgentIsUnavailable(t *testing.T) {
	t.Parallel()
	h := build(t)
	h.enter("ann")
	for _, id := range []c3po.AgentID{"mesh", "ha"} {
		must(h.as(id).RegisterAgent(t.Context(), c3po.RegisterInput{Capabilities: []string{"mqtt"}}))(t)
	}
	must(h.as("mesh").SetStatus(t.Context(), c3po.StatusInput{Status: c3po.Away}))(t)
	op, err := dialect.FindOperation("send_request")
	if err != nil {
		t.Fatal(err)
	}
	for _, target := range []string{"mesh", "nobody"} {
		_, err = op.Call(t.Context(), h.as("ann"), []byte(`{"target":"`+target+`","message":"hello?"}`))
		refused(t, err, c3po.AgentUnavailable, "Agent '"+target+"' is not available")
	}
	if _, err = op.Call(t.Context(), h.as("ann"), []byte(`{"target":"ha","message":"hello?"}`)); err != nil {
		t.Error(err)
	}
	same(t, "mail of who is away", len(h.inbox("mesh")), 0)
}

func TestABusyAgentIsNotOfferedAndWhoeverIsOnlineIsWhereNobodyCanDoTheSame(t *testing.T) {
	t.Parallel()
	h := build(t)
	h.enter("ann", "plain")
	for _, id := range []c3po.AgentID{"mesh", "ha"} {
		must(h.as(id).RegisterAgent(t.Context(), c3po.RegisterInput{Capabilities: []string{"mqtt"}}))(t)
	}
	must(h.as("ha").SetStatus(t.Context(), c3po.StatusInput{Status: c3po.Busy}))(t)
	for _, id := range []c3po.AgentID{"mesh", "plain"} {
		must(h.as(id).SetStatus(t.Context(), c3po.StatusInput{Status: c3po.Away}))(t)
	}
	receipt := must(h.as("ann").SendMessage(t.Context(), c3po.SendInput{Target: "mesh", Message: "hello?"}))(t)
	if strings.Contains(receipt.Notice, "'ha'") {
		t.Errorf("a busy agent is offered: %q", receipt.Notice)
	}
	_, err := h.as("ann").SendMessage(t.Context(), c3po.SendInput{Target: "plain", Message: "hello?", IfAway: "fail"})
	if advice := c3po.AsError(err).Suggestion; !strings.Contains(advice, "Online now: ") || !strings.Contains(advice, "'ha'") || strings.Contains(advice, "'plain'") {
		t.Errorf("in place of an agent without capabilities: %q", advice)
	}
	op, err := dialect.FindOperation("send_request")
	if err != nil {
		t.Fatal(err)
	}
	_, err = op.Call(t.Context(), h.as("ann"), []byte(`{"target":"mesh","message":"are you there?"}`))
	if advice := c3po.AsError(err).Suggestion; advice == "" || strings.Contains(advice, "if_away") {
		t.Errorf("a tool without if_away advises %q", advice)
	}
}

func TestAnEmptyCapabilityIsRefused(t *testing.T) {
	t.Parallel()
	h := build(t)
	_, err := h.as("ann").RegisterAgent(t.Context(), c3po.RegisterInput{Capabilities: []string{"mqtt", " "}})
	refused(t, err, c3po.InvalidRequest, "a capability is empty")
}
