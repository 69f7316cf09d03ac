// Package store is the contract of how everything is kept: a Store by noun, the steps
// it is asked for, what it answers, and the refusals that a step can end in. Redis
// keeps it (redisstore); storetest says it again as a model and as promises.
//
// One method that writes is one atomic step. Who may do what, whom a name means and
// when anybody is woken is the hub's, which a store never knows.
package store
