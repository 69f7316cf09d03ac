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
	Paused     string     `json:"paused,omitempty"` // why all agents of the space are paused; empty if they are not
	Durability Durability `json:"durability"`
	Schema     int        `json:"schema"`
	Auth       string     `json:"auth,omitempty" enum:"none"` // "none" if callers are who they say they are
	Access     Access     `json:"access"`
	Waiters    int64      `json:"waiters"`       // waits that sleep on this coordinator
	FileBytes  int64      `json:"file_bytes"`    // that a file may have which travels with a message
	Files      int        `json:"message_files"` // that may travel with one message
	Engine     *Engine    `json:"engine,omitempty"`
}

// Access is what the caller was let in with.
type Access struct {
	Role    Role      `json:"role"`
	Agents  Pattern   `json:"agents,omitempty"` // as whom it may act; as anybody if empty
	KID     string    `json:"kid,omitempty"`    // of its token; it showed none if empty
	Expires time.Time `json:"expires,omitzero"` // of its token, if it is not used until then
}

// Engine is what Redis says of itself; of several, the one that is worst off.
type Engine struct {
	Name       string   `json:"name" enum:"redis,valkey"` // redis or valkey
	Version    string   `json:"version"`
	Eviction   string   `json:"eviction"`    // its maxmemory-policy
	Problems   []string `json:"problems"`    // with writing to disk
	MemoryUsed int64    `json:"memory_used"` // bytes
	MaxMemory  int64    `json:"memory_max"`  // bytes; 0 if it has no limit
	Rewriting  bool     `json:"rewriting"`   // it makes its log shorter now
	// Disk is what is free where it keeps its data, in bytes; nil if the coordinator
	// cannot know, because Redis may be on another machine.
	Disk *int64 `json:"disk_free,omitempty" jsonschema:"Bytes free where it keeps its data; left out if the coordinator cannot know"`
}

// Health answers /api/health.
type Health struct {
	Status       string `json:"status" enum:"ok"`
	AgentsOnline int    `json:"agents_online"`
}

// Features is what a client may rely on beside the operations themselves.
func Features() []string {
	return []string{
		"spaces", "runs", "receipts", "threads", "priorities", "idempotent_sends", "wait_after", "escalation", "pause", "trace", "events", "log", "tickets", "bridge", "roles", "dead_letters", "compat",
		"rooms", "room_notify", "broadcast", "liveness", "heartbeats", "pid_start_time", "budgets", "atomic_write", "rename", "claims", "deadlines", "human", "metrics",
	}
}
