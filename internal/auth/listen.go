package auth

import (
	"net"
	"net/netip"
	"strings"

	"github.com/c3po-dev/c3po"
)

// CheckListen refuses an address that anything but this machine could reach:
// without tokens, whoever reaches the coordinator may act as anybody.
func CheckListen(addr string) error {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return c3po.Errorf(c3po.InvalidRequest, "%q is not an address to listen on", addr).
			Suggest("Give host and port, for example 127.0.0.1:8420.")
	}
	if Loopback(host) {
		return nil
	}
	return c3po.Errorf(c3po.Forbidden, "listening on %q would let other machines in, and there are no tokens yet to tell them apart", addr).
		Suggest("Listen on 127.0.0.1, ::1 or localhost.")
}

// Loopback says whether a host, as it stands in an address or in a Host header
// without its port, is this machine to itself.
func Loopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(host, "["), "]"))
	return err == nil && ip.Unmap().IsLoopback()
}
