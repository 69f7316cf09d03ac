package c3po

// TypeRemote is the type of an agent of another system, which the coordinator asks for
// the others.
const TypeRemote = "a2a"

// RemoteInput adds an agent of another system, by the card it has in the A2A protocol.
type RemoteInput struct {
	URL  string `json:"url" jsonschema:"The address of its card, or of its host"`
	Name string `json:"name,omitempty" jsonschema:"What it is called here; made from the name on its card if left out"`
	// TokenEnv keeps the token itself out of the store.
	TokenEnv string `json:"token_env,omitempty" form:"^A2A_[A-Z0-9_]+$" jsonschema:"The variable of the coordinator that holds the token it is shown"`
}

// A Remote is an agent of another system that was added.
type Remote struct {
	AgentID AgentID `json:"agent_id"`
	URL     string  `json:"url"` // of its card
	KID     string  `json:"kid"` // revoke this token to remove it
}
