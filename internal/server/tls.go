package server

import (
	"context"
	"crypto/tls"
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/auth"
	"github.com/c3po-dev/c3po/internal/auth/pki"
	"github.com/c3po-dev/c3po/internal/transport/rest"
)

// The words of Config.TLS.
const (
	TLSAuto = "auto" // wherever other machines can reach the coordinator
	TLSOn   = "on"
	TLSOff  = "off"
)

// secure says whether connections to this address are encrypted by us.
func (cfg Config) secure(addr string) bool {
	host, _, _ := net.SplitHostPort(addr)
	switch cfg.TLS {
	case TLSOff:
		return false
	case TLSOn:
		return true
	default:
		return !auth.Loopback(host) || cfg.TLSCert != ""
	}
}

// URL is where the programs of this machine find a coordinator that listens on
// this address.
func (cfg Config) URL(addr string) string {
	scheme := "http://"
	if cfg.secure(addr) {
		scheme = "https://"
	}
	if host, port, err := net.SplitHostPort(addr); err == nil {
		if ip, err := netip.ParseAddr(host); err == nil && ip.IsUnspecified() {
			addr = net.JoinHostPort("localhost", port)
		}
	}
	return scheme + addr
}

// checkListen refuses to be reached by other machines in a way that somebody in
// between could read or be let in by.
func (cfg Config) checkListen(addr string) error {
	if err := cfg.checkTLS(); err != nil {
		return err
	}
	return auth.CheckListen(addr, auth.Exposure{
		Mode: cfg.Auth, Plain: cfg.TLS == TLSOff, Proxied: len(cfg.TrustedProxies) > 0,
	})
}

func (cfg Config) checkTLS() error {
	if !slices.Contains([]string{"", TLSAuto, TLSOn, TLSOff}, cfg.TLS) {
		return c3po.Errorf(c3po.InvalidRequest, "there is no TLS setting %q", cfg.TLS).Suggest("Use auto, on or off.")
	}
	if (cfg.TLSCert == "") != (cfg.TLSKey == "") {
		return c3po.Errorf(c3po.InvalidRequest, "a certificate and its key go together").Suggest("Give both --tls-cert and --tls-key.")
	}
	if cfg.TLSCert != "" && cfg.TLS == TLSOff {
		return c3po.Errorf(c3po.InvalidRequest, "a certificate is of no use without TLS").Suggest("Leave out --tls off, or --tls-cert and --tls-key.")
	}
	for _, name := range cfg.Names {
		if !pki.IsAddress(net.JoinHostPort(name, "1")) {
			return c3po.Errorf(c3po.InvalidRequest, "%q is not a name to be called by", name).
				Suggest("Give a host name or an address without a port.")
		}
	}
	return nil
}

// A face is what the coordinator shows to other machines.
type face struct {
	tls   *tls.Config // nil if it does not encrypt
	ca    []byte      // PEM of its own authority; nil if that is not what it shows
	names []string    // by which it may be called
	join  rest.Joining
}

// newFace prepares it. The authority is made by the first coordinator there is, whether
// or not it has a use for it: a coordinator that listens to other machines later shows
// the same one.
func newFace(ctx context.Context, cfg Config, store auth.Store, addr string) (face, error) {
	secret, err := patiently(ctx, cfg, redisPatience, func(ctx context.Context) ([]byte, error) { return store.Authority(ctx, pki.New) })
	if err != nil {
		return face{}, err
	}
	authority, err := pki.Parse(secret)
	if err != nil {
		return face{}, c3po.Because(err, c3po.Internal, "the certificate authority stored in Redis cannot be read").
			Suggest("Remove the key c3po:1:{_}:ca; every host then has to join again.")
	}
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return face{}, err
	}
	f := face{names: cfg.Names}
	if !auth.Loopback(host) {
		if name, err := os.Hostname(); err == nil {
			f.names = append(slices.Clone(cfg.Names), strings.ToLower(name))
		}
	}
	switch {
	case cfg.secure(addr) && cfg.TLSCert != "":
		files, err := pki.Open(cfg.TLSCert, cfg.TLSKey)
		if err != nil {
			return face{}, c3po.Errorf(c3po.InvalidRequest, "cannot use the certificate: %w", err).
				Suggest("Check the files given with --tls-cert and --tls-key.")
		}
		f.tls = serverTLS(files.GetCertificate)
		f.join = rest.Joining{Address: outside(cfg, addr), Hash: pki.System}
	case cfg.secure(addr):
		leaf := authority.Leaf(slices.Concat(f.names, addresses(host), []string{"localhost"}), nil)
		f.tls, f.ca = serverTLS(leaf.GetCertificate), authority.PEM()
		f.join = rest.Joining{Address: outside(cfg, addr), CA: f.ca, Hash: authority.Hash()}
		if f.join.Pin, err = authority.Pin(); err != nil {
			return face{}, err
		}
	case len(cfg.TrustedProxies) > 0 && len(cfg.Names) > 0:
		f.join = rest.Joining{Address: net.JoinHostPort(cfg.Names[0], "443"), Hash: pki.System}
	}
	return f, nil
}

func serverTLS(get func(*tls.ClientHelloInfo) (*tls.Certificate, error)) *tls.Config {
	return &tls.Config{GetCertificate: get, MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"}}
}

// outside is where other machines most likely reach the coordinator; empty if
// they cannot.
func outside(cfg Config, addr string) string {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return ""
	}
	if len(cfg.Names) > 0 {
		return net.JoinHostPort(cfg.Names[0], port)
	}
	for _, address := range addresses(host) {
		if !auth.Loopback(address) {
			return net.JoinHostPort(address, port)
		}
	}
	return ""
}

// addresses are where a coordinator that listens on a host is reached: at that host, or
// if it listens on all of them at this machine's addresses, IPv4 first.
func addresses(host string) []string {
	if ip, err := netip.ParseAddr(host); err != nil || !ip.IsUnspecified() {
		return []string{host}
	}
	all, err := net.InterfaceAddrs()
	if err != nil {
		return nil
	}
	var four, six []string
	for _, a := range all {
		prefix, err := netip.ParsePrefix(a.String())
		switch ip := prefix.Addr(); {
		case err != nil || ip.IsLinkLocalUnicast():
		case ip.Is4():
			four = append(four, ip.String())
		default:
			six = append(six, ip.String())
		}
	}
	return append(four, six...)
}
