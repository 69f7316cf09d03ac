// Package person is the floor of what a person looks at: the dashboard, the
// full-screen view (top), and word of a question outside of c3po (notify).
//
// Nothing here is for a model, and nothing that an agent wrote is shown before it has
// passed package sanitise.
package person
