package operate

import (
	"strings"
	"testing"
	"time"
)

func TestDurationsInTheLogCanBeRead(t *testing.T) {
	t.Parallel()
	var written strings.Builder
	s := coordinator{logLevel: "info"}
	s.log(&written).Info("it has ended", "took", 4821*time.Millisecond)
	if !strings.Contains(written.String(), `"took":"4.821s"`) {
		t.Errorf("it is logged as %s", written.String())
	}
}
