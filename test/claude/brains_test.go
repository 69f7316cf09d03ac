package claude_test

import (
	"regexp"

	"github.com/c3po-dev/c3po/internal/testkit/llm"
)

var toAnswer, notice, unread = llm.ToAnswer, llm.Notice, llm.Unread

// A rule says what a model does when it reads something new. It knows what it
// was shown and nothing else: ids and answers are taken from there.
type rule struct {
	when string // a regular expression on what is new
	then func(r request, match []string) step
}

// following is a model that follows the first rule that fits, and else ends its turn.
func following(rules ...rule) brain {
	forms := make([]*regexp.Regexp, len(rules))
	for i, r := range rules {
		forms[i] = regexp.MustCompile(r.when)
	}
	return func(r request) step {
		fresh := r.Fresh()
		for i, form := range forms {
			if match := form.FindStringSubmatch(fresh); match != nil {
				return rules[i].then(r, match)
			}
		}
		return say("NOTHING-MORE")
	}
}

// reading is the two rules of a model that answers its mail: it reads it when it
// is told of some, and answers what expects an answer.
func reading(answer func(question string) string) []rule {
	return []rule{
		{toAnswer.String(), func(r request, match []string) step {
			return call("reply", map[string]any{"message_id": match[1], "response": answer(written(r.Fresh()))})
		}},
		{unread.String(), func(request, []string) step { return call("get_messages", nil) }},
	}
}

// on is a rule without anything taken from the text.
func on(when string, do step) rule {
	return rule{when, func(request, []string) step { return do }}
}

func written(shown string) string { return llm.Written(shown) }

func always(answer string) func(string) string { return func(string) string { return answer } }

func quiet(request) step { return say("OK") }
