// Package transport is the floor of the ways in: operations as JSON over HTTP (rest),
// and as tools of the Model Context Protocol (mcpserver).
//
// It translates and refuses what is malformed. It decides nothing: what a call may do
// is said by auth, what it does by the hub.
package transport
