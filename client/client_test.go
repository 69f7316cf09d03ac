package client_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/client"
)

// printed is what a function writes to standard output.
func printed(t *testing.T, do func()) string {
	t.Helper()
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	was := os.Stdout
	os.Stdout = write
	do()
	os.Stdout = was
	if err := write.Close(); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if _, err := io.Copy(&out, read); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestTheExamplesPrintWhatTheySay(t *testing.T) {
	start(t)
	want := map[string]string{
		"tell nobody": "nobody is called api\n",
		"ask":         "web asks: Which port does the gateway use?\n8443\n",
		"tell":        "stored in memory\n",
		"post":        "build: 1.4 is out\n",
		"events":      "newcomer registered\n",
	}
	got := map[string]string{"tell nobody": printed(t, ExampleClient_Tell)}
	open(t, "api")
	got["ask"] = printed(t, func() {
		var both sync.WaitGroup
		both.Go(ExampleClient_Serve)
		both.Go(ExampleClient_Ask)
		both.Wait()
	})
	got["tell"] = printed(t, ExampleClient_Tell)
	got["post"] = printed(t, ExampleClient_Post)
	got["events"] = printed(t, ExampleClient_Events)
	for name, text := range want {
		if got[name] != text {
			t.Errorf("%s prints %q, want %q", name, got[name], text)
		}
	}
}

func TestAQuestionIsAnsweredAcrossARestartOfTheCoordinator(t *testing.T) {
	coordinator := start(t)
	asker, asked := open(t, "asker"), open(t, "asked")
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	served := make(chan error, 1)
	go func() {
		served <- asked.Serve(ctx, func(context.Context, c3po.Message) (string, error) {
			coordinator.Kill()
			coordinator.Restart()
			return "42", nil
		})
	}()
	answer, err := asker.Ask(ctx, "asked", "How many?")
	if err != nil || answer.Text() != "42" {
		t.Errorf("the answer is %q: %v", answer.Text(), err)
	}
	stop()
	if err := <-served; !errors.Is(err, context.Canceled) {
		t.Errorf("serving ended with %v", err)
	}
}

func TestWhatAHandlerFailsWithIsTheAnswerAndSaysSo(t *testing.T) {
	start(t)
	asker, asked := open(t, "asker"), open(t, "asked")
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	go asked.Serve(ctx, func(_ context.Context, m c3po.Message) (string, error) {
		if m.Text() == "too much" {
			return strings.Repeat("x", 60_000), nil
		}
		return "", errors.New("the disk is full")
	})
	for question, want := range map[string]string{"why": "the disk is full", "too much": "There is an answer, but it was refused"} {
		answer, err := asker.Ask(t.Context(), "asked", question)
		if err != nil || answer.Status != c3po.ReplyError || !strings.HasPrefix(answer.Text(), want) {
			t.Errorf("the answer to %q is %q (%s): %v", question, answer.Text(), answer.Status, err)
		}
	}
}

func TestAnAskThatEndsSaysThatTheQuestionStands(t *testing.T) {
	start(t)
	asker, asked := open(t, "asker"), open(t, "asked")
	short, stop := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer stop()
	_, err := asker.Ask(short, "asked", "Are you there?")
	var unanswered *client.Unanswered
	if !errors.As(err, &unanswered) {
		t.Fatalf("the error is %v", err)
	}
	ctx, end := context.WithCancel(t.Context())
	defer end()
	go asked.Serve(ctx, func(context.Context, c3po.Message) (string, error) { return "yes", nil })
	answer, err := asker.Await(t.Context(), unanswered.Question)
	if err != nil || answer.Text() != "yes" {
		t.Errorf("the answer is %q: %v", answer.Text(), err)
	}
}
