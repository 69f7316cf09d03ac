// Package agent is the floor of what runs beside a coding agent, on the agent's own
// host: the tools over standard input and output (session), the decisions of its hooks
// (hook), a terminal around a program that has neither (ptyrun), and what resumes a closed
// session for its mail (attend).
//
// It speaks to a coordinator through the client alone. It never reaches into a store,
// and it never acts for a person.
package agent
