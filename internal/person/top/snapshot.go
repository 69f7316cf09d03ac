package top

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"slices"
	"time"

	"github.com/c3po-dev/c3po/c3po"
)

// A Source is a coordinator as the view needs it. A *client.Client is one.
type Source interface {
	ServerInfo(context.Context, c3po.None) (c3po.ServerInfo, error)
	ListAgents(context.Context, c3po.ListAgentsInput) (c3po.AgentList, error)
	Tickets(context.Context, c3po.TicketsInput) (c3po.TicketList, error)
	Stuck(context.Context, c3po.None) (c3po.Stuck, error)
	SendMessage(context.Context, c3po.SendInput) (c3po.Receipt, error)
	HumanList(context.Context, c3po.GetMessagesInput) (c3po.MessageList, error)
	Passkeys(context.Context) (c3po.Passkeys, error)
	HumanAnswer(context.Context, c3po.AnswerInput) (c3po.Message, error)
	Pause(context.Context, c3po.PauseInput) (c3po.PauseResult, error)
	Resume(context.Context, c3po.PauseInput) (c3po.PauseResult, error)
	TailLog(context.Context, c3po.LogInput) (c3po.LogPage, error)
	Events(context.Context, *c3po.EventCursor) iter.Seq2[c3po.StreamEvent, error]
	// Lost says that the last attempt to reach the coordinator brought no answer.
	Lost() bool
	// URL is where the coordinator is.
	URL() string
}

const (
	// maxRows bounds what is read of each list: nobody looks at more.
	maxRows = 1000
	// maxEvents bounds the flow that is kept.
	maxEvents = 500
)

// A Snapshot is all there is to see at one time.
type Snapshot struct {
	Space     c3po.Space    `json:"space"`
	ReadOnly  bool          `json:"read_only"` // the caller may not answer or pause
	Questions []Question    `json:"questions"` // what agents ask the person, the most urgent first
	Agents    []c3po.Agent  `json:"agents"`    // those that are online first
	Tickets   []c3po.Ticket `json:"tickets"`   // open ones among agents, the oldest first
	Events    []c3po.Event  `json:"events"`    // the latest, the oldest first
	// PasskeysEnd is when all passkeys are forgotten, if somebody asked for that.
	PasskeysEnd time.Time `json:"passkeys_end,omitzero"`
	// More says that there are more rows than were read.
	More bool `json:"more,omitempty"`

	at c3po.EventCursor
}

// A Question is one that waits for the person. Its text is only known to those
// who may answer it.
type Question struct {
	ID   c3po.MessageID `json:"id"`
	From c3po.AgentID   `json:"from_agent"`
	At   time.Time      `json:"at"`
	Text string         `json:"text,omitempty"`
	Why  string         `json:"why,omitempty"` // what the agent says about it, if the question alone does not
	// Choices are answers to choose from. The person may answer in own words.
	Choices  []string  `json:"choices,omitempty"`
	Deadline time.Time `json:"deadline,omitzero"` // when the person is reminded
	Frees    int       `json:"frees,omitempty"`   // agents that wait behind its asker
	Informs  bool      `json:"informs,omitempty"` // it expects no answer
	Permits  bool      `json:"permits,omitempty"` // it asks for permission: own words deny
}

// Look reads a snapshot. Which tickets are looked at is as in
// c3po.TicketsInput.
func Look(ctx context.Context, source Source, which string) (Snapshot, error) {
	info, err := source.ServerInfo(ctx, c3po.None{})
	if err != nil {
		return Snapshot{}, err
	}
	s := Snapshot{Space: info.Space}
	// The log first: what happens while the rest is read is read again.
	log, err := source.TailLog(ctx, c3po.LogInput{Limit: 100})
	if err != nil {
		return Snapshot{}, err
	}
	s.Events = append([]c3po.Event{}, log.Events...)
	if s.at, err = c3po.ParseEventCursor(log.At); err != nil {
		return Snapshot{}, err
	}
	return s, s.read(ctx, source, which)
}

// read reads all but the log.
func (s *Snapshot) read(ctx context.Context, source Source, which string) error {
	agents, err := source.ListAgents(ctx, c3po.ListAgentsInput{Limit: maxRows})
	if err != nil {
		return err
	}
	s.Agents = append([]c3po.Agent{}, agents.Agents...)
	slices.SortStableFunc(s.Agents, func(a, b c3po.Agent) int {
		return cmp.Or(cmp.Compare(presence(a), presence(b)), cmp.Compare(a.ID, b.ID))
	})
	tickets, err := source.Tickets(ctx, c3po.TicketsInput{Which: which, State: c3po.TicketsOpen, Limit: maxRows})
	if err != nil && !errors.Is(err, c3po.Forbidden) {
		return err
	}
	s.More = agents.Next != "" || tickets.Next != ""
	s.Tickets, s.Questions = []c3po.Ticket{}, []Question{}
	slices.Reverse(tickets.Tickets)
	for _, t := range tickets.Tickets {
		if t.ToAgent == c3po.Human {
			s.Questions = append(s.Questions, Question{ID: t.ID, From: t.FromAgent, At: t.CreatedAt, Deadline: t.Deadline})
		} else {
			s.Tickets = append(s.Tickets, t)
		}
	}
	if err := s.readQuestions(ctx, source); err != nil {
		return err
	}
	stuck, err := source.Stuck(ctx, c3po.None{})
	if err != nil && !errors.Is(err, c3po.Forbidden) {
		return err
	}
	s.More = s.More || stuck.More
	s.arrange(stuck)
	return nil
}

// readQuestions reads what the person is asked, with its text. Who may not read
// that sees from the tickets who asks.
func (s *Snapshot) readQuestions(ctx context.Context, source Source) error {
	mail, err := source.HumanList(ctx, c3po.GetMessagesInput{Limit: maxRows})
	if s.ReadOnly = errors.Is(err, c3po.Forbidden); err != nil {
		if s.ReadOnly {
			return nil
		}
		return err
	}
	s.More = s.More || mail.Next != ""
	if passkeys, err := source.Passkeys(ctx); err == nil { // an older coordinator has none
		s.PasskeysEnd = passkeys.ResetAt
	}
	s.Questions = []Question{}
	for _, m := range mail.Messages {
		s.Questions = append(s.Questions, QuestionOf(m))
	}
	return nil
}

// QuestionOf is a message to the person as it is listed.
func QuestionOf(m c3po.Message) Question {
	return Question{
		ID: m.ID, From: m.FromAgent, At: m.Timestamp, Text: m.Text(), Why: m.Context, Choices: m.Choices, Deadline: m.Deadline,
		Informs: !m.AsksPerson() && !m.ExpectsReply, Permits: m.Kind == c3po.KindApproval,
	}
}

// presence sorts agents: those that are there first.
func presence(a c3po.Agent) int {
	if a.Status == c3po.Online {
		return 0
	}
	return 1
}
