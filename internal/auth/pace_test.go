package auth

import (
	"context"
	"errors"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/c3po-dev/c3po/c3po"
)

func TestWhoCallsWithoutEndIsHeldBackAndNobodyElseIs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := pacer{perSecond: 10, accounts: map[string]*paced{}}
		call := func(account string) (time.Duration, error) {
			began := time.Now()
			_, err := p.wait(t.Context(), account, began)
			return time.Since(began), err
		}
		for n := range 10 * paceBurst {
			if took, err := call("loop"); took != 0 || err != nil {
				t.Fatalf("call %d of a burst took %v, %v", n, took, err)
			}
		}
		// A loop that waits for its answers is slowed down to its rate.
		began := time.Now()
		for range 20 {
			if _, err := call("loop"); err != nil {
				t.Fatalf("a call that may wait is refused: %v", err)
			}
		}
		if took := time.Since(began); took != 2*time.Second {
			t.Errorf("20 calls at 10 a second took %v", took)
		}
		if took, err := call("honest"); took != 0 || err != nil {
			t.Errorf("another account waits %v, %v", took, err)
		}
		if took, err := call(""); took != 0 || err != nil {
			t.Errorf("a person waits %v, %v", took, err)
		}
		// One that does not is refused, and what is refused is not counted.
		ctx, leave := context.WithCancel(t.Context())
		for range int(10 * maxPaceDelay / time.Second) {
			go func() { _, _ = p.wait(ctx, "loop", time.Now()) }()
		}
		synctest.Wait()
		for range 100 {
			if took, err := call("loop"); took != 0 || !errors.Is(err, c3po.RateLimited) {
				t.Fatalf("a call beyond what may wait: %v, %v", took, err)
			}
		}
		leave()
		<-time.After(maxPaceDelay)
		if took, err := call("loop"); took > 100*time.Millisecond || err != nil {
			t.Errorf("after a rest it waits %v, %v", took, err)
		}
		// What rests is forgotten.
		<-time.After(2 * paceKept)
		_, _ = call("honest")
		if len(p.accounts) != 1 {
			t.Errorf("%d accounts are remembered", len(p.accounts))
		}
	})
}

func TestProgramsThatComeAndGoFillNoMemory(t *testing.T) {
	t.Parallel()
	k := New(Config{})
	for n := range 3 * maxNoted {
		k.claimDaily(strconv.Itoa(n))
	}
	if len(k.noted) > maxNoted {
		t.Errorf("%d processes are remembered, want at most %d", len(k.noted), maxNoted)
	}
	if k.claimDaily(strconv.Itoa(3*maxNoted - 1)) {
		t.Error("the last one is forgotten")
	}
}

func TestTheStepsOfAnAccountThatIsHeldBackAreTakenOneByOne(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := pacer{perSecond: 10, accounts: map[string]*paced{}}
		call := func(account string) context.Context {
			ctx, err := p.wait(t.Context(), account, time.Now())
			if err != nil {
				t.Fatal(err)
			}
			return ctx
		}
		for range 10 * paceBurst { // within its pace any number go at once
			if _, err := TakeTurn(call("loop")); err != nil {
				t.Fatal(err)
			}
		}
		first, err := TakeTurn(call("loop"))
		if err != nil {
			t.Fatal(err)
		}
		second := make(chan error)
		go func() {
			done, err := TakeTurn(call("loop"))
			if err == nil {
				done()
			}
			second <- err
		}()
		<-time.After(time.Second)
		select {
		case err := <-second:
			t.Fatalf("a second step of the flood does not wait: %v", err)
		default:
		}
		if _, err := TakeTurn(call("honest")); err != nil {
			t.Errorf("somebody else waits: %v", err)
		}
		var held context.Context
		for range 10*paceBurst + 1 {
			held = call("loop")
		}
		hurried, cancel := context.WithTimeout(held, time.Second)
		defer cancel()
		if _, err := TakeTurn(hurried); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a step that has no time left gets %v", err)
		}
		first()
		if err := <-second; err != nil {
			t.Errorf("the second step gets %v", err)
		}
	})
}
