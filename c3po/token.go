package c3po

import "time"

// TokenInput asks for a new token.
type TokenInput struct {
	Role Role `json:"role"`
	// Spaces are names or patterns ("repo-*"); the first, if it is a name, is where
	// a caller is who names none. The default space if empty.
	Spaces []string `json:"spaces,omitempty" jsonschema:"Names or patterns; the first, if it is a name, is where a caller is who names none"`
	// Agents says as whom the holder may act: "build-box/*". A * is any text within
	// one part. Needed for agents and runners, and for nobody else.
	Agents string `json:"agents,omitempty" jsonschema:"The ids an agent or a runner may act as; * is any text within one part"`
	Label  string `json:"label,omitempty" form:"^.{0,100}$"`
}

// TokenUseNoted is how often the use of a token is noted, and so how exactly its last
// use is known.
const TokenUseNoted = time.Hour

// A Token is what is known of a token. Only NewToken has the token itself.
type Token struct {
	KID         string    `json:"kid"`
	Role        Role      `json:"role"`
	Spaces      []string  `json:"spaces"`
	Agents      string    `json:"agents,omitempty"`
	Label       string    `json:"label,omitempty"`
	State       string    `json:"state" enum:"live,expired,revoked"` // live, expired or revoked
	Created     time.Time `json:"created"`
	Expires     time.Time `json:"expires"`
	LastUsed    time.Time `json:"last_used,omitzero"` // or up to TokenUseNoted later
	SuccessorOf string    `json:"successor_of,omitempty"`
}

// A NewToken is the one time a token is shown.
type NewToken struct {
	Token
	Secret string `json:"token"`
}
