package faultrig_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/client"
	"github.com/c3po-dev/c3po/internal/host/engine"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

func TestATicketSurvivesTheDeathOfTheCoordinatorBetweenQuestionAndAnswer(t *testing.T) {
	t.Parallel()
	redis := redistest.New(t, "--appendfsync", "always")
	node := faultrig.Start(t, redis.URL())
	alice, bob := agent(t, node.URL(), "alice"), agent(t, node.URL(), "bob")
	asked := make(chan c3po.Receipt, 1)
	go func() {
		receipt, err := alice.SendMessage(t.Context(), c3po.SendInput{Target: "bob", Message: "why?", WaitSeconds: 60, ClientKey: "ticket-1"})
		if err != nil {
			t.Errorf("ask: %v", err)
		}
		asked <- receipt
	}()
	question, err := bob.WaitForMessage(t.Context(), c3po.WaitInput{Timeout: 30})
	if err != nil || question.Outcome != nil {
		t.Fatalf("question: %+v, %v", question.Outcome, err)
	}
	node.Kill()
	node.Restart()
	if _, err := bob.Reply(t.Context(), c3po.ReplyInput{MessageID: question.ID, Response: "because"}); err != nil {
		t.Fatal(err)
	}
	if receipt := <-asked; receipt.Reply == nil || receipt.Reply.Response != "because" {
		t.Fatalf("receipt = %+v, wait %+v", receipt, receipt.Wait)
	}
	list, err := alice.Tickets(t.Context(), c3po.TicketsInput{ClientKey: "ticket-1"})
	if err != nil || len(list.Tickets) != 1 || list.Tickets[0].State != c3po.TicketResponded {
		t.Errorf("tickets = %+v, %v", list, err)
	}
	balanced(t, alice)
}

func TestEveryAnswerReachesItsAskerOnceWhoeverElseReadsTheInbox(t *testing.T) {
	t.Parallel()
	const agents, each = 50, 10
	const readers = 10
	redis := redistest.New(t)
	nodes := []*faultrig.Coordinator{faultrig.Start(t, redis.URL()), faultrig.Start(t, redis.URL())}
	name := func(i int) c3po.AgentID { return c3po.AgentID(fmt.Sprintf("agent-%d", i%agents)) }
	session := func(i, s int) *client.Client {
		return client.New(client.Config{URL: nodes[(i+s)%2].URL(), AgentID: name(i), Run: fmt.Sprintf("run-%d", i), Session: fmt.Sprintf("s-%d-%d", i, s), Patience: 5 * time.Minute})
	}
	for i := range agents {
		if _, err := session(i, 0).RegisterAgent(t.Context(), c3po.RegisterInput{}); err != nil {
			t.Fatal(err)
		}
	}

	// Each inbox has ten readers, and every one takes all it is given: the first
	// to see a question answers it, and answers to others are acked away.
	ctx, stop := context.WithCancel(t.Context())
	var answered sync.Map
	var reading sync.WaitGroup
	defer reading.Wait()
	defer stop()
	for i := range agents {
		for s := range readers {
			svc := session(i, s)
			reading.Go(func() {
				for ctx.Err() == nil {
					got, err := svc.WaitForMessage(ctx, c3po.WaitInput{Timeout: 60})
					if err != nil || got.Outcome != nil {
						continue
					}
					if got.Kind == c3po.KindReply {
						_, _ = svc.AckMessages(ctx, c3po.AckInput{MessageIDs: []c3po.MessageID{got.ID}})
						continue
					}
					if _, before := answered.LoadOrStore(got.ID, true); before {
						continue
					}
					if _, err := svc.Reply(ctx, c3po.ReplyInput{MessageID: got.ID, Response: "answer to " + got.Message.Message}); err != nil && ctx.Err() == nil {
						t.Errorf("answer %s: %v", got.ID, err)
					}
				}
			})
		}
	}

	begun := time.Now()
	var asking sync.WaitGroup
	for i := range agents {
		for n := range each {
			svc := session(i, n%readers)
			asking.Go(func() {
				question := fmt.Sprintf("question %d of %s", n, name(i))
				receipt, err := svc.SendMessage(ctx, c3po.SendInput{Target: string(name(i + n + 1)), Message: question, WaitSeconds: 600})
				switch {
				case err != nil:
					t.Errorf("%s: %v", question, err)
				case receipt.Reply == nil:
					t.Errorf("%s: no answer: %+v", question, receipt.Wait)
				case receipt.Reply.Response != "answer to "+question || receipt.Reply.MessageID != receipt.ID:
					t.Errorf("%s was answered with %q", question, receipt.Reply.Response)
				}
			})
		}
	}
	asking.Wait()
	t.Logf("%d tickets between %d agents with %d readers each took %v", agents*each, agents, readers, time.Since(begun))

	for i := range agents {
		list, err := session(i, 0).Tickets(t.Context(), c3po.TicketsInput{Which: c3po.TicketsAsked, Limit: 100})
		if err != nil || len(list.Tickets) != each {
			t.Fatalf("%s asked %d tickets, %v; want %d", name(i), len(list.Tickets), err, each)
		}
		for _, ticket := range list.Tickets {
			if ticket.State != c3po.TicketResponded || len(ticket.Replies) != 1 {
				t.Errorf("ticket = %+v, want one answer", ticket)
			}
		}
	}
	balanced(t, session(0, 0))
}

func TestTheAskerOfAKilledAgentLearnsIt(t *testing.T) {
	t.Parallel()
	redis := redistest.New(t)
	node := faultrig.Start(t, redis.URL())
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	program := exec.Command("sleep", "600")
	if err := program.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = program.Process.Kill(), program.Wait() })
	run := c3po.ProcessRun{Host: host, PID: program.Process.Pid, Start: engine.Started(program.Process.Pid)}
	if run.Start == 0 {
		t.Skip("this system does not say when a process started")
	}
	// Another agent says that it is the process that had this number before: it is
	// not to be taken for the one that has it now.
	reused := run
	reused.Start--
	for id, r := range map[c3po.AgentID]c3po.ProcessRun{"bob": run, "carol": reused} {
		if _, err := client.New(client.Config{URL: node.URL(), AgentID: id, Run: r.String()}).RegisterAgent(t.Context(), c3po.RegisterInput{}); err != nil {
			t.Fatal(err)
		}
	}
	alice := agent(t, node.URL(), "alice")
	sent, err := alice.SendMessage(t.Context(), c3po.SendInput{Target: "bob", Message: "why?"})
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan c3po.WaitResult, 1)
	go func() {
		got, err := alice.WaitForMessage(t.Context(), c3po.WaitInput{MessageID: sent.ID, Timeout: 60})
		if err != nil {
			t.Errorf("wait: %v", err)
		}
		ended <- got
	}()
	eventually(t, "alice waits", func() bool {
		info, err := alice.ServerInfo(t.Context(), c3po.None{})
		return err == nil && info.Waiters > 0
	})
	killed := time.Now()
	if err := program.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	got := <-ended
	if got.Outcome == nil || got.Outcome.Status != c3po.WaitDied {
		t.Fatalf("the wait ended with %+v", got.Outcome)
	}
	faultrig.Hold(t, "from the kill to the asker", time.Since(killed), 5*time.Second)
	bob, err := alice.GetAgentStatus(t.Context(), c3po.AgentInput{AgentID: "bob"})
	if err != nil || bob.Alive == nil || *bob.Alive || bob.Status != c3po.Offline {
		t.Errorf("bob = %+v, %v", bob, err)
	}
	carol, err := alice.GetAgentStatus(t.Context(), c3po.AgentInput{AgentID: "carol"})
	if err != nil || carol.Status != c3po.Online {
		t.Errorf("carol = %+v, %v", carol, err)
	}
}
