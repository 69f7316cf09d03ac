package client

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/c3po-dev/c3po/c3po"
)

// Invite asks for an invitation of one host.
func (c *Client) Invite(ctx context.Context, in c3po.InviteInput) (c3po.Invited, error) {
	return enroll[c3po.Invited](ctx, c, "/api/admin/invites", in)
}

// Join shows an invitation and gets the tokens of this host. It is made once: a
// repeat would find the invitation used.
func (c *Client) Join(ctx context.Context, in c3po.JoinInput) (c3po.Joined, error) {
	joined, err := enroll[c3po.Joined](ctx, c, "/api/join", in)
	if errors.Is(err, c3po.UnknownOutcome) {
		return joined, c3po.Because(err, c3po.UnknownOutcome, "the connection was lost before the coordinator answered; the invitation may be used up").
			Suggest("Try the same again; if it is refused, `c3po invite` on the coordinator's machine prints a new one.")
	}
	return joined, err
}

func enroll[Out any](ctx context.Context, c *Client, path string, in any) (Out, error) {
	var out Out
	body, err := json.Marshal(in)
	if err != nil {
		return out, err
	}
	err = c.attempt(ctx, request{method: http.MethodPost, path: path, body: body, limit: callTimeout}, &out)
	return out, final(err, false)
}

// authorityBytes is more than a certificate in PEM has.
const authorityBytes = 64 << 10

// FetchAuthority gets the certificate authority that a coordinator says is its
// own. Whoever answers may say anything: it is worth nothing before its hash was
// compared with one that is known.
func FetchAuthority(ctx context.Context, url string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimRight(url, "/")+"/api/ca", nil)
	if err != nil {
		return nil, err
	}
	unchecked := &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12} // #nosec G402 -- nothing secret is sent, and the answer is compared with a hash
	transport := transport("", nil, unchecked)
	defer transport.CloseIdleConnections()
	answer, err := transport.RoundTrip(r)
	if err != nil {
		return nil, c3po.Because(err, c3po.CoordDown, "no coordinator answers at "+url).
			Suggest("Check that this machine reaches it, and that no firewall is in between.")
	}
	defer answer.Body.Close()
	data, err := io.ReadAll(io.LimitReader(answer.Body, authorityBytes))
	if err != nil || answer.StatusCode != http.StatusOK {
		return nil, foreign(answer.StatusCode, err)
	}
	return data, nil
}

// LoginLink asks for the code of a link that lets a browser in.
func (c *Client) LoginLink(ctx context.Context) (c3po.LoginLink, error) {
	return enroll[c3po.LoginLink](ctx, c, "/api/login/link", c3po.None{})
}
