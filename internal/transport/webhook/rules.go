package webhook

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/c3po-dev/c3po/c3po"
)

// A Kind is what a rule can name.
type Kind string

// The kinds. A mention is a comment, or the text of an issue or change, that names whom the
// rules are for; it is found in what was written, so no post is one by itself.
const (
	Comments Kind = "comments" // on a change or an issue
	Failures Kind = "failures" // of a check
	Mentions Kind = "mentions"
	opened   Kind = "" // an issue or change has been opened: only a mention in it counts
)

// A Rule says who gets what of which repository.
type Rule struct {
	Kind       Kind
	Repository string // OWNER/NAME, OWNER/* or empty for all
	Target     string // an agent, or role:NAME
}

// ParseRule reads KIND=TARGET or KIND@OWNER/NAME=TARGET.
func ParseRule(text string) (Rule, error) {
	what, target, ok := strings.Cut(strings.TrimSpace(text), "=")
	kind, repository, narrowed := strings.Cut(what, "@")
	rule := Rule{Kind(strings.TrimSpace(kind)), strings.TrimSpace(repository), strings.TrimSpace(target)}
	refuse := func(why string) (Rule, error) {
		return Rule{}, c3po.Errorf(c3po.InvalidRequest, "%q is no rule: %s", text, why).
			Suggest("Write comments=reviewer, failures@acme/api=role:ci or mentions@acme/*=helper.")
	}
	switch {
	case !ok || rule.Target == "":
		return refuse("it names nobody to send to")
	case !slices.Contains([]Kind{Comments, Failures, Mentions}, rule.Kind):
		return refuse("it must begin with comments, failures or mentions")
	case narrowed && strings.Count(rule.Repository, "/") < 1:
		return refuse("a repository is written OWNER/NAME, or OWNER/* for all of an owner")
	}
	if _, err := c3po.ParseTarget(rule.Target); err != nil {
		return refuse(c3po.AsError(err).Message)
	}
	return rule, nil
}

// isOf says whether a rule is for a repository. Code hosts do not tell case apart.
func (r Rule) isOf(repository string) bool {
	want, got := strings.ToLower(r.Repository), strings.ToLower(repository)
	if owner, all := strings.CutSuffix(want, "/*"); all {
		return strings.HasPrefix(got, owner+"/")
	}
	return want == "" || want == got
}

// isOwn says that an account which is the agents' own has written what a post tells. A
// check that failed was written by nobody, and is news for whoever pushed.
func (d *Receiver) isOwn(told *Told) bool {
	if told.Kind == Failures {
		return false
	}
	by := strings.TrimSuffix(strings.ToLower(told.By), "[bot]") // as GitHub calls the account of an app
	return by != "" && slices.ContainsFunc(append([]string{d.Mention}, d.Ignore...), func(name string) bool {
		return by == strings.TrimSuffix(strings.ToLower(strings.TrimPrefix(strings.TrimSpace(name), "@")), "[bot]")
	})
}

// targets are those who get what a post tells, each once, in the order of the rules.
func (d *Receiver) targets(told *Told) []string {
	mentioned := told.Kind != Failures && d.mentions(told.Text)
	var all []string
	for _, rule := range d.Rules {
		if rule.isOf(told.Repository) && (rule.Kind == told.Kind || rule.Kind == Mentions && mentioned) && !slices.Contains(all, rule.Target) {
			all = append(all, rule.Target)
		}
	}
	return all
}

const (
	maxHeadline = 300
	maxText     = 8_000
)

// message is what is mailed: what happened, where to look, and what was written.
func (t *Told) message() string {
	parts := []string{cut(oneLine(t.Headline), maxHeadline), oneLine(t.URL)}
	if text := strings.TrimSpace(t.Text); text != "" {
		parts = append(parts, "", cut(text, maxText))
	}
	return strings.Join(parts, "\n")
}

// oneLine keeps what belongs into a line from making others.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

func cut(text string, most int) string {
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return string([]rune(text)[:most]) + " … (the rest is there)"
}
