// Package agentside is the commands that stand beside a coding agent on this host: what
// installs c3po into it, what it starts itself (mcp, hook, monitor), what runs one in a
// terminal or in a container, and what proves that mail reaches it.
package agentside

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/agent/session"
	"github.com/c3po-dev/c3po/internal/cli/console"
	"github.com/c3po-dev/c3po/internal/host/paths"
	"github.com/c3po-dev/c3po/plugin"
)

const (
	// PluginID is how Claude Code names the plugin: the plugin and its marketplace.
	PluginID    = "c3po@c3po"
	marketplace = "c3po"
	// clientCommandTimeout is how long one command of Claude Code may take.
	clientCommandTimeout = time.Minute
)

// UnknownTarget refuses a word that is no coding agent, with those that are.
func UnknownTarget(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			names = append(names, sub.Name())
		}
	}
	hint := "It knows " + strings.Join(names, ", ") + "."
	if near := console.Nearest(args[0], names); near != "" {
		hint = "Did you mean " + cmd.CommandPath() + " " + near + "? " + hint
	}
	return console.BadUsage(fmt.Sprintf("c3po knows no coding agent %q", args[0]), hint)
}

func Install(a *console.Console) *cobra.Command {
	var all bool
	var flags InstallFlags
	cmd := &cobra.Command{
		Use:   "install",
		Short: "Install c3po into a coding agent",
		Long: `Install c3po into a coding agent, or with --all into each that is in the PATH.
--dry-run shows what would be changed, line by line.`,
		Example: `  c3po install claude
  c3po install --all --dry-run`,
		Args: UnknownTarget,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !all {
				return cmd.Help()
			}
			return a.Narrate(func(out io.Writer) error { return Everywhere(cmd.Context(), a, out, flags, Installer.Install) })
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "install into each coding agent of this host")
	cmd.Flags().BoolVar(&flags.DryRun, "dry-run", false, "with --all: say what would be done, and do nothing")
	cmd.Flags().StringSliceVar(&flags.rooms, "room", nil, "with --all: a room that every session joins when it starts; can be given again")
	for _, t := range Targets(a) {
		cmd.AddCommand(TargetCommand(a, t, "install", "Install c3po into "+t.Title, t.long, Installer.Install))
	}
	cmd.AddCommand(installBridge(a))
	return cmd
}

// InstallFound installs into the coding agents of this host. That there are
// none is no failure.
func InstallFound(ctx context.Context, a *console.Console) error {
	if len(TargetsHere(a)) == 0 {
		return nil
	}
	out := a.Stdout
	if a.JSON {
		out = a.Stderr
	}
	err := Everywhere(ctx, a, out, InstallFlags{}, Installer.Install)
	if err == nil {
		return nil
	}
	e := c3po.AsError(err)
	return c3po.Because(err, e.Code, "this host has joined, but c3po is not installed everywhere: "+e.Message).
		Suggest("%s", "Run `c3po install --all` when that is mended. "+e.Suggestion)
}

// A ClaudeInstaller brings the plugin into Claude Code, and out of it, with
// Claude Code's own commands.
type ClaudeInstaller struct {
	console *console.Console
	dryRun  bool
	claude  string // its command
	out     io.Writer
	Folder  string // the marketplace that holds our plugin
	rooms   []c3po.RoomName
	// approvals lets the person decide dialogs from elsewhere.
	approvals bool
}

func claudeInstaller(a *console.Console, flags InstallFlags) (*ClaudeInstaller, error) {
	rooms, err := roomNames(strings.Join(flags.rooms, ","))
	if err != nil {
		return nil, err
	}
	claude, err := exec.LookPath("claude")
	if err != nil {
		return nil, c3po.Errorf(c3po.InvalidRequest, "Claude Code is not in the PATH").
			Suggest("Install it first, or add the folder of its command claude to the PATH.")
	}
	data, err := a.Folders.Data()
	if err != nil {
		return nil, err
	}
	return &ClaudeInstaller{console: a, dryRun: flags.DryRun, rooms: rooms, approvals: flags.approvals, claude: claude, Folder: filepath.Join(data, "claude")}, nil
}

func (i *ClaudeInstaller) Install(ctx context.Context, out io.Writer) error {
	if err := refuseShell("Claude Code", "claude-code"); err != nil {
		return err
	}
	i.out = out
	words := "write the plugin to " + i.Folder
	if len(i.rooms) > 0 {
		words += ", whose sessions join " + i.roomList()
	}
	if i.approvals {
		words += ", with approvals: you can decide its permission dialogs from elsewhere"
	}
	footprint, err := i.footprint()
	if err == nil && !i.dryRun {
		err = footprint.Write(i.footprintFile()) // before anything can fail half way
	}
	if err != nil {
		return err
	}
	if err := i.step(words, i.write); err != nil {
		return err
	}
	for _, args := range [][]string{
		{"plugin", "marketplace", "add", i.Folder},
		{"plugin", "install", PluginID, "--scope", "user"},
	} {
		if err := i.step("run claude "+strings.Join(args, " "), func() error { return i.run(ctx, args...) }); err != nil {
			return err
		}
	}
	if err := i.step("test it", func() error { return i.test(ctx) }); err != nil || i.dryRun {
		return err
	}
	return footprint.Leave().Write(i.footprintFile())
}

// step says what it does, and does it.
func (i *ClaudeInstaller) step(words string, do func() error) error {
	if i.dryRun {
		fmt.Fprintf(i.out, "would %s\n", console.Inline(words))
		return nil
	}
	fmt.Fprintf(i.out, "%s\n", console.Inline(words))
	return do()
}

func (i *ClaudeInstaller) run(ctx context.Context, args ...string) error {
	_, err := i.output(ctx, args...)
	return err
}

func (i *ClaudeInstaller) output(ctx context.Context, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, clientCommandTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, i.claude, args...)
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, io.MultiWriter(&said, &out)
	if i.console != nil {
		defer i.console.Waiting("waiting for claude " + strings.Join(args, " "))()
	}
	if err := cmd.Run(); err != nil {
		words := strings.TrimSpace(said.String() + " " + err.Error())
		return nil, c3po.Errorf(c3po.Internal, "claude %s: %s", strings.Join(args, " "), words).
			Suggest("Run it by hand to see more; the plugin needs Claude Code 2.1.275 or later.")
	}
	return out.Bytes(), nil
}

// write makes the marketplace: the plugin of this binary, and where the binary is.
func (i *ClaudeInstaller) write() error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	index, err := json.MarshalIndent(map[string]any{
		"name": marketplace, "owner": map[string]string{"name": "c3po"},
		"plugins": []map[string]string{{"name": "c3po", "source": "./plugin", "description": "Coding agents ask each other for help"}},
	}, "", "  ")
	if err != nil {
		return err
	}
	files := map[string][]byte{
		".claude-plugin/marketplace.json": append(index, '\n'),
		"plugin/bin/binary":               []byte(program + "\n"),
	}
	err = fs.WalkDir(plugin.Files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		files["plugin/"+name], err = plugin.Files.ReadFile(name)
		return err
	})
	if err != nil {
		return err
	}
	if len(i.rooms) > 0 {
		if files["plugin/.mcp.json"], err = WithRooms(files["plugin/.mcp.json"], i.roomList()); err != nil {
			return err
		}
	}
	if i.approvals {
		if files["plugin/hooks/hooks.json"], err = WithApprovals(files["plugin/hooks/hooks.json"]); err != nil {
			return err
		}
	}
	for name, data := range files {
		if err := writeUnder(i.Folder, name, data); err != nil {
			return c3po.Errorf(c3po.Internal, "cannot write %s: %w", filepath.Join(i.Folder, name), err).
				Suggest("Check who owns the folder.")
		}
	}
	return nil
}

func (i *ClaudeInstaller) roomList() string {
	names := make([]string, len(i.rooms))
	for n, room := range i.rooms {
		names[n] = string(room)
	}
	return strings.Join(names, ",")
}

// WithRooms is the list of servers in which the session process joins rooms, and offers
// what one can do there.
func WithRooms(servers []byte, rooms string) ([]byte, error) {
	var file struct {
		Servers map[string]struct {
			Command string            `json:"command"`
			Args    []string          `json:"args"`
			Env     map[string]string `json:"env,omitempty"`
		} `json:"mcpServers"`
	}
	if err := json.Unmarshal(servers, &file); err != nil {
		return nil, err
	}
	for name, server := range file.Servers {
		server.Args = append(server.Args, "--tools", string(c3po.Core)+","+string(c3po.Rooms))
		server.Env = map[string]string{"C3PO_AUTO_JOIN_ROOMS": rooms}
		file.Servers[name] = server
	}
	out, err := json.MarshalIndent(file, "", "  ")
	return append(out, '\n'), err
}

// approvalTimeout is how long Claude Code lets a hook wait for the person. The request
// itself expires sooner.
const approvalTimeout = 24 * time.Hour

// permissionHook is how the command of such a hook ends.
const permissionHook = " hook permission"

// WithApprovals is the plugin's hooks with one that asks the person about dialogs, and with
// what a tool was given, by which the session knows that it has run.
func WithApprovals(hooks []byte) ([]byte, error) {
	type group struct {
		Matcher string           `json:"matcher,omitempty"`
		Hooks   []map[string]any `json:"hooks"`
	}
	var file struct {
		Hooks map[string][]group `json:"hooks"`
	}
	if err := json.Unmarshal(hooks, &file); err != nil || file.Hooks == nil {
		return nil, errors.Join(err, errors.New("these are no hooks"))
	}
	for _, g := range file.Hooks["PostToolUse"] {
		for _, h := range g.Hooks {
			if input, ok := h["input"].(map[string]any); ok {
				input["tool_name"], input["tool_input"] = "${tool_name}", "${tool_input}"
			}
		}
	}
	file.Hooks["PermissionRequest"] = append(file.Hooks["PermissionRequest"], group{Hooks: []map[string]any{{
		"type": "command", "command": `"${CLAUDE_PLUGIN_ROOT}/bin/launch"` + permissionHook, "timeout": int(approvalTimeout / time.Second),
	}}})
	out, err := json.MarshalIndent(file, "", "  ")
	return append(out, '\n'), err
}

func writeUnder(folder, name string, data []byte) error {
	full := filepath.Join(folder, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(full), 0o700); err != nil {
		return err
	}
	if err := paths.WriteFile(full, data); err != nil {
		return err
	}
	if name == "plugin/bin/launch" {
		return os.Chmod(full, 0o700) // #nosec G302 -- it is a program
	}
	return nil
}

// test starts what Claude Code will start, and looks whether the coordinator is
// there, which it need not be.
func (i *ClaudeInstaller) test(ctx context.Context) error {
	out, err := i.output(ctx, "plugin", "list", "--json")
	if err != nil {
		return err
	}
	if !bytes.Contains(out, []byte(`"`+PluginID+`"`)) {
		return c3po.Errorf(c3po.Internal, "Claude Code does not list the plugin").Suggest("Run `claude plugin list` to see what it has.")
	}
	tools, err := session.SelfTest(ctx, i.console.Version, exec.Command(filepath.Join(i.Folder, "plugin", "bin", "launch"), "mcp"))
	if err != nil {
		return c3po.Errorf(c3po.Internal, "%w", err).Suggest("Run `c3po mcp` by hand to see what it says.")
	}
	fmt.Fprintf(i.out, "Claude Code has c3po with %d tools, from its next session on\n", tools)
	_, err = coordinatorAnswers(ctx, i.console, i.out)
	return err
}
