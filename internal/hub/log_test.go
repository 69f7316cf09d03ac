package hub_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
)

// log reads the log and gives its events as one line each.
func (h *testHub) log(in c3po.LogInput) (c3po.LogPage, []string) {
	h.t.Helper()
	page := must(h.asPerson().TailLog(h.t.Context(), in))(h.t)
	lines := []string{}
	for _, e := range page.Events {
		lines = append(lines, fmt.Sprint(e.Seq, " ", e.Kind))
	}
	return page, lines
}

func TestTheLogShowsTheNewestEventsOldestFirst(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		h.enter("alice", "bob")
		sent := h.send("alice", "bob", "hi")
		h.reply("bob", sent.ID, "yes")
		page, lines := h.log(c3po.LogInput{})
		same(t, "all", lines, []string{"1 registered", "2 registered", "3 accepted", "4 answered", "5 acked"})
		same(t, "at", page.At, "1:5")
		_, lines = h.log(c3po.LogInput{Limit: 2})
		same(t, "newest", lines, []string{"4 answered", "5 acked"})
	})
}

func TestTheLogIsReadOnFromWhereItWasLeft(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		h.enter("alice", "bob", "carol")
		page, lines := h.log(c3po.LogInput{After: "1:0", Limit: 2})
		same(t, "first", lines, []string{"1 registered", "2 registered"})
		same(t, "more", page.More, true)
		h.send("alice", "bob", "hi")
		page, lines = h.log(c3po.LogInput{After: page.At})
		same(t, "then", lines, []string{"3 registered", "4 accepted"})
		same(t, "more", page.More, false)
		page, lines = h.log(c3po.LogInput{After: page.At})
		same(t, "nothing new", lines, []string{})
		same(t, "stays", page.At, "1:4")
	})
}

func TestTheLogIsFilteredByAgentKindAndThread(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		h.enter("alice", "bob", "carol")
		first := h.send("alice", "bob", "one")
		h.send("alice", "carol", "two")
		h.reply("bob", first.ID, "yes")
		_, lines := h.log(c3po.LogInput{Agent: "bob"})
		same(t, "bob's", lines, []string{"2 registered", "4 accepted", "6 answered", "7 acked"})
		_, lines = h.log(c3po.LogInput{Kinds: []c3po.EventKind{c3po.EventAccepted, c3po.EventAcked}})
		same(t, "kinds", lines, []string{"4 accepted", "5 accepted", "7 acked"})
		_, lines = h.log(c3po.LogInput{Thread: string(first.ID)})
		same(t, "thread", lines, []string{"4 accepted", "6 answered", "7 acked"})
		page, lines := h.log(c3po.LogInput{Agent: "carol", After: "1:0", Limit: 1})
		same(t, "one of carol's", lines, []string{"3 registered"})
		same(t, "more", page.More, true)
	})
}

func TestTheLogIsFoundByItsTime(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		h.enter("alice", "bob")
		for i := range 9 {
			h.send("alice", "bob", fmt.Sprint("early ", i))
			pass(10 * time.Second)
		}
		pass(time.Hour)
		now := time.Now()
		h.send("alice", "bob", "late")
		_, lines := h.log(c3po.LogInput{Since: "30m"})
		same(t, "half an hour", lines, []string{"12 accepted"})
		_, lines = h.log(c3po.LogInput{Since: now.Add(-time.Hour - 25*time.Second).UTC().Format(time.RFC3339)})
		same(t, "an hour and 25 seconds", lines, []string{"10 accepted", "11 accepted", "12 accepted"})
		_, lines = h.log(c3po.LogInput{Since: "7d", Limit: 1})
		same(t, "from the beginning", lines, []string{"1 registered"})
		pass(time.Hour)
		_, lines = h.log(c3po.LogInput{Since: "1m"})
		same(t, "nothing", lines, []string{})
	})
}

func TestTheLogSaysWhenWhatWasAskedForIsGone(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t, func(l *c3po.Limits) { l.EventEntries = 3 })
		h.enter("alice", "bob", "carol", "dave", "eve")
		page, lines := h.log(c3po.LogInput{After: "1:1"})
		same(t, "what is left", lines, []string{"3 registered", "4 registered", "5 registered"})
		same(t, "reset", page.Reset, c3po.ResetTrimmed)
		page, _ = h.log(c3po.LogInput{After: "2:1"})
		same(t, "of another epoch", page.Reset, c3po.ResetEpoch)
		_, lines = h.log(c3po.LogInput{Since: "1h"})
		same(t, "since", lines, []string{"3 registered", "4 registered", "5 registered"})
	})
}

func TestTheLogRefusesWhatItDoesNotUnderstand(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := build(t)
		for _, in := range []c3po.LogInput{
			{Kinds: []c3po.EventKind{"acepted"}}, {After: "yesterday"}, {Since: "yesterday"}, {Since: "-1h"}, {Since: "1h", After: "1:1"}, {Limit: -1},
		} {
			_, err := h.asPerson().TailLog(t.Context(), in)
			if !errors.Is(err, c3po.InvalidRequest) || c3po.AsError(err).Suggestion == "" {
				t.Errorf("%+v: %v, want INVALID_REQUEST with a suggestion", in, err)
			}
		}
	})
}
