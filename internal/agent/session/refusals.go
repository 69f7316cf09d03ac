package session

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"github.com/c3po-dev/c3po/internal/agent/hook"
)

// lookForRefusals is how often the transcript of a turn that runs is looked at for what no
// hook tells: that the model was refused to it.
const lookForRefusals = time.Second

// watchTranscript looks at the transcript while a turn runs.
func (s *Server) watchTranscript(now time.Time) {
	s.mu.Lock()
	_, runs := s.conversation.activity.SilentTurn()
	due := runs && now.Sub(s.watched) >= lookForRefusals
	if due {
		s.watched = now
	}
	s.mu.Unlock()
	if due {
		s.readTranscript()
	}
}

// readTranscript takes in what the client has written down since.
func (s *Server) readTranscript() {
	s.counting.Lock()
	requests := s.transcript.more(s.dialect)
	told := s.transcript.told
	s.transcript.told = nil
	s.mu.Lock()
	s.conversation.meter.count(requests)
	s.mu.Unlock()
	s.counting.Unlock()
	for _, event := range told {
		s.evidence(event)
		if event.Name == hook.StopFailure {
			s.failTurn(event)
		} else {
			s.refused(event)
		}
	}
}

// tell keeps an event that a line tells of, if it is one.
func (t *transcript) tell(event hook.Event, is bool) {
	if is {
		t.told = append(t.told, event)
	}
}

// codexFailure reads a line of Codex that says that a turn has ended in a failure.
func codexFailure(line []byte) (hook.Event, bool) {
	if !bytes.Contains(line, []byte(`"task_complete"`)) {
		return hook.Event{}, false
	}
	var said struct {
		Type    string `json:"type"`
		Payload struct {
			Type  string `json:"type"`
			Error struct {
				Message string `json:"message"`
			} `json:"error"`
		} `json:"payload"`
	}
	if json.Unmarshal(line, &said) != nil || said.Type != "event_msg" || said.Payload.Type != "task_complete" || said.Payload.Error.Message == "" {
		return hook.Event{}, false
	}
	return hook.Event{Name: hook.StopFailure, Said: said.Payload.Error.Message}, true
}

// kimiRefusal reads a line of Kimi Code that says that a request was refused, and when it
// makes that again.
func kimiRefusal(line []byte) (hook.Event, bool) {
	if !bytes.Contains(line, []byte(`"turn.step.retrying"`)) {
		return hook.Event{}, false
	}
	var said struct {
		Type    string  `json:"type"`
		Status  int     `json:"statusCode"`
		Message string  `json:"errorMessage"`
		Delay   float64 `json:"delayMs"`
		At      float64 `json:"time"`
	}
	if json.Unmarshal(line, &said) != nil || said.Type != "turn.step.retrying" || said.Status != http.StatusTooManyRequests {
		return hook.Event{}, false
	}
	return hook.Event{Name: hook.Refused, Said: said.Message, RetryAt: hook.Word(strconv.FormatInt(int64(said.At+said.Delay), 10))}, true
}
