package server_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/c3po-dev/c3po/internal/auth"
	"github.com/c3po-dev/c3po/internal/server"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

// Each client was written from its document alone. Only addresses are theirs to be given.
func TestAClientWrittenFromEachDocumentAloneWorksUnchanged(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		command []string
		tools   string
	}{
		"the design document":        {[]string{"../../test/documents/design.sh"}, "core,more,compat"},
		"the API reference":          {[]string{"go", "run", "../../test/documents/api"}, "core"},
		"the architecture of c2c":    {[]string{"../../test/documents/c2c.sh"}, "c2c"},
		"the bridge's specification": {[]string{"../../test/documents/bridge.sh"}, "bridge"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, program := range []string{"bash", "curl", "python3"} {
				if _, err := exec.LookPath(program); err != nil && os.Getenv("CI") != "true" {
					t.Skip(program, "is not installed")
				}
			}
			s := start(t, server.Config{RedisURL: redistest.Start(t), Auth: auth.None})
			cmd := exec.CommandContext(t.Context(), c.command[0], c.command[1:]...)
			cmd.Env = append(os.Environ(), "COORDINATOR="+s.url, "BRIDGE_BROKER_URL="+s.url, "MCP_URL="+s.url+"/mcp?answers=json&tools="+c.tools)
			out, err := cmd.CombinedOutput()
			if err != nil || !strings.Contains(string(out), name+": all as it should be") {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}
