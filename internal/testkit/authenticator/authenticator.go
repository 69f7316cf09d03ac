// Package authenticator is a passkey in software, for tests: what a browser and a security
// key do together. An agent could write the same, which is why its key counts for nothing.
package authenticator

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
)

// An Authenticator holds one passkey.
type Authenticator struct {
	ID  []byte
	key *ecdsa.PrivateKey
	// Absent is a signature without anybody's touch.
	Absent bool
}

// New makes one with a key of its own.
func New() *Authenticator {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	a := &Authenticator{ID: make([]byte, 16), key: key}
	_, _ = rand.Read(a.ID)
	return a
}

// options are what both ceremonies read.
type options struct {
	Challenge string                `json:"challenge"`
	RPID      string                `json:"rpId"`
	RP        struct{ ID string }   `json:"rp"`
	Allowed   []struct{ ID string } `json:"allowCredentials"`
}

// Create is navigator.credentials.create on a page of that origin.
func (a *Authenticator) Create(given json.RawMessage, origin string) json.RawMessage {
	o := read(given)
	data := a.data(o.RP.ID, 0x40)
	data = append(data, make([]byte, 16)...) // of no make
	data = binary.BigEndian.AppendUint16(data, uint16(len(a.ID)))
	data = append(append(data, a.ID...), a.Public()...)
	object := []byte{0xa3}
	object = append(object, "\x63fmt\x64none\x67attStmt\xa0\x68authData\x59"...)
	object = binary.BigEndian.AppendUint16(object, uint16(len(data)))
	object = append(object, data...)
	return a.credential(map[string]string{"clientDataJSON": text(clientData("webauthn.create", o.Challenge, origin)), "attestationObject": text(object)})
}

// Get is navigator.credentials.get on a page of that origin.
func (a *Authenticator) Get(given json.RawMessage, origin string) json.RawMessage {
	o := read(given)
	return a.Sign(o.Challenge, o.RPID, origin)
}

// Sign signs a challenge, whatever it is for.
func (a *Authenticator) Sign(challenge, site, origin string) json.RawMessage {
	client := clientData("webauthn.get", challenge, origin)
	data := a.data(site, 0)
	hash := sha256.Sum256(client)
	digest := sha256.Sum256(append(append([]byte{}, data...), hash[:]...))
	signature, err := ecdsa.SignASN1(rand.Reader, a.key, digest[:])
	if err != nil {
		panic(err)
	}
	return a.credential(map[string]string{"clientDataJSON": text(client), "authenticatorData": text(data), "signature": text(signature)})
}

// data is what an authenticator says of itself: for which site, and that it was touched.
func (a *Authenticator) data(site string, flags byte) []byte {
	if !a.Absent {
		flags |= 0x05
	}
	hash := sha256.Sum256([]byte(site))
	return append(append(hash[:], flags), 0, 0, 0, 1)
}

func (a *Authenticator) credential(response map[string]string) json.RawMessage {
	made, err := json.Marshal(map[string]any{
		"id": text(a.ID), "rawId": text(a.ID), "type": "public-key", "response": response, "clientExtensionResults": map[string]any{},
	})
	if err != nil {
		panic(err)
	}
	return made
}

func clientData(kind, challenge, origin string) []byte {
	made, err := json.Marshal(map[string]any{"type": kind, "challenge": challenge, "origin": origin, "crossOrigin": false})
	if err != nil {
		panic(err)
	}
	return made
}

func read(given json.RawMessage) options {
	var o options
	if err := json.Unmarshal(given, &o); err != nil {
		panic(err)
	}
	return o
}

func text(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

// Public is the public half of the key, as a coordinator stores it.
func (a *Authenticator) Public() []byte {
	public, err := a.key.PublicKey.Bytes() // 0x04, X, Y
	if err != nil {
		panic(err)
	}
	cose := append([]byte{0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21, 0x58, 0x20}, public[1:33]...)
	return append(append(cose, 0x22, 0x58, 0x20), public[33:]...)
}
