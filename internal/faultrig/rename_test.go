package faultrig_test

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/c3po-dev/c3po"
	"github.com/c3po-dev/c3po/internal/client"
	"github.com/c3po-dev/c3po/internal/redistest"
	"github.com/c3po-dev/c3po/internal/server"
)

// Claims: C2a, C11
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
