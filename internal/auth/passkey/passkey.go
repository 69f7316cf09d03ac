// Package passkey checks what a person's authenticator signs: that a key was made, and
// that its holder agreed to one exact thing.
package passkey

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/url"
	"slices"
	"strings"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/protocol/webauthncose"
)

// A Key is the public half of a passkey.
type Key struct {
	ID     []byte `json:"id"`
	Public []byte `json:"public"` // in COSE form
	Site   string `json:"site"`   // the name of the page it was made on
}

// Origins are where the dashboard is served from. A page of another origin, also one on
// another port of the same name, gets no signature that counts.
type Origins []string

// of are the origins with that host name.
func (o Origins) of(site string) []string {
	return slices.DeleteFunc(slices.Clone(o), func(origin string) bool { return SiteOf(origin) != site })
}

// SiteOf is the host name of an origin; empty if it is none.
func SiteOf(origin string) string {
	u, err := url.Parse(origin)
	if err != nil {
		return ""
	}
	return u.Hostname()
}

// algorithms are the ones that authenticators in use know.
var algorithms = []webauthncose.COSEAlgorithmIdentifier{webauthncose.AlgES256, webauthncose.AlgEdDSA, webauthncose.AlgRS256}

type parameter struct {
	Type string `json:"type"`
	Alg  int64  `json:"alg"`
}

type descriptor struct {
	Type string `json:"type"`
	ID   string `json:"id"`
}

const keyType = "public-key"

// CreationOptions are what a browser is given to make a passkey, in the JSON form of
// PublicKeyCredential.parseCreationOptionsFromJSON.
func CreationOptions(site string, challenge []byte, have []Key) json.RawMessage {
	known := []parameter{}
	for _, a := range algorithms {
		known = append(known, parameter{keyType, int64(a)})
	}
	handle := make([]byte, 16)
	_, _ = rand.Read(handle) // never fails
	return mustJSON(map[string]any{
		"rp":                     map[string]string{"id": site, "name": "c3po"},
		"user":                   map[string]string{"id": text(handle), "name": "you", "displayName": "You"},
		"challenge":              text(challenge),
		"pubKeyCredParams":       known,
		"excludeCredentials":     descriptors(site, have),
		"authenticatorSelection": map[string]string{"residentKey": "preferred", "userVerification": "preferred"},
		"attestation":            "none",
	})
}

// RequestOptions are what a browser is given to sign with one of the keys, in the JSON
// form of PublicKeyCredential.parseRequestOptionsFromJSON.
func RequestOptions(site string, challenge []byte, keys []Key) json.RawMessage {
	return mustJSON(map[string]any{
		"rpId": site, "challenge": text(challenge), "allowCredentials": descriptors(site, keys), "userVerification": "preferred",
	})
}

// Register checks that an authenticator has made a key for one of our pages, and gives it.
func Register(origins Origins, challenge, response []byte) (Key, error) {
	made, err := protocol.ParseCredentialCreationResponseBytes(response)
	if err != nil {
		return Key{}, explain(err)
	}
	site := SiteOf(made.Response.CollectedClientData.Origin)
	params := make([]protocol.CredentialParameter, len(algorithms))
	for i, a := range algorithms {
		params[i] = protocol.CredentialParameter{Type: protocol.PublicKeyCredentialType, Algorithm: a}
	}
	allowed := origins.of(site)
	if len(allowed) == 0 {
		return Key{}, errors.New("it was made for another page")
	}
	if _, err := made.Verify(text(challenge), site, allowed, nil, nil, protocol.TopOriginExplicitVerificationMode,
		false, false, true, nil, params, protocol.AttestationPolicy{}, protocol.SignaturePolicy{}); err != nil {
		return Key{}, explain(err)
	}
	attested := made.Response.AttestationObject.AuthData.AttData
	return Key{ID: attested.CredentialID, Public: attested.CredentialPublicKey, Site: site}, nil
}

// Verify checks that the holder of one of the keys has signed the challenge on one of our
// pages, and gives the key.
func Verify(origins Origins, challenge, response []byte, keys []Key) (Key, error) {
	signed, err := protocol.ParseCredentialRequestResponseBytes(response)
	if err != nil {
		return Key{}, explain(err)
	}
	at := slices.IndexFunc(keys, func(k Key) bool { return bytes.Equal(k.ID, signed.RawID) })
	if at < 0 {
		return Key{}, errors.New("it was signed with another key")
	}
	allowed := origins.of(keys[at].Site)
	if len(allowed) == 0 {
		return Key{}, errors.New("its key is for a name that this coordinator no longer has")
	}
	err = signed.Verify(text(challenge), keys[at].Site, "", allowed, nil, nil, protocol.TopOriginExplicitVerificationMode,
		false, false, true, keys[at].Public, protocol.SignaturePolicy{})
	if err != nil {
		return Key{}, explain(err)
	}
	return keys[at], nil
}

// For are the keys that work on a page of that name.
func For(site string, keys []Key) []Key {
	return slices.DeleteFunc(slices.Clone(keys), func(k Key) bool { return k.Site != site })
}

func descriptors(site string, keys []Key) []descriptor {
	all := []descriptor{}
	for _, k := range For(site, keys) {
		all = append(all, descriptor{keyType, text(k.ID)})
	}
	return all
}

// explain says in our words what is wrong. What the library says is for its programmers.
func explain(err error) error {
	e, ok := errors.AsType[*protocol.Error](err)
	if !ok {
		return errors.New("the browser's answer can't be read")
	}
	switch {
	case e.Type == protocol.ErrVerification.Type && strings.Contains(e.Details, "challenge"):
		return errors.New("it is over something else, or an older one")
	case e.Type == protocol.ErrVerification.Type:
		return errors.New("it was made on another page, or without a touch")
	case e.Type == protocol.ErrAssertionSignature.Type:
		return errors.New("the signature isn't the key's")
	default:
		return errors.New("the browser's answer can't be read")
	}
}

func text(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

func mustJSON(v any) json.RawMessage {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err) // strings and numbers always marshal
	}
	return data
}
