package doctor

import (
	"fmt"
	"strings"
	"time"

	"github.com/c3po-dev/c3po/c3po"
)

// maxHookTime is how long a hook may keep its client waiting before a person
// notices. Ours aim at a fraction of it.
const maxHookTime = time.Second

func (c Client) finding() Finding {
	check := c.Name
	switch {
	case c.Err != nil:
		return trouble(check, c.Err)
	case !c.Installed:
		return green(check, "it is on this host, without c3po; to add it: %s", c.Fix)
	case c.Off:
		return yellow(check, "switch the plugin on in "+c.Name, "c3po is installed into it, and switched off there")
	case c.Binary == "":
		return red(check, c.Fix, "it starts a program that is not there")
	case len(c.Missing) > 0:
		return red(check, c.Fix, "its files do not name the hooks %s any more", strings.Join(c.Missing, ", "))
	case len(c.Stale) > 0:
		return yellow(check, c.Fix, "what is installed is not of this version: %s", strings.Join(c.Stale, ", "))
	default:
		return green(check, "c3po is installed into it, current, and starts %s", c.Binary)
	}
}

// hooks judges whether the hooks of a client really run, and fast.
func (f Facts) hooks(c Client) Finding {
	check := c.Name + " hooks"
	for _, s := range f.Sessions {
		if s.Type == c.Type && s.Connected && !s.Hooked && c.Installed {
			return yellow(check, "end that session and start it again; "+c.Fix+" if that does not help",
				"%s, pid %d, uses the tools of c3po, and none of its hooks has run: it is not told of mail", s.Agent, s.PID)
		}
	}
	switch last := c.LastHook; {
	case last == nil:
		return green(check, "none has run here yet")
	case last.Took > maxHookTime:
		return yellow(check, "look at the load of this host, and at c3po doctor's latency", "the last, %s of %s, took %s", last.Event, last.Agent, last.Took.Round(10*time.Millisecond))
	default:
		return green(check, "the last was %s of %s %s, and took %s", last.Event, last.Agent, ago(f.Now, last.At), last.Took.Round(100*time.Microsecond))
	}
}

func ago(now, then time.Time) string {
	switch passed := now.Sub(then); {
	case passed < 2*time.Minute:
		return "just now"
	case passed < 2*time.Hour:
		return fmt.Sprintf("%d min ago", passed/time.Minute)
	case passed < 48*time.Hour:
		return fmt.Sprintf("%d h ago", passed/time.Hour)
	default:
		return fmt.Sprintf("%d days ago", passed/(24*time.Hour))
	}
}

// sessions are the troubles of those that run here, and names that several want.
func (f Facts) sessions() []Finding {
	var all []Finding
	twice := map[c3po.AgentID][]string{}
	for _, s := range f.Sessions {
		if s.Trouble != "" {
			all = append(all, yellow("session", "c3po instances shows it; end it and start it again", "%s, pid %d: %s", s.Agent, s.PID, s.Trouble))
		}
		if s.Connected {
			twice[s.Agent] = append(twice[s.Agent], fmt.Sprint(s.PID))
		}
		if s.Asked != "" {
			all = append(all, green("session", "pid %d is called %s, because another session has the name %s", s.PID, s.Agent, s.Asked))
		}
	}
	for _, s := range f.Sessions {
		if pids := twice[s.Agent]; s.Connected && len(pids) > 1 {
			delete(twice, s.Agent)
			all = append(all, yellow("session", "end all but one, or give each its own name with C3PO_AGENT_ID",
				"several sessions of this host act as %s, and take mail from each other: pids %s", s.Agent, strings.Join(pids, ", ")))
		}
	}
	return all
}
