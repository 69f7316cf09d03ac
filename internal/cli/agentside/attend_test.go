package agentside

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/c3po-dev/c3po/internal/cli/console"
	"github.com/c3po-dev/c3po/internal/host/paths"
)

func TestAResumedSessionHasItsOwnSettingsAndNoSecretsOfItsStarter(t *testing.T) {
	for name, value := range map[string]string{
		"C3PO_NOTIFY_SECRET": "hidden", "C3PO_TOKEN": "hidden", "C3PO_REDIS": "redis://:hidden@nas", "C3PO_RUN": "pi:1:1", "C3PO_SPACE": "starters", "CLAUDE_CONFIG_DIR": "/starters",
	} {
		t.Setenv(name, value)
	}
	t.Setenv("ANTHROPIC_BASE_URL", "http://model")
	folder := t.TempDir()
	cmd, mode, err := resumeCommand(paths.Session{Client: ClaudeType, ID: "s1", Folder: folder, Model: "opus", Mode: "bypassPermissions", Space: "own"}, "manual", "go")
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"claude", "--resume", "s1", "--print", "go", "--model", "opus", "--permission-mode", "manual", "--permission-prompt-tool", "mcp__plugin_c3po_c3po__c3po_approve"}; !slices.Equal(cmd.Args, want) || cmd.Dir != folder || mode != "manual" {
		t.Errorf("it runs %q in %s, mode %s, want %q", cmd.Args, cmd.Dir, mode, want)
	}
	environment := strings.Join(cmd.Env, "\n")
	for _, secret := range []string{"hidden", "C3PO_RUN", "starters"} {
		if strings.Contains(environment, secret) {
			t.Errorf("its environment has %q", secret)
		}
	}
	for _, want := range []string{"C3PO_SPACE=own", "C3PO_UNATTENDED=answer", "C3PO_RESUMED=s1", "ANTHROPIC_BASE_URL=http://model", "PWD=" + folder} {
		if !slices.Contains(cmd.Env, want) {
			t.Errorf("its environment lacks %s", want)
		}
	}
	if _, _, err := resumeCommand(paths.Session{Client: "nosuch", ID: "s1"}, "manual", "go"); err == nil {
		t.Error("a session of an unknown client is resumed")
	}
}

func TestAttendSaysAtOnceWhomMailMayResume(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	folders := paths.Folders{Getenv: func(string) string { return home }}
	says := func() string {
		t.Helper()
		var log strings.Builder
		cmd := Attend(&console.Console{Folders: folders, Process: console.Process{Stderr: &log}})
		cmd.SetArgs([]string{})
		ended, end := context.WithCancel(t.Context())
		end()
		if err := cmd.ExecuteContext(ended); err != nil {
			t.Fatal(err)
		}
		return log.String()
	}
	if got := says(); !strings.Contains(got, "c3po attend allow NAME") {
		t.Errorf("with nothing allowed it says %q", got)
	}
	for name, to := range map[string]*paths.Consent{"api": {Mode: "manual"}, "web": nil, paths.Everyone: {Mode: "auto"}} {
		if _, err := folders.Consent(name, to); err != nil {
			t.Fatal(err)
		}
	}
	if got := says(); !strings.Contains(got, "every agent of this host that is not named (auto), api (manual)") || strings.Contains(got, "web") {
		t.Errorf("it says %q", got)
	}
}
