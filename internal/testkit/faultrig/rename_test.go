package faultrig_test

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/client"
	"github.com/c3po-dev/c3po/internal/server"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

func TestARenamingUnderLoadLosesNothing(t *testing.T) {
	t.Parallel()
	redis := redistest.Start(t, "--appendonly", "yes")
	limits := noLimits()
	here := inProcess(t, server.Config{RedisURL: redis, Limits: limits})
	there := inProcess(t, server.Config{RedisURL: redis, Limits: limits})
	const senders, each = 4, 60
	session := func(url string) *client.Client {
		return client.New(client.Config{URL: url, AgentID: "bob", Session: "one", Run: "host:1:1", ClientName: "test", Version: "1"})
	}
	bob := session(there)
	if _, err := bob.RegisterAgent(t.Context(), c3po.RegisterInput{}); err != nil {
		t.Fatal(err)
	}

	var work sync.WaitGroup
	half := make(chan struct{}, senders)
	for s := range senders {
		work.Go(func() {
			sender := agent(t, []string{here, there}[s%2], c3po.AgentID(fmt.Sprintf("sender-%d", s)))
			for n := range each {
				text := fmt.Sprintf("%d of %d", n, s)
				receipt, err := sender.SendMessage(t.Context(), c3po.SendInput{Target: "bob", Message: text, ClientKey: text})
				if err != nil {
					t.Errorf("%s: %v", text, err)
				} else if receipt.ToAgent != "bob" && receipt.Notice == "" {
					t.Errorf("%s went to %s without a word", text, receipt.ToAgent)
				}
				if n == each/3 {
					half <- struct{}{}
				}
			}
		})
	}
	got, last := map[string]int{}, map[int]int{}
	read := make(chan struct{})
	go func() {
		defer close(read)
		for len(got) < senders*each && t.Context().Err() == nil {
			result, err := bob.WaitForMessage(t.Context(), c3po.WaitInput{Timeout: 5})
			if err != nil {
				t.Errorf("wait: %v", err)
				return
			}
			if result.Outcome != nil {
				t.Errorf("%d of %d, then %s", len(got), senders*each, result.Outcome.Message)
				return
			}
			got[result.Message.Message]++
			var n, s int
			if _, err := fmt.Sscanf(result.Message.Message, "%d of %d", &n, &s); err != nil || n < last[s] {
				t.Errorf("%q after %d of its sender", result.Message.Message, last[s])
			}
			last[s] = n
			if _, err := bob.AckMessages(t.Context(), c3po.AckInput{MessageIDs: []c3po.MessageID{result.Message.ID}}); err != nil {
				t.Errorf("ack: %v", err)
			}
		}
	}()
	for range senders {
		<-half
	}
	began := time.Now()
	for _, name := range []string{"robert", "bert"} {
		done, err := session(here).Rename(t.Context(), c3po.RenameInput{NewID: name})
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s after %s", done.Message, time.Since(began))
	}
	work.Wait()
	<-read
	for _, text := range slices.Sorted(maps.Keys(got)) {
		if got[text] != 1 {
			t.Errorf("%s came %d times", text, got[text])
		}
	}
	if len(got) != senders*each {
		t.Errorf("%d of %d came", len(got), senders*each)
	}
	audit := balanced(t, bob)
	if audit.Pending != 0 || audit.Acked != senders*each {
		t.Errorf("%+v", audit)
	}
	self, err := bob.WhoAmI(t.Context(), c3po.None{})
	if err != nil || self.ID != "bert" {
		t.Errorf("the session is %s, %v", self.ID, err)
	}
}

func TestAWaitHearsOfARenamingOnAnotherCoordinator(t *testing.T) {
	t.Parallel()
	redis := redistest.Start(t)
	here := inProcess(t, server.Config{RedisURL: redis, Limits: noLimits()})
	there := inProcess(t, server.Config{RedisURL: redis, Limits: noLimits()})
	alice := agent(t, here, "alice")
	for name, bob := range map[string]client.Config{
		"a session": {AgentID: "bob", Session: "one", Run: "host:1:1"},
		"a command": {AgentID: "carl"},
	} {
		as := func(url string) *client.Client {
			cfg := bob
			cfg.URL, cfg.ClientName, cfg.Version = url, "test", "1"
			return client.New(cfg)
		}
		asked, err := as(there).SendMessage(t.Context(), c3po.SendInput{Target: "alice", Message: "question"})
		if err != nil {
			t.Fatal(err)
		}
		answers := make(chan string, 2)
		for _, in := range []c3po.WaitInput{{Timeout: 60}, {Timeout: 60, MessageID: asked.ID}} {
			go func() {
				got, err := as(there).WaitForMessage(t.Context(), in)
				answers <- fmt.Sprint(got.Text(), got.Outcome, err)
			}()
		}
		eventually(t, "both waits are open", func() bool {
			info, err := as(there).ServerInfo(t.Context(), c3po.None{})
			return err == nil && info.Waiters == 2
		})
		if _, err := as(here).Rename(t.Context(), c3po.RenameInput{NewID: string(bob.AgentID) + "-renamed"}); err != nil {
			t.Fatal(err)
		}
		if _, err := alice.Reply(t.Context(), c3po.ReplyInput{MessageID: asked.ID, Response: "answer"}); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		for range 2 {
			if got, want := <-answers, fmt.Sprint("answer", (*c3po.WaitOutcome)(nil), nil); got != want {
				t.Errorf("%s: the wait ended with %s", name, got)
			}
		}
		if took := time.Since(began); took > aWhile {
			t.Errorf("%s was woken after %v", name, took)
		} else {
			t.Logf("%s was woken after %v", name, took)
		}
	}
}
