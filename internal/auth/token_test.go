package auth_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/auth"
)

func TestATokenIsReadBackAsItWasMade(t *testing.T) {
	t.Parallel()
	for _, role := range c3po.Roles() {
		made := auth.NewToken(role)
		text := made.Reveal()
		if !strings.HasPrefix(text, "c3po_"+string(role)+"_"+made.KID+"_") || len(made.Secret.Reveal()) != 43 {
			t.Errorf("a token of role %s has another form", role)
		}
		read, err := auth.ParseToken(text)
		if err != nil || read != made {
			t.Errorf("a token of role %s is not read back: %v", role, err)
		}
	}
}

func TestNoTwoTokensAreAlike(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for range 10_000 {
		made := auth.NewToken(c3po.RoleAgent)
		if seen[made.KID] || seen[made.Secret.Reveal()] {
			t.Fatal("a key id or a secret came twice")
		}
		seen[made.KID], seen[made.Secret.Reveal()] = true, true
	}
}

func TestASecretShowsItselfToNobody(t *testing.T) {
	t.Parallel()
	token := auth.NewToken(c3po.RoleAgent)
	secret := token.Secret.Reveal()
	var log bytes.Buffer
	for _, handler := range []slog.Handler{slog.NewJSONHandler(&log, nil), slog.NewTextHandler(&log, nil)} {
		slog.New(handler).Info("m", "secret", token.Secret, "pointer", &token.Secret, "token", token, "all", []auth.Token{token})
	}
	written, err := json.Marshal(map[string]any{"secret": token.Secret, "token": token, "pointer": &token})
	if err != nil {
		t.Fatal(err)
	}
	shown := map[string]string{"log": log.String(), "json": string(written), "error": fmt.Errorf("bad %w %v", fmt.Errorf("%v", token), token.Secret).Error()}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		shown[verb] = fmt.Sprintf(verb+verb+verb, token.Secret, token, &token)
	}
	for how, text := range shown {
		if strings.Contains(text, secret) || strings.Contains(text, fmt.Sprintf("%x", secret)) {
			t.Errorf("%s shows the secret: %s", how, text)
		}
		if !strings.Contains(text, "redacted") {
			t.Errorf("%s does not say that something is left out: %s", how, text)
		}
	}
}

// Whatever is read as a token is one: it is written again as it came, so there
// are no two spellings of a token, and its parts are harmless in a log.
func FuzzParseToken(f *testing.F) {
	good := auth.NewToken(c3po.RoleRunner).Reveal()
	f.Add(good)
	f.Add(good[:len(good)-1])
	f.Add(good + "=")
	f.Add(strings.ToUpper(good))
	f.Add("c3po_agent__")
	f.Add("c3po_god_abcdefghij23_" + strings.Repeat("A", 43))
	f.Add("c3po_agent_abcdefghij23_" + strings.Repeat("_", 43))
	f.Fuzz(func(t *testing.T, text string) {
		token, err := auth.ParseToken(text)
		if err != nil {
			if text != "" && len(text) > 12 && strings.Contains(err.Error(), text) {
				t.Errorf("the error repeats what may be a secret: %v", err)
			}
			return
		}
		if token.Reveal() != text {
			t.Errorf("read %q, written %q", text, token.Reveal())
		}
		if strings.Trim(token.KID, "abcdefghijklmnopqrstuvwxyz234567") != "" || len(token.KID) != 12 {
			t.Errorf("key id %q", token.KID)
		}
	})
}
