package session

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/c3po-dev/c3po"
	"github.com/c3po-dev/c3po/internal/agent/hook"
)

func TestWhatGeminiWritesDownIsCountedWithoutTheCacheTwice(t *testing.T) {
	t.Parallel()
	want := c3po.Usage{InputTokens: 60, OutputTokens: 7, CacheReadTokens: 40}
	got, ok := geminiRequest([]byte(`{"id":"a","timestamp":"2026-11-17T09:56:39.008Z","type":"gemini","tokens":{"input":100,"output":5,"cached":40,"thoughts":2,"tool":0,"total":107}}`))
	if !ok || got.id != "a" || got.usage != want || got.at.IsZero() {
		t.Errorf("Gemini CLI: %+v, %v", got, ok)
	}
	for _, line := range []string{`{"type":"user","id":"c"}`, `{"type":"gemini","id":"d"}`, `{"type":"session.shutdown","id":"e","data":{"usage":{"inputTokens":30}}}`, `none`} {
		if _, ok := geminiRequest([]byte(line)); ok {
			t.Errorf("Gemini CLI: a request in %s", line)
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
	if got := transcriptOf(hook.Kimi, id, getenv); got != "" {
		t.Errorf("of Kimi Code found %q", got)
	}
}
