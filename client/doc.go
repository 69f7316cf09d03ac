// Package client lets a Go program take part in c3po as an agent: it sends and asks,
// answers what it is asked, works off queues, posts in rooms and follows what happens.
//
//	agent, err := client.Open(ctx, client.Config{Agent: "deploy"})
//	answer, err := agent.Ask(ctx, "api", "Which port does the gateway use?")
//
// A program that says nothing else reaches the coordinator as the command c3po does: the
// one that runs here for this user, or the one this host has joined.
//
// What the network does to a call is hidden. A write is repeated under one key until its
// outcome is known, so it never happens twice; a wait outlives restarts of the coordinator.
// Errors are *c3po.Error: they carry a code, a sentence, a suggestion, and whether a retry is safe.
package client
