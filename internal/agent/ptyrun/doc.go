// Package ptyrun runs an interactive program unchanged in a terminal of its own
// and makes an agent of it: it types a notice into the program when mail has
// come and nobody is in the middle of a line, and posts as replies what the
// program prints between the marks of an answer.
//
// Three things are kept apart: what the program shows (screen), what the person
// has typed (keys) and what the coordinator knows (mailbox). Only when the
// first two agree that the program waits at an empty prompt is anything typed.
// The program never waits for the coordinator.
package ptyrun
