package redistest

import (
	"strings"
	"time"

	"github.com/c3po-dev/c3po/internal/host/resp"
)

const doTimeout = 5 * time.Second

// An ErrorReply is an error the server answered, such as "WRONGTYPE …".
type ErrorReply = resp.Error

// Do sends one command over a connection of its own and returns the reply: a
// string, an int64, nil, or a []any of these (an error inside is an ErrorReply).
// addr is "host:port", its redis:// URL, or the path of a unix socket.
func Do(addr string, args ...string) (any, error) {
	network, addr := "tcp", strings.TrimPrefix(addr, "redis://")
	if strings.HasPrefix(addr, "/") {
		network = "unix"
	}
	return resp.Ask(network, addr, doTimeout, args)
}
