package claude_test

import "github.com/c3po-dev/c3po/internal/testkit/llm"

// The scripted model behind Claude Code.
type (
	model   = llm.Model
	brain   = llm.Script
	step    = llm.Step
	request = llm.Request
)

var (
	say        = llm.Say
	call       = llm.Call
	newModel   = llm.Start
	newModelAt = llm.StartAt
)

const toolPrefix = llm.ToolPrefix
