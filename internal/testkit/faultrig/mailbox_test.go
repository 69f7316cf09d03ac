package faultrig_test

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
)

// The calls of one mailbox, as a linearizability checker takes them. A message
// is known by its number.
type (
	mailSend struct{ number uint16 }
	mailRead struct{} // of all that is unacked
	mailAck  struct{ numbers []uint16 }

	// mailDone is the output of a send or an ack, and what of an ack was pending
	// until then. Of an ack that was repeated that is not known; and what is
	// called acked already may be so by the same call, which a coordinator also
	// repeats when it lost the answer of Redis.
	mailDone    struct{ acked []uint16 }
	mailList    struct{ numbers []uint16 } // of a read
	mailUnknown struct{}                   // of a send or an ack that may have been done, or may still be
)

// never is when a call returns that did not.
const never = math.MaxInt64

// mailbox is an inbox as we promise it: what was sent stands there in the order
// of sending, every read shows all of it, and what was acked is gone for good.
// The state is the numbers, two bytes each.
//
// Ranks are the order in which the reads of the history show the messages: one
// that is sent after another of a higher rank leads nowhere. Without them every
// order of sends at once would be tried until a read tells them apart.
func mailbox(ranks map[uint16]int) porcupine.Model {
	return porcupine.Model{
		Init: func() any { return "" },
		Step: func(state, input, output any) (bool, any) {
			box := state.(string)
			switch in := input.(type) {
			case mailSend:
				return ranks[in.number] == 0 || ranks[last(box)] < ranks[in.number], box + spell(in.number)
			case mailRead:
				return box == spell(output.(mailList).numbers...), box
			case mailAck:
				left := without(box, in.numbers)
				done, _ := output.(mailDone)
				return holdsAll(box, done.acked), left
			default:
				panic(fmt.Sprintf("%T is no call", input))
			}
		},
		DescribeOperation: func(input, output any) string { return fmt.Sprintf("%T%v: %v", input, input, output) },
	}
}

// ranksOf numbers the messages of a history from 1, as reads show them, those
// that end first before others. In a legal one that is the order of sending: who
// shows a message shows all before it, except those that were acked by then,
// which a read that has ended shows.
func ranksOf(history []porcupine.Operation) map[uint16]int {
	var reads []porcupine.Operation
	for _, op := range history {
		if _, read := op.Input.(mailRead); read {
			reads = append(reads, op)
		}
	}
	slices.SortFunc(reads, func(a, b porcupine.Operation) int { return cmp.Compare(a.Return, b.Return) })
	ranks := map[uint16]int{}
	for _, read := range reads {
		for _, n := range read.Output.(mailList).numbers {
			if ranks[n] == 0 {
				ranks[n] = len(ranks) + 1
			}
		}
	}
	return ranks
}

// judge says whether a history is one that a mailbox could have.
func judge(history []porcupine.Operation, most time.Duration) porcupine.CheckResult {
	return porcupine.CheckOperationsTimeout(mailbox(ranksOf(history)), settled(history), most)
}

// settled is a history with less in doubt, which is as legal as before: a call
// that may be done at any time costs the checker most. The history ends with a
// read when all others have returned. An unknown send that no read shows might
// as well not have been made; one that is shown was done by then. So was an
// unknown ack, if nobody else acked the message, by the first read without it.
func settled(history []porcupine.Operation) []porcupine.Operation {
	var left []porcupine.Operation
	for _, op := range history {
		if _, unknown := op.Output.(mailUnknown); unknown {
			var made bool
			if op.Return, made = settle(op, history); !made {
				continue
			}
		}
		left = append(left, op)
	}
	return left
}

// settle is by when a call whose outcome is unknown was done, if it was.
func settle(op porcupine.Operation, history []porcupine.Operation) (by int64, made bool) {
	var shows func(read porcupine.Operation) bool
	switch in := op.Input.(type) {
	case mailSend:
		shows = func(read porcupine.Operation) bool { return slices.Contains(read.Output.(mailList).numbers, in.number) }
	case mailAck:
		own := slices.IndexFunc(in.numbers, func(n uint16) bool { return ackedBy(history, n) == 1 })
		if own < 0 {
			return never, true
		}
		// It was read before it was acked, so a read that begins later misses it
		// only for that.
		shows = func(read porcupine.Operation) bool {
			return read.Call > op.Call && !slices.Contains(read.Output.(mailList).numbers, in.numbers[own])
		}
	}
	by = never
	for _, other := range history {
		if _, read := other.Input.(mailRead); read && shows(other) {
			by, made = min(by, other.Return), true
		}
	}
	return by, made
}

// ackedBy counts the acks of a message.
func ackedBy(history []porcupine.Operation, number uint16) (acks int) {
	for _, op := range history {
		if in, ack := op.Input.(mailAck); ack && slices.Contains(in.numbers, number) {
			acks++
		}
	}
	return acks
}

func spell(numbers ...uint16) string {
	var b []byte
	for _, n := range numbers {
		b = binary.BigEndian.AppendUint16(b, n)
	}
	return string(b)
}

// last is the newest of a box; of an empty one a number that nothing has.
func last(box string) uint16 {
	if box == "" {
		return math.MaxUint16
	}
	return binary.BigEndian.Uint16([]byte(box[len(box)-2:]))
}

func numbersIn(box string) []uint16 {
	var all []uint16
	for b := []byte(box); len(b) > 0; b = b[2:] {
		all = append(all, binary.BigEndian.Uint16(b))
	}
	return all
}

func without(box string, gone []uint16) string {
	return spell(slices.DeleteFunc(numbersIn(box), func(n uint16) bool { return slices.Contains(gone, n) })...)
}

func holdsAll(box string, numbers []uint16) bool {
	return len(without(box, numbers)) == len(box)-2*len(numbers)
}

func TestTheModelOfAMailboxRefusesEachBrokenPromise(t *testing.T) {
	t.Parallel()
	type call struct {
		from, to      int64
		input, output any
	}
	done := mailDone{}
	send := func(from, to int64, n uint16) call { return call{from, to, mailSend{n}, done} }
	read := func(from, to int64, numbers ...uint16) call { return call{from, to, mailRead{}, mailList{numbers}} }
	ack := func(from, to int64, n uint16) call {
		return call{from, to, mailAck{[]uint16{n}}, mailDone{acked: []uint16{n}}}
	}
	for _, c := range []struct {
		name  string
		calls []call
		want  porcupine.CheckResult
	}{
		{"in order", []call{send(1, 2, 7), send(3, 4, 8), read(5, 6, 7, 8), ack(7, 8, 7), read(9, 10, 8)}, porcupine.Ok},
		{"two at once, either first", []call{send(1, 4, 7), send(2, 3, 8), read(5, 6, 8, 7), read(7, 8, 8, 7)}, porcupine.Ok},
		{"a read at once with a send, either way", []call{send(1, 4, 7), read(2, 3), read(5, 6, 7)}, porcupine.Ok},
		{"unknown, and it happened late", []call{{1, never, mailSend{7}, mailUnknown{}}, read(2, 3), read(4, 5, 7)}, porcupine.Ok},
		{"unknown, and it never happened", []call{{1, never, mailSend{7}, mailUnknown{}}, read(2, 3), read(4, 5)}, porcupine.Ok},
		{"an ack that was repeated", []call{send(1, 2, 7), {3, 6, mailAck{[]uint16{7}}, mailDone{}}, read(4, 5, 7), read(7, 8)}, porcupine.Ok},
		{"an ack of what was acked", []call{send(1, 2, 7), ack(3, 4, 7), {5, 6, mailAck{[]uint16{7}}, mailDone{}}}, porcupine.Ok},

		{"unknown ack, and it happened late", []call{send(1, 2, 7), {3, never, mailAck{[]uint16{7}}, mailUnknown{}}, read(4, 5, 7), read(6, 7)}, porcupine.Ok},
		{"unknown ack, and it never happened", []call{send(1, 2, 7), {3, never, mailAck{[]uint16{7}}, mailUnknown{}}, read(4, 5, 7), read(6, 7, 7)}, porcupine.Ok},
		{"two unknown acks of one message", []call{send(1, 2, 7), {3, never, mailAck{[]uint16{7}}, mailUnknown{}}, {4, never, mailAck{[]uint16{7}}, mailUnknown{}}, read(5, 6)}, porcupine.Ok},

		{"unknown ack, and undone again", []call{send(1, 2, 7), {3, never, mailAck{[]uint16{7}}, mailUnknown{}}, read(4, 5), read(6, 7, 7)}, porcupine.Illegal},
		{"unknown ack of more than was gone", []call{send(1, 2, 7), send(3, 4, 8), {5, never, mailAck{[]uint16{7, 8}}, mailUnknown{}}, read(6, 7, 8)}, porcupine.Illegal},
		{"lost", []call{send(1, 2, 7), read(3, 4)}, porcupine.Illegal},
		{"lost after it was seen", []call{send(1, 4, 7), read(2, 3, 7), read(5, 6)}, porcupine.Illegal},
		{"doubled", []call{send(1, 2, 7), read(3, 4, 7, 7)}, porcupine.Illegal},
		{"out of order", []call{send(1, 2, 7), send(3, 4, 8), read(5, 6, 8, 7)}, porcupine.Illegal},
		{"an order that changes", []call{send(1, 4, 7), send(2, 3, 8), read(5, 6, 8, 7), read(7, 8, 7, 8)}, porcupine.Illegal},
		{"invented", []call{read(1, 2, 7)}, porcupine.Illegal},
		{"back after its ack", []call{send(1, 2, 7), ack(3, 4, 7), read(5, 6, 7)}, porcupine.Illegal},
		{"gone without an ack", []call{send(1, 2, 7), send(3, 4, 8), ack(5, 6, 7), read(7, 8)}, porcupine.Illegal},
		{"unknown, and undone again", []call{{1, never, mailSend{7}, mailUnknown{}}, read(2, 3, 7), read(4, 5)}, porcupine.Illegal},
		{"acked twice, each as the first", []call{send(1, 2, 7), ack(3, 4, 7), ack(5, 6, 7)}, porcupine.Illegal},
		{"acked before it was sent", []call{ack(1, 2, 7), send(3, 4, 7)}, porcupine.Illegal},
	} {
		var history []porcupine.Operation
		for i, call := range c.calls {
			history = append(history, porcupine.Operation{ClientId: i, Input: call.input, Call: call.from, Output: call.output, Return: call.to})
		}
		if got := porcupine.CheckOperationsTimeout(mailbox(nil), history, time.Minute); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
		if got := judge(history, time.Minute); got != c.want {
			t.Errorf("%s, settled and with ranks: %s, want %s", c.name, got, c.want)
		}
	}
	if said := mailbox(nil).DescribeOperation(mailSend{7}, done); !strings.Contains(said, "7") {
		t.Errorf("a call is described as %q", said)
	}
}
