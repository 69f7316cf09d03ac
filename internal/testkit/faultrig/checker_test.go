package faultrig_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
)

// A history is written as a list of calls, each after the one before.
type history struct {
	now   time.Time
	calls []faultrig.Call
}

func (h *history) add(call faultrig.Call) *history {
	h.now = h.now.Add(time.Second)
	call.Invoked = h.now
	h.now = h.now.Add(time.Second)
	if call.Outcome != faultrig.Open {
		call.Returned = h.now
	}
	h.calls = append(h.calls, call)
	return h
}

func (h *history) send(value string, outcome faultrig.Outcome, id string) *history {
	call := faultrig.Call{Op: "send", Agent: "web", To: "api", Priority: c3po.Normal, Value: value, Outcome: outcome}
	if outcome == faultrig.OK {
		call.Got = []faultrig.Seen{{ID: c3po.MessageID(id), Value: value}}
	}
	return h.add(call)
}

func (h *history) read(by c3po.AgentID, pairs ...string) *history {
	call := faultrig.Call{Op: "read", Agent: by, Outcome: faultrig.OK}
	for i := 0; i < len(pairs); i += 2 {
		call.Got = append(call.Got, faultrig.Seen{Value: pairs[i], ID: c3po.MessageID(pairs[i+1])})
	}
	return h.add(call)
}

func (h *history) ack(outcome faultrig.Outcome, ids ...string) *history {
	call := faultrig.Call{Op: "ack", Agent: "api", Outcome: outcome}
	for _, id := range ids {
		call.Got = append(call.Got, faultrig.Seen{ID: c3po.MessageID(id)})
	}
	return h.add(call)
}

func TestTheCheckerFindsEachKindOfViolationAndNoOther(t *testing.T) {
	t.Parallel()
	const ok, failed, unknown, open = faultrig.OK, faultrig.Failed, faultrig.Unknown, faultrig.Open
	overlapping := (&history{}).send("a", ok, "1").send("b", ok, "2").read("api", "b", "2", "a", "1")
	overlapping.calls[0].Returned = overlapping.calls[1].Returned
	urgent := (&history{}).send("a", ok, "1").send("b", ok, "2").read("api", "b", "2", "a", "1")
	urgent.calls[1].Priority = c3po.Urgent

	for name, c := range map[string]struct {
		h    *history
		want []string // kind and value
	}{
		"nothing happened":               {&history{}, nil},
		"sent and read":                  {(&history{}).send("a", ok, "1").send("b", ok, "2").read("api", "a", "1", "b", "2"), nil},
		"stored and never read":          {(&history{}).send("a", ok, "1").send("b", ok, "2").read("api", "b", "2"), []string{"lost a"}},
		"in doubt and never read":        {(&history{}).send("a", unknown, "").send("b", open, ""), nil},
		"in doubt and read":              {(&history{}).send("a", unknown, "").send("b", open, "").read("api", "a", "1", "b", "2"), nil},
		"repeated, stored once":          {(&history{}).send("a", unknown, "").send("a", failed, "").send("a", ok, "1").read("api", "a", "1"), nil},
		"repeated, two receipts":         {(&history{}).send("a", ok, "1").send("a", ok, "2").read("api", "a", "1", "a", "2"), []string{"doubled a"}},
		"one receipt, two messages":      {(&history{}).send("a", unknown, "").send("a", ok, "2").read("api", "a", "1", "a", "2"), []string{"doubled a"}},
		"no receipt, two messages":       {(&history{}).send("a", unknown, "").read("api", "a", "1", "a", "2"), []string{"doubled a"}},
		"never sent":                     {(&history{}).read("api", "a", "1"), []string{"invented a"}},
		"said to be not stored":          {(&history{}).send("a", failed, "").read("api", "a", "1"), []string{"invented a"}},
		"not stored":                     {(&history{}).send("a", failed, "").read("api"), nil},
		"failed after doubt":             {(&history{}).send("a", unknown, "").send("a", failed, "").read("api", "a", "1"), nil},
		"read by another":                {(&history{}).send("a", ok, "1").read("ops", "a", "1"), []string{"misdelivered a"}},
		"read twice before the ack":      {(&history{}).send("a", ok, "1").read("api", "a", "1").read("api", "a", "1").ack(ok, "1"), nil},
		"read again after the ack":       {(&history{}).send("a", ok, "1").read("api", "a", "1").ack(ok, "1").read("api", "a", "1"), []string{"returned a"}},
		"read again after a doubted ack": {(&history{}).send("a", ok, "1").read("api", "a", "1").ack(unknown, "1").read("api", "a", "1"), nil},
		"the later one read first":       {(&history{}).send("a", ok, "1").send("b", ok, "2").read("api", "b", "2").read("api", "a", "1"), []string{"misordered a"}},
		"the later one first in a page":  {(&history{}).send("a", ok, "1").send("b", ok, "2").read("api", "b", "2", "a", "1"), []string{"misordered a"}},
		"the later one is urgent":        {urgent, nil},
		"sent at the same time":          {overlapping, nil},
		"one in doubt comes late":        {(&history{}).send("a", unknown, "").send("b", ok, "2").read("api", "b", "2", "a", "1"), nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, v := range faultrig.Check(c.h.calls).Violations {
				got = append(got, v.Kind+" "+v.Value)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("violations (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTheReportCountsWhatHappened(t *testing.T) {
	t.Parallel()
	const ok, failed, unknown = faultrig.OK, faultrig.Failed, faultrig.Unknown
	h := (&history{}).send("a", unknown, "").send("a", ok, "1").send("b", unknown, "").send("c", failed, "").send("d", ok, "4").
		read("api", "a", "1").read("api", "a", "1", "b", "2")
	got := faultrig.Check(h.calls)
	if got.Sends != 4 || got.Stored != 2 || got.InDoubt != 1 || got.Read != 2 || got.Count(faultrig.Lost) != 1 {
		t.Errorf("%s", got)
	}
}

func TestOnlyOurOwnErrorsSayThatNothingWasDone(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err  error
		want faultrig.Outcome
	}{
		{nil, faultrig.OK},
		{c3po.Errorf(c3po.RedisUnavailable, "Redis cannot be reached"), faultrig.Failed},
		{c3po.Errorf(c3po.CoordDown, "down"), faultrig.Failed},
		{c3po.Errorf(c3po.UnknownOutcome, "lost"), faultrig.Unknown},
		{c3po.Errorf(c3po.Internal, "internal error"), faultrig.Unknown},
		{context.Canceled, faultrig.Unknown},
	} {
		if got := faultrig.OutcomeOf(c.err); got != c.want {
			t.Errorf("%v is %s, want %s", c.err, got, c.want)
		}
	}
}
