package c3po

import "time"

// None is the input of an operation that takes nothing.
type None struct{}

// Pong answers ping.
type Pong struct {
	Pong      bool      `json:"pong"`
	Timestamp time.Time `json:"timestamp"`
}

// ServerInfo says what is running.
type ServerInfo struct {
	Version    string     `json:"version"`
	Commit     string     `json:"commit"`
	Features   []string   `json:"features"`
	Node       string     `json:"node"`
	Space      Space      `json:"space"`
	Durability Durability `json:"durability"`
	Schema     int        `json:"schema"`
	Auth       string     `json:"auth,omitempty"` // "none" if callers are who they say they are
	Engine     *Engine    `json:"engine,omitempty"`
}

// Engine is what Redis says of itself; of several, the one that is worst off.
type Engine struct {
	Version    string   `json:"version"`
	Eviction   string   `json:"eviction"`    // its maxmemory-policy
	Problems   []string `json:"problems"`    // with writing to disk
	MemoryUsed int64    `json:"memory_used"` // bytes
	MemoryMost int64    `json:"memory_max"`  // bytes; 0 if it has no limit
}

// Health answers /api/health.
type Health struct {
	Status       string `json:"status"`
	AgentsOnline int    `json:"agents_online"`
}

// Features is what a client may rely on beside the operations themselves.
func Features() []string {
	return []string{
		"spaces", "runs", "receipts", "threads", "priorities", "idempotent_sends", "wait_after", "escalation", "pause", "trace", "events", "log", "tickets", "bridge", "roles", "dead_letters", "compat",
	}
}
