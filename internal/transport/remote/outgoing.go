package remote

import "github.com/c3po-dev/c3po/internal/hub"

// An outgoing message is what a remote is sent.
type outgoing struct {
	id    string // the same for every try
	chain string // that it goes on
	trace string // the traceparent it is part of; none if empty
	text  string
	files []file
	conversation
}

type file struct {
	name, kind string
	content    []byte
}

// wire is the message in a version of the protocol.
func (o outgoing) wire(version string) map[string]any {
	metadata := map[string]string{hub.ForwardedChain: o.chain}
	if o.trace != "" {
		metadata[traceHeader] = o.trace
	}
	text := map[string]any{"text": o.text}
	sent := map[string]any{"messageId": o.id, "metadata": metadata, "role": "ROLE_USER"}
	if o.Context != "" {
		sent["contextId"] = o.Context
	}
	if o.Task != "" {
		sent["taskId"] = o.Task
	}
	if version == "0.3" {
		text["kind"], sent["kind"], sent["role"] = "text", "message", "user"
	}
	parts := []any{text}
	for _, f := range o.files {
		parts = append(parts, f.part(version))
	}
	sent["parts"] = parts
	return sent
}

func (f file) part(version string) map[string]any {
	content, name, kind := "raw", "filename", "mediaType"
	if version == "0.3" {
		content, name, kind = "bytes", "name", "mimeType"
	}
	part := map[string]any{content: f.content, name: f.name}
	if f.kind != "" {
		part[kind] = f.kind
	}
	if version == "0.3" {
		return map[string]any{"kind": "file", "file": part}
	}
	return part
}
