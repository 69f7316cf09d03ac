// Package remote asks agents of other systems by the Agent2Agent protocol, for agents of
// c3po: it forwards what is sent to such an agent, and brings the answer back as a reply.
package remote

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/c3po-dev/c3po/c3po"
)

const (
	callTimeout = 30 * time.Second
	// maxAnswerBytes is more than a reply can hold.
	maxAnswerBytes = 1 << 20
	// maxIDBytes is how long an id of a task or context may be: both are kept in metadata.
	maxIDBytes = 256
	// traceHeader is W3C's, and also the name in metadata.
	traceHeader = "traceparent"
	// cardName is where the card of a host is, if its address alone is given.
	cardName = "/.well-known/agent-card.json"
)

// A peer is one agent of another system, as its card says how to call it.
type peer struct {
	name    string // as it calls itself
	rpc     string // the address of its JSON-RPC
	version string // 1.0 or 0.3
	token   string // that it is shown; none if empty
	trace   string // the traceparent of what is sent; none if empty
	client  *http.Client
}

// CardURL is the address of a card: of the host, if no path is given.
func CardURL(address string) (string, error) {
	at, err := url.Parse(strings.TrimSpace(address))
	switch {
	case err != nil || at.Host == "" || at.Scheme != "http" && at.Scheme != "https":
		return "", c3po.Errorf(c3po.InvalidRequest, "%q is no address of an agent", c3po.Clip(address)).Suggest("Give the address of its card, for example https://host/.well-known/agent-card.json.")
	case at.User != nil:
		return "", c3po.Errorf(c3po.InvalidRequest, "the address holds a name or a password").Suggest("Give the token by a variable of the coordinator, with --token-env.")
	}
	if !strings.HasSuffix(at.Path, ".json") {
		at.Path = strings.TrimSuffix(at.Path, "/") + cardName
	}
	return at.String(), nil
}

type wireCard struct {
	Name            string `json:"name"`
	URL             string `json:"url"`
	ProtocolVersion string `json:"protocolVersion"`
	Preferred       string `json:"preferredTransport"`
	Interfaces      []struct {
		URL     string `json:"url"`
		Binding string `json:"protocolBinding"`
		Version string `json:"protocolVersion"`
	} `json:"supportedInterfaces"`
}

// meet reads a card and chooses how the agent is called.
func meet(ctx context.Context, client *http.Client, card, token string) (peer, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, card, nil)
	if err != nil {
		return peer{}, err
	}
	r.Header.Set("A2A-Version", "1.0")
	data, err := fetch(client, r, token)
	if err != nil {
		return peer{}, err
	}
	var found wireCard
	if err := json.Unmarshal(data, &found); err != nil {
		return peer{}, wrongf("its card is not JSON")
	}
	p := peer{name: found.Name, token: token, client: client}
	for _, offered := range found.Interfaces {
		version := strings.Join(strings.SplitN(offered.Version, ".", 3)[:min(2, strings.Count(offered.Version, ".")+1)], ".")
		if !strings.EqualFold(offered.Binding, "JSONRPC") || version != "1.0" && version != "0.3" {
			continue
		}
		if p.version == "" || version > p.version {
			p.rpc, p.version = offered.URL, version
		}
	}
	if p.version == "" && found.URL != "" && strings.EqualFold(cmp.Or(found.Preferred, "JSONRPC"), "JSONRPC") {
		p.rpc, p.version = found.URL, "0.3"
	}
	if p.version == "" {
		return peer{}, wrongf("its card offers no JSON-RPC in version 1.0 or 0.3")
	}
	return p, sameHost(card, p.rpc)
}

// sameHost refuses a card that sends us to another host: an admin has added this one.
func sameHost(card, rpc string) error {
	from, err := url.Parse(card)
	if err != nil {
		return err
	}
	to, err := url.Parse(rpc)
	if err != nil || to.Scheme != from.Scheme || !strings.EqualFold(to.Host, from.Host) {
		return wrongf("its card names an address of another host: %s", c3po.Clip(rpc))
	}
	return nil
}

// A wrong is what the other side did or said that no repeat will change.
type wrong struct {
	text    string
	refusal *c3po.Error // ours, if it was not even called
}

func (w *wrong) Error() string { return w.text }

func wrongf(format string, args ...any) error { return &wrong{text: fmt.Sprintf(format, args...)} }

// fetch makes a request and reads its answer. A status that may be another next time is
// a plain error.
func fetch(client *http.Client, r *http.Request, token string) ([]byte, error) {
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	answer, err := client.Do(r)
	if err != nil {
		return nil, inWords(err)
	}
	defer answer.Body.Close()
	data, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswerBytes+1))
	switch {
	case err != nil:
		return nil, inWords(err)
	case len(data) > maxAnswerBytes:
		return nil, wrongf("its answer is longer than %d bytes", maxAnswerBytes)
	case answer.StatusCode >= 300 && answer.StatusCode < 400:
		return nil, wrongf("it answers with a redirect, which is not followed")
	case answer.StatusCode == http.StatusTooManyRequests || answer.StatusCode >= 500:
		return nil, fmt.Errorf("it answers with status %d", answer.StatusCode)
	case answer.StatusCode != http.StatusOK:
		return nil, wrongf("it answers with status %d", answer.StatusCode)
	}
	return data, nil
}

// codeNoTask is A2A's error for a task that is not there.
const codeNoTask = -32001

var errNoTask = &wrong{text: "it no longer knows the task: it may have been restarted"}

// call makes a call of JSON-RPC.
func (p peer) call(ctx context.Context, methods map[string]string, params any) (json.RawMessage, error) {
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": methods[p.version], "params": params})
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, p.rpc, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("A2A-Version", p.version)
	if p.trace != "" {
		r.Header.Set(traceHeader, p.trace)
	}
	data, err := fetch(p.client, r, p.token)
	if err != nil {
		return nil, err
	}
	var reply struct {
		ID     json.RawMessage `json:"id"`
		Result json.RawMessage `json:"result"`
		Error  *struct {
			Code    int    `json:"code"`
			Message string `json:"message"`
		} `json:"error"`
	}
	switch err := json.Unmarshal(data, &reply); {
	case err != nil:
		return nil, wrongf("its answer is not JSON-RPC")
	case reply.Error != nil && reply.Error.Code == codeNoTask:
		return nil, errNoTask
	case reply.Error != nil:
		return nil, wrongf("it refuses: %s", c3po.Clip(reply.Error.Message))
	case string(reply.ID) != "1":
		return nil, wrongf("its answer is to another call")
	}
	return reply.Result, nil
}

// A task is what the other side says of one, or of the message it answered with at once.
type task struct {
	ID        string `json:"id"`
	ContextID string `json:"contextId"`
	Status    struct {
		State   string   `json:"state"`
		Message *message `json:"message"`
	} `json:"status"`
	Artifacts []message `json:"artifacts"` // of which only the parts are read
	History   []message `json:"history"`
	answered  *message
	accepted  bool // it was sent, and taken
}

type message struct {
	ContextID string `json:"contextId"`
	Role      string `json:"role"`
	Parts     []part `json:"parts"`
}

// send sends a message, under an id that makes a repeat the same message.
func (p peer) send(ctx context.Context, out outgoing) (task, error) {
	sent, wishes := out.wire(p.version), map[string]any{"returnImmediately": true}
	if p.version == "0.3" {
		wishes = map[string]any{"blocking": false}
	}
	p.trace = out.trace
	result, err := p.call(ctx, map[string]string{"1.0": "SendMessage", "0.3": "message/send"}, map[string]any{"message": sent, "configuration": wishes})
	if err != nil {
		return task{}, err
	}
	var wrapped struct {
		Kind    string   `json:"kind"`
		Task    *task    `json:"task"`
		Message *message `json:"message"`
	}
	if err := json.Unmarshal(result, &wrapped); err != nil {
		return task{}, wrongf("its answer has another form than A2A %s", p.version)
	}
	switch {
	case wrapped.Task != nil:
		return wrapped.Task.check()
	case wrapped.Message != nil:
		return task{ContextID: wrapped.Message.ContextID, answered: wrapped.Message}.checkIDs()
	case wrapped.Kind == "message":
		return readAs(result, func(m message) (task, error) { return task{ContextID: m.ContextID, answered: &m}.checkIDs() })
	default:
		return readAs(result, task.check)
	}
}

func readAs[T any](result json.RawMessage, then func(T) (task, error)) (task, error) {
	var value T
	if err := json.Unmarshal(result, &value); err != nil {
		return task{}, wrongf("its answer has another form than A2A's")
	}
	return then(value)
}

func (t task) check() (task, error) {
	if t.ID == "" || t.Status.State == "" {
		return t, wrongf("its answer is no task")
	}
	return t.checkIDs()
}

// checkIDs refuses ids that could not be kept.
func (t task) checkIDs() (task, error) {
	if len(t.ID) > maxIDBytes || len(t.ContextID) > maxIDBytes {
		return task{}, wrongf("it names its task with more than %d bytes", maxIDBytes)
	}
	return t, nil
}

func (p peer) get(ctx context.Context, id string) (task, error) {
	result, err := p.call(ctx, map[string]string{"1.0": "GetTask", "0.3": "tasks/get"}, map[string]any{"id": id})
	if err != nil {
		return task{}, err
	}
	return readAs(result, func(t task) (task, error) {
		if t, err := t.check(); err != nil || t.ID == id {
			return t, err
		}
		return task{}, wrongf("it answers with another task than it was asked for")
	})
}

func (p peer) cancel(ctx context.Context, id string) error {
	_, err := p.call(ctx, map[string]string{"1.0": "CancelTask", "0.3": "tasks/cancel"}, map[string]any{"id": id})
	return err
}

// state is the state in one spelling: completed, input-required.
func (t task) state() string {
	return strings.ReplaceAll(strings.ToLower(strings.TrimPrefix(t.Status.State, "TASK_STATE_")), "_", "-")
}

// text is what was said, parts one below the other.
func (m *message) text() string {
	if m == nil {
		return ""
	}
	var all []string
	for _, part := range m.Parts {
		all = append(all, part.words())
	}
	return strings.Join(all, "\n\n")
}

// answer is what a task has brought: its artifacts, else its last words.
func (t task) answer() string {
	if t.answered != nil {
		return t.answered.text()
	}
	var all []string
	for _, artifact := range t.Artifacts {
		all = append(all, artifact.text())
	}
	if text := strings.TrimSpace(strings.Join(all, "\n\n")); text != "" {
		return text
	}
	if text := t.Status.Message.text(); text != "" {
		return text
	}
	for i := len(t.History) - 1; i >= 0; i-- {
		if strings.HasSuffix(strings.ToLower(t.History[i].Role), "agent") {
			return t.History[i].text()
		}
	}
	return ""
}

// final says that a repeat will not help.
func final(err error) bool {
	_, is := errors.AsType[*wrong](err)
	return is
}
