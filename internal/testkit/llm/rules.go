package llm

import (
	"fmt"
	"regexp"
	"strings"
)

var (
	// ToAnswer is the header of a message that expects an answer, with its id.
	ToAnswer = regexp.MustCompile(`(?m)^\[c3po [0-9a-f]{6}\] \w+ (\S+)(?: \|.*)? \| reply expected`)
	// Unread is how every hook of c3po tells of mail that it does not bring itself.
	Unread = regexp.MustCompile(`c3po: [^\n<]*get_messages shows (it|them)`)
	// Notice is how a session is told of mail: in words, or by the mail itself.
	Notice = regexp.MustCompile(Unread.String() + `|<event>c3po: (?:\S+ (?:asks|answers|writes): '|your user has written)`)

	gutter = regexp.MustCompile(`(?m)^\| (.*)$`)
)

// Say is an answer in words.
func Say(format string, args ...any) Step { return Step{Text: fmt.Sprintf(format, args...)} }

// Call is the use of a tool.
func Call(tool string, input map[string]any) Step { return Step{Tool: tool, Input: input} }

// Shell is the use of the shell of Claude Code.
func Shell(command string) Step {
	return Call("Bash", map[string]any{"command": command, "description": "a step"})
}

// A Rule says what a model does about something new, if it applies. It knows what the
// model was shown and nothing else: ids and answers are taken from there.
type Rule func(Request) (step Step, applies bool)

// When is a rule for what matches a regular expression.
func When(pattern string, then func(r Request, match []string) Step) Rule {
	form := regexp.MustCompile(pattern)
	return func(r Request) (Step, bool) {
		match := form.FindStringSubmatch(r.Fresh())
		if match == nil {
			return Step{}, false
		}
		return then(r, match), true
	}
}

// On is When without anything taken from the text.
func On(pattern string, do Step) Rule {
	return When(pattern, func(Request, []string) Step { return do })
}

// Else is a rule that always applies.
func Else(script Script) Rule {
	return func(r Request) (Step, bool) { return script(r), true }
}

// Answers is a model that deals with its mail: it reads it when it is told of some, and
// answers what expects an answer.
func Answers(text string) Rule { return AnswersBy(func(string) string { return text }) }

// AnswersBy is Answers with an answer for each question.
func AnswersBy(answer func(question string) string) Rule {
	reply := When(ToAnswer.String(), func(r Request, match []string) Step {
		return Call("reply", map[string]any{"message_id": match[1], "response": answer(Written(r.Fresh()))})
	})
	read := On(Unread.String(), Call("get_messages", nil))
	return func(r Request) (Step, bool) {
		if step, applies := reply(r); applies {
			return step, true
		}
		return read(r)
	}
}

// Following is a model that follows the first rule that applies, and else ends its turn.
func Following(rules ...Rule) Script {
	return func(r Request) Step {
		for _, rule := range rules {
			if step, applies := rule(r); applies {
				return step
			}
		}
		return Say("NOTHING-MORE")
	}
}

// InTurn is a model that takes its steps one after the other.
func InTurn(steps ...Step) Script {
	return func(r Request) Step {
		taken := 0
		for _, m := range r.Messages {
			if m.Role == Assistant {
				taken++
			}
		}
		return steps[min(taken, len(steps)-1)]
	}
}

// Always is a model that says the same whatever it is asked.
func Always(text string) Script { return func(Request) Step { return Step{Text: text} } }

// Written is what other agents wrote, as a model is shown it.
func Written(shown string) string {
	var lines []string
	for _, line := range gutter.FindAllStringSubmatch(shown, -1) {
		lines = append(lines, line[1])
	}
	return strings.Join(lines, "\n")
}
