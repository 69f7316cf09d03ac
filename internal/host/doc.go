// Package host is the floor of what c3po finds and changes on one machine: its folders
// (paths), a person's settings (settings), the private Redis (engine), the files of
// coding agents (clients, configedit), services (unit), releases (release), processes
// (liveness, group), and what is wrong and how one knows (doctor, verify).
//
// It knows nothing of messages. What it changes in a person's files it can take out
// again, byte for byte.
package host
