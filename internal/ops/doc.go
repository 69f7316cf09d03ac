// Package ops is the floor of what an operator asks for: a copy of everything (backup),
// a move to another coordinator (move), and figures (metrics, telemetry).
//
// It reads the store through the store's own contract. It decides no rule of delivery.
package ops
