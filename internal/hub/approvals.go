package hub

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
	"github.com/c3po-dev/c3po/internal/text/toolinput"
)

const (
	approvalLife     = time.Hour
	maxApprovalLife  = 24 * time.Hour
	maxToolBytes     = 128
	maxApprovalBytes = 200
	maxFolderBytes   = 4096
	maxReasonLetters = 2000
	// maxOpenApprovals is how many questions of one agent may wait for the person when it
	// asks for an approval: more than subagents ask at once, and few enough to read.
	maxOpenApprovals = 20
)

// What stands in the line that we word ourselves is no place for an agent's sentences.
var (
	toolName   = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.:/@-]*$`)
	folderPath = regexp.MustCompile(`^([/~]|[A-Za-z]:|\\\\)`)
	hostName   = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9._-]{0,252}[A-Za-z0-9])?$`)
)

// RequestApproval puts a coding agent's question for permission into the person's mailbox.
// What the person reads is made here from the tool and its input, so that it is what the
// hash is of.
func (a *Actor) RequestApproval(ctx context.Context, in c3po.ApprovalInput) (c3po.ApprovalAsked, error) {
	if err := a.enter(ctx); err != nil {
		return c3po.ApprovalAsked{}, err
	}
	draft, approval, err := a.outbox.approval(in)
	if err != nil {
		return c3po.ApprovalAsked{}, err
	}
	now, err := a.hub.store.Now(ctx)
	if err != nil {
		return c3po.ApprovalAsked{}, err
	}
	records, err := a.hub.store.Agents(ctx, a.space, []c3po.AgentID{a.id})
	if err != nil {
		return c3po.ApprovalAsked{}, err
	}
	approval.Host = a.hostOf(records)
	counted := a.id
	if a.withoutSession() {
		counted = ""
	}
	unlock := a.hub.approving.lock(a.space, counted)
	defer unlock()
	if asked, err := a.askedBefore(ctx, draft.Key, approval); err != nil || asked.MessageID != "" {
		return asked, err
	}
	if err := a.roomForApproval(ctx); err != nil {
		a.outbox.countRejected(err)
		return c3po.ApprovalAsked{}, err
	}
	approval.Expires = now.Add(draft.Within).UTC().Truncate(time.Millisecond)
	draft.Text = approvalText(approval)
	if err := checkText("input", draft.Text, a.hub.limits.Characters); err != nil {
		return c3po.ApprovalAsked{}, err
	}
	if draft.Metadata, err = json.Marshal(approval); err != nil {
		return c3po.ApprovalAsked{}, err
	}
	durability, err := a.hub.store.Durability(ctx)
	if err != nil {
		return c3po.ApprovalAsked{}, err
	}
	stored, err := a.payingForMessage(draft, func(refusal error) (store.Stored, error) {
		draft.Barred = refusal
		return a.hub.store.Send(ctx, a.space, store.SendStep{Draft: draft, Run: a.caller.Run, Durability: durability, Mailbox: true})
	})
	if err != nil {
		a.outbox.countRejected(err)
		return c3po.ApprovalAsked{}, a.dropIfSuperseded(err)
	}
	if !stored.Repeat {
		a.recordAccepted(ctx, c3po.EventAccepted, stored, durability)
		a.hub.deadlines.Add(a.space, stored.Message.ID, draft.Within)
		a.hub.notices.AskSoon(a.space)
	}
	return c3po.ApprovalAsked{MessageID: stored.Message.ID, Hash: approval.Hash, Expires: approval.Expires}, nil
}

// hostOf is where the caller runs: as the kernel or its token says, else as it says itself.
func (a *Actor) hostOf(records []store.Record) string {
	if a.caller.Local && a.hub.host != "" {
		return a.hub.host
	}
	claimed := ""
	if run, ok := c3po.ParseProcessRun(a.caller.Run); ok {
		claimed = run.Host
	} else if len(records) > 0 {
		claimed = records[0].Profile.Host
	}
	if !hostName.MatchString(claimed) {
		claimed = ""
	}
	return cmp.Or(a.id.Host(), claimed)
}

// askedBefore finds what a request has asked: the same again is the same question, whatever
// became of it. Nothing, if it is new.
func (a *Actor) askedBefore(ctx context.Context, key string, again c3po.Approval) (c3po.ApprovalAsked, error) {
	id, err := a.hub.store.Keyed(ctx, a.space, a.id, key)
	if err != nil || id == "" {
		return c3po.ApprovalAsked{}, err
	}
	entry, err := a.hub.store.Message(ctx, a.space, id)
	if err != nil || entry == nil {
		return c3po.ApprovalAsked{}, err
	}
	first, ok := entry.Message.Approval()
	if !ok || first.Hash != again.Hash || first.Session != again.Session {
		return c3po.ApprovalAsked{}, store.RefuseKeyConflict(key)
	}
	return c3po.ApprovalAsked{MessageID: entry.Message.ID, Hash: first.Hash, Expires: first.Expires}, nil
}

// withoutSession says that nobody stands behind the caller's name: it can take any number of them.
func (a *Actor) withoutSession() bool { return a.caller.Run == "" }

// roomForApproval refuses an agent with too many questions before the person already. Callers
// without a session share one place, whatever they call themselves.
func (a *Actor) roomForApproval(ctx context.Context) error {
	open, before := 0, int64(0)
	for scanned := 0; scanned < maxScanned; scanned += ticketScan {
		marks, err := a.hub.store.OpenTickets(ctx, a.space, before, ticketScan)
		if err != nil {
			return err
		}
		var others []c3po.MessageID
		for _, mark := range marks {
			switch from, to, _ := mark.ID.Split(); {
			case to != c3po.Human:
			case from == a.id:
				open++
			case a.withoutSession():
				others = append(others, mark.ID)
			}
			before = mark.Seq
		}
		if len(others) > 0 {
			nobodys, err := a.requestsOfNobody(ctx, others)
			if err != nil {
				return err
			}
			open += nobodys
		}
		switch {
		case open >= maxOpenApprovals:
			return c3po.Errorf(c3po.InboxFull, "%d of your questions already wait for the user", open).
				Suggest("Have this one decided at your terminal, or withdraw others first.")
		case len(marks) < ticketScan:
			return nil
		}
	}
	return nil
}

// requestsOfNobody counts the requests among questions that callers without a session have asked.
func (a *Actor) requestsOfNobody(ctx context.Context, ids []c3po.MessageID) (int, error) {
	entries, err := a.hub.store.Messages(ctx, a.space, ids)
	if err != nil {
		return 0, err
	}
	count := 0
	for _, entry := range entries {
		if entry.Message.Kind == c3po.KindApproval && entry.Facts.AskedBy == "" {
			count++
		}
	}
	return count, nil
}

// stripes let one request of an agent after the other pass, so that many at once are counted.
type stripes [64]sync.Mutex

func (s *stripes) lock(space c3po.Space, id c3po.AgentID) (unlock func()) {
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(string(space) + "\x00" + string(id))) // it never fails
	one := &s[hash.Sum32()%uint32(len(s))]
	one.Lock()
	return one.Unlock
}

// approval checks everything about a request that needs no store.
func (o outbox) approval(in c3po.ApprovalInput) (store.Draft, c3po.Approval, error) {
	draft := store.Draft{
		From: o.id, To: c3po.Human, Kind: c3po.KindApproval, Priority: c3po.Normal, ExpectsReply: true,
		Choices: approvalChoices(), Context: in.Reason, Within: approvalLife, Distinct: true,
	}
	approval := c3po.Approval{Tool: in.Tool, Input: in.Input, Session: in.Session, Request: in.Request, Folder: in.Folder}
	if err := errors.Join(checkGiven("tool", in.Tool), checkGiven("session", in.Session), checkGiven("request", in.Request)); err != nil {
		return draft, approval, err
	}
	if err := checkLabels(
		label{"tool", in.Tool, maxToolBytes}, label{"session", in.Session, maxApprovalBytes}, label{"request", in.Request, maxApprovalBytes / 2}, label{"folder", in.Folder, maxFolderBytes},
	); err != nil {
		return draft, approval, err
	}
	if !toolName.MatchString(in.Tool) {
		return draft, approval, refuse("%.80q is not the name of a tool", in.Tool).Suggest("Name the tool as the coding agent does, without spaces, or have it decided at the terminal.")
	}
	if in.Folder != "" && !folderPath.MatchString(in.Folder) {
		return draft, approval, refuse("the folder %.80q is not a path from the root", in.Folder).Suggest("Leave it out, or give the whole path.")
	}
	if err := checkText("reason", in.Reason, maxReasonLetters); err != nil {
		return draft, approval, err
	}
	if in.Expires != "" {
		within, err := c3po.ParseDuration(in.Expires)
		if err != nil {
			return draft, approval, err
		}
		if within < minDeadline || within > maxApprovalLife {
			return draft, approval, refuse("expires is %q; it must be between 1s and 24h", in.Expires)
		}
		draft.Within = within
	}
	draft.Key = c3po.ApprovalKey(in.Request)
	var err error
	approval.Hash, err = c3po.ApprovalHash(in.Tool, in.Input)
	return draft, approval, err
}

// approvalText is the question as a person reads it.
func approvalText(a c3po.Approval) string {
	where := ""
	if a.Folder != "" {
		where += " in " + toolinput.Folder(a.Folder)
	}
	if a.Host != "" {
		where += " on " + a.Host
	}
	return fmt.Sprintf("Allow %s%s?\n\n%s", a.Tool, where, toolinput.Text(a.Input))
}

// yesWords begin what a person may mean as a yes. An answer in own words denies, so they are
// asked what they mean.
var yesWords = []string{"y", "yes", "yeah", "yep", "ok", "okay", "allow", "allowed", "approve", "approved", "go", "sure", "fine", "proceed", "lgtm", "do"}

// maxYesWords is how many words such a yes has at the most.
const maxYesWords = 3

func maybeYes(response string) bool {
	words := strings.FieldsFunc(strings.ToLower(response), func(r rune) bool { return !unicode.IsLetter(r) })
	return len(words) > 0 && len(words) <= maxYesWords && slices.Contains(yesWords, words[0])
}

// judge turns what a person answers to an approval into the verdict on it. It refuses to
// decide what is decided, withdrawn or expired, or whose session is gone. Only a choice
// allows: words may be meant as anything.
func (s spaceHub) judge(ctx context.Context, entry store.Entry, response string, chosen bool) (store.Draft, error) {
	draft := store.Draft{From: c3po.Human, Status: c3po.ReplySuccess, ContentType: c3po.VerdictType}
	id := entry.Message.ID
	approval, ok := entry.Message.Approval()
	if !ok {
		return draft, c3po.Errorf(c3po.Internal, "the request %s is damaged in the store", id).Suggest("Decide it at the agent's terminal.")
	}
	now, err := s.hub.store.Now(ctx)
	if err != nil {
		return draft, err
	}
	records, err := s.hub.store.Agents(ctx, s.space, []c3po.AgentID{entry.Message.FromAgent})
	if err != nil {
		return draft, err
	}
	const tooLate = "Nothing was allowed or denied by this answer."
	switch {
	case len(entry.Facts.Answers) > 0 && !s.decidedSo(ctx, id, response):
		return draft, c3po.Errorf(c3po.InvalidRequest, "the request %s is decided already", id).Suggest(tooLate)
	case !now.Before(approval.Expires):
		return draft, c3po.Errorf(c3po.InvalidRequest, "the request %s has expired", id).Suggest(tooLate)
	case !entry.Facts.Cancelled.IsZero():
		return draft, c3po.Errorf(c3po.InvalidRequest, "the request %s was withdrawn: it was decided at the agent's terminal, or its turn has ended", id).Suggest(tooLate)
	case len(records) == 0 || entry.Facts.AskedBy != "" && records[0].Run != entry.Facts.AskedBy || !records[0].Died.IsZero() || records[0].Gone:
		return draft, c3po.Errorf(c3po.InvalidRequest, "the session that asked %s has ended", id).Suggest(tooLate)
	case !chosen && maybeYes(response):
		return draft, c3po.Errorf(c3po.InvalidRequest, "%q is none of the choices, and own words deny", response).
			Suggest("Choose 1 to allow it once, or 2 to deny it.")
	}
	// One key for all answers: the store takes the first, and the same again.
	draft.Key = "verdict:" + approval.Request
	draft.Metadata, err = json.Marshal(verdictOn(approval, chosen && response == c3po.AllowOnce))
	return draft, err
}

// verdictOn decides exactly what was asked.
func verdictOn(a c3po.Approval, allow bool) c3po.Verdict {
	return c3po.Verdict{Allow: allow, Tool: a.Tool, Hash: a.Hash, Session: a.Session, Request: a.Request, Folder: a.Folder, Expires: a.Expires}
}

// approvalChoices are what a person is offered.
func approvalChoices() []string { return []string{c3po.AllowOnce, c3po.Deny} }

// decidedSo says that a request was decided in these words: whoever repeats them did not
// hear that they were taken.
func (s spaceHub) decidedSo(ctx context.Context, id c3po.MessageID, response string) bool {
	answers, err := s.hub.store.Answers(ctx, s.space, id)
	return err == nil && len(answers) > 0 && !answers[0].Corrupt && answers[0].Message.Response == response
}
