package auth

import (
	"net"
	"net/netip"
	"strings"

	"github.com/c3po-dev/c3po/c3po"
)

// An Exposure is how a coordinator is to be reached.
type Exposure struct {
	Mode    Mode // Tokens if empty
	Plain   bool // it was told not to encrypt
	Proxied bool // it was told of a proxy before it, which does
}

// CheckListen refuses an address that other machines can reach if somebody in
// between could read what is sent there, tokens included. A network that is
// trusted that far has no use for tokens: then both must have been said.
func CheckListen(addr string, e Exposure) error {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return c3po.Errorf(c3po.InvalidRequest, "%q is not an address to listen on", addr).
			Suggest("Give host and port, for example 127.0.0.1:8420.")
	}
	switch {
	case Loopback(host):
		return nil
	case e.Mode == None && !e.Plain:
		return c3po.Errorf(c3po.Forbidden, "listening on %q without authentication would let every machine that reaches it act as anybody", addr).
			Suggest("Leave out --auth none. If the whole network is trusted, also say --tls off.")
	case e.Mode != None && e.Plain && !e.Proxied:
		return c3po.Errorf(c3po.Forbidden, "listening on %q without TLS would show tokens and messages to the network", addr).
			Suggest("Leave out --tls off, or name the proxy that encrypts with --trusted-proxy.")
	default:
		return nil
	}
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
