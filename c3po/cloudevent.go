package c3po

import (
	"cmp"
	"net/url"
	"time"
)

// A CloudEvent is an event as programs of other makers read it, by the CloudEvents
// specification, version 1.0, in its JSON form.
type CloudEvent struct {
	SpecVersion     string    `json:"specversion"`
	ID              string    `json:"id"`     // the event's cursor: unique for its source
	Source          string    `json:"source"` // the space
	Type            string    `json:"type"`   // the kind, after dev.c3po.
	Subject         string    `json:"subject,omitempty"`
	Time            time.Time `json:"time"`
	DataContentType string    `json:"datacontenttype"`
	Data            Event     `json:"data"`
}

// ForCloud is an event of a space, of which at is the place, as a CloudEvent. What it is
// about is its message, else its room, else its agent.
func (e Event) ForCloud(space Space, at EventCursor) CloudEvent {
	return CloudEvent{
		SpecVersion: "1.0", ID: at.String(), Source: CloudSource(space),
		Type: "dev.c3po." + string(e.Kind), Subject: cmp.Or(string(e.ID), string(e.Room), string(e.Agent)),
		Time: e.At, DataContentType: "application/json", Data: e,
	}
}

// CloudSource names a space as the source of CloudEvents.
func CloudSource(space Space) string { return "urn:c3po:space:" + url.PathEscape(string(space)) }
