package c3po

import "time"

// Limits are the numbers of the product. DefaultLimits is the one place that
// sets them; a zero in a field that says so switches the limit off. In c3po.yaml
// each is set under limits by its name with underscores: sends_per_minute.
type Limits struct {
	Characters     int           // of a message, a response or a context, each
	MetadataBytes  int           // of a message's or an agent's metadata, as JSON
	BatchIDs       int           // message ids in one ack
	SendsPerMinute int           `zero:"off"` // of one agent; 0 = off
	InboxMessages  int           // unacked messages in one inbox
	InboxBytes     int           // their bytes
	PersonMessages int           `zero:"off"` // kept free for a person in every inbox, beyond InboxMessages; 0 = off
	PersonBytes    int           `zero:"off"` // likewise, beyond InboxBytes; 0 = off
	SpaceBytes     int           `zero:"off"` // of all unacked messages of a space; 0 = off
	SenderShare    int           // one sender may hold 1/SenderShare of an inbox
	Rooms          int           // of one space
	AgentRooms     int           // that one agent is in
	RoomPosts      int           // kept of one room
	RoomBytes      int           // their bytes, about
	FileBytes      int           // of one file that travels with a message
	SpaceFileBytes int           // of all files of a space; one agent may hold half of it
	MessageFiles   int           // that travel with one message
	FileLife       time.Duration // of a file that no message carries
	RoomLife       time.Duration `zero:"off"` // a room without members, in which nothing was said for so long, ends; 0 = off
	ChainMessages  int           `zero:"off"` // an hour, of a thread and what follows from it; 0 = off
	ChainBytes     int           `zero:"off"` // an hour, likewise; 0 = off
	ChainHops      int           `zero:"off"` // likewise, since a person had a part in it; 0 = off
	ChainTokens    int           `zero:"off"` // an hour, likewise, as the agents' clients report them; 0 = off
	PairMessages   int           `zero:"off"` // an hour, between two agents; 0 = off
	PairBytes      int           `zero:"off"` // an hour, between two agents; 0 = off
	AgentMessages  int           `zero:"off"` // an hour, of one agent, answers too; 0 = off
	AgentBytes     int           `zero:"off"` // an hour, of one agent; 0 = off
	TokenAgents    int           `zero:"off"` // new ones an hour, of one token on one coordinator; 0 = off
	TokenMessages  int           `zero:"off"` // an hour, of one token under all names, on one coordinator; 0 = off
	TokenBytes     int           `zero:"off"` // an hour, likewise; 0 = off
	TokenQuestions int           `zero:"off"` // an hour, likewise: what is written to the person, answers aside; 0 = off
	TokenWaits     int           `zero:"off"` // under way at once, likewise; 0 = off
	TokenStreams   int           `zero:"off"` // of events, open at once, likewise; 0 = off
	TokenCalls     int           `zero:"off"` // a second, of one token, as long as it goes on; 0 = off
	SameTexts      int           `zero:"off"` // the same text to the same agent so often within SameTextWindow; 0 = off
	SameTextWindow time.Duration // for SameTexts
	MessageLife    time.Duration // unacked, then dead letter
	KeyLife        time.Duration // of an idempotency key
	RepeatWindow   time.Duration // the same text without a key is the same message for so long
	EndedLife      time.Duration // of a message that has ended
	TicketLife     time.Duration // of a ticket of the bridge dialect, from its end on
	EndedBytes     int           // of all ended messages of a space
	DeadLife       time.Duration // of a dead letter
	RetireAfter    time.Duration // an agent that was silent for so long is forgotten; 0 = never
	NameLife       time.Duration // a bare name points to one agent for so long
	EventEntries   int           // of the event log of a space
	OnlineWindow   time.Duration // a caller without a connection is online for so long
	NodeLease      time.Duration // of a coordinator that holds connections
	ClaimLease     time.Duration // of a role's message, from the last sign of life of who claimed it
	LeaseIdle      time.Duration // of a file's lease, from the last sign of its holder's work
	LeaseOffline   time.Duration // of a file's lease whose holder is offline
	SeenEvery      time.Duration // last_seen is written at most so often
	WaitDefault    time.Duration
	MaxWait        time.Duration
	WaitsPerAgent  int           `zero:"off"` // under way at once, of one agent on one coordinator; 0 = off
	Streams        int           `zero:"off"` // of events, open at once on one coordinator; 0 = off
	Connections    int           `zero:"off"` // to one coordinator; 0 = off
	PageItems      int           // of a list, when the caller does not say
	MaxPageItems   int           // of a list, whatever the caller says
	PageBytes      int           // of message bodies in one page
	ReapEvery      time.Duration // how often the reaper looks
	CompareEvery   time.Duration `zero:"off"` // how often a node checks that it missed no wake; 0 = off
}

// Unbudgeted are the same limits without a rate and without the budgets that end
// loops, for who measures or trusts its agents.
func (l Limits) Unbudgeted() Limits {
	l.SendsPerMinute, l.SameTexts = 0, 0
	l.ChainMessages, l.ChainBytes, l.ChainHops, l.ChainTokens = 0, 0, 0, 0
	l.PairMessages, l.PairBytes, l.AgentMessages, l.AgentBytes = 0, 0, 0, 0
	l.TokenAgents, l.TokenMessages, l.TokenBytes, l.TokenQuestions, l.TokenCalls = 0, 0, 0, 0, 0
	return l
}

// Inbox is how many messages and bytes an inbox may hold with one more of this
// sender, and which part of it the sender's own may be. What agents fill never
// shuts a person out: there is a reserve only a person writes to.
func (l Limits) Inbox(from AgentID) (messages, bytes, share int) {
	if from == Human {
		return l.InboxMessages + l.PersonMessages, l.InboxBytes + l.PersonBytes, 1
	}
	return l.InboxMessages, l.InboxBytes, l.SenderShare
}

// DefaultLimits is what a coordinator runs with.
func DefaultLimits() Limits {
	return Limits{
		Characters:     50_000,
		MetadataBytes:  4 << 10,
		BatchIDs:       200,
		SendsPerMinute: 10,
		InboxMessages:  10_000,
		InboxBytes:     64 << 20,
		PersonMessages: 100,
		PersonBytes:    4 << 20,
		SpaceBytes:     1 << 30,
		SenderShare:    4,
		Rooms:          10_000,
		AgentRooms:     100,
		RoomPosts:      10_000,
		RoomBytes:      64 << 20,
		FileBytes:      50 << 20,
		SpaceFileBytes: 1 << 30,
		MessageFiles:   10,
		FileLife:       time.Hour,
		RoomLife:       30 * 24 * time.Hour,
		ChainMessages:  40,
		ChainBytes:     4 << 20,
		ChainHops:      200,
		ChainTokens:    20_000_000,
		PairMessages:   600,
		PairBytes:      32 << 20,
		AgentMessages:  2_000,
		AgentBytes:     128 << 20,
		TokenAgents:    500,
		TokenMessages:  8_000,
		TokenBytes:     512 << 20,
		TokenQuestions: 240,
		TokenWaits:     2_000,
		TokenStreams:   100,
		TokenCalls:     200,
		SameTexts:      2,
		SameTextWindow: 10 * time.Minute,
		MessageLife:    24 * time.Hour,
		KeyLife:        24 * time.Hour,
		RepeatWindow:   30 * time.Second,
		EndedLife:      7 * 24 * time.Hour,
		TicketLife:     30 * time.Minute,
		EndedBytes:     256 << 20,
		DeadLife:       30 * 24 * time.Hour,
		RetireAfter:    7 * 24 * time.Hour,
		NameLife:       24 * time.Hour,
		EventEntries:   100_000,
		OnlineWindow:   90 * time.Second,
		NodeLease:      60 * time.Second,
		ClaimLease:     15 * time.Minute,
		LeaseIdle:      30 * time.Minute,
		LeaseOffline:   5 * time.Minute,
		SeenEvery:      30 * time.Second,
		WaitDefault:    60 * time.Second,
		MaxWait:        3600 * time.Second,
		WaitsPerAgent:  64,
		Streams:        1000,
		Connections:    30_000,
		PageItems:      100,
		MaxPageItems:   1000,
		PageBytes:      1 << 20,
		ReapEvery:      60 * time.Second,
		CompareEvery:   5 * time.Second,
	}
}
