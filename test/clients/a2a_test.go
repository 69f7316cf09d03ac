package clients_test

import (
	"os"
	"strings"
	"testing"

	"github.com/c3po-dev/c3po/internal/testkit/clientrig"
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

// Gemini CLI has no c3po here: it knows an agent by the address of its card alone.
func TestGeminiAsksAnIdleClaudeCodeByA2A(t *testing.T) {
	t.Parallel()
	c := clientrig.Start(t)
	api := c.Machine("").Agent("claude", "api", answering)
	welcomed(api)
	claude := api.Open()
	claude.Enter("hello")
	claude.See("ALL-DONE")
	claude.Rest()
	c.Online("api")

	web := c.Machine("").Agent("gemini", "web", llm.Following(
		llm.On("Ask which port", llm.Call("invoke_agent", map[string]any{"agent_name": "api", "prompt": "Which port?"})),
		llm.When("port 8080", func(llm.Request, []string) llm.Step { return llm.Say("It is port 8080") }),
	))
	web.Env = append(web.Env, "C3PO_TOKEN=none") // the coordinator asks for none
	web.Write(".gemini/agents/api.md", strings.ReplaceAll(remoteAgent(t), "http://localhost:8420", c.URL()))
	got := web.Ask("Ask which port the service has", "--yolo")
	if got.Code != 0 || !strings.Contains(got.Stdout, "It is port 8080") {
		t.Fatalf("Gemini CLI says %+v", got)
	}
}
