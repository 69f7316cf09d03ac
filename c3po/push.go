package c3po

// A PushKey is what a browser subscribes with, so that its push service takes notices
// from this coordinator alone.
type PushKey struct {
	Key string `json:"key"` // a point on P-256, in base64url
}

// PushInput is where a browser wants to be told of questions, as its push service gave it.
type PushInput struct {
	Endpoint string `json:"endpoint"`
	P256DH   string `json:"p256dh"` // the browser's public key, in base64url
	Auth     string `json:"auth"`   // a secret of 16 bytes, in base64url
}

// A PushState says whether the caller's browser gets notices of questions.
type PushState struct {
	On bool `json:"on"`
}
