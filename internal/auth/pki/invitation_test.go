package pki_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/auth/pki"
)

var (
	aHash   = strings.Repeat("0a", 32)
	aSecret = "abcdefgh01234567-" + strings.Repeat("Zz_-", 10)
)

func TestAnInvitationIsReadAsItWasWritten(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"nas:8420", "nas.local:1", "192.0.2.7:65535", "[2001:db8::7]:8420", "a_b.example:443"} {
		for _, hash := range []string{aHash, pki.System} {
			want := pki.Invitation{Address: address, Hash: hash, Secret: aSecret, Person: hash == pki.System}
			got, err := pki.ParseInvitation(want.String())
			if err != nil {
				t.Errorf("%s: %v", want, err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", want, diff)
			}
		}
	}
}

func TestWhatIsOnlyLikeAnInvitationIsRefused(t *testing.T) {
	t.Parallel()
	proof := "/" + aHash + "-" + aSecret
	for _, text := range []string{
		"", "nas:8420" + proof, "https://nas:8420" + proof, "C3PO://nas:8420" + proof, " c3po://nas:8420" + proof, "c3po://nas:8420" + proof + "\n",
		"c3po://nas" + proof, "c3po://:8420" + proof, "c3po://nas:0" + proof, "c3po://nas:08420" + proof, "c3po://nas:65536" + proof, "c3po://nas:http" + proof,
		"c3po://0.0.0.0:8420" + proof, "c3po://[::]:8420" + proof, "c3po://[fe80::1%25eth0]:8420" + proof, "c3po://2001:db8::7:8420" + proof,
		"c3po://me@nas:8420" + proof, "c3po://na$(id)s:8420" + proof, "c3po://-nas:8420" + proof, "c3po://nas..local:8420" + proof,
		"c3po://nas:8420", "c3po://nas:8420/", "c3po://nas:8420/" + aHash, "c3po://nas:8420/" + aHash + "-", "c3po://nas:8420/" + aHash + "-short",
		"c3po://nas:8420/" + aHash[1:] + "-" + aSecret, "c3po://nas:8420/" + strings.ToUpper(aHash) + "-" + aSecret,
		"c3po://nas:8420/-" + aSecret, "c3po://nas:8420" + proof + "?x", "c3po://nas:8420" + proof + "#x", "c3po://nas:8420" + proof + "/",
		"c3po://nas:8420" + proof + strings.Repeat("x", 128), "c3po://nas:8420" + proof + ";id",
	} {
		got, err := pki.ParseInvitation(text)
		if !errors.Is(err, c3po.InvalidRequest) || got != (pki.Invitation{}) {
			t.Errorf("%q is read as %+v, %v", text, got, err)
		}
		if err != nil && strings.Contains(err.Error(), aSecret) {
			t.Errorf("the refusal of %q repeats the secret", text)
		}
	}
}

func TestAnInvitationThatIsCutOffIsCalledThat(t *testing.T) {
	t.Parallel()
	whole := "c3po://nas:8420/" + aHash + "-abcdefghij23-" + strings.Repeat("Zz_-", 10) + "abc"
	if _, err := pki.ParseInvitation(whole); err != nil {
		t.Fatal(err)
	}
	for n := len("c3po://nas:8420"); n < len(whole); n++ {
		if _, err := pki.ParseInvitation(whole[:n]); err == nil || !strings.Contains(err.Error(), "cut off") {
			t.Fatalf("%s: %v", whole[:n], err)
		}
	}
	if _, err := pki.ParseInvitation("c3po://nas:8420/zzz"); err == nil || strings.Contains(err.Error(), "cut off") {
		t.Errorf("what never was one: %v", err)
	}
}

// Whatever is pasted: what is taken is written back the same, and holds nothing
// that a shell, a URL or a terminal would take for more than text.
func FuzzParseInvitation(f *testing.F) {
	f.Add("c3po://nas:8420/" + aHash + "-" + aSecret)
	f.Add("c3po://[2001:db8::7]:8420/system-" + aSecret)
	f.Add("c3po://nas:8420/" + aHash + "-$(id)")
	f.Fuzz(func(t *testing.T, text string) {
		got, err := pki.ParseInvitation(text)
		if err != nil {
			if !errors.Is(err, c3po.InvalidRequest) {
				t.Fatalf("error %v is not %s", err, c3po.InvalidRequest)
			}
			return
		}
		if got.String() != text {
			t.Errorf("%q is written back as %q", text, got)
		}
		const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789:/._-[]"
		if strings.Trim(text, plain) != "" {
			t.Errorf("%q is taken", text)
		}
	})
}
