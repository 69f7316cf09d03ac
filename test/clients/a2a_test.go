package clients_test

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
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

// A foreignAgent is one of another system, on the official SDK, in a process of its own:
// test/a2a/testdata/agent.mjs.
type foreignAgent struct {
	t    *testing.T
	node string
	dir  string
	port int
	cmd  *exec.Cmd
}

func newForeignAgent(t *testing.T) *foreignAgent {
	t.Helper()
	sdk := filepath.Join(os.Getenv("C3PO_A2A"), "node_modules")
	if _, err := os.Stat(filepath.Join(sdk, "@a2a-js")); err != nil {
		t.Skip("the A2A SDK is not installed: make -C test clients does it")
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f := &foreignAgent{t: t, node: filepath.Join(sdk, ".bin", "node"), dir: t.TempDir(), port: free.Addr().(*net.TCPAddr).Port}
	_ = free.Close()
	text, err := os.ReadFile("../a2a/testdata/agent.mjs")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(f.dir, "agent.mjs"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(sdk, filepath.Join(f.dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	f.start()
	t.Cleanup(f.kill)
	return f
}

func (f *foreignAgent) start() {
	f.cmd = exec.CommandContext(f.t.Context(), f.node, filepath.Join(f.dir, "agent.mjs"), fmt.Sprint(f.port))
	out, err := f.cmd.StdoutPipe()
	if err == nil {
		err = f.cmd.Start()
	}
	lines := bufio.NewScanner(out)
	if err != nil || !lines.Scan() {
		f.t.Errorf("the agent of another system did not start: %v", err)
		return
	}
	go func() {
		for lines.Scan() { // what it prints is of no use here, but must be taken
			continue
		}
	}()
}

func (f *foreignAgent) kill() {
	_ = f.cmd.Process.Kill()
	_ = f.cmd.Wait()
}

func TestClaudeCodeAsksAnAgentOfAnotherSystemAndHearsThatItDied(t *testing.T) {
	t.Parallel()
	f := newForeignAgent(t)
	c := clientrig.Start(t)
	web := c.Machine("").Agent("claude", "web", llm.Following(
		llm.On("Ask about order 7", llm.Call("send_message", map[string]any{"target": "billing", "message": "order 7", "wait_seconds": 240})),
		llm.On("Ask about order 8", llm.Call("send_message", map[string]any{"target": "billing", "message": "Wait for order 8", "wait_seconds": 240})),
		func(r llm.Request) (llm.Step, bool) {
			answer := llm.Written(r.Fresh())
			return llm.Say("It says: %s", answer), answer != ""
		},
	))
	welcomed(web)
	web.C3PO("agents", "add-remote", fmt.Sprintf("http://127.0.0.1:%d", f.port), "--name", "billing")
	clientrig.Eventually(t, 30*time.Second, "it is among the agents", func() bool { return c.Agent("billing").ID != "" })
	if out := web.Prompt("Ask about order 7"); !strings.Contains(out, "It says: Invoice for: order 7") {
		t.Errorf("Claude Code says %q", out)
	}

	// It has said that it has the task: before that, it would be asked again.
	hasTask := func() bool {
		list, err := c.As("").Tickets(t.Context(), c3po.TicketsInput{Which: c3po.TicketsAll, State: c3po.TicketsOpen})
		return err == nil && len(list.Tickets) == 1 && list.Tickets[0].State == c3po.TicketDelivered
	}
	died := make(chan bool, 1)
	go func() {
		died <- faultrig.Within(2*time.Minute, hasTask)
		f.kill()
		f.start() // it has forgotten its tasks
	}()
	out := web.Prompt("Ask about order 8")
	if !<-died {
		t.Error("the agent of another system was not asked")
	}
	if !strings.Contains(out, "It says: ") || !strings.Contains(out, "no longer knows the task") {
		t.Errorf("Claude Code says %q", out)
	}
}
