package client

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/c3po-dev/c3po/c3po"
)

const (
	passkeysPath = "/api/passkeys"
	proofsPath   = "/api/proofs/"
	// proofLook is how often it is asked whether the person has confirmed.
	proofLook = 300 * time.Millisecond
)

// RefuseProofs makes acts that need a passkey fail: on a screen of our own nobody can be
// asked for one.
func (c *Client) RefuseProofs() { c.confirm = nil }

// Passkeys are the person's, and what they are needed for.
func (c *Client) Passkeys(ctx context.Context) (c3po.Passkeys, error) {
	return managed[c3po.Passkeys](ctx, c, request{method: http.MethodGet, path: passkeysPath})
}

// RemovePasskey forgets a passkey.
func (c *Client) RemovePasskey(ctx context.Context, id string) (c3po.Passkeys, error) {
	return managed[c3po.Passkeys](ctx, c, request{method: http.MethodPost, path: passkeysPath + "/" + url.PathEscape(id) + "/remove"})
}

// ResetPasskeys forgets all of them in an hour.
func (c *Client) ResetPasskeys(ctx context.Context) (c3po.Passkeys, error) {
	return managed[c3po.Passkeys](ctx, c, request{method: http.MethodPost, path: passkeysPath + "/reset"})
}

// SetProofPolicy says what passkeys are needed for.
func (c *Client) SetProofPolicy(ctx context.Context, policy c3po.ProofPolicy) (c3po.Passkeys, error) {
	body, err := json.Marshal(c3po.ProofPolicyInput{Policy: policy})
	if err != nil {
		return c3po.Passkeys{}, err
	}
	return managed[c3po.Passkeys](ctx, c, request{method: http.MethodPost, path: passkeysPath + "/policy", body: body})
}

// awaitProof has the person confirm an act, and returns once they did.
func (c *Client) awaitProof(ctx context.Context, refused *c3po.Error) error {
	if c.confirm == nil {
		return c3po.Because(refused, c3po.ProofRequired, refused.Message).Suggest("Do it on the dashboard, where you can use your passkey: `c3po open`.")
	}
	page, err := c.provingPage(ctx)
	if err != nil {
		return err
	}
	look := request{method: http.MethodGet, path: proofsPath + url.PathEscape(refused.Proof), limit: callTimeout}
	for shown := false; ; {
		var act c3po.ProofRequest
		if err := c.attemptOnce(ctx, look, &act); err != nil {
			return err
		}
		if act.State != c3po.ProofWaits {
			return nil
		}
		if !shown {
			c.confirm(ctx, act, page, refused.Proof)
			shown = true
		}
		if time.Now().After(act.Expires) {
			return c3po.Errorf(c3po.ProofRequired, "nobody confirmed it within 5 minutes, so nothing was done").Suggest("Run the command again.")
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(proofLook):
		}
	}
}

// provingPage is the dashboard on which a passkey works.
func (c *Client) provingPage(ctx context.Context) (string, error) {
	var all c3po.Passkeys
	if err := c.attemptOnce(ctx, request{method: http.MethodGet, path: passkeysPath, limit: callTimeout}, &all); err != nil {
		return "", err
	}
	at := slices.IndexFunc(all.Pages, func(page string) bool {
		u, err := url.Parse(page)
		return err == nil && slices.ContainsFunc(all.Passkeys, func(p c3po.Passkey) bool { return p.Site == u.Hostname() })
	})
	if at < 0 {
		return strings.TrimRight(c.URL(), "/"), nil
	}
	return all.Pages[at], nil
}
