package c3po

// ThreadResumeInput names a conversation that is paused because its budget is
// spent.
type ThreadResumeInput struct {
	Thread string `json:"thread" jsonschema:"Thread id, or the id of a message in it"`
}

// ThreadResumed says whether it was paused.
type ThreadResumed struct {
	Thread  string `json:"thread"`
	Resumed bool   `json:"resumed"` // it was paused
}

// RecentInput names an agent.
type RecentInput struct {
	AgentID AgentID `json:"agent_id" jsonschema:"The agent"`
	Limit   int     `json:"limit,omitempty" jsonschema:"How many at the most; default 5" range:"0,50"`
}
