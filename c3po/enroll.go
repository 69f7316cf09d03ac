package c3po

import "time"

// InviteInput asks for an invitation: of one host, or of its person.
type InviteInput struct {
	Host   string   `json:"host,omitempty"`   // the name it will have; its own if empty
	Person bool     `json:"person,omitempty"` // not for the host's agents, but for who uses it
	Runner bool     `json:"runner,omitempty"` // it may also start agents
	Spaces []string `json:"spaces,omitempty"` // main if empty; all for a person
}

// Invited is an invitation, in the parts its text is made of.
type Invited struct {
	Address string    `json:"address"` // where the coordinator believes others reach it
	Hash    string    `json:"hash"`    // of its authority, or "system"
	Secret  string    `json:"secret"`
	Pin     string    `json:"pin,omitempty"` // of its key, as curl takes it
	Expires time.Time `json:"expires"`
}

// JoinInput is what a new host shows.
type JoinInput struct {
	Secret string `json:"secret"`
	Host   string `json:"host"` // the name it would like
}

// Joined is what a host, or a person at it, gets for a good invitation.
type Joined struct {
	Host        string   `json:"host"`            // the name it has from now on
	Token       string   `json:"token,omitempty"` // for agents called host/NAME
	PersonToken string   `json:"person_token,omitempty"`
	RunnerToken string   `json:"runner_token,omitempty"`
	Spaces      []string `json:"spaces"`
}
