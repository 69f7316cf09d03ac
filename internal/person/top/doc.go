// Package top is the full-screen view of a space: who is there, what waits for
// the person, which tickets are open, and what happens, as it happens. A person
// answers questions and pauses agents from it; who may only look, looks.
//
// The model is pure: it is changed by messages alone and draws itself from what
// it holds. What others wrote is made harmless where it is drawn, and nowhere
// else is anything written to the terminal.
package top
