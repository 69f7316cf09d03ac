package mail

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/cli/console"
)

// An explained agent is one with the reasons why mail does or does not wake it.
type explained struct {
	c3po.Agent
	Why []string `json:"why"`
}

// explain says why mail that is sent to an agent now is read when it is. What
// its own session process knows is added if that runs on this host.
func explain(agent c3po.Agent, here []instance, now time.Time) []string {
	var why []string
	say := func(format string, args ...any) { why = append(why, fmt.Sprintf(format, args...)) }
	switch agent.Reachability {
	case c3po.ReachNow:
		say("It waits at a coordinator, so mail reaches its program at once.")
	case c3po.ReachNextStep:
		say("A turn has been running for %s: it hears of questions, answers and urgent mail at its next step, of other mail when the turn ends.", inState(agent, now))
	case c3po.ReachNextCall:
		say("It has called %s but does not wait, so nothing can wake it: it reads mail when it calls again.", console.Ago(now, agent.LastSeen))
	case c3po.ReachWaitingForHuman:
		say("It has asked you and waits: c3po answer.")
	case c3po.ReachPersonReturns:
		say("It is idle and nothing can wake it: it reads mail when its person writes to it.")
	case c3po.ReachResumed:
		say("It is paused, so mail does not wake it: c3po resume %s.", agent.ID)
	case c3po.ReachQuota:
		say("It is out of quota %s. Its mail waits until then.", agent.OutOfQuota.When())
		if agent.OutOfQuota.Evidence != "" {
			say("Its client said: %s", agent.OutOfQuota.Evidence)
		}
	case c3po.ReachSoon:
		if agent.State == c3po.SessionStarting {
			say("Its session is starting: mail wakes it as soon as its monitor listens.")
		} else {
			say("Its user stopped its turn %s ago: mail starts another with their next prompt, or a minute after they stopped it.", inState(agent, now))
		}
	case c3po.ReachRetry:
		say("Its last turn failed %s ago, because its model could not be asked: its mail starts another within 15 min.", inState(agent, now))
	case c3po.ReachDialog:
		say("A dialog has been open in its session for %s: it goes on when its user answers, at its terminal or, if mail has resumed it, in c3po human list.", inState(agent, now))
	case c3po.ReachOff:
		say("Its user has switched c3po off there: c3po on, in its folder.")
	case c3po.ReachNextSession:
		say("A script runs it for its output, so it is left alone: its next session hears of mail.")
	case c3po.ReachUnknown:
		say("Its session has not reacted for %s: it is stopped, or has begun no turn after a notice.", inState(agent, now))
	case c3po.ReachStarts:
		say("Its session is closed, and its host resumes it for mail that expects an answer: c3po attend list, there.")
	case c3po.ReachOffline:
		say("It was last seen %s: no program runs that could be woken.", console.Ago(now, agent.LastSeen))
	}
	if agent.Paused == nil && agent.Availability != c3po.Available {
		say("It says that it is %s.", agent.Availability)
	}
	if agent.Alive != nil && !*agent.Alive {
		say("Its process has ended.")
	}
	for _, i := range here {
		if i.Agent == agent.ID {
			why = append(why, i.explain(now)...)
		}
	}
	return why
}

// inState is for how long an agent is known to be in its state.
func inState(agent c3po.Agent, now time.Time) string {
	since := agent.LastSeen
	if agent.StateSince != nil {
		since = *agent.StateSince
	}
	return c3po.Age(now.Sub(since))
}

// explain is what the session process on this host adds.
func (i instance) explain(now time.Time) []string {
	var why []string
	say := func(format string, args ...any) {
		why = append(why, fmt.Sprintf("On this host, pid %d: ", i.PID)+fmt.Sprintf(format, args...))
	}
	switch {
	case i.Off:
		say("c3po is switched off in %s: c3po on.", i.Folder)
	case i.Trouble != "":
		say("its session process has no coordinator: %s", i.Trouble)
	case !i.Connected:
		say("its session process has been started and nothing has used it yet, so it has not registered.")
	case i.State == c3po.SessionDialog:
		say("a dialog is open in it, and it goes on when its user answers.")
	case i.State == c3po.SessionUnattended:
		say("a script runs it for its output, so it is left alone.")
	case i.Busy:
		say("it is working, and gets its mail at the end of its turn.")
	case i.ToldAgain != nil:
		say("it is idle, its last turn failed; its mail starts another in %s.", c3po.Age(i.ToldAgain.Sub(now)))
	case i.Monitors == 0:
		say("it is idle and no monitor listens, so mail does not start a turn: it reads it when its person writes next.")
	case i.State == c3po.SessionUnknown:
		say("it does not react: it is stopped, or has begun no turn for 30 s after a notice.")
	case i.Ignored > 0:
		say("it is idle; its mail was told %d times and no turn has begun yet; that is repeated.", i.Ignored)
	default:
		say("it is idle and its monitor listens: mail starts a turn.")
	}
	if i.Alive != nil && !*i.Alive {
		say("its client has ended; its session process is about to.")
	}
	return why
}

func printExplained(w io.Writer, in console.Ink, agents []explained, now time.Time) {
	if len(agents) == 0 {
		PrintAgents(w, in, nil)
		return
	}
	for _, agent := range agents {
		fmt.Fprintf(w, "%s  %s, %s: %s\n", in.Bold(console.Inline(string(agent.ID))), ShowStanding(in, agent.Agent, now), availability(agent.Agent), console.Inline(agent.Reachability.Prospect()))
		var facts []string
		for _, fact := range []struct{ name, value string }{
			{"type", agent.Type}, {"client", agent.Client}, {"host", agent.Host}, {"folder", agent.Cwd}, {"task", agent.CurrentTask},
			{"helps with", strings.Join(agent.Capabilities, ", ")},
		} {
			if fact.value != "" {
				facts = append(facts, fact.name+" "+console.Inline(fact.value))
			}
		}
		if len(facts) > 0 {
			fmt.Fprintln(w, in.Faint("  "+strings.Join(facts, ", ")))
		}
		for _, reason := range agent.Why {
			fmt.Fprintln(w, "  "+console.Inline(reason))
		}
	}
}

// ShowStanding is what is known of an agent, and how old that is.
func ShowStanding(i console.Ink, agent c3po.Agent, now time.Time) string {
	text := console.Inline(agent.Standing(now, now))
	switch {
	case agent.Status != c3po.Online:
		return i.Faint(text)
	case agent.State == c3po.SessionDialog, agent.State == c3po.SessionFailed, agent.State == c3po.SessionOff, agent.State == c3po.SessionUnknown:
		return i.Warn(text)
	default:
		return i.Good(text)
	}
}
