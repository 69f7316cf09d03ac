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
