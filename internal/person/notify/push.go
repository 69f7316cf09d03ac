package notify

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/text/sanitise"
)

// Push is the channel to browsers, by the push service that each of them chose.
const Push = "push"

const (
	// pushLife is how long a push service keeps a notice for a browser that is away.
	pushLife = 12 * time.Hour
	// proofLife is how long a push service takes our proof; at most a day is allowed.
	proofLife = 12 * time.Hour
	// pushContact is whom the operator of a push service would turn to.
	pushContact = "https://github.com/c3po-dev/c3po"
	// pushBytes is the size of every notice before it is sealed, so that it says nothing.
	pushBytes         = 2048
	maxPushCharacters = 300
	maxEndpointBytes  = 2000
	pushSecretBytes   = 16
	recordBytes       = 4096
)

// A Browser is one that wants to be told of a space's questions.
type Browser struct {
	ID   string // whose it is
	Word string // as it is stored
	c3po.PushInput
}

// Browsers knows which there are.
type Browsers interface {
	// Any says whether there is one at all.
	Any(ctx context.Context) (bool, error)
	// Of are those of a space, whose tokens still work.
	Of(ctx context.Context, space c3po.Space) ([]Browser, error)
	// Gone forgets one that its push service no longer knows.
	Gone(ctx context.Context, b Browser) error
}

// PushKey is the coordinators' key to push services, made from a secret they share.
func PushKey(secret []byte) (*ecdsa.PrivateKey, error) {
	for n := range 100 { // hardly ever more than once: the number must be less than the order of the curve
		raw, err := hkdf.Key(sha256.New, secret, nil, "c3po push "+strconv.Itoa(n), 32)
		if err != nil {
			return nil, err
		}
		if key, err := ecdsa.ParseRawPrivateKey(elliptic.P256(), raw); err == nil {
			return key, nil
		}
	}
	return nil, fmt.Errorf("no key for push services can be made")
}

// PublicPushKey is what browsers subscribe with.
func (n *Notifier) PublicPushKey() c3po.PushKey {
	raw, err := n.config.PushKey.PublicKey.Bytes()
	if err != nil {
		panic(err) // it is on the curve
	}
	return c3po.PushKey{Key: base64.RawURLEncoding.EncodeToString(raw)}
}

// CheckPush refuses what no notice can be sent to: an address without TLS or of one's own
// network, and what are no keys.
func (n *Notifier) CheckPush(in c3po.PushInput) error {
	if _, err := n.pushURL(in.Endpoint); err != nil {
		return err
	}
	_, _, err := pushKeys(in)
	return err
}

func (n *Notifier) pushURL(endpoint string) (*url.URL, error) {
	if len(endpoint) > maxEndpointBytes {
		return nil, c3po.Errorf(c3po.InvalidRequest, "the address of the push service is longer than %d bytes", maxEndpointBytes)
	}
	at, err := checkURL(Push, endpoint, n.config.Allow)
	if err != nil {
		return nil, err
	}
	addr, _ := netip.ParseAddr(at.Hostname())
	listed := false // one's own receiver, for which notify.allow vouches
	for _, prefix := range n.config.Allow {
		listed = listed || prefix.Contains(addr)
	}
	if at.Scheme != "https" && !listed || at.User != nil {
		return nil, c3po.Errorf(c3po.InvalidRequest, "a push service is reached by https, without a login in its address")
	}
	return at, nil
}

func pushKeys(in c3po.PushInput) (*ecdh.PublicKey, []byte, error) {
	raw, err := base64.RawURLEncoding.DecodeString(in.P256DH)
	if err != nil {
		return nil, nil, c3po.Errorf(c3po.InvalidRequest, "p256dh is not base64url")
	}
	public, err := ecdh.P256().NewPublicKey(raw)
	if err != nil {
		return nil, nil, c3po.Errorf(c3po.InvalidRequest, "p256dh is no public key")
	}
	secret, err := base64.RawURLEncoding.DecodeString(in.Auth)
	if err != nil || len(secret) != pushSecretBytes {
		return nil, nil, c3po.Errorf(c3po.InvalidRequest, "auth is not %d bytes in base64url", pushSecretBytes)
	}
	return public, secret, nil
}

// A pushNotice is what the page's service worker reads.
type pushNotice struct {
	Title string         `json:"title"`
	Body  string         `json:"body,omitempty"`
	ID    c3po.MessageID `json:"id,omitempty"` // of the question, if it is one
	Space c3po.Space     `json:"space"`
}

// push tells every browser of the space. It fails if none could be told, and is then
// tried again: a browser shows one question once.
func (n *Notifier) push(ctx context.Context, what c3po.Notification) error {
	if what.Kind == c3po.NotifyTest {
		return nil
	}
	browsers, err := n.config.Browsers.Of(ctx, what.Space)
	if err != nil || len(browsers) == 0 {
		return err
	}
	notice := pushNotice{Title: title(what), Space: what.Space}
	switch {
	case what.Kind == c3po.NotifyStalled: // there is no question to answer
		notice.Body = text(what)
	case what.Count <= 1:
		body := sanitise.Inline(strings.TrimSpace(what.Question + " " + what.Reason))
		if what.Permission {
			body = strings.Join(sanitise.Exact(what.Question), " ")
		}
		notice.ID, notice.Body = what.MessageID, cut(body, maxPushCharacters)
	}
	text, err := json.Marshal(notice)
	if err != nil {
		return err
	}
	var failed error
	told := 0
	for _, b := range browsers {
		if err := n.pushTo(ctx, b, text); err != nil {
			failed = err
			continue
		}
		told++
	}
	if told > 0 {
		return nil
	}
	return failed
}

func (n *Notifier) pushTo(ctx context.Context, b Browser, text []byte) error {
	at, err := n.pushURL(b.Endpoint)
	if err != nil {
		return err
	}
	public, secret, err := pushKeys(b.PushInput)
	if err != nil {
		return err
	}
	own, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		return err
	}
	salt := make([]byte, 16)
	_, _ = rand.Read(salt) // it never fails
	sealed, err := seal(pad(text), public, secret, own, salt)
	if err != nil {
		return err
	}
	proof, err := n.proof(at, time.Now())
	if err != nil {
		return err
	}
	answer, err := n.request(ctx, Push, http.MethodPost, at, sealed, map[string]string{
		"Content-Type": "application/octet-stream", "Content-Encoding": "aes128gcm", "Urgency": "high",
		"TTL": strconv.Itoa(int(pushLife.Seconds())), "Authorization": proof,
	})
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	_, _ = io.CopyN(io.Discard, answer.Body, maxReplyBytes)
	if answer.StatusCode == http.StatusNotFound || answer.StatusCode == http.StatusGone {
		return n.config.Browsers.Gone(ctx, b)
	}
	return refusedBy(Push, at.Host, answer)
}

// pad makes all notices equally long. Behind the text is a 2, which says that it is the
// last record, and then zeros.
func pad(text []byte) []byte {
	record := make([]byte, max(pushBytes, len(text)+1))
	copy(record, text)
	record[len(text)] = 2
	return record
}

// seal encrypts a record for a browser (RFC 8291): what the push service carries it cannot
// read.
func seal(record []byte, browser *ecdh.PublicKey, secret []byte, own *ecdh.PrivateKey, salt []byte) ([]byte, error) {
	shared, err := own.ECDH(browser)
	if err != nil {
		return nil, err
	}
	public := own.PublicKey().Bytes()
	main, err := hkdf.Key(sha256.New, shared, secret, "WebPush: info\x00"+string(browser.Bytes())+string(public), 32)
	if err != nil {
		return nil, err
	}
	key, err := hkdf.Key(sha256.New, main, salt, "Content-Encoding: aes128gcm\x00", 16)
	if err != nil {
		return nil, err
	}
	nonce, err := hkdf.Key(sha256.New, main, salt, "Content-Encoding: nonce\x00", 12)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	gcm, err := cipher.NewGCM(block)
	if err != nil {
		return nil, err
	}
	out := binary.BigEndian.AppendUint32(append([]byte{}, salt...), recordBytes)
	out = append(append(out, byte(len(public))), public...)
	return gcm.Seal(out, nonce, record, nil), nil
}

// proof says to a push service who we are (RFC 8292), for as long as proofLife.
func (n *Notifier) proof(at *url.URL, now time.Time) (string, error) {
	encode := base64.RawURLEncoding.EncodeToString
	claims, err := json.Marshal(map[string]any{"aud": at.Scheme + "://" + at.Host, "exp": now.Add(proofLife).Unix(), "sub": pushContact})
	if err != nil {
		return "", err
	}
	said := encode([]byte(`{"typ":"JWT","alg":"ES256"}`)) + "." + encode(claims)
	hash := sha256.Sum256([]byte(said))
	r, s, err := ecdsa.Sign(rand.Reader, n.config.PushKey, hash[:])
	if err != nil {
		return "", err
	}
	signature := append(r.FillBytes(make([]byte, 32)), s.FillBytes(make([]byte, 32))...)
	return "vapid t=" + said + "." + encode(signature) + ", k=" + n.PublicPushKey().Key, nil
}
