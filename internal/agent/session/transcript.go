package session

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/agent/hook"
)

// maxTranscriptRead is how much of a transcript is read at once.
const maxTranscriptRead = 8 << 20

// A modelRequest is what one request to the model has used. A client may write down the same
// one more than once, with numbers that grow.
type modelRequest struct {
	id    string
	at    time.Time // when the model had answered
	usage c3po.Usage
}

// A transcript follows the file in which a client writes down what was said. What was
// in it before is not read.
type transcript struct {
	path   string
	sought string // the session whose file was looked for and not there
	offset int64
	answer time.Time    // of Codex: when the model began to answer
	told   []hook.Event // what it says of requests that were refused, until somebody takes it
}

// follow takes in where the client writes down what is said. A subagent has its own file,
// which is not read.
func (s *Server) follow(event hook.Event) {
	if event.AgentID != "" {
		return
	}
	path := event.Transcript
	s.counting.Lock()
	defer s.counting.Unlock()
	if path == "" && !s.transcript.of(event.SessionID) {
		if path = transcriptOf(s.dialect, event.SessionID, os.Getenv); path == "" {
			s.transcript.sought = event.SessionID
		}
	}
	if path != "" {
		began := event.Name == hook.SessionStart && event.Source == "startup" || event.SessionID != "" && event.SessionID == s.transcript.sought
		s.transcript.follow(path, began)
	}
}

var plainID = regexp.MustCompile(`^[0-9A-Za-z_-]{8,64}$`)

// transcriptOf is the file of a client whose hooks do not name it; empty if there is none yet.
func transcriptOf(by hook.Dialect, session string, getenv func(string) string) string {
	places := map[hook.Dialect][3]string{
		hook.Codex:   {"CODEX_HOME", ".codex", "sessions/*/*/*/rollout-*" + session + ".jsonl"},
		hook.Copilot: {"COPILOT_HOME", ".copilot", "session-state/" + session + "/events.jsonl"},
		hook.Kimi:    {"KIMI_CODE_HOME", ".kimi-code", "sessions/*/" + session + "/agents/main/wire.jsonl"},
	}
	place, known := places[by]
	if !known || !plainID.MatchString(session) {
		return ""
	}
	folder := cmp.Or(getenv(place[0]), filepath.Join(cmp.Or(getenv("HOME"), getenv("USERPROFILE")), place[1]))
	found, err := filepath.Glob(filepath.Join(folder, place[2]))
	if err != nil || len(found) != 1 {
		return ""
	}
	return found[0]
}

// of says that it follows the file of a session, which those files are named after.
func (t *transcript) of(session string) bool {
	return session == "" || strings.Contains(t.path, session)
}

// follow makes path the file that is read from now on. That of a session which has just begun
// is read from its start: it may be written late and all at once, or heard of late.
func (t *transcript) follow(path string, began bool) {
	if path == t.path {
		return
	}
	*t = transcript{path: path}
	if info, err := os.Stat(path); err == nil && !began { // there may be none yet
		t.offset = info.Size()
	}
}

// more gives the requests that were written down since it was last called.
func (t *transcript) more(by hook.Dialect) []modelRequest {
	file, err := os.Open(t.path) // #nosec G304 -- the client's own, named by its hook
	if err != nil {
		return nil
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	if info.Size() < t.offset {
		t.offset = info.Size() // written anew: nobody knows what of it is
		return nil
	}
	data, err := io.ReadAll(io.NewSectionReader(file, t.offset, min(info.Size()-t.offset, maxTranscriptRead)))
	if err != nil {
		return nil
	}
	whole := bytes.LastIndexByte(data, '\n') + 1
	if whole == 0 && len(data) == maxTranscriptRead {
		whole = len(data) // a line that long says nothing of usage
	}
	t.offset += int64(whole)
	var all []modelRequest
	for line := range bytes.Lines(data[:whole]) {
		var r modelRequest
		var ok bool
		switch {
		case by.IsClaude():
			r, ok = claudeRequest(line)
		case by == hook.Codex:
			r, ok = t.codexRequest(line)
			t.tell(codexFailure(line))
		case by == hook.Gemini:
			r, ok = geminiRequest(line)
		case by == hook.Copilot:
			r, ok = copilotRequest(line)
		case by == hook.Kimi:
			r, ok = kimiRequest(line)
			t.tell(kimiRefusal(line))
		}
		if ok {
			all = append(all, r)
		}
	}
	return all
}

// claudeRequest reads a line of Claude Code, which writes one for each block of an answer.
func claudeRequest(line []byte) (modelRequest, bool) {
	if !bytes.Contains(line, []byte(`"usage"`)) {
		return modelRequest{}, false
	}
	var said struct {
		Type    string    `json:"type"`
		At      time.Time `json:"timestamp"`
		Message struct {
			ID    string `json:"id"`
			Usage struct {
				Input      int64 `json:"input_tokens"`
				Output     int64 `json:"output_tokens"`
				CacheRead  int64 `json:"cache_read_input_tokens"`
				CacheWrite int64 `json:"cache_creation_input_tokens"`
			} `json:"usage"`
		} `json:"message"`
	}
	if json.Unmarshal(line, &said) != nil || said.Type != "assistant" || said.Message.ID == "" {
		return modelRequest{}, false
	}
	u := said.Message.Usage
	return modelRequest{said.Message.ID, said.At, c3po.Usage{InputTokens: u.Input, OutputTokens: u.Output, CacheReadTokens: u.CacheRead, CacheWriteTokens: u.CacheWrite}}, true
}

// codexRequest reads a line of Codex, which counts after it has begun to do what the
// model said: a request is as old as the first part of its answer.
func (t *transcript) codexRequest(line []byte) (modelRequest, bool) {
	var said struct {
		Type    string    `json:"type"`
		At      time.Time `json:"timestamp"`
		Payload struct {
			Type string `json:"type"`
			Role string `json:"role"`
			Info struct {
				Total struct {
					All json.Number `json:"total_tokens"`
				} `json:"total_token_usage"`
				Last struct {
					Input  int64 `json:"input_tokens"`
					Cached int64 `json:"cached_input_tokens"`
					Output int64 `json:"output_tokens"`
				} `json:"last_token_usage"`
			} `json:"info"`
		} `json:"payload"`
	}
	if json.Unmarshal(line, &said) != nil {
		return modelRequest{}, false
	}
	p := said.Payload
	switch {
	case said.Type == "response_item" && t.answer.IsZero() && (p.Type != "message" && p.Type != "function_call_output" || p.Role == "assistant"):
		t.answer = said.At
	case said.Type == "event_msg" && p.Type == "token_count" && p.Info.Total.All != "":
		at := t.answer
		if at.IsZero() {
			at = said.At
		}
		t.answer = time.Time{}
		last := p.Info.Last
		// The sum so far names the request: Codex repeats it to tell of limits.
		return modelRequest{p.Info.Total.All.String(), at, c3po.Usage{
			InputTokens: last.Input - min(last.Cached, last.Input), OutputTokens: last.Output, CacheReadTokens: min(last.Cached, last.Input),
		}}, true
	}
	return modelRequest{}, false
}

// geminiRequest reads a line of Gemini CLI, which repeats an answer with what its tools said.
func geminiRequest(line []byte) (modelRequest, bool) {
	var said struct {
		ID     string    `json:"id"`
		Type   string    `json:"type"`
		At     time.Time `json:"timestamp"`
		Tokens *struct {
			Input    int64 `json:"input"` // with what was cached
			Output   int64 `json:"output"`
			Cached   int64 `json:"cached"`
			Thoughts int64 `json:"thoughts"`
			Tool     int64 `json:"tool"`
		} `json:"tokens"`
	}
	if json.Unmarshal(line, &said) != nil || said.Type != "gemini" || said.ID == "" || said.Tokens == nil {
		return modelRequest{}, false
	}
	u := said.Tokens
	cached := min(u.Cached, u.Input)
	return modelRequest{said.ID, said.At, c3po.Usage{InputTokens: u.Input - cached + u.Tool, OutputTokens: u.Output + u.Thoughts, CacheReadTokens: cached}}, true
}

// copilotRequest reads a line of Copilot CLI. Its input is taken to be with what was cached,
// as that of most providers: rather too little than too much.
func copilotRequest(line []byte) (modelRequest, bool) {
	var said struct {
		ID   string    `json:"id"`
		Type string    `json:"type"`
		At   time.Time `json:"timestamp"`
		Data struct {
			Usage struct {
				Input      int64 `json:"inputTokens"`
				Output     int64 `json:"outputTokens"`
				CacheRead  int64 `json:"cacheReadTokens"`
				CacheWrite int64 `json:"cacheWriteTokens"`
			} `json:"usage"`
		} `json:"data"`
	}
	if !bytes.Contains(line, []byte(`"session.usage_record"`)) || json.Unmarshal(line, &said) != nil || said.Type != "session.usage_record" || said.ID == "" {
		return modelRequest{}, false
	}
	u := said.Data.Usage
	return modelRequest{said.ID, said.At, c3po.Usage{
		InputTokens: max(0, u.Input-u.CacheRead-u.CacheWrite), OutputTokens: u.Output, CacheReadTokens: u.CacheRead, CacheWriteTokens: u.CacheWrite,
	}}, true
}

// kimiRequest reads a line of Kimi Code, which counts a request before it does what the model
// said, and names it by nothing but its time.
func kimiRequest(line []byte) (modelRequest, bool) {
	var said struct {
		Type  string `json:"type"`
		At    int64  `json:"time"` // in milliseconds
		Usage struct {
			Input      int64 `json:"inputOther"`
			Output     int64 `json:"output"`
			CacheRead  int64 `json:"inputCacheRead"`
			CacheWrite int64 `json:"inputCacheCreation"`
		} `json:"usage"`
	}
	if !bytes.Contains(line, []byte(`"usage.record"`)) || json.Unmarshal(line, &said) != nil || said.Type != "usage.record" || said.At == 0 {
		return modelRequest{}, false
	}
	u := said.Usage
	return modelRequest{strconv.FormatInt(said.At, 10), afterMilli(said.At), c3po.Usage{
		InputTokens: u.Input, OutputTokens: u.Output, CacheReadTokens: u.CacheRead, CacheWriteTokens: u.CacheWrite,
	}}, true
}

// afterMilli is the end of a millisecond, to which clients cut their times: what follows an
// answer at once is after it.
func afterMilli(at int64) time.Time {
	return time.UnixMilli(at).Add(time.Millisecond - time.Nanosecond)
}
