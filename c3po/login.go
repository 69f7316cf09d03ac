package c3po

import "time"

// A LoginLink lets a browser in, once. The code belongs into the fragment of an
// address, which browsers do not send.
type LoginLink struct {
	Code    string    `json:"code"`
	Expires time.Time `json:"expires"`
}

// LoginInput is what a browser shows.
type LoginInput struct {
	Code string `json:"code"`
}

// A Login is what a browser gets for a good code.
type Login struct {
	Token   string    `json:"token"`
	Role    Role      `json:"role"`
	Spaces  []string  `json:"spaces"`
	Expires time.Time `json:"expires"`
}
