package server

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"strconv"
	"syscall"

	"github.com/c3po-dev/c3po/c3po"
)

// DefaultListen is where a coordinator listens by default.
const DefaultListen = "127.0.0.1:8420"

// portTries is how many ports are tried, the one that was asked for included.
const portTries = 20

// listen takes the address. Where none was asked for and the port of DefaultListen is
// taken, it takes the next free one: two people on one machine should not have to
// agree on numbers. Check says whether an address may be listened on.
func listen(ctx context.Context, addr string, check func(addr string) error, log *slog.Logger) (net.Listener, error) {
	tries := uint64(1)
	switch addr {
	case "":
		addr, tries = DefaultListen, portTries
	case ":0":
		// That port cannot be known beforehand, so other machines have no use for it.
		addr = "127.0.0.1:0"
	}
	if err := check(addr); err != nil {
		return nil, err
	}
	host, text, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, err
	}
	port, err := strconv.ParseUint(text, 10, 16)
	if err != nil {
		return nil, c3po.Errorf(c3po.InvalidRequest, "%q is not a port to listen on", text).Suggest("Give a number up to 65535.")
	}
	for try := range tries {
		taken := net.JoinHostPort(host, strconv.FormatUint(port+try, 10))
		listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", taken)
		if errors.Is(err, syscall.EADDRINUSE) && tries > 1 {
			log.Warn("port is taken, trying the next", "address", taken)
			continue
		}
		if err != nil {
			return nil, c3po.Errorf(c3po.InvalidRequest, "cannot listen on %s: %w", taken, err).Suggest("Choose another address with --listen.")
		}
		// A name may have led elsewhere.
		if err := check(listener.Addr().String()); err != nil {
			return nil, errors.Join(err, listener.Close())
		}
		return listener, nil
	}
	return nil, c3po.Errorf(c3po.InvalidRequest, "port %d and those after it are all taken on %s", port, host).
		Suggest("Choose another port with --listen, or 0 for any free one.")
}
