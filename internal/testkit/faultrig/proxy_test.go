package faultrig_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

// dial opens a connection on which a line out brings a line back.
func dial(t *testing.T, addr string) *conversation {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return &conversation{conn: conn, answers: bufio.NewReader(conn)}
}

type conversation struct {
	conn    net.Conn
	answers *bufio.Reader
}

// say sends a command and gives the first line of its answer.
func (c *conversation) say(command string, patience time.Duration) (string, error) {
	if _, err := fmt.Fprintf(c.conn, "%s\r\n", command); err != nil {
		return "", err
	}
	if err := c.conn.SetReadDeadline(time.Now().Add(patience)); err != nil {
		return "", err
	}
	line, err := c.answers.ReadString('\n')
	return strings.TrimSpace(line), err
}

const (
	aMoment = 50 * time.Millisecond
	aWhile  = 40 * time.Second // less than a wait takes, which ends with a look
)

func TestTheProxyLosesTheAnswerButNotTheDeed(t *testing.T) {
	t.Parallel()
	redis := redistest.Start(t)
	proxy := faultrig.NewProxy(t, redis)
	proxy.LoseAnswer("the-marked-one")
	c := dial(t, proxy.Addr())
	if got, err := c.say("INCR plain", aWhile); got != ":1" || err != nil {
		t.Fatalf("%q, %v", got, err)
	}
	if got, err := c.say("INCR the-marked-one", aWhile); !errors.Is(err, io.EOF) {
		t.Errorf("the answer came through: %q, %v", got, err)
	}
	if got, err := redistest.Do(redis, "GET", "the-marked-one"); got != "1" || err != nil {
		t.Errorf("it was not carried out: %v, %v", got, err)
	}
	if got, err := dial(t, proxy.Addr()).say("INCR the-marked-one", aWhile); got != ":2" || err != nil {
		t.Errorf("the repeat was touched too: %q, %v", got, err)
	}
	if proxy.Lost() != 1 {
		t.Errorf("%d answers lost, want 1", proxy.Lost())
	}
}

func TestTheProxyFindsAMarkInTwoPieces(t *testing.T) {
	t.Parallel()
	redis := redistest.Start(t)
	proxy := faultrig.NewProxy(t, redis)
	proxy.LoseAnswer("the-marked-one")
	c := dial(t, proxy.Addr())
	if _, err := c.say("PING", aWhile); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(c.conn, "INCR the-mar"); err != nil {
		t.Fatal(err)
	}
	// The second piece is written once the first has come through.
	if _, err := dial(t, proxy.Addr()).say("PING", aWhile); err != nil {
		t.Fatal(err)
	}
	if got, err := c.say("ked-one", aWhile); !errors.Is(err, io.EOF) {
		t.Errorf("the answer came through: %q, %v", got, err)
	}
}

func TestTheProxyDelaysCutsAndSwallows(t *testing.T) {
	t.Parallel()
	redis := redistest.Start(t)
	proxy := faultrig.NewProxy(t, redis)

	began := time.Now()
	proxy.Delay(aMoment)
	if got, err := dial(t, proxy.Addr()).say("PING", aWhile); got != "+PONG" || err != nil || time.Since(began) < 2*aMoment {
		t.Errorf("with a delay each way: %q, %v after %s", got, err, time.Since(began))
	}
	proxy.Heal()

	silent := dial(t, proxy.Addr())
	if _, err := silent.say("PING", aWhile); err != nil {
		t.Fatal(err)
	}
	proxy.Silence()
	if got, err := silent.say("SET heard 1", aMoment); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("silence answered %q, %v", got, err)
	}
	eventually(t, "a request into silence is carried out", func() bool {
		got, err := redistest.Do(redis, "GET", "heard")
		return err == nil && got == "1"
	})
	proxy.Heal()
	if got, err := silent.say("PING", aWhile); err == nil {
		t.Errorf("a healed connection that has missed answers went on with %q", got)
	}

	proxy.BlackHole()
	if got, err := dial(t, proxy.Addr()).say("SET unheard 1", aMoment); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("the hole answered %q, %v", got, err)
	}
	proxy.Heal()
	if got, err := redistest.Do(redis, "GET", "unheard"); got != nil || err != nil {
		t.Errorf("a request got out of the hole: %v, %v", got, err)
	}
}

func TestOneLinkCanBeHurtAlone(t *testing.T) {
	t.Parallel()
	proxy := faultrig.NewProxy(t, redistest.Start(t))
	one, two := dial(t, proxy.Addr()), dial(t, proxy.Addr())
	for i, c := range []*conversation{one, two} {
		if _, err := c.say("PING", aWhile); err != nil {
			t.Fatal(err)
		}
		if got := len(proxy.Links()); i == 0 && got < 1 || got > 2 {
			t.Fatalf("%d links", got)
		}
	}
	proxy.Links()[0].BlackHole()
	held, free := one, two
	if _, err := held.say("PING", aMoment); err == nil {
		held, free = two, one
		if _, err := held.say("PING", aMoment); err == nil {
			t.Fatal("no link is held")
		}
	}
	if got, err := free.say("PING", aWhile); got != "+PONG" || err != nil {
		t.Errorf("the other link: %q, %v", got, err)
	}
	proxy.Cut()
	if got, err := free.say("PING", aWhile); err == nil {
		t.Errorf("a cut link answered %q", got)
	}
}
