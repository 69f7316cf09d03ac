package clients_test

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/client"
	"github.com/c3po-dev/c3po/internal/testkit/clientrig"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/internal/testkit/llm"
)

// remoteAgent is the file that the guide tells to write for Gemini CLI.
func remoteAgent(t *testing.T) string {
	t.Helper()
	guide, err := os.ReadFile("../../docs/guides/a2a.md")
	if err != nil {
		t.Fatal(err)
	}
	_, file, found := strings.Cut(string(guide), "```markdown\n")
	file, _, ends := strings.Cut(file, "```")
	if !found || !ends {
		t.Fatal("the guide has no file for Gemini CLI")
	}
	return file
}

// tokenFor makes a token for an agent, as the person of the coordinator's host does.
func tokenFor(c *clientrig.Coordinator, t *testing.T, agent string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), faultrig.Binary(t), "token", "create", "--agents", agent)
	cmd.Env = []string{"HOME=" + c.Home(), "C3PO_COORDINATOR_URL=" + c.URL()}
	made := clientrig.End(t, cmd)
	token := regexp.MustCompile(`c3po_agent_[\w-]+`).FindString(made.Stdout)
	if token == "" {
		t.Fatalf("there is no token: %+v", made)
	}
	return token
}

// Gemini CLI has no c3po here: it knows an agent by the address of its card, and shows a token.
func TestGeminiAsksAnIdleClaudeCodeByA2A(t *testing.T) {
	t.Parallel()
	c := clientrig.Start(t, "--auth", "token")
	api := c.Machine("").Agent("claude", "api", answering)
	welcomed(api)
	api.Env = append(api.Env, "C3PO_TOKEN="+tokenFor(c, t, "api"))
	crm := tokenFor(c, t, "crm")
	claude := api.Open()
	claude.Enter("hello")
	claude.See("ALL-DONE")
	claude.Rest()
	known := client.New(client.Config{URL: c.URL(), Token: crm, AgentID: "crm"})
	clientrig.Eventually(t, 30*time.Second, "api is online", func() bool {
		agent, err := known.GetAgentStatus(t.Context(), c3po.AgentInput{AgentID: "api"})
		return err == nil && agent.Status == c3po.Online
	})

	web := c.Machine("").Agent("gemini", "web", llm.Following(
		llm.On("Ask which port", llm.Call("invoke_agent", map[string]any{"agent_name": "api", "prompt": "Which port?"})),
		llm.When("port 8080", func(llm.Request, []string) llm.Step { return llm.Say("It is port 8080") }),
	))
	web.Write(".gemini/agents/api.md", strings.ReplaceAll(remoteAgent(t), "http://localhost:8420", c.URL()))
	for token, answered := range map[string]bool{"c3po_agent_aaaaaaaaaaaa_none": false, crm: true} {
		web.Env = []string{"C3PO_TOKEN=" + token}
		if got := web.Ask("Ask which port the service has", "--yolo"); strings.Contains(got.Stdout, "It is port 8080") != answered {
			t.Errorf("with the token %.16s… Gemini CLI says %+v", token, got)
		}
	}
	if shown := api.Model.Read(); !strings.Contains(shown, "crm") {
		t.Errorf("Claude Code did not see who asks")
	}
}
