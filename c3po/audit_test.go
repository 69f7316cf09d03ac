package c3po_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/c3po-dev/c3po/c3po"
)

// chained is an audit of so many deeds, and its head.
func chained(n int) ([]c3po.AuditEntry, c3po.AuditHead) {
	var entries []c3po.AuditEntry
	var head c3po.AuditHead
	for i := range n {
		e := c3po.AuditEntry{ID: fmt.Sprintf("%d-0", 1000+i), Event: "person_act", Detail: fmt.Sprint("pause ", i), N: head.N + 1, Prev: head.Hash}
		e.Hash = e.Seal()
		entries, head = append(entries, e), c3po.AuditHead{N: e.N, Hash: e.Hash}
	}
	return entries, head
}

func TestWhateverIsDoneToTheAuditShows(t *testing.T) {
	t.Parallel()
	for what, test := range map[string]struct {
		do   func([]c3po.AuditEntry, *c3po.AuditHead) []c3po.AuditEntry
		want string // none if empty
	}{
		"nothing": {func(es []c3po.AuditEntry, _ *c3po.AuditHead) []c3po.AuditEntry { return es }, ""},
		"a word is changed": {func(es []c3po.AuditEntry, _ *c3po.AuditHead) []c3po.AuditEntry {
			es[4].Detail = "pause nobody"
			return es
		}, "entry 5 (1004-0) was changed"},
		"its time is changed": {func(es []c3po.AuditEntry, _ *c3po.AuditHead) []c3po.AuditEntry {
			es[4].ID = "1003-9"
			return es
		}, "was changed"},
		"a word is changed and sealed anew": {func(es []c3po.AuditEntry, _ *c3po.AuditHead) []c3po.AuditEntry {
			es[4].Detail = "pause nobody"
			es[4].Hash = es[4].Seal()
			return es
		}, "entry 6 (1005-0) does not follow entry 5"},
		"one is taken out": {func(es []c3po.AuditEntry, _ *c3po.AuditHead) []c3po.AuditEntry { return slices.Delete(es, 4, 5) }, "entries 5 to 5 are missing"},
		"one is put in": {func(es []c3po.AuditEntry, _ *c3po.AuditHead) []c3po.AuditEntry {
			return slices.Insert(es, 4, c3po.AuditEntry{ID: "1003-5", Event: "person_act"})
		}, "entry 1003-5 is in no chain"},
		"the last are taken out":  {func(es []c3po.AuditEntry, _ *c3po.AuditHead) []c3po.AuditEntry { return es[:7] }, "the last entry is 7, and 10 were written"},
		"the first are taken out": {func(es []c3po.AuditEntry, _ *c3po.AuditHead) []c3po.AuditEntry { return es[3:] }, "entries 1 to 3 are missing, and only 7 are kept"},
		"the last are taken out, and the head with them": {func(es []c3po.AuditEntry, head *c3po.AuditHead) []c3po.AuditEntry {
			*head = c3po.AuditHead{N: es[6].N, Hash: es[6].Hash}
			return es[:7]
		}, "7 entries were written, and there were 8 at the last look"},
		"all is written anew": {func(es []c3po.AuditEntry, head *c3po.AuditHead) []c3po.AuditEntry {
			var before c3po.AuditHead
			for i := range es {
				es[i].Detail, es[i].Prev = "pause nobody", before.Hash
				es[i].Hash = es[i].Seal()
				before = c3po.AuditHead{N: es[i].N, Hash: es[i].Hash}
			}
			*head = before
			return es
		}, "entry 8 (1007-0) is not the one that was here at the last look"},
		"it began without a chain": {func(es []c3po.AuditEntry, _ *c3po.AuditHead) []c3po.AuditEntry {
			return append([]c3po.AuditEntry{{ID: "1-0", Event: "joined"}}, es...)
		}, ""},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			entries, head := chained(10)
			known := c3po.AuditHead{N: 8, Hash: entries[7].Hash}
			faults := c3po.VerifyAudit(test.do(entries, &head), head, known)
			if test.want == "" && len(faults) > 0 || test.want != "" && !strings.Contains(strings.Join(faults, "; "), test.want) {
				t.Errorf("found %q, want %q", faults, test.want)
			}
		})
	}
}

func TestAnAuditWhoseOldestWentStillProvesItself(t *testing.T) {
	t.Parallel()
	entries, head := chained(c3po.AuditKept + 150)
	if faults := c3po.VerifyAudit(entries[150:], head, c3po.AuditHead{N: 20, Hash: entries[19].Hash}); len(faults) > 0 {
		t.Errorf("found %q", faults)
	}
}
