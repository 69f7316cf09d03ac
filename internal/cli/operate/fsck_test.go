package operate

import (
	"strings"
	"testing"

	"github.com/c3po-dev/c3po/c3po"
)

func TestFsckDoesNotSayThatNothingIsMissingAfterTheStoreWentBack(t *testing.T) {
	t.Parallel()
	for epoch, want := range map[int64]bool{1: true, 2: false} {
		var text strings.Builder
		printAudit(&text, c3po.Audit{Space: "main", Epoch: epoch, Balanced: true})
		if got := strings.Contains(text.String(), "nothing is missing"); got != want {
			t.Errorf("in epoch %d it says %q", epoch, text.String())
		}
		if told := strings.Contains(text.String(), "went back in time"); told == want {
			t.Errorf("in epoch %d it says %q", epoch, text.String())
		}
	}
}
