package hub

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"reflect"
	"slices"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/node"
	"github.com/c3po-dev/c3po/internal/store"
)

// A Notary knows what a person has signed, whatever the store says of it.
type Notary interface {
	// Demands says whether an act of a person needs a passkey.
	Demands(ctx context.Context, operation string) (bool, error)
	// Signed gives the act that a proof is of, and the proof as it is now: false if no passkey
	// that works has signed it.
	Signed(ctx context.Context, claimed c3po.Proof) (c3po.Act, c3po.Proof, bool, error)
	// Withheld writes down that a message in the person's name was given to nobody.
	Withheld(ctx context.Context, space c3po.Space, id c3po.MessageID)
}

// withheldText is what is handed out instead of an answer, or a message, in a person's name that
// no passkey of theirs has signed.
const withheldText = "Something was stored here in your user's name, but no passkey has confirmed it. It is withheld and counts for nothing: nothing was answered, allowed or denied by it."

// A vouchedStore is the store, whose word about what a person wrote is not taken: an agent that has
// the password of Redis can write there. Every message is read through it, so no reader has to
// remember.
//
//   - A person's message is proved only if a passkey has signed exactly it. Where that is demanded,
//     one that is not proved is withheld.
//   - What a person is asked to allow is worded anew from the tool and its input.
//   - What goes back to a proved word goes back to one that is proved now.
type vouchedStore struct {
	node.FreshStore
	notary Notary // nil: nobody has passkeys here
}

// vouch corrects what the store says of one message.
func (s vouchedStore) vouch(ctx context.Context, space c3po.Space, e *store.Entry) error {
	m := &e.Message
	switch {
	case e.Corrupt || e.BodyGone:
		return nil
	case m.Kind == c3po.KindApproval:
		e.Corrupt = !reword(m)
		return nil
	case s.notary == nil || m.ID.Room() != "":
		return nil
	case m.FromAgent == c3po.Human:
		return s.vouchPerson(ctx, space, e)
	case m.GoesBackTo != nil:
		return s.vouchWord(ctx, space, m)
	}
	return nil
}

// reword makes what a person reads of a request from what they would allow. It says whether the
// request is whole: its hash is that of its tool and input.
func reword(m *c3po.Message) bool {
	approval, ok := m.Approval()
	if !ok {
		return false
	}
	hash, err := c3po.ApprovalHash(approval.Tool, approval.Input)
	if err != nil || hash != approval.Hash {
		return false
	}
	m.Message, m.Choices = approvalText(approval), approvalChoices()
	return true
}

// vouchPerson looks whether a person's message is theirs.
func (s vouchedStore) vouchPerson(ctx context.Context, space c3po.Space, e *store.Entry) error {
	m := &e.Message
	claimed, word := m.Proof, m.GoesBackTo
	m.Proof = nil
	if claimed != nil {
		act, proof, ok, err := s.notary.Signed(ctx, *claimed)
		if err != nil {
			return err
		}
		if ok {
			if ok, err = s.saysSo(ctx, space, act, *m); err != nil {
				return err
			}
		}
		if ok {
			m.Proof = &proof
			if word != nil { // handed on, it goes back to itself
				m.GoesBackTo = &c3po.Word{ID: word.ID, At: word.At, Passkey: proof.Passkey}
			}
			return nil
		}
	}
	operation := "send_message"
	answers := m.Kind == c3po.KindReply || m.MessageID != ""
	if answers {
		operation = "human_answer"
	}
	demanded, err := s.notary.Demands(ctx, operation)
	if err != nil {
		return err
	}
	// What is said in a room comes as mail to those it names, and has no proof of its own.
	if demanded && (answers || m.Room == "") {
		withhold(e)
		s.notary.Withheld(ctx, space, m.ID)
		return nil
	}
	if word != nil {
		m.GoesBackTo = &c3po.Word{ID: word.ID, At: word.At}
	}
	return nil
}

// withhold leaves of a message in the person's name that there is one.
func withhold(e *store.Entry) {
	m := &e.Message
	e.Withheld = cmp.Or(m.Text(), "nothing")
	m.FromAgent, m.ExpectsReply = c3po.System, false
	m.Context, m.ContentType, m.Metadata, m.Attachments, m.HandedTo, m.GoesBackTo = "", "", nil, nil, "", nil
	if m.Kind == c3po.KindReply {
		m.Response, m.Status = withheldText, c3po.ReplyError
		return
	}
	m.Message = withheldText
}

// disclosed is a message for somebody who may read everything: what was withheld is shown as that.
func disclosed(e store.Entry) c3po.Message {
	m := e.Message
	switch {
	case e.Withheld == "":
	case m.Kind == c3po.KindReply:
		m.Response += "\n\nIt says: " + e.Withheld
	default:
		m.Message += "\n\nIt says: " + e.Withheld
	}
	return m
}

// vouchWord looks whether what a message goes back to was confirmed with a passkey, if the store
// says so. If it was not, it goes back to nobody.
func (s vouchedStore) vouchWord(ctx context.Context, space c3po.Space, m *c3po.Message) error {
	claimed := *m.GoesBackTo
	if claimed.Passkey == "" {
		demanded, err := s.notary.Demands(ctx, "send_message")
		if demanded {
			m.GoesBackTo = nil
		}
		return err
	}
	m.GoesBackTo = nil
	entry, err := s.FreshStore.Message(ctx, space, claimed.ID)
	if err != nil || entry == nil || entry.Corrupt || entry.BodyGone || entry.Message.FromAgent != c3po.Human {
		return err
	}
	if err := s.vouchPerson(ctx, space, entry); err != nil {
		return err
	}
	if proof := entry.Message.Proof; proof != nil {
		m.GoesBackTo = &c3po.Word{ID: entry.Message.ID, At: entry.Message.Timestamp, Passkey: proof.Passkey}
	}
	return nil
}

// saysSo says that what was signed is this message and nothing else.
func (s vouchedStore) saysSo(ctx context.Context, space c3po.Space, act c3po.Act, m c3po.Message) (bool, error) {
	// Arguments of which the person saw something else than counts are nobody's word.
	takes := c3po.Operation{In: argumentsOf[act.Operation]}
	if act.Space != space || takes.CheckNames(act.Arguments) != nil {
		return false, nil
	}
	if isAnswer(act.Operation) {
		if m.Kind != c3po.KindReply {
			return false, nil
		}
		return s.answersSo(ctx, space, act, m)
	}
	said := stringsIn(act.Arguments)
	if m.Kind == c3po.KindReply || !slices.Contains(said, m.Message) || m.Context != "" && !slices.Contains(said, m.Context) {
		return false, nil
	}
	if act.Operation != "send_message" || m.Ticket != "" {
		return true, nil
	}
	in, err := c3po.DecodeOpen[c3po.SendInput](act.Arguments)
	if err != nil {
		return false, nil
	}
	return s.isTarget(ctx, space, in.Target, m.ToAgent)
}

// argumentsOf are those of the operations by which a person writes.
var argumentsOf = map[string]reflect.Type{
	"human_answer": reflect.TypeFor[c3po.AnswerInput](), "reply": reflect.TypeFor[c3po.ReplyInput](), "send_message": reflect.TypeFor[c3po.SendInput](),
}

// isAnswer says that an act is the answer to a question, which is signed with it.
func isAnswer(operation string) bool { return operation == "human_answer" || operation == "reply" }

// answersSo compares an answer with what was signed: the question as it is now, the words, and the
// verdict if it is one.
func (s vouchedStore) answersSo(ctx context.Context, space c3po.Space, act c3po.Act, m c3po.Message) (bool, error) {
	in, err := c3po.DecodeOpen[c3po.AnswerInput](act.Arguments)
	if err != nil || checkID(in.MessageID) != nil {
		return false, nil
	}
	entry, err := s.FreshStore.Message(ctx, space, in.MessageID)
	if err != nil || entry == nil || entry.Corrupt || entry.BodyGone {
		return false, err
	}
	question := entry.Message
	if question.Kind == c3po.KindApproval && !reword(&question) {
		return false, nil
	}
	isAbout := question.ToAgent == c3po.Human && (m.MessageID == question.ID || m.MessageID == question.Ticket && question.Ticket != "")
	isSaid := act.Asker == question.FromAgent && act.Kind == question.Kind && act.Question == question.Text() && act.Answer == m.Response
	return isAbout && isSaid && sameVerdict(act.Verdict, m) && nothingMore(act, m), nil
}

// sameVerdict says that an answer decides what was signed, and nothing if that decides nothing.
func sameVerdict(signed *c3po.Verdict, m c3po.Message) bool {
	got, isVerdict := m.Verdict()
	if signed == nil || !isVerdict {
		return signed == nil && m.ContentType != c3po.VerdictType
	}
	want := *signed
	sameEnd := want.Expires.Equal(got.Expires)
	want.Expires = got.Expires
	return sameEnd && want == got
}

// nothingMore says that an answer carries nothing beside its words that was not signed.
func nothingMore(act c3po.Act, m c3po.Message) bool {
	if m.Context != "" {
		return false
	}
	var in c3po.ReplyInput
	if act.Operation == "reply" {
		var err error
		if in, err = c3po.DecodeOpen[c3po.ReplyInput](act.Arguments); err != nil {
			return false
		}
	}
	if len(in.Attach) != len(m.Attachments) || in.HandedTo != m.HandedTo {
		return false
	}
	return m.ContentType == c3po.VerdictType || in.ContentType == m.ContentType && bytes.Equal(compact(in.Metadata), compact(m.Metadata))
}

func compact(raw json.RawMessage) []byte {
	var out bytes.Buffer
	if json.Compact(&out, raw) != nil {
		return raw
	}
	return out.Bytes()
}

// isTarget says that somebody who wrote to a target has written to this agent.
func (s vouchedStore) isTarget(ctx context.Context, space c3po.Space, target string, to c3po.AgentID) (bool, error) {
	if name, brief := c3po.BriefName(target); brief {
		return name == to.Name(), nil
	}
	id, err := c3po.ParseTarget(target)
	if err != nil {
		return false, nil
	}
	for range maxRenamings {
		if id == to || id.Host() == "" && id.Name() == to.Name() {
			return true, nil
		}
		next, _, err := s.Renamed(ctx, space, id)
		if err != nil || next == "" {
			return false, err
		}
		id = next
	}
	return false, nil
}

// stringsIn are the texts among the values of an object.
func stringsIn(object json.RawMessage) (all []string) {
	var fields map[string]any
	if json.Unmarshal(object, &fields) != nil {
		return nil
	}
	for _, value := range fields {
		if text, ok := value.(string); ok {
			all = append(all, text)
		}
	}
	return all
}
