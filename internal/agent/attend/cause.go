package attend

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// startable refuses a command that cannot be started, before anything is recorded of a start.
// The system says that the program is missing when its folder is.
func startable(cmd *exec.Cmd) error {
	if cmd.Err != nil {
		return cmd.Err
	}
	if info, err := os.Stat(cmd.Dir); cmd.Dir != "" && (err != nil || !info.IsDir()) {
		return fmt.Errorf("the session's folder %s is not there", cmd.Dir)
	}
	return nil
}

// maxCauseLines is how much of what a client said last is shown to the person.
const maxCauseLines, maxCauseBytes = 3, 500

// because is how a client ended with what it said of it, which comes first: above it some
// print a page about themselves.
func because(err error, said string) error {
	lines := slices.DeleteFunc(strings.Split(said, "\n"), func(line string) bool { return strings.TrimSpace(line) == "" })
	if len(lines) == 0 {
		return err
	}
	for i, line := range slices.Backward(lines) {
		if strings.Contains(strings.ToLower(line), "error") {
			lines = lines[i:min(len(lines), i+maxCauseLines)]
			break
		}
	}
	lines = lines[max(0, len(lines)-maxCauseLines):]
	cause := strings.TrimSpace(strings.Join(lines, "\n"))
	if len(cause) > maxCauseBytes {
		cause = strings.ToValidUTF8(cause[:maxCauseBytes], "") + "…"
	}
	return fmt.Errorf("%s (%w)", cause, err)
}

// attemptOf tells a start from those that failed before it: the same words are recorded once
// with a message. Only so many differ, since an agent's mail has few readers that are kept.
func attemptOf(failed int) string {
	switch {
	case failed == 0:
		return ""
	case failed < maxFailures:
		return fmt.Sprintf(", attempt %d", failed+1)
	}
	return fmt.Sprintf(", attempt %d or later", maxFailures+1)
}
