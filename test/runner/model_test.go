package runner_test

import (
	"regexp"
	"strings"

	"github.com/c3po-dev/c3po/internal/testkit/llm"
)

// toAnswer is the call that is offered for a message.
var toAnswer = regexp.MustCompile(`to answer: reply\(message_id="([^"]+)"`)

// answerAll is a model that reads its mail and answers each message, the oldest
// first, until none is left.
func answerAll(r llm.Request) llm.Step {
	fresh := r.Fresh()
	if match := toAnswer.FindStringSubmatch(fresh); match != nil {
		return llm.Call("reply", map[string]any{"message_id": match[1], "response": "answered"})
	}
	if strings.Contains(fresh, "no unacked messages") {
		return llm.Say("NOTHING-MORE")
	}
	return llm.Call("get_messages", nil)
}
