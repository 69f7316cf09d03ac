package console

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"syscall"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/client"
	"github.com/c3po-dev/c3po/internal/host/engine"
	"github.com/c3po-dev/c3po/internal/host/paths"
	"github.com/c3po-dev/c3po/internal/transport/dialect"
)

// A coordinator advises everybody in the words of the tools that a model has. What a
// person reads names the commands instead, and here is the one place that knows both.
//
// An error does not carry both texts from where it is made. It crosses the wire as one
// code, sentence and suggestion, which other clients and coordinators of other versions
// know, and what helps a person depends on their host: joined, signed in, its disk full.
// Names of tools and arguments become commands and flags by the table of operations, so
// a new sentence mostly needs nothing here; TestNoToolNameReachesAPerson holds them all.

// personWords are the phrases that need more than another name, in order.
var personWords = []struct {
	model  *regexp.Regexp
	person string
}{
	{regexp.MustCompile(`No messages are pending\. You can continue with other work\.`), "Nothing is waiting for you. Wait longer with --timeout 10m."},
	{regexp.MustCompile(`(?:Call |call )?wait_for_message with message_id (\S+?)([.,]?)(\s|$)`), "Wait for the answer with: c3po wait --for $1$3"},
	{regexp.MustCompile(`wait_for_message (?:and this|with its|with this) message_id`), "`c3po wait --for ID`"},
	{regexp.MustCompile(`room_list with all`), "`c3po room list --all`"},
	{regexp.MustCompile(`room_history\(room="([^"]*)"\)`), "`c3po room history $1`"},
	{regexp.MustCompile(`(?:the same )?wait_for_message takes the place of asking again and again`), "`c3po wait` waits without asking again and again"},
	{regexp.MustCompile(`No message received within (\d+) seconds`), "no message after ${1}s"},
	{regexp.MustCompile(`No response received within (\d+) seconds`), "no answer after ${1}s"},
	{regexp.MustCompile(`The target agent may be offline or busy\. Check agent status with list_agents\.`), "The question stays open; see it with `c3po tickets`, and wait again with `c3po wait --for ID`."},
	{regexp.MustCompile(`stays open until your user answers it\.`), "stays open until you answer it: `c3po answer`."},
	{regexp.MustCompile(`a person reads this when they look; there is no session to wake`), "you read it with `c3po answer`, `c3po top` or the dashboard, where you are signed in"},
	{regexp.MustCompile(`\b1 earlier messages are not acked yet, get_messages shows them`), "1 earlier message is not acked yet, `c3po inbox` shows it"},
	{regexp.MustCompile(`\b[Tt]he coordinator's log says`), "`c3po logs` on its host says"},
	{regexp.MustCompile(`Check parameter values and formats\.`), "--help shows what the command takes."},
	{regexp.MustCompile(`Missing X-Agent-ID header`), "no agent is named"},
	{regexp.MustCompile(`Say who you are: set the X-Agent-ID header, or C3PO_AGENT_ID for our own clients\.`), "Say who you are with --as or C3PO_AGENT_ID."},
	{regexp.MustCompile(`deadline_ms is (\S+); it must be between 1 and (\S+)`), "--deadline is $1 ms; it must be between 1 and $2 ms"},
	{regexp.MustCompile(`Make the same call again( with the same )key`), "Run the same command again$1--key"},
	{regexp.MustCompile(`Make the same call again`), "Run the same command again"},
	{regexp.MustCompile(`\bCall (again|it|\w+_\w+|whoami|reply)\b`), "Run $1"},
}

// flagOf is how a person gives each argument of an operation whose name is no English word:
// mostly with a flag of that name.
var flagOf = flags()

var argumentNames = regexp.MustCompile(`\b(` + strings.Join(slices.Sorted(maps.Keys(flagOf)), "|") + `)\b`)

func flags() map[string]string {
	all := map[string]string{}
	for _, o := range dialect.Operations() {
		if o.Toolset == c3po.Bridge {
			continue
		}
		for field := range o.In.Fields() {
			if name, _, _ := strings.Cut(field.Tag.Get("json"), ","); strings.Contains(name, "_") {
				all[name] = "--" + strings.ReplaceAll(name, "_", "-")
			}
		}
	}
	maps.Copy(all, map[string]string{
		"client_key": "--key", "wait_seconds": "--wait", "deadline_ms": "--deadline", "heartbeat_interval": "--heartbeat", "current_task": "--task",
		"message_id": "message id", "message_ids": "message ids", "agent_id": "agent", "new_id": "new name", "request_id": "message id", "pid_start": "start of the process",
	})
	return all
}

// commandOf is the command of each operation that advice can name: those whose names
// are no words of English.
var commandOf = commands()

var toolNames = regexp.MustCompile(`\b(` + strings.Join(slices.Sorted(maps.Keys(commandOf)), "|") + `)\b`)

func commands() map[string]string {
	all := map[string]string{}
	for _, o := range dialect.Operations() {
		if o.Command != "" && o.Toolset != c3po.Bridge && (strings.Contains(o.Name, "_") || o.Name == "whoami") {
			all[o.Name] = o.Command
		}
	}
	return all
}

// ForPeople is advice to a model as a person needs it. That it may ask its person is for the
// model alone, which has a tool for that.
func ForPeople(text string) string {
	if rest, ok := strings.CutPrefix(text, c3po.AskPerson); ok {
		return c3po.AskPerson + ForPeople(rest)
	}
	for _, phrase := range personWords {
		text = phrase.model.ReplaceAllString(text, phrase.person)
	}
	text = toolNames.ReplaceAllStringFunc(text, func(name string) string { return "`c3po " + commandOf[name] + "`" })
	return argumentNames.ReplaceAllStringFunc(text, func(name string) string { return flagOf[name] })
}

// ForPerson is an error with advice to the person who reads it, instead of to an agent.
func (a *Console) ForPerson(e *c3po.Error) *c3po.Error {
	message, advice := ForPeople(e.Message), ForPeople(e.Suggestion)
	switch e.Suggestion {
	case c3po.AskPerson:
		if a.AgentHere() != "" || a.BelowAgent() { // a model reads it, and has tools
			advice = c3po.AskPerson
			break
		}
		advice = "This host's token is an agent's. Run it where the coordinator runs, or sign in here: `c3po invite --person` there prints the line."
	case c3po.WorkLocally:
		message, advice = a.unreachable(e)
	}
	if hint := a.renewToken(e); hint != "" {
		advice = hint
	}
	if e.Code == c3po.RedisUnavailable || e.Code == c3po.UnknownOutcome {
		message, advice = a.withoutRedis(message, advice, paths.FreeDisk)
	}
	if a.IsForeign(e) {
		message, advice = "you have no coordinator here, and the one at "+client.DefaultURL+" is not yours", "Start your own with: c3po up"
	}
	if message == e.Message && advice == e.Suggestion {
		return e
	}
	return c3po.Because(e, e.Code, message).Suggest("%s", advice)
}

// IsForeign says that an error is the refusal of a coordinator that only happens to be
// at the usual address: nobody named it, and this user has neither started nor joined one.
func (a *Console) IsForeign(err error) bool {
	if !errors.Is(err, c3po.Unauthorized) || a.URL != "" || a.Getenv(TokenVariable) != "" {
		return false
	}
	note, _ := a.Folders.Coordinator()
	mine, _ := a.Folders.Credentials()
	person, _ := a.Folders.Person()
	return note == nil && mine == nil && person == nil
}

// renewToken says where the token comes from that a coordinator refused, and how to get
// another; empty if this host has none of its own to renew.
func (a *Console) renewToken(e *c3po.Error) string {
	if e.Code != c3po.Unauthorized {
		return ""
	}
	if a.Getenv(TokenVariable) != "" {
		return "It comes from " + TokenVariable + ". Unset it, or set one that `c3po token create` printed."
	}
	const host, person = "`c3po invite --host NAME` where the coordinator runs prints a line that joins this host again.", "`c3po invite --person` where the coordinator runs prints a line that signs you in again."
	switch agents, signedIn, err := a.Elsewhere(); {
	case err != nil || agents+signedIn == "":
		return ""
	case signedIn == "":
		return host
	case agents == "":
		return person
	default:
		return "For you: " + person + " For this host's agents: " + host
	}
}

// lowDisk is how little room on the disk is worth a word when Redis fails: the next write
// may be the last.
const lowDisk = 64 << 20

// withoutRedis adds what this host knows of the private Redis of its own coordinator.
func (a *Console) withoutRedis(message, advice string, freeDisk func(string) (int64, bool)) (string, string) {
	note, err := a.OwnCoordinator()
	if err != nil || note == nil || note.RedisSocket == "" {
		return message, advice
	}
	data, err := a.Folders.StateFile("redis")
	if err != nil {
		return message, advice
	}
	if free, known := freeDisk(data); known && free < lowDisk {
		left := "is full"
		if free >= 1<<20 {
			left = fmt.Sprintf("has %d MB left", free>>20)
		}
		return message + ": the disk of " + data + " " + left, "Free some space there. Redis starts again by itself within half a minute; `c3po logs` says more."
	}
	if strings.HasPrefix(message, "Redis cannot be reached") {
		return message, "The coordinator starts its Redis again by itself. If that doesn't help: c3po doctor"
	}
	return message, advice
}

// unreachable says where no coordinator answered, why, and what helps.
func (a *Console) unreachable(e *c3po.Error) (message, advice string) {
	cfg, err := a.Reach()
	if err != nil || cfg.URL == "" {
		cfg.URL = client.DefaultURL
	}
	message = "can't reach the coordinator at " + cfg.URL
	if why := rootCause(e.Unwrap()); why != "" {
		message += ": " + why
	}
	agents, person, err := a.Elsewhere()
	switch {
	case errors.Is(e, http.ErrSchemeMismatch):
		return message, "Write the address with http://. It comes from " + cmp.Or(a.Origins["url"].Where, "--url") + "."
	case a.URL != "":
		return message, "Check the address, which comes from " + cmp.Or(a.Origins["url"].Where, "--url") + ", and that a coordinator runs there."
	case err == nil && agents != "":
		return message, "This host has joined it. Check that it runs there, and that this host has a network."
	case err == nil && person != "":
		return message, "You are signed in there. Check that it runs, and that this host has a network."
	case engine.Hostable() != nil:
		return message, "Start one elsewhere and join it from here: c3po join --help"
	default:
		return message, "Start one here with: c3po up"
	}
}

// rootCause is the last reason of a failed connection, in a few words.
func rootCause(err error) string {
	if err == nil {
		return ""
	}
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded) {
		return "it did not answer in time"
	}
	if name, ok := errors.AsType[*net.DNSError](err); ok {
		return "no host is named " + name.Name
	}
	if errors.Is(err, http.ErrSchemeMismatch) {
		return "it speaks http, not https"
	}
	if errors.Is(err, fs.ErrNotExist) { // its socket
		return "none runs here"
	}
	if number, ok := errors.AsType[syscall.Errno](err); ok {
		return number.Error()
	}
	for {
		next := errors.Unwrap(err)
		if next == nil {
			return err.Error()
		}
		err = next
	}
}
