// Package node is what one coordinator holds in memory while it runs: who waits here
// and is to be woken (Wakes), who watches events (Watch), which agents are here
// (Presence, LastCalls), what was handed out and is not written down yet (Notes), how
// far each space was seen, so that a store that went back is noticed (Marks),
// deadlines that pass (Deadlines), and the person who is told of questions (Notices).
//
// It decides no rule: what a caller may do is the hub's. Nothing here outlives the
// process, and nothing is lost with it.
package node
