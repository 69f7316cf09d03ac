package server

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/transport/rest"
)

// behindProxy serves a coordinator that has a proxy before it. What the proxy says of a
// caller counts; what anybody else says does not. If the proxy does the encrypting, other
// machines cannot bypass it.
func behindProxy(proxies []netip.Prefix, plain bool, next http.Handler) http.Handler {
	if len(proxies) == 0 {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		from, err := netip.ParseAddrPort(r.RemoteAddr)
		remote := from.Addr().Unmap()
		switch {
		case err != nil || !isTrusted(proxies, remote):
			// A unix socket has no address.
			if plain && err == nil && !remote.IsLoopback() {
				rest.Refuse(w, c3po.Errorf(c3po.Forbidden, "this coordinator is reached through its proxy").
					Suggest("Use the proxy's address, with https."))
				return
			}
		default:
			r = asForwarded(proxies, r)
		}
		next.ServeHTTP(w, r)
	})
}

// asForwarded is the request as the proxy received it.
func asForwarded(proxies []netip.Prefix, r *http.Request) *http.Request {
	r = r.Clone(r.Context())
	if hosts := r.Header.Values("X-Forwarded-Host"); len(hosts) == 1 && !strings.Contains(hosts[0], ",") {
		r.Host = hosts[0]
	}
	// The last one that is not a trusted proxy: its caller may have made up what comes
	// before it.
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for _, hop := range slices.Backward(hops) {
		ip, err := netip.ParseAddr(strings.TrimSpace(hop))
		if err != nil {
			break
		}
		r.RemoteAddr = netip.AddrPortFrom(ip.Unmap(), 0).String()
		if !isTrusted(proxies, ip.Unmap()) {
			break
		}
	}
	return r
}

func isTrusted(proxies []netip.Prefix, ip netip.Addr) bool {
	return slices.ContainsFunc(proxies, func(p netip.Prefix) bool { return p.Contains(ip) })
}
