// Package c3po is the vocabulary of the product: agents, messages, threads,
// errors, limits, and the table of operations every surface is made from.
//
// It holds data and names. It does no I/O, keeps no state and imports nothing
// but the standard library, so that a client written elsewhere can use it too.
package c3po
