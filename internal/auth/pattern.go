package auth

import (
	"regexp"
	"strings"

	"github.com/c3po-dev/c3po/c3po"
)

var (
	patternForm      = regexp.MustCompile(`^[A-Za-z0-9_.*-]{1,64}(/[A-Za-z0-9_.*-]{1,64})?$`)
	spacePatternForm = regexp.MustCompile(`^[a-z0-9._*-]{1,64}$`)
)

// hostOf is the host whose ids a pattern is for, if it is one host.
func hostOf(pattern string) string {
	host, _, split := strings.Cut(pattern, "/")
	if !split || strings.Contains(host, "*") {
		return ""
	}
	return host
}

// inSpaces says whether one of the patterns covers a space.
func inSpaces(patterns []string, space c3po.Space) bool {
	for _, pattern := range patterns {
		if c3po.Pattern(pattern).CoversSpace(space) {
			return true
		}
	}
	return false
}

// homeSpace is where a caller is who names no space.
func homeSpace(patterns []string) (c3po.Space, bool) {
	if len(patterns) == 0 || strings.Contains(patterns[0], "*") {
		return "", false
	}
	return c3po.Space(patterns[0]), true
}

func checkPattern(pattern string) error {
	if patternForm.MatchString(pattern) {
		return nil
	}
	return c3po.Errorf(c3po.InvalidRequest, "%q is not a pattern of agent ids", clip(pattern)).
		Suggest("Write name, host/name, or either with * for any text: build-box/*.")
}

func checkSpaces(patterns []string) error {
	if len(patterns) == 0 || len(patterns) > maxSpaces {
		return c3po.Errorf(c3po.InvalidRequest, "a token is for 1 to %d spaces, not %d", maxSpaces, len(patterns)).
			Suggest("Name the spaces; repo-* is a pattern for many.")
	}
	for _, pattern := range patterns {
		if strings.Contains(pattern, "*") && spacePatternForm.MatchString(pattern) {
			continue
		}
		if pattern == "" {
			return c3po.Errorf(c3po.InvalidRequest, "a space has no name").Suggest("Name it, or leave it out for the default space.")
		}
		if _, err := c3po.ParseSpace(pattern); err != nil {
			return err
		}
	}
	return nil
}

const maxSpaces = 20

// clip keeps what a caller typed from filling the answer.
func clip(s string) string {
	const most = 80
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
