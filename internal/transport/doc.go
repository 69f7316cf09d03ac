// Package transport is the floor of the ways in: operations as JSON over HTTP (rest),
// as tools of the Model Context Protocol (mcpserver), and in the words of two other
// documents (dialect).
//
// It translates and refuses what is malformed. It decides nothing: what a call may do
// is said by auth, what it does by the hub.
package transport
