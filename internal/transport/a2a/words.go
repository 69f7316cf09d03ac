package a2a

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/c3po-dev/c3po/c3po"
)

// fields are the names that callers of this protocol know our fields by.
var fields = map[string]string{"client_key": "messageId", "thread": "contextId", "content_type": "mediaType", "metadata": "message.metadata"}

// keyed is how a key of ours begins in a refusal. The thread is of callers that share a name.
var keyed = regexp.MustCompile(`^client_key '` + keyPrefix + `(` + threadPrefix + `[0-9a-f]{32} )?`)

// inWords gives a refusal in words for a caller that knows this protocol, and neither our
// tools nor our commands.
func inWords(refusal *c3po.Error) (message, suggestion string) {
	message, suggestion = refusal.Message, strings.ReplaceAll(refusal.Suggestion, "client_key", fields["client_key"])
	switch refusal.Code {
	case c3po.InvalidRequest:
		if field, rest, ok := strings.Cut(message, " "); ok && fields[field] != "" {
			message = fields[field] + " " + rest
		}
	case c3po.KeyConflict:
		message = keyed.ReplaceAllString(message, "the messageId '")
		suggestion = "Use a new messageId for a new message; repeat an old one only with the same text, to the same agent."
	case c3po.AgentNotFound:
		suggestion = fmt.Sprintf("Ask whoever gave you the token for the names of the agents. An agent that is there has a card at %sNAME%s.", Prefix, WellKnown)
	case c3po.Unauthorized:
		suggestion = "Send the header Authorization: Bearer TOKEN. Whoever runs the coordinator makes tokens with: c3po token create."
	}
	return message, suggestion
}

// parseTarget reads whom a request is for. The person is asked by agents only, and has no
// card either.
func parseTarget(target string) (c3po.AgentID, error) {
	to, err := c3po.ParseTarget(target)
	if err == nil && to.Reserved() && to.Queue() == "" {
		err = c3po.Errorf(c3po.AgentNotFound, "Agent '%s' not found", to)
	}
	return to, err
}
