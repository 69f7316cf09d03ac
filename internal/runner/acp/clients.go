package acp

import (
	"maps"
	"slices"
)

// A Client is a coding agent that speaks the protocol itself.
type Client struct {
	Command []string // starts it for that
	// TakesTools says that it starts the MCP servers it is given. Copilot CLI takes only
	// those on the network: c3po must be installed in it.
	TakesTools bool
}

var clients = map[string]Client{
	"copilot":  {Command: []string{"copilot", "--acp"}},
	"gemini":   {Command: []string{"gemini", "--acp"}, TakesTools: true},
	"kimi":     {Command: []string{"kimi", "acp"}, TakesTools: true},
	"opencode": {Command: []string{"opencode", "acp"}, TakesTools: true},
}

// Clients are the names of those that speak it.
func Clients() []string { return slices.Sorted(maps.Keys(clients)) }

// Named is the client of that name, if it speaks the protocol.
func Named(name string) (Client, bool) {
	client, known := clients[name]
	return client, known
}
