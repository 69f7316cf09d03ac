package auth

import (
	"testing"
	"time"
)

func TestAProofIsOldWhateverTheStoreSays(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 17, 11, 0, 0, 0, time.UTC)
	id := proofID(now)
	for after, want := range map[time.Duration]bool{0: true, proofLife: true, 2 * proofLife: false, 24 * time.Hour: false, -time.Hour: false} {
		if got := isRecent(id, now.Add(after)); got != want {
			t.Errorf("after %v it counts: %v, want %v", after, got, want)
		}
	}
	for _, made := range []string{"", "abcdefghijklmnopqrstuvwxyz", "abcdefghijklmnopqrstuvwxyz!", "abcdefghijklmnopqrstuvwxyzzzzzzzzzzzzzzzzzzzz"} {
		if isRecent(made, now) {
			t.Errorf("%q counts", made)
		}
	}
}
