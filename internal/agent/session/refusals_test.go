package session

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/internal/agent/hook"
)

// writes makes a client's transcript longer by a line.
func writes(t *testing.T, path, line string) {
	t.Helper()
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = file.WriteString(line + "\n")
	}
	if err == nil {
		err = file.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestATurnOfCodexThatItsRolloutSaysHasFailedHasFailed(t *testing.T) {
	t.Parallel()
	rollout := filepath.Join(t.TempDir(), "rollout-1.jsonl")
	writes(t, rollout, `{"type":"event_msg","payload":{"type":"task_complete","error":{"message":"usage limit, try again in 9 hours"}}}`) // of a turn before
	inFailingOf(t, hook.Codex, func(f *failing) {
		f.b.counting.Lock()
		f.b.transcript.follow(rollout, false)
		f.b.counting.Unlock()
		f.reads("web::api::00000001")
		writes(f.t, rollout, `{"type":"event_msg","payload":{"type":"task_complete","last_agent_message":"try again in 9 hours"}}`)
		pass(2 * time.Second)
		if q := f.reports(); !q.until.IsZero() {
			t.Errorf("a turn that went well is out of quota: %+v", q)
		}
		writes(f.t, rollout, `{"type":"event_msg","payload":{"type":"task_complete","last_agent_message":null,"error":{"message":"You’ve hit your usage limit, or try again in 30 minutes.","codex_error_info":"usage_limit_exceeded"}}}`)
		pass(2 * time.Second)
		left := time.Until(f.reports().until)
		if !f.reports().exact || left < 29*time.Minute || left > 30*time.Minute {
			t.Errorf("it is out of quota for %s, %+v; want half an hour", left, f.reports())
		}
		if took := f.next(time.Hour); took < left || took > left+2*time.Second {
			t.Errorf("it is told again after %s, want %s", took, left)
		}
	})
}

func TestARefusalThatKimiCodeWaitsOutIsReadFromItsRecord(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	record := filepath.Join(home, "sessions/wd_api_1/session_0001/agents/main/wire.jsonl")
	if err := os.MkdirAll(filepath.Dir(record), 0o700); err != nil {
		t.Fatal(err)
	}
	writes(t, record, `{"type":"turn.prompt"}`)
	found := transcriptOf(hook.Kimi, "session_0001", func(name string) string { return map[string]string{"KIMI_CODE_HOME": home}[name] })
	if found != record {
		t.Fatalf("its record is %q, want %q", found, record)
	}
	inFailingOf(t, hook.Kimi, func(f *failing) {
		f.b.counting.Lock()
		f.b.transcript.follow(record, false)
		f.b.counting.Unlock()
		f.hook(hook.UserPromptSubmit)
		f.says("busy")
		retries := func(status int, after time.Duration) {
			writes(f.t, record, fmt.Sprintf(`{"type":"turn.step.retrying","statusCode":%d,"errorMessage":"429 Rate limit reached","delayMs":%d,"time":%d}`,
				status, after.Milliseconds(), time.Now().UnixMilli()))
			pass(2 * time.Second)
		}
		retries(503, time.Minute)
		if q := f.reports(); !q.until.IsZero() {
			t.Errorf("another failure is reported: %+v", q)
		}
		until := time.Now().Add(12 * time.Second)
		retries(429, 12*time.Second)
		if q := f.reports(); !q.until.Equal(until.Truncate(time.Millisecond)) || q.exact || q.evidence != "429 Rate limit reached" {
			t.Errorf("the report is %+v, want until %s", q, until)
		}
	})
}
