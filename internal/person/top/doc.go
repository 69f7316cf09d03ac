// Package top is the full-screen view of a space: what waits for the person, which
// agents there are, and what flows. A person answers questions and pauses agents from
// it; with a token that may only look, it refuses both.
//
// The model is pure: it is changed by messages alone and draws itself from what
// it holds. What others wrote is made harmless where it is drawn, and nowhere
// else is anything written to the terminal.
package top
