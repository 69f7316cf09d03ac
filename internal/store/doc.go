// Package store is the floor of how everything is kept: Redis (redisstore), and what
// every store promises, as a model and as tests (storetest).
//
// It holds one atomic step for each change of state. Who may do what, and what a
// refusal says, is the hub's.
package store
