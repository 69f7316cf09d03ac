// Command gosdk is an A2A client on the official SDK for Go, which speaks 0.3. It reads
// one command in each line of JSON, and answers each with a line, as testdata/client.mjs
// does: gosdk CARD-URL
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"net/url"
	"os"
	"strings"

	"github.com/a2aproject/a2a-go/a2a"
	"github.com/a2aproject/a2a-go/a2aclient"
	"github.com/a2aproject/a2a-go/a2aclient/agentcard"
)

// A command is what the client is told to do.
type command struct {
	Do   string `json:"do"`
	ID   string `json:"id"`
	Text string `json:"text"`
	Push string `json:"push"` // where a push config would send the task
}

// A task is what it has made of one. States are written as in 1.0.
type task struct {
	ID      string   `json:"id,omitempty"`
	State   string   `json:"state,omitempty"`
	Answer  string   `json:"answer"`
	Seen    []string `json:"seen,omitempty"`
	History []string `json:"history,omitempty"`
}

func main() {
	if err := run(context.Background(), os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, card string) error {
	var client *a2aclient.Client
	out := json.NewEncoder(os.Stdout)
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var c command
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			return err
		}
		var err error
		if client == nil {
			client, err = connect(ctx, card)
		}
		var done any
		if err == nil {
			done, err = do(ctx, client, c, out)
		}
		answer := map[string]any{"ok": done}
		if err != nil {
			answer = map[string]any{"error": "error", "message": err.Error()}
		}
		if err := out.Encode(answer); err != nil {
			return err
		}
	}
	return lines.Err()
}

func connect(ctx context.Context, address string) (*a2aclient.Client, error) {
	at, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	card, err := agentcard.NewResolver(nil).Resolve(ctx, at.Scheme+"://"+at.Host, agentcard.WithPath(at.EscapedPath()))
	if err != nil {
		return nil, err
	}
	return a2aclient.NewFromCard(ctx, card)
}

func do(ctx context.Context, client *a2aclient.Client, c command, out *json.Encoder) (any, error) {
	switch c.Do {
	case "send":
		message := a2a.NewMessage(a2a.MessageRoleUser, a2a.TextPart{Text: c.Text})
		message.ID = c.ID
		result, err := client.SendMessage(ctx, &a2a.MessageSendParams{Message: message})
		if err != nil {
			return nil, err
		}
		sent, ok := result.(*a2a.Task)
		if !ok {
			return nil, fmt.Errorf("it is answered with %T", result)
		}
		return plain(sent), nil
	case "get":
		got, err := client.GetTask(ctx, &a2a.TaskQueryParams{ID: a2a.TaskID(c.ID)})
		if err != nil {
			return nil, err
		}
		return plain(got), nil
	case "cancel":
		got, err := client.CancelTask(ctx, &a2a.TaskIDParams{ID: a2a.TaskID(c.ID)})
		if err != nil {
			return nil, err
		}
		return plain(got), nil
	case "push":
		return client.SetTaskPushConfig(ctx, &a2a.TaskPushConfig{TaskID: a2a.TaskID(c.ID), Config: a2a.PushConfig{URL: c.Push}})
	case "subscribe":
		return follow(client.ResubscribeToTask(ctx, &a2a.TaskIDParams{ID: a2a.TaskID(c.ID)}), out)
	default:
		return nil, fmt.Errorf("there is no command %q", c.Do)
	}
}

// follow answers twice: with the first event, and when the stream has ended.
func follow(events iter.Seq2[a2a.Event, error], out *json.Encoder) (any, error) {
	var all task
	for event, err := range events {
		if err != nil {
			return nil, err
		}
		switch event := event.(type) {
		case *a2a.Task:
			first := plain(event)
			all.Seen = append(all.Seen, first.State)
			if err := out.Encode(map[string]any{"ok": first}); err != nil {
				return nil, err
			}
		case *a2a.TaskStatusUpdateEvent:
			all.Seen = append(all.Seen, state(event.Status.State))
		case *a2a.TaskArtifactUpdateEvent:
			all.Answer += text(event.Artifact.Parts)
		}
	}
	return all, nil
}

func plain(t *a2a.Task) task {
	shown := task{ID: string(t.ID), State: state(t.Status.State)}
	for _, artifact := range t.Artifacts {
		shown.Answer += text(artifact.Parts)
	}
	for _, message := range t.History {
		shown.History = append(shown.History, message.ID)
	}
	return shown
}

func state(s a2a.TaskState) string {
	return "TASK_STATE_" + strings.ToUpper(strings.ReplaceAll(string(s), "-", "_"))
}

func text(parts a2a.ContentParts) string {
	all := ""
	for _, part := range parts {
		if said, ok := part.(a2a.TextPart); ok {
			all += said.Text
		}
	}
	return all
}
