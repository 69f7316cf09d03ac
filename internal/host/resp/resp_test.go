package resp_test

import (
	"errors"
	"io"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/c3po-dev/c3po/internal/host/resp"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

func TestEveryKindOfReplyIsRead(t *testing.T) {
	t.Parallel()
	addr := redistest.New(t).Addr()
	long := strings.Repeat("x", 3<<20)
	for script, want := range map[string]any{
		"return redis.status_reply('OK')":     "OK",
		"return 7":                            int64(7),
		"return false":                        nil,
		"return {}":                           []any{},
		"return {1, {'a\\r\\nb', false}, ''}": []any{int64(1), []any{"a\r\nb", nil}, ""},
		"return {redis.error_reply('NO'), 1}": []any{resp.Error("ERR NO"), int64(1)},
		"return redis.call('SET', KEYS[1], ARGV[1]) and ARGV[1]":             long,
		"return redis.pcall('INCR', KEYS[1]) and redis.status_reply('both')": "both",
	} {
		got, err := resp.Ask("tcp", addr, 10*time.Second, []string{"PING"}, []string{"EVAL", script, "1", "k", long})
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v\n%.500s", script, err, diff)
		}
	}
}

func TestWhatFollowsARefusalIsNotSent(t *testing.T) {
	t.Parallel()
	addr := redistest.New(t).Addr()
	_, err := resp.Ask("tcp", addr, 10*time.Second, []string{"SET", "k", "1"}, []string{"NOSUCH"}, []string{"SET", "k", "2"})
	if refused, ok := errors.AsType[resp.Error](err); !ok || !strings.Contains(string(refused), "NOSUCH") {
		t.Errorf("an unknown command gave %v", err)
	}
	if got, err := resp.Ask("tcp", addr, 10*time.Second, []string{"GET", "k"}); err != nil || got != "1" {
		t.Errorf("k is %v, %v", got, err)
	}
}

func TestAnAnswerThatIsNotOfRedisIsRefused(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]string{
		"HTTP/1.1 400 Bad Request\r\n\r\n": "not of Redis",
		"\r\n":                             "not of Redis",
		"$9000000000\r\nfew":               io.EOF.Error(), // which is not made room for
		"":                                 io.EOF.Error(),
	} {
		listener, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			conn, err := listener.Accept()
			if err == nil {
				_, _ = conn.Read(make([]byte, 100))
				_, _ = io.WriteString(conn, answer)
				_ = conn.Close()
			}
		}()
		if _, err := resp.Ask("unix", listener.Addr().String(), 10*time.Second, []string{"PING"}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", answer, err, want)
		}
		_ = listener.Close()
	}
}
