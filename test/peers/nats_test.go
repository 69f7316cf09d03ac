package peers

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/c3po-dev/c3po/tools/bench"
)

// Two servers: one syncs every message to the disk before it acknowledges it, as c3po is
// measured. The other is as it comes, and syncs every two minutes: what it acknowledged
// since then does not outlast a power cut.
const (
	syncedNATS  = "nats"
	defaultNATS = "nats-default"
)

// serveNATS is the other process. It ends with its input.
func serveNATS(folder string) error {
	s, err := server.NewServer(&server.Options{
		Host: "127.0.0.1", Port: server.RANDOM_PORT, JetStream: true, StoreDir: folder, SyncAlways: os.Getenv(peerName) == syncedNATS, NoSigs: true,
	})
	if err != nil {
		return err
	}
	go s.Start()
	if !s.ReadyForConnections(startTimeout) {
		return errors.New("it did not start")
	}
	fmt.Println(s.ClientURL())
	_, err = io.Copy(io.Discard, os.Stdin)
	s.Shutdown()
	s.WaitForShutdown()
	return err
}

const streamName = "mail"

// A natsDoor is one stream on disk that keeps each message until it is acked,
// with a consumer for each mailbox.
type natsDoor struct {
	*process
	consumers map[string]bool
}

func peerNATS(name string) bench.Peer {
	return bench.Peer{Name: name, Start: func(ctx context.Context, mailboxes []string) (bench.PeerDoor, error) {
		p, err := startProcess(name)
		if err != nil {
			return nil, err
		}
		d := &natsDoor{process: p, consumers: map[string]bool{}}
		if err := d.prepare(ctx, mailboxes); err != nil {
			return nil, errors.Join(err, d.Close())
		}
		return d, nil
	}}
}

func (d *natsDoor) prepare(ctx context.Context, mailboxes []string) error {
	conn, err := nats.Connect(d.address)
	if err != nil {
		return err
	}
	defer conn.Close()
	js, err := jetstream.New(conn)
	if err != nil {
		return err
	}
	if _, err := js.CreateStream(ctx, jetstream.StreamConfig{
		Name: streamName, Subjects: []string{streamName + ".>"}, Storage: jetstream.FileStorage, Retention: jetstream.WorkQueuePolicy,
	}); err != nil {
		return err
	}
	for _, name := range mailboxes {
		if !strings.HasPrefix(name, "helper") {
			continue // only those are written to
		}
		d.consumers[name] = true
		if _, err := js.CreateConsumer(ctx, streamName, jetstream.ConsumerConfig{
			Durable: name, FilterSubject: streamName + "." + name, AckPolicy: jetstream.AckExplicitPolicy, AckWait: time.Minute,
		}); err != nil {
			return err
		}
	}
	return nil
}

// Open connects once for each agent, as ours do.
func (d *natsDoor) Open(ctx context.Context, name string) (bench.PeerSeat, error) {
	conn, err := nats.Connect(d.address)
	if err != nil {
		return nil, err
	}
	context.AfterFunc(ctx, conn.Close)
	s := &natsSeat{name: name}
	if s.js, err = jetstream.New(conn); err != nil || !d.consumers[name] {
		return s, err
	}
	consumer, err := s.js.Consumer(ctx, streamName, name)
	if err != nil {
		return nil, err
	}
	s.mail, err = consumer.Messages()
	return s, err
}

type natsSeat struct {
	name string
	js   jetstream.JetStream
	mail jetstream.MessagesContext
	sent int
}

// Send has an id of its own for each message, by which a repeat is known.
func (s *natsSeat) Send(ctx context.Context, to, text string) error {
	s.sent++
	_, err := s.js.Publish(ctx, streamName+"."+to, []byte(text), jetstream.WithMsgID(fmt.Sprintf("%s-%d", s.name, s.sent)))
	return err
}

// Take gives an ack that returns when the server has taken it.
func (s *natsSeat) Take(context.Context) (ack func(context.Context) error, err error) {
	m, err := s.mail.Next()
	if err != nil {
		return nil, err
	}
	return m.DoubleAck, nil
}
