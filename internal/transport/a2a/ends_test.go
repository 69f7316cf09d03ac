package a2a_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/auth"
)

func TestATaskThatIsAckedWithoutAnAnswerEnds(t *testing.T) {
	t.Parallel()
	play(t, func(t *testing.T, s stack) {
		s.register(t, "api")
		id := s.call(t, ask("m-1", "For your information.")).task(t).ID
		stream := httptest.NewRecorder()
		var streaming sync.WaitGroup
		streaming.Go(func() {
			s.ServeHTTP(stream, call{version: "1.0", method: "SubscribeToTask", params: get(id).params}.request(t.Context()))
		})
		synctest.Wait()
		asked := s.read(t, "api")
		if _, err := s.as("api").AckMessages(t.Context(), c3po.AckInput{MessageIDs: []c3po.MessageID{asked.ID}}); err != nil {
			t.Fatal(err)
		}
		if got := s.call(t, get(id)).task(t); got.Status.State != "TASK_STATE_WORKING" {
			t.Errorf("right after the ack, when an answer may follow, it is %s", got.Status.State)
		}
		streaming.Wait()
		got := s.call(t, get(id)).task(t)
		if got.Status.State != "TASK_STATE_COMPLETED" || len(got.Artifacts) != 0 || !strings.Contains(got.Status.Message.Parts[0].Text, "without an answer") {
			t.Errorf("later it is %+v", got)
		}
		if !strings.Contains(stream.Body.String(), "without an answer") {
			t.Errorf("the stream is %s", stream.Body)
		}
	})
}

func TestOnlyAQuestionSinceATaskWasReadMarksIt(t *testing.T) {
	t.Parallel()
	play(t, func(t *testing.T, s stack) {
		s.register(t, "api")
		asksPerson := func(text string) {
			t.Helper()
			if _, err := s.as("api").EscalateToHuman(t.Context(), c3po.EscalateInput{Reason: text}); err != nil {
				t.Fatal(err)
			}
		}
		asksPerson("Which colour?")
		pass(time.Minute)
		id := s.call(t, ask("m-1", "What is 2+2?")).task(t).ID
		s.read(t, "api")
		if got := s.call(t, get(id)).task(t); got.Status.State != "TASK_STATE_WORKING" {
			t.Errorf("the question from before makes it %s", got.Status.State)
		}
		pass(time.Minute)
		since := time.Now().UTC().Format("2006-01-02T15:04:05.000Z")
		asksPerson("May I say 4?")
		pass(time.Minute)
		if got := s.call(t, get(id)); got.task(t).Status.State != "TASK_STATE_INPUT_REQUIRED" || !strings.Contains(got.text, `"timestamp":"`+since+`"`) {
			t.Errorf("asked at %s, it is %s", since, got.text)
		}
	})
}

func TestFilesOfAnAnswerAreNamed(t *testing.T) {
	t.Parallel()
	play(t, func(t *testing.T, s stack) {
		s.register(t, "api")
		for i, status := range []string{c3po.ReplySuccess, c3po.ReplyError} {
			id := s.call(t, ask(fmt.Sprint("m-", i), fmt.Sprint("Send me patch ", i))).task(t).ID
			sum := sha256.Sum256([]byte("patch\n"))
			hash := hex.EncodeToString(sum[:])
			file, err := s.as("api").FileBegin(t.Context(), c3po.FileInput{Name: "fix.diff", Size: 6, Type: "text/x-diff", SHA256: hash})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.as("api").FileAppend(t.Context(), c3po.FileChunkInput{ID: file.ID, Data: []byte("patch\n")}); err != nil {
				t.Fatal(err)
			}
			if _, err := s.as("api").Reply(t.Context(), c3po.ReplyInput{MessageID: s.read(t, "api").ID, Response: "Attached.", Status: status, Attach: []c3po.FileID{file.ID}}); err != nil {
				t.Fatal(err)
			}
			got := s.call(t, get(id)).text
			for _, want := range []string{"Attached.", "fix.diff (text/x-diff, 6 bytes, sha256 " + hash, "X-Agent-ID: bot", "/api/file?file=" + string(file.ID)} {
				if !strings.Contains(got, want) {
					t.Errorf("%s: %q is missing in %s", status, want, got)
				}
			}
			if status == c3po.ReplySuccess && !strings.Contains(got, `"filename":"fix.diff"`) {
				t.Errorf("the part is %s", got)
			}
		}
	})
}

func TestAPartHasOneContent(t *testing.T) {
	t.Parallel()
	play(t, func(t *testing.T, s stack) {
		s.register(t, "api")
		for _, part := range []string{`{"text":"x","data":{"n":1}}`, `{"text":"x","raw":"eA=="}`, `{"data":1,"url":"https://example.com/"}`} {
			if got := s.call(t, send(`"messageId":"m-1","parts":[`+part+`]`)); got.Error.Code != -32602 {
				t.Errorf("%s: %s", part, got.text)
			}
		}
	})
}

func TestTheConfigsOfATokenAreCountedAndChosenAsItMeantThem(t *testing.T) {
	t.Parallel()
	p := newPost(t, auth.Tokens)
	p.away(t, "api")
	_, mine := p.token(t, "crm")
	_, twin := p.token(t, "crm")
	id := mine(asks("1.0", "m-1", `{"url":"https://example.com/default"}`)).task(t).ID
	add := func(as func(call) answer, name, url string) answer {
		return as(call{version: "1.0", method: "CreateTaskPushNotificationConfig", params: fmt.Sprintf(`{"taskId":%q,"id":%q,"url":%q}`, id, name, url)})
	}
	for i := range auth.TaskCallbacks {
		if got := add(twin, fmt.Sprint("a-", i), "https://example.com/twin"); got.Error.Code != 0 {
			t.Fatalf("the twin's: %s", got.text)
		}
	}
	if got := add(mine, "a", "https://example.com/mine"); got.Error.Code != 0 {
		t.Errorf("beside those of another token: %s", got.text)
	}
	if got := add(twin, "b", "https://example.com/twin"); !strings.Contains(got.text, "at most 4") {
		t.Errorf("a fifth one: %s", got.text)
	}
	if got := mine(call{method: "tasks/pushNotificationConfig/get", params: fmt.Sprintf(`{"id":%q}`, id)}); !strings.Contains(got.text, "https://example.com/default") {
		t.Errorf("without an id it is %s", got.text)
	}
	if got := twin(call{method: "tasks/pushNotificationConfig/get", params: fmt.Sprintf(`{"id":%q}`, id)}); got.Error.Code != -32602 {
		t.Errorf("of several without an id it is %s", got.text)
	}
	if got := add(mine, "c", "https://user:pass@example.com/"); got.Error.Code != -32602 || strings.Contains(got.text, "pass@") {
		t.Errorf("with a password: %s", got.text)
	}
}
