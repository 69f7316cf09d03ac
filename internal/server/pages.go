package server

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"strings"
	"syscall"

	"github.com/c3po-dev/c3po/internal/auth/passkey"
)

// listenBeside takes the port of a listener on 127.0.0.1 on ::1 too. Browsers try both for
// localhost, and whoever has the other one could pose as the dashboard. It says whether
// localhost leads here and nowhere else.
func listenBeside(ctx context.Context, first net.Addr, log *slog.Logger) (twin net.Listener, localhost bool) {
	at, err := netip.ParseAddrPort(first.String())
	if err != nil || at.Addr().IsUnspecified() {
		return nil, err == nil
	}
	if at.Addr() != netip.AddrFrom4([4]byte{127, 0, 0, 1}) {
		return nil, false
	}
	twin, err = (&net.ListenConfig{}).Listen(ctx, "tcp6", netip.AddrPortFrom(netip.IPv6Loopback(), at.Port()).String())
	if errors.Is(err, syscall.EADDRINUSE) {
		log.Warn("another program has this port on ::1, so localhost may lead to it; passkeys are not offered there", "port", at.Port())
		return nil, false
	}
	if err != nil {
		return nil, true // without IPv6 nobody else can have it either
	}
	return twin, true
}

// pages are where the dashboard is, by the names that passkeys can be for: not numbers.
func (f face) pages(addr net.Addr, localhost bool) passkey.Origins {
	_, port, err := net.SplitHostPort(addr.String())
	if err != nil {
		return nil
	}
	scheme := "http://"
	if f.tls != nil {
		scheme = "https://"
	}
	pages := passkey.Origins{}
	if localhost {
		pages = append(pages, scheme+"localhost:"+port)
	}
	for _, name := range f.names {
		if _, err := netip.ParseAddr(name); err == nil || name == "localhost" {
			continue
		}
		// Browsers have passkeys on encrypted pages alone, and on localhost. A proxy in
		// front of the coordinator usually has another port.
		pages = append(pages, "https://"+strings.ToLower(name)+":"+port, "https://"+strings.ToLower(name))
	}
	slices.Sort(pages)
	return slices.Compact(pages)
}
