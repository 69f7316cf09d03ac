package remote

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"syscall"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/person/notify"
)

const (
	dialTimeout = 10 * time.Second
	// cardTimeout ends before who adds a remote takes the coordinator for lost.
	cardTimeout = 10 * time.Second
)

// newClient is how remotes are called. It follows no redirect: an address that an admin
// has added is the only one that is called, and what stands there cannot send us
// elsewhere. Addresses of the link alone, where clouds keep a machine's secrets, are for
// those that are listed.
func newClient(allow []netip.Prefix) *http.Client {
	dialer := &net.Dialer{Timeout: dialTimeout, ControlContext: func(_ context.Context, _, address string, _ syscall.RawConn) error {
		at, err := netip.ParseAddrPort(address)
		if err != nil {
			return err
		}
		return notify.CheckLink(at.Addr(), allow)
	}}
	return &http.Client{
		Timeout: callTimeout,
		Transport: &http.Transport{
			Proxy: http.ProxyFromEnvironment, DialContext: dialer.DialContext, TLSHandshakeTimeout: dialTimeout,
			ForceAttemptHTTP2: true, IdleConnTimeout: time.Minute, MaxResponseHeaderBytes: 32 << 10,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// An unreached is why the other side was not reached, in words. It may be next time.
type unreached struct {
	text  string
	cause error
}

func (u *unreached) Error() string { return u.text }
func (u *unreached) Unwrap() error { return u.cause }

// inWords says what went wrong as a person would: the asker may be anybody, and neither
// addresses nor the words of a library help it.
func inWords(err error) error {
	if refusal, is := errors.AsType[*c3po.Error](err); is {
		return &wrong{refusal.Message, refusal}
	}
	text := "the connection to it broke"
	_, noName := errors.AsType[*net.DNSError](err)
	_, noTrust := errors.AsType[*tls.CertificateVerificationError](err)
	timeout, is := errors.AsType[net.Error](err)
	switch {
	case noTrust:
		text = "its certificate is not trusted"
	case is && timeout.Timeout() || errors.Is(err, context.DeadlineExceeded):
		text = "it did not answer in time"
	case noName:
		text = "the name of its host is unknown"
	case errors.Is(err, syscall.ECONNREFUSED):
		text = "nothing listens at its address"
	}
	return &unreached{text, err}
}

// Describe reads a card, for who adds the agent: where it is, and what it calls itself.
func (f *Forwarder) Describe(ctx context.Context, address, tokenEnv string) (card, name string, err error) {
	if card, err = CardURL(address); err != nil {
		return "", "", err
	}
	token, err := f.token(tokenEnv)
	if err != nil {
		return "", "", c3po.Errorf(c3po.InvalidRequest, "the coordinator has no variable %s", tokenEnv).
			Suggest("Start the coordinator with %s set to the agent's token, then add the agent again.", tokenEnv)
	}
	limited, cancel := context.WithTimeout(ctx, cmp.Or(f.CardTimeout, cardTimeout))
	defer cancel()
	p, err := meet(limited, f.http(), card, token)
	if err != nil && limited.Err() != nil && ctx.Err() == nil {
		return "", "", c3po.Errorf(c3po.InvalidRequest, "the card at %s did not come within %s", c3po.Clip(card), cmp.Or(f.CardTimeout, cardTimeout)).
			Suggest("See whether the agent runs and whether the coordinator reaches it, then add it again.")
	}
	if refused, is := errors.AsType[*wrong](err); is && refused.refusal != nil {
		return "", "", refused.refusal
	}
	if err != nil {
		return "", "", c3po.Errorf(c3po.InvalidRequest, "there is no A2A agent to add at %s: %s", c3po.Clip(card), err).
			Suggest("Give the address of its card, as the coordinator reaches it.")
	}
	return card, p.name, nil
}
