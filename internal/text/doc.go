// Package text is the floor of what strangers wrote: which characters do something
// instead of being seen (sanitise), and how a model is shown another agent's words as
// words and never as orders (envelope).
//
// It is the only way out for such text, and it knows nobody but the root.
package text
