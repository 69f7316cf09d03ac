// Package clients knows the coding agents that take c3po in by their own files:
// which files, what stands in them, and what installing approves on the person's
// behalf. It plans changes and applies them; it prints nothing and starts
// nothing.
package clients

import (
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/c3po-dev/c3po/internal/host/configedit"
)

// A Client is one coding agent.
type Client struct {
	Name    string // as one types it
	Title   string // as its makers write it
	Program string // its command
	// Approves says, in sentences for the person, what installing allows.
	Approves []string
	// Notes says what the person should know or do besides.
	Notes []string
	// Stays says that the end of a turn can be made to wait for mail.
	Stays bool
	// Approvals says that its permission dialogs can be decided from elsewhere.
	Approvals bool
	// Holds says that it opens them only when the person was asked elsewhere.
	Holds bool
	// Shell says that its hooks are lines that a shell reads.
	Shell bool
	Files func(Place) ([]File, error)
	// Setup is what the files of the client name now, ours or not.
	Setup func(Place) (Setup, error)
}

// A Setup is what a client starts and asks, by its own files.
type Setup struct {
	Command []string // that serves our tools; none if the files name none
	Hooks   []Hook
	Monitor []string // that says when mail comes to an idle session; none if the files name none
	Wakes   bool     // it should have one
	// Approvals says that its permission dialogs are questions to the person elsewhere, and
	// Hold for how long they may be kept closed for that.
	Approvals bool
	Hold      time.Duration
}

// A Hook is what is done at an event of a session: a command is run, or a tool of
// ours is called.
type Hook struct {
	Event   string
	Command []string
	Tool    string
	Input   map[string]string
	Missing bool // it should be there, and is not
}

// beforeEdit is what a hook is called here that is there for edits alone: a client may have
// another for the same event.
const beforeEdit = "BeforeEdit"

// All are the clients that can be installed into, in the order they are shown.
func All() []Client {
	return []Client{codex(), opencode(), gemini(), copilot(), kimi()}
}

// A Place is where a client is installed into.
type Place struct {
	Home    string
	Project string // its folder; empty for all projects of the user
	Program string // ours, by its full path
	Rooms   string // to join when a session starts, separated by commas
	Stay    bool   // the end of a turn waits for mail
	// Approvals makes permission dialogs questions to the person elsewhere.
	Approvals bool
	Hold      time.Duration // how long a client that Holds may keep them closed for that
	Getenv    func(string) string
}

// folderFor is a folder that a variable names, or else one in the home.
func (p Place) folderFor(variable string, otherwise ...string) string {
	if dir := p.Getenv(variable); filepath.IsAbs(dir) {
		return dir
	}
	return filepath.Join(append([]string{p.Home}, otherwise...)...)
}

// arguments start our tools for a client.
func (p Place) arguments(client string) []string {
	args := []string{"mcp", "--client", client}
	if p.Rooms != "" {
		args = append(args, "--tools", "core,rooms", "--auto-join-rooms", p.Rooms)
	}
	if p.Hold > 0 {
		args = append(args, holdFlag, p.Hold.String())
	}
	return args
}

// holdFlag says for how long dialogs wait, in the arguments that start our tools.
const holdFlag = "--approval-wait"

// held is what such arguments say; zero if they do not.
func held(command []string) time.Duration {
	at := slices.Index(command, holdFlag)
	if at < 0 || at+1 == len(command) {
		return 0
	}
	most, err := time.ParseDuration(command[at+1])
	if err != nil {
		return 0
	}
	return most
}

// hookSeconds is how many seconds a hook may take that holds a dialog back: more than the
// session process does.
func (p Place) hookSeconds() int { return int(p.Hold/time.Second) + 10 }

// A File is one that gets something of ours.
type File struct {
	Path string
	// Add returns the text with ours in it, and what Remove must know to take it
	// out again. It leaves a text alone that has it all.
	Add    func(text []byte) ([]byte, []configedit.Undo, error)
	Remove func(text []byte, undo []configedit.Undo) ([]byte, error)
	// Shared says that other clients have it too: it goes with the last of them.
	Shared bool
}

// wholeFile is a file that is all ours. One that a person has changed is theirs.
func wholeFile(path string, content []byte) File {
	return File{
		Path:   path,
		Add:    func([]byte) ([]byte, []configedit.Undo, error) { return content, nil, nil },
		Remove: func(text []byte, _ []configedit.Undo) ([]byte, error) { return text, nil },
	}
}

// skillFile is the skill that all clients read.
func skillFile(p Place) File {
	root := p.Home
	if p.Project != "" {
		root = p.Project
	}
	f := wholeFile(filepath.Join(root, ".agents", "skills", "c3po", "SKILL.md"), []byte(skill))
	f.Shared = true
	return f
}

// read is the content of a file; one that is not there has none.
func read(name string) (text []byte, there bool, err error) {
	text, err = os.ReadFile(name)
	if os.IsNotExist(err) {
		return nil, false, nil
	}
	return text, err == nil, err
}
