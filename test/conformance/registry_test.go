package conformance_test

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

func TestMain(m *testing.M) { faultrig.Main(m) }

// What the MCP registry tells a client to run offers our tools, with no more than the
// variables that the entry names.
func TestWhatTheRegistryListsOffersOurTools(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../deploy/server.json")
	if err != nil {
		t.Fatal(err)
	}
	var entry struct {
		Packages []struct {
			PackageArguments     []struct{ Value string }
			EnvironmentVariables []struct{ Name string }
		}
	}
	if err := json.Unmarshal(text, &entry); err != nil {
		t.Fatal(err)
	}
	coordinator := faultrig.Start(t, redistest.Start(t))
	values := map[string]string{"C3PO_COORDINATOR_URL": coordinator.URL(), "C3PO_AGENT_ID": "listed", "C3PO_TOKEN": ""}
	environment := []string{"HOME=" + faultrig.Home(t), "PATH=/usr/bin"} // as in the image
	for _, variable := range entry.Packages[0].EnvironmentVariables {
		value, known := values[variable.Name]
		if !known {
			t.Errorf("%s is nothing that the program reads", variable.Name)
		}
		environment = append(environment, variable.Name+"="+value)
	}
	var args []string
	for _, argument := range entry.Packages[0].PackageArguments {
		args = append(args, argument.Value)
	}
	cmd := exec.CommandContext(t.Context(), faultrig.Binary(t), args...)
	cmd.Env, cmd.Dir = environment, t.TempDir()
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	ask := func(request string) string {
		if _, err := io.WriteString(in, request+"\n"); err != nil {
			t.Fatal(err)
		}
		for lines.Scan() {
			if strings.Contains(lines.Text(), `"result"`) || strings.Contains(lines.Text(), `"error"`) {
				return lines.Text()
			}
		}
		t.Fatalf("it has ended: %v", lines.Err())
		return ""
	}
	ask(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"registry","version":"1"}}}`)
	if _, err := io.WriteString(in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n"); err != nil {
		t.Fatal(err)
	}
	if tools := ask(`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`); !strings.Contains(tools, `"send_message"`) {
		t.Errorf("the tools are %s", tools)
	}
	if who := ask(`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"ping","arguments":{}}}`); strings.Contains(who, `"isError":true`) {
		t.Errorf("it does not reach the coordinator: %s", who)
	}
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}
