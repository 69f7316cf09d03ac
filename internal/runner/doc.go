// Package runner runs agents in containers: a prompt, a shell, a named agent of
// agents.yaml, and the loop that starts such an agent whenever one of its
// triggers fires. Between runs nothing of an agent is there but the runner's
// wait, which costs no model anything.
//
// A container is given one agent's token and no other, and what is secret in
// files: what a runtime tells of a container shows none of it. The runner itself
// sees that there is mail, never what it says.
package runner
