// Package testkit is the floor of what only tests use: real Redis servers (redistest),
// real processes that are killed, frozen and cut off (faultrig), real coding agents
// (clientrig) before a scripted model (llm), pictures of what they showed (screencast),
// and the chance that every run shares (seed).
//
// Nothing of the program imports it.
package testkit
