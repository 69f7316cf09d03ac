package session

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/agent/hook"
)

func TestWhatGeminiCopilotAndKimiWriteDownIsCountedWithoutTheCacheTwice(t *testing.T) {
	t.Parallel()
	want := c3po.Usage{InputTokens: 60, OutputTokens: 7, CacheReadTokens: 40}
	got, ok := geminiRequest([]byte(`{"id":"a","timestamp":"2026-11-17T09:56:39.008Z","type":"gemini","tokens":{"input":100,"output":5,"cached":40,"thoughts":2,"tool":0,"total":107}}`))
	if !ok || got.id != "a" || got.usage != want || got.at.IsZero() {
		t.Errorf("Gemini CLI: %+v, %v", got, ok)
	}
	got, ok = copilotRequest([]byte(`{"type":"session.usage_record","data":{"usage":{"inputTokens":100,"outputTokens":7,"cacheReadTokens":40,"cacheWriteTokens":0}},"id":"b","timestamp":"2026-11-17T09:56:39.008Z"}`))
	if !ok || got.id != "b" || got.usage != want || got.at.IsZero() {
		t.Errorf("Copilot CLI: %+v, %v", got, ok)
	}
	got, ok = kimiRequest([]byte(`{"type":"usage.record","agentId":"main","model":"test","usage":{"inputOther":60,"output":7,"inputCacheRead":40,"inputCacheCreation":0},"usageScope":"turn","time":1794925661170}`))
	if !ok || got.id != "1794925661170" || got.usage != want || got.at.UnixMilli() != 1794925661170 {
		t.Errorf("Kimi Code: %+v, %v", got, ok)
	}
	for _, line := range []string{`{"type":"user","id":"c"}`, `{"type":"gemini","id":"d"}`, `{"type":"session.shutdown","id":"e","data":{"usage":{"inputTokens":30}}}`, `none`} {
		if _, ok := geminiRequest([]byte(line)); ok {
			t.Errorf("Gemini CLI: a request in %s", line)
		}
		if _, ok := copilotRequest([]byte(line)); ok {
			t.Errorf("Copilot CLI: a request in %s", line)
		}
		if _, ok := kimiRequest([]byte(line)); ok {
			t.Errorf("Kimi Code: a request in %s", line)
		}
	}
}

func TestATranscriptIsFoundByThePlainIDOfItsSession(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	const id = "01a1e8cd-f2ab-7ae3-84a5-998a7eda3fbc"
	file := filepath.Join(home, ".codex", "sessions", "2026", "11", "17", "rollout-2026-11-17T09-56-39-"+id+".jsonl")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	getenv := func(name string) string { return map[string]string{"HOME": home}[name] }
	if got := transcriptOf(hook.Codex, id, getenv); got != file {
		t.Errorf("found %q", got)
	}
	for _, other := range []string{"", "*", "../../../../../etc", "01a1e8cd-*"} {
		if got := transcriptOf(hook.Codex, other, getenv); got != "" {
			t.Errorf("of %q found %q", other, got)
		}
	}
	if got := transcriptOf(hook.OpenCode, id, getenv); got != "" {
		t.Errorf("of OpenCode found %q", got)
	}
}

// A client may write the file of a new session late, with all that was said until then.
func TestATranscriptThatComesLateIsReadFromItsStartAndOneThatWasThereFromItsEnd(t *testing.T) {
	t.Parallel()
	const id = "01a1e8cd-f2ab-7ae3-84a5-998a7eda3fbc"
	file := filepath.Join(t.TempDir(), id+".jsonl")
	const line = `{"type":"session.usage_record","data":{"usage":{"inputTokens":1}},"id":"b","timestamp":"2026-11-17T09:56:39.008Z"}` + "\n"
	if err := os.WriteFile(file, []byte(line), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		sought, source string
		want           int
	}{{id, "", 1}, {"", "startup", 1}, {"", "resume", 0}, {"another", "resume", 0}} {
		s := &Server{dialect: hook.Copilot, transcript: transcript{sought: c.sought}}
		s.follow(hook.Event{Name: hook.SessionStart, Source: c.source, SessionID: id, Transcript: file})
		if got := s.transcript.more(hook.Copilot); len(got) != c.want {
			t.Errorf("sought %q, begun by %q: %d requests, want %d", c.sought, c.source, len(got), c.want)
		}
	}
}
