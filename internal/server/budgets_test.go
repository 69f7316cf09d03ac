package server_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/c3po-dev/c3po"
	"github.com/c3po-dev/c3po/internal/auth"
	"github.com/c3po-dev/c3po/internal/redistest"
	"github.com/c3po-dev/c3po/internal/server"
)

// do calls an operation with a token, as an agent if one is named.
func (g *guarded) do(t *testing.T, token, as, name string, in, out any) (int, c3po.Error) {
	t.Helper()
	body, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	var headers []string
	if as != "" {
		headers = []string{auth.AgentHeader, as}
	}
	status, text, err := call(t.Context(), http.DefaultClient, "POST", g.url+"/api/op/"+name, token, string(body), headers...)
	if err != nil {
		t.Fatal(err)
	}
	var refusal c3po.Error
	if status != http.StatusOK {
		if err := json.Unmarshal([]byte(text), &refusal); err != nil {
			t.Fatalf("%s as %s: %d %q, %v", name, as, status, text, err)
		}
	} else if out != nil {
		if err := json.Unmarshal([]byte(text), out); err != nil {
			t.Fatalf("%s as %s: %q, %v", name, as, text, err)
		}
	}
	return status, refusal
}

// An agent that floods another one's inbox must not shut its person out.
func TestAPersonsStopReachesAndWakesAnAgentWhoseInboxIsFull(t *testing.T) {
	t.Parallel()
	limits := c3po.DefaultLimits()
	limits.InboxMessages = 12
	g := startGuarded(t, redistest.Start(t), server.Config{Limits: limits})
	mallory := g.mint(t, auth.Grant{Role: c3po.RoleAgent, Pattern: "laptop/*"}).Secret
	victim := g.mint(t, auth.Grant{Role: c3po.RoleAgent, Pattern: "box/*"}).Secret
	person := g.mint(t, auth.Grant{Role: c3po.RoleHuman}).Secret
	g.do(t, victim, "box/victim", "ping", c3po.None{}, nil)
	var refusal c3po.Error
	for n := 0; refusal.Code == ""; n++ {
		_, refusal = g.do(t, mallory, fmt.Sprintf("laptop/m%d", n), "send_message", c3po.SendInput{Target: "box/victim", Message: fmt.Sprint("noise ", n)}, nil)
	}
	if refusal.Code != c3po.InboxFull {
		t.Fatalf("the flood ends with %+v", refusal)
	}
	// It has seen the noise and waits for what is new.
	g.do(t, victim, "box/victim", "get_messages", c3po.GetMessagesInput{}, nil)
	woken := make(chan c3po.Message, 1)
	go func() {
		var got c3po.Message
		g.do(t, victim, "box/victim", "wait_for_message", c3po.WaitInput{Timeout: 60}, &got)
		woken <- got
	}()
	var stop c3po.Receipt
	if status, refusal := g.do(t, person, "", "send_message", c3po.SendInput{Target: "box/victim", Message: "STOP"}, &stop); status != http.StatusOK {
		t.Fatalf("the person's STOP is answered %d %+v", status, refusal)
	}
	select {
	case got := <-woken:
		if got.ID != stop.ID || got.FromAgent != c3po.Human {
			t.Errorf("the victim is given %+v", got)
		}
	case <-time.After(longEnough):
		t.Error("the victim is not woken")
	}
	for _, as := range []string{"human", "laptop/human"} {
		if status, _ := g.do(t, mallory, as, "send_message", c3po.SendInput{Target: "box/victim", Message: "me too"}, nil); status == http.StatusOK {
			t.Errorf("an agent that calls itself %s writes into the reserve", as)
		}
	}
}
