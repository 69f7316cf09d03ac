package acp_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/runner/acp"
)

// The real clients are in test/clients. What they do not do on demand, an agent of this
// test does: it is this program, started again with the name of what it is to do.
const behaviour = "C3PO_ACP_AGENT"

func TestMain(m *testing.M) {
	do := os.Getenv(behaviour)
	if do == "" {
		os.Exit(m.Run())
	}
	if do == "garbage" {
		os.Stdout.WriteString("Welcome!\n\x1b[2J{]\n")
		os.Exit(1)
	}
	a := &agent{do: do}
	a.conn = sdk.NewAgentSideConnection(a, os.Stdout, os.Stdin)
	<-a.conn.Done()
	if do == "stays" {
		select {} // as some do for the sake of what they have started
	}
}

type agent struct {
	sdk.Agent
	do   string
	conn *sdk.AgentSideConnection
}

func (a *agent) Initialize(context.Context, sdk.InitializeRequest) (sdk.InitializeResponse, error) {
	return sdk.InitializeResponse{ProtocolVersion: sdk.ProtocolVersionNumber, AuthMethods: []sdk.AuthMethod{}}, nil
}

func (a *agent) NewSession(context.Context, sdk.NewSessionRequest) (sdk.NewSessionResponse, error) {
	return sdk.NewSessionResponse{SessionId: "s1"}, nil
}

func (a *agent) Prompt(ctx context.Context, ask sdk.PromptRequest) (sdk.PromptResponse, error) {
	say := func(text string) {
		_ = a.conn.SessionUpdate(ctx, sdk.SessionNotification{SessionId: ask.SessionId, Update: sdk.UpdateAgentMessageText(text)})
	}
	switch a.do {
	case "hostile":
		say("\x1b]0;owned\x07first\nsecond")
	case "stays":
		say("pid " + strconv.Itoa(os.Getpid()))
	case "counts":
		_ = a.conn.SessionUpdate(ctx, sdk.SessionNotification{SessionId: ask.SessionId, Update: sdk.SessionUpdate{
			UsageUpdate: &sdk.SessionUsageUpdate{SessionUpdate: "usage_update", Cost: &sdk.Cost{Amount: 0.0123, Currency: "USD"}, Used: 1, Size: 2},
		}})
		thought, cached := 5, 30
		return sdk.PromptResponse{StopReason: sdk.StopReasonEndTurn, Usage: &sdk.Usage{
			InputTokens: 45, OutputTokens: 20, ThoughtTokens: &thought, CachedReadTokens: &cached, TotalTokens: 100,
		}}, nil
	case "refuses":
		return sdk.PromptResponse{StopReason: sdk.StopReasonRefusal}, nil
	case "once", "always":
		options := []sdk.PermissionOption{{Kind: sdk.PermissionOptionKindAllowAlways, Name: "Always", OptionId: "always"}}
		if a.do == "once" {
			options = append(options, sdk.PermissionOption{Kind: sdk.PermissionOptionKindAllowOnce, Name: "Once", OptionId: "once"})
		}
		given, err := a.conn.RequestPermission(ctx, sdk.RequestPermissionRequest{
			SessionId: ask.SessionId, Options: options, ToolCall: sdk.ToolCallUpdate{ToolCallId: "t1"},
		})
		switch {
		case err != nil:
			say(err.Error())
		case given.Outcome.Selected != nil:
			say(string(given.Outcome.Selected.OptionId))
		default:
			say("nothing")
		}
	}
	return sdk.PromptResponse{StopReason: sdk.StopReasonEndTurn}, nil
}

func turn(t *testing.T, do string) (acp.Outcome, string, error) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var said, complaint strings.Builder
	outcome, err := acp.Turn{
		Command: []string{"env", behaviour + "=" + do, self}, Folder: t.TempDir(), Prompt: "go", Said: &said, Stderr: &complaint,
	}.Do(t.Context())
	return outcome, said.String(), err
}

func TestWhatAnAgentSaysDoesNothingToTheTerminal(t *testing.T) {
	t.Parallel()
	_, said, err := turn(t, "hostile")
	if want := `\x1b]0;owned\x07first` + "\nsecond"; said != want || err != nil {
		t.Errorf("it said %q, want %q (%v)", said, want, err)
	}
}

func TestAnAgentIsAllowedOnceAndNeverForGood(t *testing.T) {
	t.Parallel()
	for do, want := range map[string]string{"once": "once", "always": "nothing"} {
		if _, said, err := turn(t, do); said != want || err != nil {
			t.Errorf("%s: it was given %q, want %q (%v)", do, said, want, err)
		}
	}
}

func TestWhatAnAgentUsedAddsUpToItsOwnTotal(t *testing.T) {
	t.Parallel()
	outcome, _, err := turn(t, "counts")
	want := c3po.Usage{InputTokens: 45, OutputTokens: 25, CacheReadTokens: 30, MicroUSD: 12_300}
	if err != nil || outcome.Usage == nil || *outcome.Usage != want {
		t.Errorf("it used %+v, want %+v (%v)", outcome.Usage, want, err)
	}
	if outcome, _, err := turn(t, "hostile"); err != nil || outcome.Usage != nil {
		t.Errorf("of one that does not tell: %+v (%v)", outcome.Usage, err)
	}
}

func TestAnAgentThatStaysIsEnded(t *testing.T) {
	t.Parallel()
	began := time.Now()
	_, said, err := turn(t, "stays")
	pid, bad := strconv.Atoi(strings.TrimPrefix(said, "pid "))
	if err != nil || bad != nil {
		t.Fatal(said, err)
	}
	if process, err := os.FindProcess(pid); err == nil {
		if err := process.Signal(syscall.Signal(0)); !errors.Is(err, os.ErrProcessDone) {
			t.Errorf("it is still there: %v", err)
		}
	}
	if took := time.Since(began); took > time.Minute {
		t.Errorf("it took %v", took)
	}
}

func TestAnAgentThatDoesNotComeToItsEndSaysWhy(t *testing.T) {
	t.Parallel()
	for do, want := range map[string]string{"refuses": "stopped before its end: refusal", "garbage": "does not speak the Agent Client Protocol"} {
		if _, _, err := turn(t, do); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", do, err, want)
		}
	}
	_, err := acp.Turn{Command: []string{filepath.Join(t.TempDir(), "gemini")}, Prompt: "go"}.Do(t.Context())
	if err == nil || !strings.Contains(err.Error(), "cannot be started") {
		t.Error(err)
	}
}

func TestAConversationThatTheAgentCannotGoOnWithIsNotBegunAnew(t *testing.T) {
	t.Parallel()
	self, _ := os.Executable()
	_, err := acp.Turn{Command: []string{"env", behaviour + "=once", self}, Session: "s0", Prompt: "go", Said: &strings.Builder{}, Stderr: &strings.Builder{}}.Do(t.Context())
	if err == nil || !strings.Contains(err.Error(), "cannot go on with a conversation") {
		t.Error(err)
	}
}
