package a2a

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/auth"
	"github.com/c3po-dev/c3po/internal/person/notify"
)

// A wanted is where a caller wants to be told of a task, in both versions.
type wanted struct {
	ID             string      `json:"id"`
	TaskID         string      `json:"taskId"`
	URL            string      `json:"url"`
	Token          string      `json:"token"`
	Authentication *credential `json:"authentication"`
	Before         *wanted     `json:"pushNotificationConfig"` // of 0.3, which wraps all but the task
}

type credential struct {
	Scheme      string   `json:"scheme"`
	Schemes     []string `json:"schemes"` // of 0.3
	Credentials string   `json:"credentials"`
}

// What is shown of it: neither the token nor the credentials, which its maker has.
type (
	wirePush struct {
		ID             string    `json:"id"`
		TaskID         string    `json:"taskId,omitempty"`
		URL            string    `json:"url"`
		Authentication *wireAuth `json:"authentication,omitempty"`
	}
	wireAuth struct {
		Scheme  string   `json:"scheme,omitempty"`
		Schemes []string `json:"schemes,omitempty"`
	}
	wirePushBefore struct {
		TaskID string   `json:"taskId"`
		Config wirePush `json:"pushNotificationConfig"`
	}
	wirePushes struct {
		Configs       []any  `json:"configs"`
		NextPageToken string `json:"nextPageToken"`
	}
)

func showPush(v version, t task, c auth.Callback) any {
	shown := wirePush{ID: c.ID, TaskID: t.id(), URL: c.URL}
	if v == v03 {
		if shown.TaskID = ""; c.Scheme != "" {
			shown.Authentication = &wireAuth{Schemes: []string{c.Scheme}}
		}
		return wirePushBefore{TaskID: t.id(), Config: shown}
	}
	if c.Scheme != "" {
		shown.Authentication = &wireAuth{Scheme: c.Scheme}
	}
	return shown
}

const (
	maxURLBytes    = 2000
	maxSecretBytes = 4000
)

// A telling is a wanted that was checked.
type telling struct {
	id string // of the config; empty if the caller gave none
	auth.CallbackInput
}

// readPush reads what a message says of pushes.
func (e *exchange) readPush(wishes *sendWishes) error {
	w := cmp.Or(wishes.Push, wishes.PushBefore)
	if w == nil {
		return nil
	}
	in, err := e.checkPush(*w)
	wishes.tell = &in
	return err
}

// checkPush reads where a caller wants to be told, and refuses what is never called.
func (e *exchange) checkPush(w wanted) (telling, error) {
	if w.Before != nil {
		w = *w.Before
	}
	in := telling{w.ID, auth.CallbackInput{URL: w.URL, Token: w.Token, Version: string(e.v)}}
	if a := w.Authentication; a != nil {
		if in.Scheme, in.Credentials = a.Scheme, a.Credentials; in.Scheme == "" && len(a.Schemes) > 0 {
			in.Scheme = a.Schemes[0]
		}
	}
	switch {
	case e.pusher == nil:
		return in, noPush()
	case len(w.URL) > maxURLBytes || len(in.Token) > maxSecretBytes || len(in.Scheme)+len(in.Credentials) > maxSecretBytes || len(w.ID) > maxIDBytes:
		return in, badParams("the push notification config is too long",
			fmt.Sprintf("Its url may have %d bytes, its token and its credentials %d each, its id %d.", maxURLBytes, maxSecretBytes, maxIDBytes))
	case !plainText(in.Token) || !plainText(in.Credentials) || !plainText(in.Scheme) || strings.Contains(in.Scheme, " "):
		return in, badParams("the token and the credentials go into headers, which not all characters can", "Use letters, digits and punctuation of ASCII.")
	case in.Scheme == "" && in.Credentials != "":
		return in, badParams("authentication names no scheme", "For example Bearer.")
	}
	at, err := notify.CheckURL("url", w.URL, e.pusher.Allow)
	if err == nil && at.User != nil {
		return in, badParams("url has a user or a password in it, which are not sent", "Use authentication, for example with the scheme Basic.")
	}
	return in, err
}

// plainText says that a header can hold a text as it is.
func plainText(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' })
}

// putPush stores an address for news of a task. The caller already knows the state it is in.
func (e *exchange) putPush(in telling, t task, knows state) (auth.Callback, error) {
	one := auth.Callback{
		CallbackTask: auth.CallbackTask{Space: e.caller.Space, Task: t.Given}, ID: cmp.Or(in.id, t.id()), CallbackInput: in.From(e.caller, t.Ticket.FromAgent),
	}
	kept := e.pusher.Keeper.Callbacks()
	others, err := e.configs(t)
	if i := slices.IndexFunc(others, func(c auth.Callback) bool { return c.ID == one.ID }); i >= 0 {
		one.CallbackTask = others[i].CallbackTask
	}
	if err != nil {
		return one, err
	}
	if slices.ContainsFunc(others, func(c auth.Callback) bool { return c.ID == one.ID && !c.OwnedBy(e.caller) }) {
		return one, badParams("this id is another caller's", "Choose another one.")
	}
	outcome, err := kept.PutCallback(e.r.Context(), one, stateNames[knows], e.pusher.Life)
	switch {
	case err != nil:
		return one, err
	case outcome == auth.CallbackMany:
		return one, badParams(fmt.Sprintf("a task has at most %d push notification configs of one token", auth.TaskCallbacks), "Delete one first.")
	case outcome == auth.CallbackFull:
		return one, c3po.Errorf(c3po.RateLimited, "too many tasks wait for a push notification").Suggest("Subscribe to the task, or ask for it now and then.")
	}
	e.pusher.Stored(one.CallbackTask)
	return one, nil
}

// A pushQuery names a config. 0.3 calls the task id, and the config otherwise.
type pushQuery struct {
	TaskID string `json:"taskId"`
	ID     string `json:"id"`
	Before string `json:"pushNotificationConfigId"`
}

// pushCall does what the methods for configs are for.
func (e *exchange) pushCall(m method, params json.RawMessage) {
	if e.pusher == nil {
		e.refuse(noPush())
		return
	}
	do := map[method]func(json.RawMessage) (any, error){setPush: e.setPush, getPush: e.getPush, listPushes: e.listPushes, deletePush: e.deletePush}[m]
	result, err := do(params)
	if err != nil {
		e.refuse(err)
		return
	}
	e.answer(result)
}

func (e *exchange) setPush(params json.RawMessage) (any, error) {
	w, wrong := decode[wanted](params)
	if wrong != nil {
		return nil, wrong
	}
	in, err := e.checkPush(w)
	if err != nil {
		return nil, err
	}
	t, err := e.mine(w.TaskID)
	if err != nil {
		return nil, err
	}
	// Of a task that has ended its caller may know less than we do: it hears it once.
	knows := t.state
	if knows.terminal() {
		knows = submitted
	}
	one, err := e.putPush(in, t, knows)
	if err != nil {
		return nil, err
	}
	return showPush(e.v, t, one), nil
}

// mine is a task that the caller asked for itself. An observer must not learn whom it is posted to.
func (e *exchange) mine(id string) (task, error) {
	t, err := e.progress(e.r.Context(), id)
	if err == nil && !t.Mine {
		err = noTask()
	}
	return t, err
}

// configs are all of a task. They are kept under the id that the task was given with; some
// from before that under the one it had when they were made.
func (e *exchange) configs(t task, also ...c3po.MessageID) (all []auth.Callback, err error) {
	ids := append([]c3po.MessageID{t.Given, t.Ticket.ID}, also...)
	for i, id := range ids {
		if slices.Contains(ids[:i], id) {
			continue
		}
		some, err := e.pusher.Keeper.Callbacks().Callbacks(e.r.Context(), auth.CallbackTask{Space: e.caller.Space, Task: id})
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	return all, nil
}

// pushes are the configs of a task that are the caller's.
func (e *exchange) pushes(params json.RawMessage, list bool) (t task, id string, all []auth.Callback, err error) {
	q, wrong := decode[pushQuery](params)
	if wrong != nil {
		return t, "", nil, wrong
	}
	if e.v == v03 {
		q = pushQuery{TaskID: q.ID, ID: q.Before}
	} else if list {
		q.ID = ""
	}
	if t, err = e.mine(q.TaskID); err != nil {
		return t, "", nil, err
	}
	all, err = e.configs(t, c3po.MessageID(q.TaskID))
	all = slices.DeleteFunc(all, func(c auth.Callback) bool { return !c.OwnedBy(e.caller) || q.ID != "" && c.ID != q.ID })
	return t, q.ID, all, err
}

func (e *exchange) getPush(params json.RawMessage) (any, error) {
	t, id, all, err := e.pushes(params, false)
	if err != nil {
		return nil, err
	}
	if id == "" && len(all) > 1 {
		// The one that was made without an id has the task's.
		all = slices.DeleteFunc(all, func(c auth.Callback) bool { return c.ID != t.id() })
		if len(all) == 0 {
			return nil, badParams("the request names no config, and the task has several", "Give the id of one.")
		}
	}
	if len(all) == 0 {
		return nil, noConfig()
	}
	return showPush(e.v, t, all[0]), nil
}

func (e *exchange) listPushes(params json.RawMessage) (any, error) {
	t, _, all, err := e.pushes(params, true)
	shown := []any{}
	for _, one := range all {
		shown = append(shown, showPush(e.v, t, one))
	}
	if e.v == v03 {
		return shown, err
	}
	return wirePushes{Configs: shown}, err
}

// deletePush forgets a config. One that is not there is forgotten already.
func (e *exchange) deletePush(params json.RawMessage) (any, error) {
	_, id, all, err := e.pushes(params, false)
	if err == nil && id == "" {
		err = badParams("the request names no config", "Give its id.")
	}
	if err != nil {
		return nil, err
	}
	for _, one := range all {
		if _, err := e.pusher.Keeper.Callbacks().DropCallback(e.r.Context(), one.CallbackTask, id); err != nil {
			return nil, err
		}
	}
	if e.v == v03 {
		return null, nil
	}
	return struct{}{}, nil
}

func noConfig() *fault {
	return &fault{code: codeNoTask, message: "the task has no such push notification config", suggestion: "List those it has."}
}

func noPush() *fault {
	return &fault{code: codeNoPush, message: "push notifications are not sent here", suggestion: "Subscribe to the task, or ask for it now and then."}
}
