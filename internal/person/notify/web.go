package notify

import (
	"bytes"
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/c3po-dev/c3po/c3po"
)

const (
	// minSecretBytes is too long to be guessed from a signature.
	minSecretBytes = 16
	// maxReplyBytes is how much of an answer is read, so that the receiver sees it taken.
	maxReplyBytes = 4 << 10
)

// SignatureHeader proves that a post to the webhook is ours: "t=SECONDS,v1=HEX",
// where HEX is the HMAC-SHA256 of SECONDS, a full stop and the body.
const SignatureHeader = "X-C3PO-Signature"

// Sign makes the value of SignatureHeader.
func Sign(secret string, at time.Time, body []byte) string {
	seconds := strconv.FormatInt(at.Unix(), 10)
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(seconds + "."))
	mac.Write(body)
	return "t=" + seconds + ",v1=" + hex.EncodeToString(mac.Sum(nil))
}

// post sends the notification as JSON, with the headers that make it a CloudEvent.
// Those repeat what the body says, and the body is what is signed.
func (n *Notifier) post(ctx context.Context, what c3po.Notification) error {
	body, err := json.Marshal(what)
	if err != nil {
		return err
	}
	now := time.Now()
	return n.send(ctx, Webhook, n.config.Webhook, body, map[string]string{
		"Content-Type": "application/json", SignatureHeader: Sign(n.config.Secret, now, body),
		"Ce-Specversion": "1.0", "Ce-Type": "dev.c3po." + string(what.Kind), "Ce-Source": c3po.CloudSource(what.Space),
		// A notice that is sent again is the same one; a test is new each time.
		"Ce-Id": string(what.Kind) + " " + cmp.Or(string(what.MessageID), now.Format(time.RFC3339Nano)),
	})
}

// publish sends the notification to a topic of ntfy.
func (n *Notifier) publish(ctx context.Context, what c3po.Notification) error {
	priority := "4" // high
	if what.Kind == c3po.NotifyTest {
		priority = "3"
	}
	tag := "question"
	switch {
	case what.Permission:
		tag = "lock"
	case what.Kind == c3po.NotifyStalled:
		tag = "hourglass"
	}
	headers := map[string]string{
		"Content-Type": "text/plain; charset=utf-8", "Title": title(what), "Priority": priority, "Tags": tag,
	}
	if buttons := n.actions(what, time.Now()); buttons != "" {
		headers["Actions"] = buttons
	}
	return n.send(ctx, Ntfy, n.config.Ntfy, []byte(text(what)), headers)
}

func (n *Notifier) send(ctx context.Context, channel, address string, body []byte, headers map[string]string) error {
	at, err := checkURL(channel, address, n.config.Allow)
	if err != nil {
		return err
	}
	answer, err := n.request(ctx, channel, http.MethodPost, at, body, headers)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	_, _ = io.CopyN(io.Discard, answer.Body, maxReplyBytes)
	return refusedBy(channel, at.Host, answer)
}

// request asks a receiver, with the login that is in its address.
func (n *Notifier) request(ctx context.Context, channel, method string, at *url.URL, body []byte, headers map[string]string) (*http.Response, error) {
	login := at.User
	at.User = nil
	req, err := http.NewRequestWithContext(ctx, method, at.String(), bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("%s: the request cannot be made", channel)
	}
	req.Header.Set("User-Agent", "c3po")
	for name, value := range headers {
		req.Header.Set(name, value)
	}
	if login != nil {
		password, _ := login.Password()
		req.SetBasicAuth(login.Username(), password)
	}
	answer, err := n.client.Do(req)
	if err != nil {
		return nil, unreachable(channel, at, err)
	}
	return answer, nil
}

// refusedBy is what the receiver's answer means if it is no success.
func refusedBy(channel, host string, answer *http.Response) error {
	switch {
	case answer.StatusCode >= 300 && answer.StatusCode < 400:
		return c3po.Errorf(c3po.InvalidRequest, "%s at %s answers with a redirect, which is not followed", channel, host).
			Suggest("Set notify.%s to the address it leads to.", channel)
	case answer.StatusCode < 200 || answer.StatusCode > 299:
		return c3po.Errorf(c3po.AgentUnavailable, "%s at %s answers %s", channel, host, answer.Status).
			Suggest("Check notify.%s, and what the receiver says about it.", channel)
	}
	return nil
}

// unreachable leaves the address out but for its host: the rest is often secret.
func unreachable(channel string, at *url.URL, err error) error {
	if refused, ok := errors.AsType[*c3po.Error](err); ok {
		return c3po.Errorf(refused.Code, "%s at %s: %s", channel, at.Host, refused.Message).Suggest("%s", refused.Suggestion)
	}
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		err = wrapped.Err
	}
	return c3po.Errorf(c3po.AgentUnavailable, "%s at %s cannot be reached: %w", channel, at.Host, err).Suggest("Check notify.%s.", channel)
}
