package auth

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/c3po-dev/c3po/c3po"
)

// A Secret is a text that only Reveal shows: not logs, not fmt, not encoders.
type Secret struct{ text string }

const redacted = "[redacted]"

// NewSecret wraps a text.
func NewSecret(text string) Secret { return Secret{text} }

// Reveal is the text.
func (s Secret) Reveal() string { return s.text }

// Hash is what is stored of a secret: hex SHA-256. Secrets of 256 random bits
// need no salt and no slow hash.
func (s Secret) Hash() string {
	sum := sha256.Sum256([]byte(s.text))
	return hex.EncodeToString(sum[:])
}

func (s Secret) String() string               { return redacted }
func (s Secret) Format(f fmt.State, _ rune)   { _, _ = f.Write([]byte(redacted)) }
func (s Secret) LogValue() slog.Value         { return slog.StringValue(redacted) }
func (s Secret) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// RandomSecret has 256 bits, as 43 characters of base64url.
func RandomSecret() Secret {
	var bits [32]byte
	_, _ = rand.Read(bits[:]) // never fails
	return Secret{base64.RawURLEncoding.EncodeToString(bits[:])}
}

// A Token is what a caller proves itself with: c3po_<role>_<kid>_<secret>. The
// role is there for people and for scanners; the grant says what counts.
type Token struct {
	Role   c3po.Role
	KID    string
	Secret Secret
}

const (
	tokenPrefix = "c3po"
	kidLength   = 12
	kidLetters  = "abcdefghijklmnopqrstuvwxyz234567"
)

// NewToken makes a new token.
func NewToken(role c3po.Role) Token {
	return Token{Role: role, KID: NewKID(), Secret: RandomSecret()}
}

// NewKID makes a name for a secret; the name itself is public.
func NewKID() string { return strings.ToLower(rand.Text()[:kidLength]) }

// Reveal is the token as its holder sends it.
func (t Token) Reveal() string {
	return strings.Join([]string{tokenPrefix, string(t.Role), t.KID, t.Secret.Reveal()}, "_")
}

// errNoToken is all that a malformed token is answered with.
var errNoToken = errors.New("not a token")

// ParseToken reads a token.
func ParseToken(text string) (Token, error) {
	parts := strings.SplitN(text, "_", 4)
	if len(parts) != 4 || parts[0] != tokenPrefix {
		return Token{}, errNoToken
	}
	t := Token{Role: c3po.Role(parts[1]), KID: parts[2], Secret: Secret{parts[3]}}
	bits, err := base64.RawURLEncoding.Strict().DecodeString(parts[3])
	if err != nil || len(bits) != 32 || len(parts[3]) != 43 || !slices.Contains(c3po.Roles(), t.Role) || !isKID(t.KID) {
		return Token{}, errNoToken
	}
	return t, nil
}

func isKID(s string) bool {
	return len(s) == kidLength && strings.Trim(s, kidLetters) == ""
}

// opens says whether the token is the one that was granted. How long it takes
// tells nothing of the secret.
func (t Token) opens(g Grant) bool {
	same := subtle.ConstantTimeCompare([]byte(t.Secret.Hash()), []byte(g.Hash))
	return same == 1 && t.Role == g.Role
}
