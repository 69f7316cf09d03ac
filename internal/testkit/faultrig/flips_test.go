package faultrig_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/internal/testkit/seed"
)

// A span is one argument of one command of a log.
type span struct{ from, to int }

// commands are the arguments of all commands of a log, as they are written.
func commands(t *testing.T, log []byte) (all [][]span) {
	t.Helper()
	at := 0
	number := func(kind byte) int {
		end := bytes.Index(log[at:], []byte("\r\n"))
		n, err := strconv.Atoi(string(log[at+1 : at+end]))
		if log[at] != kind || err != nil {
			t.Fatalf("no %c at %d of the log", kind, at)
		}
		at += end + 2
		return n
	}
	for at < len(log) {
		arguments := make([]span, number('*'))
		for i := range arguments {
			size := number('$')
			arguments[i] = span{at, at + size}
			at += size + 2
		}
		all = append(all, arguments)
	}
	return all
}

// values are where the log says what a part of unread mail is, "body" or "fact":
// by whom and under which id it is read, the last time it is said.
func (w writtenLog) values(t *testing.T, part string) map[string]span {
	t.Helper()
	log, found := w.files[w.log], map[string]span{}
	for _, arguments := range commands(t, log) {
		word := func(i int) string { return string(log[arguments[i].from:arguments[i].to]) }
		if len(arguments) != 4 || !strings.EqualFold(word(0), "HSET") {
			continue
		}
		_, owner, ours := strings.Cut(word(1), ":"+part+":")
		for mail := range w.shown {
			if ours && strings.HasPrefix(mail, owner+" ") && strings.HasSuffix(mail, "::"+word(2)) {
				found[mail] = arguments[3]
			}
		}
	}
	if len(found) == 0 {
		t.Fatalf("the log holds no %s of unread mail", part)
	}
	return found
}

// Redis keeps no checksums of its log. A bit that turned over in what somebody
// wrote, or in who wrote it and what kind of message it is, is found when the
// message is read: it is not shown, its sender is told, and a person finds it
// among the dead letters.
func TestAFlippedBitInTheLogIsNeverServed(t *testing.T) {
	t.Parallel()
	flips := faultrig.Size(6, 50)
	chance := seed.Rand(t, 1)
	written := write(t, 3)
	for _, part := range []string{"body", "fact"} {
		t.Run(part, func(t *testing.T) {
			places := written.values(t, part)
			mails := make([]string, 0, len(places))
			for mail := range places {
				mails = append(mails, mail)
			}
			slices.Sort(mails)
			found, unstarted, unseen := 0, 0, 0
			for n := range flips {
				mail := mails[chance.IntN(len(mails))]
				at, bit := places[mail].from+chance.IntN(places[mail].to-places[mail].from), byte(1)<<chance.IntN(8)
				log := bytes.Clone(written.files[written.log])
				log[at] ^= bit
				t.Run(fmt.Sprintf("flip %d", n), func(t *testing.T) {
					before := written.files[written.log][places[mail].from:places[mail].to]
					after := log[places[mail].from:places[mail].to]
					redis, err := written.with(t, log)
					if err != nil {
						unstarted++ // Redis itself has noticed
						return
					}
					s := newStory(t, redis.URL())
					withheld := s.compare(t, written.shown)
					switch {
					case slices.Equal(withheld, []string{mail}):
						found++
						s.quarantined(t, mail)
					case len(withheld) == 0 && part == "fact":
						unseen++ // nothing that is shown has changed
					default:
						t.Errorf("%v are withheld, want %s", withheld, mail)
					}
					if t.Failed() {
						t.Logf("%q became %q", before, after)
					}
				})
			}
			t.Logf("%s: %d flips: %d found and put away, %d kept Redis from starting, %d changed nothing that is shown", part, flips, found, unstarted, unseen)
			if part == "body" && found == 0 {
				t.Error("no flip was found")
			}
			faultrig.Verdict{
				Row: "B5", Holds: []faultrig.Invariant{faultrig.NothingStoredIsLost},
				Size: fmt.Sprintf("a log of %d messages", written.books.Sent), Faults: fmt.Sprintf("%d flipped bits, each in a %s", flips, part),
			}.Record(t)
		})
	}
}

// compare says what of the mail is no longer shown. What is shown must be as it
// was; only word to senders may have come, and what quotes what is withheld may do so no more.
func (s *story) compare(t *testing.T, was map[string]string) (withheld []string) {
	t.Helper()
	is := s.shown(t)
	for mail := range was {
		if _, shown := is[mail]; !shown {
			withheld = append(withheld, mail)
		}
	}
	for mail, text := range is {
		switch before, known := was[mail]; {
		case known && before != text && text != unquoted(t, before, was, withheld):
			t.Errorf("%s is shown as\n%s\nand was\n%s", mail, text, before)
		case !known && !strings.Contains(text, `"kind":"bounce"`):
			t.Errorf("%s was never sent: %s", mail, text)
		}
	}
	return withheld
}

// unquoted is a message that was handed over as it is shown if the answer that went with it
// is withheld; empty if none of its answers is.
func unquoted(t *testing.T, text string, was map[string]string, withheld []string) string {
	t.Helper()
	m := parsed(t, text)
	if m.Handover == nil || !slices.ContainsFunc(withheld, func(mail string) bool {
		answer := parsed(t, was[mail])
		return answer.Kind == c3po.KindReply && answer.Thread == m.Thread && answer.Response == m.Handover.Response
	}) {
		return ""
	}
	m.Handover = nil
	plain, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return string(plain)
}

func parsed(t *testing.T, text string) (m c3po.Message) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		t.Fatal(err)
	}
	return m
}

// quarantined holds that one message is among the dead letters as damaged, and
// that this was counted.
func (s *story) quarantined(t *testing.T, mail string) {
	t.Helper()
	letters, err := s.store.DeadLetters(t.Context(), c3po.DefaultSpace, 0, 100)
	if err != nil {
		t.Fatalf("the dead letters cannot be read: %v", err)
	}
	damaged := 0
	for _, letter := range letters {
		if letter.Entry.Reason == c3po.ReasonCorrupt {
			damaged++
			if hex := mail[len(mail)-8:]; !strings.HasSuffix(string(letter.Entry.Message.ID), hex) {
				t.Errorf("%s is among the dead letters, want %s", letter.Entry.Message.ID, mail)
			}
		}
	}
	if damaged != 1 {
		t.Errorf("%d damaged messages are among the dead letters, want %s", damaged, mail)
	}
	if counted := measured(t, s.url, "c3po_store_corrupt_total")[0]; counted < 1 {
		t.Errorf("%v damaged messages were counted", counted)
	}
}
