package session_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
)

func TestAHandOverWaitsForNoFileThatIsNoPlainOne(t *testing.T) {
	t.Parallel()
	url, dir := coordinator(t).URL(), leased(t, "a.go", "b.go")
	first := editing(t, url, "box:1:1")
	editing(t, url, "box:2:2")
	asked, err := first.as("web").SendMessage(t.Context(), c3po.SendInput{Target: "api", Message: "mend a.go"})
	if err != nil {
		t.Fatal(err)
	}
	pipe := filepath.Join(dir, "a.go")
	first.edited(pipe, "two\n")
	first.edited(filepath.Join(dir, "b.go"), "two\n")
	if err := os.Remove(pipe); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	// If the hand-over does wait for the pipe, it reads nothing from it, and hashes that.
	letGo := time.AfterFunc(5*time.Second, func() {
		if w, err := os.OpenFile(pipe, os.O_WRONLY|syscall.O_NONBLOCK, 0); err == nil {
			w.Close()
		}
	})
	defer letGo.Stop()
	first.call("u1", "reply", map[string]any{"message_id": asked.ID, "response": "half of it is done", "status": c3po.ReplyHandedOver, "handed_to": "api-2"})
	thread, err := first.as("web").GetThread(t.Context(), c3po.ThreadInput{Thread: string(asked.ID)})
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(thread.Messages, func(m c3po.Message) bool { return m.Status == c3po.ReplyHandedOver })
	if at < 0 {
		t.Fatalf("the thread is %+v", thread.Messages)
	}
	var carried struct {
		Files []struct {
			Path string
			Hash string `json:"sha256_prefix"`
		}
	}
	if err := json.Unmarshal(thread.Messages[at].Metadata, &carried); err != nil {
		t.Fatal(err)
	}
	if len(carried.Files) != 2 || carried.Files[0].Hash != "" || carried.Files[1].Hash == "" {
		t.Errorf("the hand-over names %+v", carried.Files)
	}
}
