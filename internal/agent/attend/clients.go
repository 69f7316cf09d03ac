package attend

import (
	"slices"

	"github.com/c3po-dev/c3po/internal/agent/hook"
	"github.com/c3po-dev/c3po/internal/host/paths"
)

// The permission modes of resumed sessions, the most restrictive first. Nobody sits at one:
// what would open a dialog is a question to the person in Claude Code, and denied in others.
const (
	Manual      = "manual"            // reads and answers
	AcceptEdits = "acceptEdits"       // also edits files in its folder
	Auto        = "auto"              // what the client's own check lets pass
	Bypass      = "bypassPermissions" // everything
)

// Modes are all of them, the most restrictive first.
func Modes() []string { return []string{Manual, AcceptEdits, Auto, Bypass} }

// A Client is how a coding agent resumes one of its sessions with a prompt and without a
// terminal.
type Client struct {
	// Rights is what it is given for each mode that it has.
	Rights map[string]Rights
	// Folder is the variable that says where it keeps its files; none if empty.
	Folder string
	// Late says that only the first prompt shows which session it has.
	Late bool
	// Locks says that it lets one process have a session: the next waits at its terminal until
	// the first has ended, and starts nothing of ours before.
	Locks bool
	argv  func(s paths.Session, prompt string) []string
}

// Rights are how a client is told what it may do.
type Rights struct{ Args, Env []string }

// Mode is what the client does with a person's choice: that mode, or the next more
// restrictive one it has. If it has none, its sessions are not resumed.
func (c Client) Mode(chosen string) (mode string, ok bool) {
	modes := Modes()
	for i := slices.Index(modes, chosen); i >= 0; i-- {
		if _, ok := c.Rights[modes[i]]; ok {
			return modes[i], true
		}
	}
	return "", false
}

// Argv is the command line that resumes a session in a mode that the client has.
func (c Client) Argv(s paths.Session, mode, prompt string) []string {
	return append(c.argv(s, prompt), c.Rights[mode].Args...)
}

// Clients are those whose sessions can be resumed, by what they call themselves.
func Clients() map[string]Client {
	return map[string]Client{
		string(hook.ClaudeCode): {
			Rights: map[string]Rights{
				Manual:      asking("manual"),
				AcceptEdits: asking("acceptEdits"),
				Auto:        asking("auto"),
				Bypass:      {Args: []string{"--permission-mode", "bypassPermissions"}},
			},
			Folder: "CLAUDE_CONFIG_DIR",
			argv: func(s paths.Session, prompt string) []string {
				return append([]string{"claude", "--resume", s.ID, "--print", prompt}, model("--model", s)...)
			},
		},
		string(hook.Codex): {
			// Without a terminal it asks nobody, whatever its approval policy.
			Rights: map[string]Rights{
				Manual:      {Args: []string{"-c", `sandbox_mode="read-only"`}},
				AcceptEdits: {Args: []string{"-c", `sandbox_mode="workspace-write"`}},
				Bypass:      {Args: []string{"--dangerously-bypass-approvals-and-sandbox"}},
			},
			Folder: "CODEX_HOME", Late: true, Locks: true,
			argv: func(s paths.Session, prompt string) []string {
				// It hands its servers only the variables that its configuration names.
				return []string{"codex", "exec", "resume", s.ID, prompt, "--skip-git-repo-check", "-c", "mcp_servers.c3po.env." + ResumedVariable + `="` + s.ID + `"`}
			},
		},
		string(hook.Gemini): {
			// Its mode plan turns into yolo when nobody is there to approve the plan.
			Rights: map[string]Rights{
				Manual:      {Args: []string{"--approval-mode", "default"}},
				AcceptEdits: {Args: []string{"--approval-mode", "auto_edit"}},
				Bypass:      {Args: []string{"--approval-mode", "yolo"}},
			},
			argv: func(s paths.Session, prompt string) []string {
				return append([]string{"gemini", "--resume", s.ID, "-p", prompt}, model("-m", s)...)
			},
		},
		string(hook.Copilot): {
			Rights: map[string]Rights{
				Manual:      {Args: []string{"--no-ask-user"}},
				AcceptEdits: {Args: []string{"--no-ask-user", "--allow-tool=write"}},
				Bypass:      {Args: []string{"--no-ask-user", "--allow-all"}},
			},
			Folder: "COPILOT_HOME", Late: true,
			argv: func(s paths.Session, prompt string) []string {
				return append([]string{"copilot", "--resume=" + s.ID, "-p", prompt}, model("--model", s)...)
			},
		},
		string(hook.Kimi): {
			// Without a terminal it asks nobody and does everything.
			Rights: map[string]Rights{Bypass: {}},
			Folder: "KIMI_CODE_HOME", Late: true,
			argv: func(s paths.Session, prompt string) []string {
				return append([]string{"kimi", "--session", s.ID, "-p", prompt}, model("-m", s)...)
			},
		},
		string(hook.OpenCode): {
			// It allows what nobody has forbidden; a prompt that nobody can answer is a denial.
			Rights: map[string]Rights{
				Manual:      {Env: []string{"OPENCODE_PERMISSION=" + opencodeMay("deny")}},
				AcceptEdits: {Env: []string{"OPENCODE_PERMISSION=" + opencodeMay("allow")}},
				Bypass:      {Args: []string{"--auto"}},
			},
			Late: true,
			argv: func(s paths.Session, prompt string) []string {
				return []string{"opencode", "run", "--session", s.ID, prompt}
			},
		},
	}
}

// asking is a mode of Claude Code in which the person is asked about what it does not allow.
func asking(mode string) Rights {
	return Rights{Args: []string{"--permission-mode", mode, "--permission-prompt-tool", hook.ClaudePromptTool}}
}

// opencodeMay are the permissions of an OpenCode that reads and answers, and edits or not.
// The last rule that matches counts, and those of the person's files come before: each that
// they are likely to have is denied by its name too.
func opencodeMay(edit string) string {
	return `{"*":"deny","read":"allow","glob":"allow","grep":"allow","list":"allow","lsp":"allow","skill":"allow","todoread":"allow","todowrite":"allow","c3po_*":"allow","edit":"` + edit +
		`","bash":"deny","task":"deny","webfetch":"deny","websearch":"deny","codesearch":"deny","external_directory":"deny","question":"deny"}`
}

// model is the flag for the model that the session had, if its client told.
func model(flag string, s paths.Session) []string {
	if s.Model == "" {
		return nil
	}
	return []string{flag, s.Model}
}

const (
	// ResumedVariable tells the session process that c3po attend has resumed the session it
	// names. What that session starts inherits it, but is another session.
	ResumedVariable = "C3PO_RESUMED"
)
