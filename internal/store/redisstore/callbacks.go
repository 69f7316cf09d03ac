package redisstore

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/auth"
)

// callbackPage is how many tasks one step names.
const callbackPage = 1000

// callbackName names a task among those of all spaces. No space has a blank in its name.
func callbackName(space c3po.Space, task c3po.MessageID) string {
	return string(space) + " " + string(task)
}

// PutCallback implements auth.Store.
func (s *Store) PutCallback(ctx context.Context, c auth.Callback, told string, life time.Duration) (auth.CallbackOutcome, error) {
	text, err := json.Marshal(c.CallbackInput)
	if err != nil {
		return "", err
	}
	answer, err := s.run(ctx, "callback_put", noSpace, with{
		"callback": callbackKey(c.Space, c.Task), "name": callbackName(c.Space, c.Task), "id": c.ID, "text": string(text), "account": c.Account, "told": told,
		"most": auth.TaskCallbacks, "all": auth.AllCallbacks, "life": millis(life),
	})
	if err != nil {
		return "", err
	}
	return auth.CallbackOutcome(word(answer[0])), nil
}

// Callbacks implements auth.Store.
func (s *Store) Callbacks(ctx context.Context, task auth.CallbackTask) ([]auth.Callback, error) {
	ctx, cancel := context.WithTimeout(ctx, stepTimeout)
	defer cancel()
	fields, err := s.commands.Do(ctx, s.commands.B().Hgetall().Key(callbackKey(task.Space, task.Task)).Build()).AsStrMap()
	if err != nil {
		return nil, s.failure(ctx, "callbacks", err)
	}
	var all []auth.Callback
	for _, field := range slices.Sorted(maps.Keys(fields)) {
		id, is := strings.CutPrefix(field, "b:")
		one := auth.Callback{CallbackTask: task, ID: id}
		if is && json.Unmarshal([]byte(fields[field]), &one.CallbackInput) == nil {
			all = append(all, one)
		}
	}
	return all, nil
}

// DropCallback implements auth.Store.
func (s *Store) DropCallback(ctx context.Context, task auth.CallbackTask, id string) (bool, error) {
	answer, err := s.run(ctx, "callback_drop", noSpace, with{"callback": callbackKey(task.Space, task.Task), "id": id})
	return err == nil && word(answer[0]) == "ok", err
}

// OpenCallbacks implements auth.Store.
func (s *Store) OpenCallbacks(ctx context.Context, after int64) ([]auth.CallbackTask, int64, error) {
	answer, err := s.run(ctx, "callback_list", noSpace, with{"after": after, "most": callbackPage})
	if err != nil {
		return nil, after, err
	}
	names, err := answer[2].AsStrSlice()
	var tasks []auth.CallbackTask
	for _, name := range names {
		space, task, _ := strings.Cut(name, " ")
		tasks = append(tasks, auth.CallbackTask{Space: c3po.Space(space), Task: c3po.MessageID(task)})
	}
	return tasks, integer(answer[1]), err
}

// TakeCallback implements auth.Store.
func (s *Store) TakeCallback(ctx context.Context, c auth.Callback, state string, lease time.Duration) (auth.CallbackTurn, error) {
	answer, err := s.run(ctx, "callback_take", noSpace, with{
		"callback": callbackKey(c.Space, c.Task), "id": c.ID, "state": state, "lease": millis(lease), "longest": millis(auth.MaxCallbackPause),
	})
	if err != nil {
		return auth.CallbackTurn{}, err
	}
	turn := auth.CallbackTurn{Outcome: auth.CallbackOutcome(word(answer[0]))}
	switch turn.Outcome {
	case auth.CallbackHeld:
		turn.Left = time.Duration(integer(answer[1])) * time.Millisecond
	case auth.CallbackTaken:
		turn.Tries, turn.Tried = int(integer(answer[1])), time.Duration(integer(answer[2]))*time.Millisecond
	}
	return turn, nil
}

// NoteCallback implements auth.Store.
func (s *Store) NoteCallback(ctx context.Context, c auth.Callback, state string, told bool, pause time.Duration) error {
	_, err := s.run(ctx, "callback_note", noSpace, with{
		"callback": callbackKey(c.Space, c.Task), "id": c.ID, "state": state, "told": told, "pause": millis(pause),
	})
	return err
}

// CloseCallbacks implements auth.Store.
func (s *Store) CloseCallbacks(ctx context.Context, task auth.CallbackTask, state string) (bool, error) {
	answer, err := s.run(ctx, "callback_close", noSpace, with{
		"callback": callbackKey(task.Space, task.Task), "name": callbackName(task.Space, task.Task), "state": state,
	})
	return err == nil && word(answer[0]) == "closed", err
}
