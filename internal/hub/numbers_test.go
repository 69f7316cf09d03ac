package hub_test

import (
	"testing"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

func TestTheHexOfANumberNeverChanges(t *testing.T) {
	t.Parallel()
	// Ids are stored and quoted: a change of the permutation would give the
	// number of an old message to a new one.
	for seq, want := range map[int64]string{1: "155514f0", 2: "6694c706", 65536: "54ffda1f", 1<<32 - 1: "afa29786"} {
		if got := store.MessageHex(seq); got != want {
			t.Errorf("MessageHex(%d) = %s, want %s", seq, got, want)
		}
		if got := store.MessageHex(seq + 1<<32); got != want {
			t.Errorf("MessageHex(%d + 2^32) = %s, want %s", seq, got, want)
		}
	}
}

func TestNoTwoNumbersOfAnInboxShareAHex(t *testing.T) {
	t.Parallel()
	seen := map[string]int64{}
	for _, start := range []int64{0, 1 << 16, 1<<32 - 10_000} {
		for n := start; n < start+20_000; n++ {
			hex := store.MessageHex(n)
			if other, ok := seen[hex]; ok && (other-n)%(1<<32) != 0 {
				t.Fatalf("%d and %d are both %s", other, n, hex)
			}
			seen[hex] = n
			if _, err := c3po.ParseMessageID("a::b::" + hex); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestTheFingerprintTellsEveryFieldApart(t *testing.T) {
	t.Parallel()
	full := store.Draft{
		From: "a", To: "b", Thread: "t", Kind: c3po.KindMessage, Text: "text", Context: "context", Status: "s", ContentType: "c",
		Metadata: []byte("{}"), Priority: c3po.Normal, ExpectsReply: true, HandedTo: "h",
	}
	prints := map[string]string{store.Fingerprint(full, "a::b::00000001"): "the draft itself"}
	for name, change := range map[string]func(*store.Draft){
		"To":           func(d *store.Draft) { d.To = "x" },
		"Thread":       func(d *store.Draft) { d.Thread = "x" },
		"Kind":         func(d *store.Draft) { d.Kind = c3po.KindReply },
		"Text":         func(d *store.Draft) { d.Text = "x" },
		"Context":      func(d *store.Draft) { d.Context = "x" },
		"Status":       func(d *store.Draft) { d.Status = "x" },
		"ContentType":  func(d *store.Draft) { d.ContentType = "x" },
		"Metadata":     func(d *store.Draft) { d.Metadata = nil },
		"Priority":     func(d *store.Draft) { d.Priority = c3po.Urgent },
		"ExpectsReply": func(d *store.Draft) { d.ExpectsReply = false },
		"HandedTo":     func(d *store.Draft) { d.HandedTo = "x" },
		"a moved cut":  func(d *store.Draft) { d.Text, d.Context = "textcon", "text" },
	} {
		changed := full
		change(&changed)
		print := store.Fingerprint(changed, "a::b::00000001")
		if other, ok := prints[print]; ok {
			t.Errorf("another %s has the fingerprint of %s", name, other)
		}
		prints[print] = name
	}
	if _, ok := prints[store.Fingerprint(full, "a::b::00000002")]; ok {
		t.Error("an answer to another message has the same fingerprint")
	}
	// Stored fingerprints are compared with new ones. If this one has to change, so does
	// fingerprintVersion.
	const golden = "1:f25cfc31478604d1b0dd9629eecb56d6c5cd8d987157b16cf0b1dc48b2a6d0b1"
	if got := store.Fingerprint(full, "a::b::00000001"); got != golden {
		t.Errorf("the fingerprint of the same draft is %s, was %s", got, golden)
	}
	renamed := full
	full.From, renamed.From = "b", "x"
	if store.Fingerprint(full, "a::b::00000001") != store.Fingerprint(renamed, "a::x::00000001") {
		t.Error("the name of the sender is part of the fingerprint: a repeat after a renaming would never be found")
	}
	full.From, full.Key = "a", "k"
	if prints[store.Fingerprint(full, "a::b::00000001")] == "" {
		t.Error("the key is part of the fingerprint: a repeat would never be found")
	}
}

func TestUrgentMailStandsBeforeAllNormalMail(t *testing.T) {
	t.Parallel()
	late, early := store.ReadingPosition(c3po.Urgent, 1<<40), store.ReadingPosition(c3po.Normal, 1)
	if late >= early {
		t.Errorf("urgent mail %d reads after normal mail %d", late, early)
	}
	if float64(early) != float64(early+1)-1 {
		t.Errorf("position %d is not exact as a float, which is how the engine keeps it", early)
	}
}
