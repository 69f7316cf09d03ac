package c3po

import "time"

// A Lease is one session's right to edit a file. It has a number, and whoever edits the
// file next has a higher one.
type Lease struct {
	Number     int64      `json:"number"`
	Repository string     `json:"repository"`       // the same in every clone
	Branch     string     `json:"branch,omitempty"` // none while no branch is checked out
	Tree       string     `json:"tree,omitempty"`   // the working tree
	Path       string     `json:"path"`             // within the repository
	Holder     AgentID    `json:"holder"`
	Since      time.Time  `json:"since"`
	Edited     time.Time  `json:"edited"`          // when its holder last edited the file
	Task       string     `json:"task,omitempty"`  // what its holder works on, if it says
	Ended      *time.Time `json:"ended,omitempty"` // nobody holds it any more
}

// LeaseFiles names files of a working tree.
type LeaseFiles struct {
	Repository string
	Branch     string // empty while none is checked out
	Tree       string
	Paths      []string
}

// LeaseTakeInput are the arguments of lease_take.
type LeaseTakeInput struct {
	Repository string   `json:"repository" jsonschema:"Identity of the repository"`
	Branch     string   `json:"branch,omitempty" jsonschema:"Branch that is checked out"`
	Tree       string   `json:"tree" jsonschema:"Identity of the working tree"`
	Paths      []string `json:"paths,omitempty" jsonschema:"Files to edit, within the repository; none to say that you still work"`
	Task       string   `json:"task,omitempty" jsonschema:"What you work on; your current task if empty"`
}

// LeaseReleaseInput are the arguments of lease_release.
type LeaseReleaseInput struct {
	Repository string   `json:"repository" jsonschema:"Identity of the repository"`
	Branch     string   `json:"branch,omitempty" jsonschema:"Branch that is checked out"`
	Tree       string   `json:"tree" jsonschema:"Identity of the working tree"`
	Paths      []string `json:"paths" jsonschema:"Files that you no longer edit"`
}

// LeaseTaken answers lease_take: the numbers of the leases, or who holds one of the files.
type LeaseTaken struct {
	Numbers []int64 `json:"numbers,omitempty"` // in the order of the paths
	Held    *Lease  `json:"held,omitempty"`    // by another: nothing was taken
}

// LeaseReleased answers lease_release and lease_break.
type LeaseReleased struct {
	Released int `json:"released"`
}

// LeaseCheckInput are the arguments of lease_check.
type LeaseCheckInput struct {
	Repository string   `json:"repository" jsonschema:"Identity of the repository"`
	Branch     string   `json:"branch,omitempty" jsonschema:"Branch that is checked out"`
	Tree       string   `json:"tree" jsonschema:"Identity of the working tree"`
	Paths      []string `json:"paths" jsonschema:"Files to commit, within the repository"`
	Numbers    []int64  `json:"numbers" jsonschema:"Of each path the last lease its working tree had; 0 for none"`
}

// LeaseConflicts answers lease_check.
type LeaseConflicts struct {
	Leases []Lease `json:"leases"` // that others hold, or that were given since
}

// LeaseListInput are the arguments of lease_list.
type LeaseListInput struct {
	Repository string `json:"repository,omitempty" jsonschema:"Only of this repository"`
}

// LeaseList answers lease_list: who edits what, the latest lease first.
type LeaseList struct {
	Leases []Lease `json:"leases"`
}

// LeaseBreakInput are the arguments of lease_break.
type LeaseBreakInput struct {
	Number int64 `json:"number" jsonschema:"Number of the lease"`
}

// LeaseForMessage begins the task of a lease that was taken while its holder worked on a
// message, whose id follows.
const LeaseForMessage = "message "

const (
	// MaxLeaseFiles bounds the files of one call.
	MaxLeaseFiles = 200
	// MaxAgentLeases bounds what one session holds at once.
	MaxAgentLeases = 500
)
