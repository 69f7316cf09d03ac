package bench

import (
	"context"
	"errors"
	"os"

	"github.com/c3po-dev/c3po/c3po"
)

// A Peer is another system that carries messages. It is measured beside ours, in
// the rounds of Deliver.
type Peer struct {
	Name string
	// Start readies it for messages to these mailboxes.
	Start func(ctx context.Context, mailboxes []string) (PeerDoor, error)
}

// A PeerDoor is the way into a peer that runs.
type PeerDoor interface {
	// Open gives the seat of one agent, which ends with ctx.
	Open(ctx context.Context, name string) (PeerSeat, error)
	// PID is the process whose time is told.
	PID() int
	Close() error
}

// A PeerSeat is an agent at a peer. It is used by one goroutine.
type PeerSeat interface {
	// Send returns when the message is stored.
	Send(ctx context.Context, to, text string) error
	// Take waits for a message, and gives what acks it.
	Take(ctx context.Context) (ack func(context.Context) error, err error)
}

// A peerSeat does what Deliver asks of a seat, and nothing else is asked of it.
type peerSeat struct {
	seat
	at    PeerSeat
	taken func(context.Context) error
}

func (s *peerSeat) send(ctx context.Context, to c3po.AgentID, text string) (c3po.MessageID, error) {
	return "", s.at.Send(ctx, string(to), text)
}

func (s *peerSeat) next(ctx context.Context) (c3po.MessageID, error) {
	var err error
	s.taken, err = s.at.Take(ctx)
	return "", err
}

func (s *peerSeat) ack(ctx context.Context, _ c3po.MessageID) error { return s.taken(ctx) }

// peerRound measures a peer once.
func (cfg Config) peerRound(ctx context.Context, peer Peer) (s sample, err error) {
	st := stage{cfg: cfg}
	plot := scenarioOf(Deliver)
	var mailboxes []string
	for _, id := range plot.cast(st) {
		mailboxes = append(mailboxes, string(id))
	}
	door, err := peer.Start(ctx, mailboxes)
	if err != nil {
		return sample{}, err
	}
	defer func() { err = errors.Join(err, door.Close()) }()
	ctx, cut := context.WithCancel(ctx)
	defer cut()
	st.open = func(ctx context.Context, id c3po.AgentID) (seat, error) {
		at, err := door.Open(ctx, string(id))
		return &peerSeat{at: at}, err
	}
	loops, err := plot.loops(ctx, st)
	if err != nil {
		return sample{}, err
	}
	m := measurement{
		groups: []group{{Deliver, loops}}, length: cfg.slice(), most: maxRoundBytes / cfg.Size,
		processes: map[string]int{ProcessBench: os.Getpid(), ProcessCoordinator: door.PID()},
	}
	return m.measure(ctx, cut)
}
