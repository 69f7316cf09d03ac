package runner

import (
	"cmp"
	"maps"
	"slices"

	"github.com/c3po-dev/c3po/internal/runner/agentfile"
)

// pluginInside is where containers find our plugin of Claude Code.
const pluginInside = "/opt/c3po/plugin"

// shellClient is an agent whose program is its prompt, a script: it needs no
// model.
const shellClient = "shell"

// otherClients are the coding agents that an image of a person's own brings along, with
// c3po installed in it: how each runs one prompt with nobody there to be asked. The
// container is what it is kept in.
func otherClients() map[string][]string {
	return map[string][]string{
		"codex":    {"codex", "exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"},
		"opencode": {"opencode", "run", "--auto"},
		"gemini":   {"gemini", "--approval-mode", "yolo"},
		"copilot":  {"copilot", "--allow-all-tools"},
		"kimi":     {"kimi"},
	}
}

// Clients are the programs an agent can be.
func Clients() []string {
	return append([]string{agentfile.DefaultClient, shellClient}, slices.Sorted(maps.Keys(otherClients()))...)
}

// The prompts of agents that have none of their own.
const (
	answerMail = "You are a c3po agent that was started because there may be work for you. Call get_messages. " +
		"Deal with each message, oldest first: do what it asks within this workspace, then answer it with reply, or ack it if no answer is due. " +
		"When nothing is left, end. Write down in files or in git whatever must be known next time: you start without memory."
	waitForMail = "You are a c3po agent. Call wait_for_message, deal with the message that comes within this workspace, answer it with reply, " +
		"and wait again. Go on like this until somebody asks you to stop."
)

// promptOf is what an agent is told when it starts.
func promptOf(agent agentfile.Agent) string {
	if len(agent.Triggers) == 0 {
		return cmp.Or(agent.Prompt, waitForMail)
	}
	return cmp.Or(agent.Prompt, answerMail)
}

// command is the command line that runs a prompt, and whether what it prints is
// stream-json.
func command(agent agentfile.Agent, prompt string, how Streaming, plugin bool) (argv []string, streams bool) {
	if agent.Client == shellClient {
		return []string{"/bin/sh", "-c", prompt}, false
	}
	if agent.Via == agentfile.ViaACP {
		argv = []string{"c3po", "acp", agent.Client}
		if agent.Model != "" {
			argv = append(argv, "--model", agent.Model)
		}
		if how != Buffered {
			argv = append(argv, "--steps")
		}
		return append(argv, "--", prompt), false
	}
	if argv := otherClients()[agent.Client]; argv != nil {
		if agent.Model != "" {
			argv = append(argv, "--model", agent.Model)
		}
		if agent.Client != "codex" && agent.Client != "opencode" { // which take the prompt as it is
			argv = append(argv, "--prompt")
		}
		return append(argv, prompt), false
	}
	// The container is what it is kept in: nobody is there to be asked.
	argv = []string{"claude", "--print", prompt, "--dangerously-skip-permissions"}
	if agent.Model != "" {
		argv = append(argv, "--model", agent.Model)
	}
	if plugin {
		argv = append(argv, "--plugin-dir", pluginInside)
	}
	if how != Buffered {
		argv, streams = append(argv, "--output-format", "stream-json", "--verbose"), true
	}
	return argv, streams
}
