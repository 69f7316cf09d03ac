package notify

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/c3po-dev/c3po/c3po"
)

const (
	dialTimeout   = 5 * time.Second
	answerTimeout = 8 * time.Second
)

// inside are the addresses that are not of the public network: of this machine,
// this network, or of no single receiver.
var inside = prefixes(
	"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24",
	"192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
	// Within what is public of IPv6: assignments for protocols such as Teredo,
	// documentation, and 6to4, which leads to any IPv4 address.
	"2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20",
)

var (
	publicV6 = netip.MustParsePrefix("2000::/3")
	nat64    = netip.MustParsePrefix("64:ff9b::/96")
)

func prefixes(texts ...string) []netip.Prefix {
	var all []netip.Prefix
	for _, text := range texts {
		all = append(all, netip.MustParsePrefix(text))
	}
	return all
}

// ParseAllow reads an address, or several of them with their length: 10.0.0.0/8.
func ParseAllow(text string) (netip.Prefix, error) {
	if addr, err := netip.ParseAddr(text); err == nil {
		addr = addr.Unmap().WithZone("")
		return netip.PrefixFrom(addr, addr.BitLen()), nil
	}
	prefix, err := netip.ParsePrefix(text)
	if err != nil || prefix != prefix.Masked() {
		return netip.Prefix{}, c3po.Errorf(c3po.InvalidRequest, "notify.allow takes addresses, not %.80q", text).
			Suggest("Write 192.168.1.20, or 192.168.1.0/24 for all that begin so.")
	}
	return prefix, nil
}

// checkAddr says why an address is not sent to; nil if it is. It judges what
// the address leads to: one of IPv4 that is written as one of IPv6 is that of IPv4.
func checkAddr(addr netip.Addr, allow []netip.Prefix) error {
	addr = leadsTo(addr)
	for _, prefix := range allow {
		if prefix.Contains(addr) {
			return nil
		}
	}
	public := addr.Is4() || publicV6.Contains(addr)
	for _, prefix := range inside {
		public = public && !prefix.Contains(addr)
	}
	if public {
		return nil
	}
	return c3po.Errorf(c3po.InvalidRequest, "%s is an address of this machine or of a private network", addr).
		Suggest("If the receiver is really there, list the address: `allow: %s` under notify: in c3po.yaml.", addr)
}

func leadsTo(addr netip.Addr) netip.Addr {
	addr = addr.Unmap().WithZone("")
	if addr.Is4() {
		return addr
	}
	raw := addr.As16()
	isatap := raw[8]&^2 == 0 && raw[9] == 0 && raw[10] == 0x5e && raw[11] == 0xfe
	if nat64.Contains(addr) || isatap {
		return netip.AddrFrom4([4]byte(raw[12:]))
	}
	return addr
}

// checkURL refuses a setting of notify that is no address of a receiver, or names a host
// that notices never go to. Names are judged when they are looked up.
func checkURL(name, text string, allow []netip.Prefix) (*url.URL, error) {
	refuse := func(why string) error {
		return c3po.Errorf(c3po.InvalidRequest, "notify.%s is no address to send to: %s", name, why).
			Suggest("Write it as https://host/path.")
	}
	at, err := url.Parse(text)
	if err != nil {
		return nil, refuse("it cannot be read") // the error would repeat what may be secret
	}
	host := at.Hostname()
	switch {
	case at.Scheme != "http" && at.Scheme != "https":
		return nil, refuse(fmt.Sprintf("it begins with %.20q", at.Scheme))
	case at.Opaque != "" || host == "":
		return nil, refuse("it names no host")
	}
	if port := at.Port(); port != "" {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return nil, refuse("its port is no port")
		}
	}
	if addr, err := netip.ParseAddr(host); err == nil {
		return at, checkAddr(addr, allow)
	}
	if !isName(host) {
		return nil, refuse(fmt.Sprintf("%.80q is neither a name nor an address in its usual form", host))
	}
	return at, nil
}

// isName keeps away what some resolvers take for an address: numbers of any
// base, in fewer than four parts, or in the digits of other scripts.
func isName(host string) bool {
	host = strings.TrimSuffix(host, ".")
	for _, r := range host {
		if !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.", r) {
			return false
		}
	}
	last := strings.ToLower(host[strings.LastIndexByte(host, '.')+1:])
	if last == "" {
		return false
	}
	digits, hex := strings.CutPrefix(last, "0x")
	return strings.Trim(last, "0123456789") != "" && !(hex && strings.Trim(digits, "0123456789abcdef") == "")
}

// guardedClient is a client that judges every address it connects to, after names were
// looked up, and goes nowhere else than it was told: it follows no redirect and
// uses no proxy, which would connect for it. Names are looked up by the system if the
// resolver is nil.
func guardedClient(allow []netip.Prefix, resolver *net.Resolver) *http.Client {
	dialer := &net.Dialer{Timeout: dialTimeout, Resolver: resolver, ControlContext: func(_ context.Context, _, address string, _ syscall.RawConn) error {
		at, err := netip.ParseAddrPort(address)
		if err != nil {
			return err
		}
		return checkAddr(at.Addr(), allow)
	}}
	return &http.Client{
		Transport: &http.Transport{
			DialContext: dialer.DialContext, TLSHandshakeTimeout: dialTimeout, ResponseHeaderTimeout: answerTimeout,
			DisableKeepAlives: true, ForceAttemptHTTP2: true, MaxResponseHeaderBytes: 32 << 10,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}
