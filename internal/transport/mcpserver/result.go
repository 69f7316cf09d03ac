package mcpserver

import (
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/text/envelope"
)

// An answer is what a call gave, before it is written as some protocol wants it.
type answer struct {
	blocks     []string
	structured json.RawMessage // the same as an object, or nothing
	isError    bool
}

// success turns what an operation answered into what a client gets.
//
// Where there is structured content some clients show a model that and drop the
// text. So what carries text of others is text only, in its envelope; all else
// is one object, and the same as text.
func (t tool) success(out any) (answer, error) {
	if t.asJSON {
		return plain(out)
	}
	if hasOwnShape(t.Operation) {
		return compatible(out)
	}
	switch out := out.(type) {
	case *c3po.MessageList:
		switch t.Name {
		case "get_thread":
			return text(t.envelope.Thread(t.Name, *out)), nil
		case "room_history":
			return text(t.envelope.History(t.Name, *out)), nil
		}
		return text(t.envelope.Inbox(t.Name, *out)), nil
	case *c3po.Message:
		if t.Bodies {
			return text(t.envelope.Wait(c3po.WaitResult{Message: *out, Unacked: 1})), nil
		}
		if t.brief && t.Name == "reply" {
			return text(t.envelope.Replied(*out)), nil
		}
	case *c3po.FileText:
		return text(t.envelope.FileText(*out, maxPageCharacters)), nil
	case *c3po.WaitResult:
		return text(t.envelope.Wait(*out)), nil
	case *c3po.AgentList:
		return text(t.envelope.Agents(t.Tool, *out)), nil
	case *c3po.CoWorkerList:
		return text(t.envelope.CoWorkers(t.Tool, *out)), nil
	case *c3po.Agent:
		return text(t.envelope.Agent(*out)), nil
	case *c3po.RoomJoined:
		return text(t.envelope.Joined(*out, maxPageCharacters)), nil
	case *c3po.Receipt:
		if t.brief || out.Reply != nil || out.Wait != nil {
			return text(t.envelope.Receipt(*out)), nil
		}
	}
	object, err := envelope.JSON(out)
	if err != nil {
		return answer{}, err
	}
	a := text(string(object))
	a.structured = object
	return a, nil
}

// hasOwnShape says that a tool answers in the shapes of a document.
func hasOwnShape(op c3po.Operation) bool {
	return op.Toolset == c3po.Compat || op.Toolset == c3po.Bridge || op.Toolset == c3po.C2C
}

// compatible answers in the shapes of a document, which are JSON, and says
// beforehand what they carry.
func compatible(out any) (answer, error) {
	a, err := plain(out)
	a.blocks = append([]string{envelope.NoticeOfJSON}, a.blocks...)
	return a, err
}

// plain answers in the shapes of REST: a listing is a bare array.
func plain(out any) (answer, error) {
	if list, ok := out.(c3po.Listing); ok {
		out = list.Rows()
	}
	document, err := envelope.JSON(out)
	if err != nil {
		return answer{}, err
	}
	return text(string(document)), nil
}

// failure is a result, not an error of the protocol: a model can read it and do
// better.
func failure(e *c3po.Error) answer {
	wire, err := envelope.JSON(e)
	if err != nil {
		wire = []byte(e.Code)
	}
	a := text(string(wire))
	a.isError = true
	return a
}

func text(blocks ...string) answer { return answer{blocks: blocks} }

// result is the answer as the SDK takes it.
func (a answer) result() *mcp.CallToolResult {
	result := &mcp.CallToolResult{IsError: a.isError}
	for _, block := range a.blocks {
		result.Content = append(result.Content, &mcp.TextContent{Text: block})
	}
	if a.structured != nil {
		result.StructuredContent = a.structured
	}
	return result
}
