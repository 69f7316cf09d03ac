package notify

import (
	"context"
	"encoding/binary"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/c3po-dev/c3po/c3po"
)

// refusedURLs lead, in one way or another, to this machine or its network, or
// to nothing that takes notices. Names are those of the server in names.
var refusedURLs = strings.Fields(`
	http://127.0.0.1/ http://127.0.0.1:8080/ http://127.1.2.3/ http://127.255.255.254/ https://127.0.0.1/
	http://0.0.0.0/ http://0.1.2.3/ http://10.0.0.1/ http://10.255.255.255/ http://172.16.0.1/ http://172.31.255.255/
	http://192.168.0.1/ http://192.168.255.255/ http://169.254.169.254/latest/meta-data/ http://169.254.0.1/
	http://100.64.0.1/ http://100.127.255.255/ http://192.0.0.1/ http://192.0.2.1/ http://198.18.0.1/ http://198.19.255.255/
	http://198.51.100.1/ http://203.0.113.1/ http://192.88.99.1/ http://224.0.0.1/ http://239.255.255.255/ http://240.0.0.1/ http://255.255.255.255/
	http://[::1]/ http://[::]/ http://[0:0:0:0:0:0:0:1]/ http://[::1]:8080/
	http://[::ffff:127.0.0.1]/ http://[::ffff:7f00:1]/ http://[::ffff:10.0.0.1]/ http://[::ffff:169.254.169.254]/ http://[::ffff:0:127.0.0.1]/
	http://[::127.0.0.1]/ http://[::7f00:1]/ http://[::10.0.0.1]/
	http://[fe80::1]/ http://[fe80::1%25eth0]/ http://[febf::1]/ http://[fc00::1]/ http://[fdff::1]/ http://[fec0::1]/ http://[ff02::1]/
	http://[64:ff9b::127.0.0.1]/ http://[64:ff9b::a00:1]/ http://[64:ff9b::169.254.169.254]/ http://[64:ff9b:1::7f00:1]/
	http://[2002:7f00:1::]/ http://[2002:a00:1::1]/ http://[2002:c0a8:101::1]/ http://[2001::1]/ http://[2001:0:7f00:1::]/ http://[2001:db8::1]/ http://[3fff::1]/ http://[100::1]/
	http://[2600::5efe:127.0.0.1]/ http://[2600::200:5efe:10.0.0.1]/
	http://2130706433/ http://4294967295/ http://017700000001/ http://0x7f000001/ http://0x7F.0.0.1/ http://0177.0.0.1/ http://127.1/ http://127.0.1/ http://0/ http://127.0.0.1./ http://010.0.0.1/ http://1.2.3.4.5/ http://0x/
	http://１２７.0.0.1/ http://127。0。0。1/ http://①②⑦.0.0.1/ http://127.0.0.1%00.example.com/ http://exa%20mple/ http://127.0.0.1:99999/ http://127.0.0.1:0/
	http://localhost/ http://localhost:6379/ http://LOCALHOST/ http://loopback.test/ http://private.test/ http://linklocal.test/ http://mapped.test/ http://six.test/ http://nat.test/ http://far.test./
	http://user:pass@127.0.0.1/ http://ntfy.sh@127.0.0.1/ http://127.0.0.1#@ntfy.sh/ http://127.0.0.1?@ntfy.sh/ http://ntfy.sh:80@10.0.0.1/
	file:///etc/passwd ftp://10.0.0.1/ gopher://127.0.0.1:6379/_x unix:///run/redis.sock javascript:alert(1) data:text/plain,x http: http:// http:///topic https:127.0.0.1 //127.0.0.1/ 127.0.0.1 localhost:80/topic ntfy.sh/topic
`)

// names is a server of names that this test runs; none of its addresses is public.
func names(t *testing.T) *net.Resolver {
	known := map[string]netip.Addr{
		"loopback.test.": netip.MustParseAddr("127.0.0.1"), "private.test.": netip.MustParseAddr("192.168.1.1"),
		"linklocal.test.": netip.MustParseAddr("169.254.169.254"), "mapped.test.": netip.MustParseAddr("::ffff:10.0.0.1"),
		"six.test.": netip.MustParseAddr("fd00::1"), "nat.test.": netip.MustParseAddr("64:ff9b::7f00:1"), "far.test.": netip.MustParseAddr("10.9.8.7"),
	}
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	go func() {
		query := make([]byte, 512)
		for {
			n, from, err := conn.ReadFrom(query)
			if err != nil {
				return
			}
			_, _ = conn.WriteTo(answerQuery(query[:n], known), from)
		}
	}()
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
}

// answerQuery answers one question for an address, as DNS spells it.
func answerQuery(query []byte, known map[string]netip.Addr) []byte {
	var name strings.Builder
	end := 12
	for query[end] != 0 {
		name.Write(query[end+1 : end+1+int(query[end])])
		name.WriteByte('.')
		end += 1 + int(query[end])
	}
	kind := binary.BigEndian.Uint16(query[end+1:])
	end += 5
	out := append([]byte{query[0], query[1], 0x84, 0x00, 0, 1, 0, 0, 0, 0, 0, 0}, query[12:end]...)
	addr, ok := known[strings.ToLower(name.String())]
	switch {
	case !ok:
		out[3] = 3 // no such name
	case addr.Is4() == (kind == 1) && (kind == 1 || kind == 28):
		out[7] = 1
		raw := addr.AsSlice()
		out = append(out, 0xc0, 12, byte(kind>>8), byte(kind), 0, 1, 0, 0, 0, 0, 0, byte(len(raw)))
		out = append(out, raw...)
	}
	return out
}

func TestNothingIsSentToTheOwnNetwork(t *testing.T) {
	t.Parallel()
	if len(refusedURLs) < 70 {
		t.Fatalf("only %d addresses", len(refusedURLs))
	}
	resolver := names(t)
	for _, address := range refusedURLs {
		for _, c := range []Config{{Ntfy: address}, {Webhook: address, Secret: strings.Repeat("s", 32)}} {
			c.Resolver = resolver
			n, err := New(c)
			if err == nil {
				err = n.Notify(t.Context(), n.Channels()[0], c3po.Notification{Kind: c3po.NotifyTest})
			}
			if !errors.Is(err, c3po.InvalidRequest) {
				t.Errorf("%s: %v, want a refusal", address, err)
			}
		}
	}
	t.Logf("%d addresses, twice", len(refusedURLs))
}

func TestPublicAddressesAreSentTo(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"1.1.1.1", "172.32.0.1", "100.128.0.1", "198.20.0.1", "2606:4700::1111", "64:ff9b::101:101", "::ffff:9.9.9.9", "2600::5efe:9.9.9.9"} {
		if err := checkAddr(netip.MustParseAddr(text), nil); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, text := range []string{"https://ntfy.sh/topic", "https://hooks.example.com:8443/x?y=z", "http://xn--bcher-kva.example/", "https://a.b-c_d.example./", "https://0x.example/"} {
		if _, err := checkURL(Ntfy, text, nil); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestWhatIsListedIsSentToAndNothingBesideIt(t *testing.T) {
	t.Parallel()
	allow := []netip.Prefix{}
	for _, text := range []string{"192.168.1.20", "10.1.0.0/16", "fd00::/8", "::ffff:127.0.0.1"} {
		prefix, err := ParseAllow(text)
		if err != nil {
			t.Fatal(err)
		}
		allow = append(allow, prefix)
	}
	for text, want := range map[string]bool{
		"192.168.1.20": true, "192.168.1.21": false, "10.1.2.3": true, "10.2.0.1": false, "::ffff:10.1.2.3": true, "64:ff9b::a01:203": true,
		"fd12::1": true, "fe80::1": false, "127.0.0.1": true, "127.0.0.2": false, "2002:a01:203::1": false,
	} {
		if err := checkAddr(netip.MustParseAddr(text), allow); (err == nil) != want {
			t.Errorf("%s: %v, want allowed %v", text, err, want)
		}
	}
	for _, text := range []string{"", "ntfy.lan", "10.0.0.1/8", "10.0.0.0/33", "*"} {
		if _, err := ParseAllow(text); !errors.Is(err, c3po.InvalidRequest) {
			t.Errorf("%q: %v, want a refusal", text, err)
		}
	}
}

// A receiver must not be able to send us on to somewhere else.
func TestRedirectsAreNotFollowed(t *testing.T) {
	t.Parallel()
	var reached atomic.Int32
	inner := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Add(1) }))
	defer inner.Close()
	outer := httptest.NewServer(http.RedirectHandler(inner.URL, http.StatusTemporaryRedirect))
	defer outer.Close()
	n, err := New(Config{Ntfy: outer.URL, Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}})
	if err != nil {
		t.Fatal(err)
	}
	err = n.Notify(t.Context(), Ntfy, c3po.Notification{Kind: c3po.NotifyTest})
	if !errors.Is(err, c3po.InvalidRequest) || !strings.Contains(err.Error(), "redirect") || reached.Load() != 0 {
		t.Errorf("error %v, reached %d times", err, reached.Load())
	}
}
