package dialect_test

import (
	"errors"
	"testing"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/transport/dialect"
)

func TestTheTableHoldsEveryToolsetAndNoNameTwice(t *testing.T) {
	t.Parallel()
	names, sets, client := map[string]bool{}, map[c3po.Toolset]int{}, false
	for _, op := range dialect.Operations() {
		if names[op.Name] {
			t.Errorf("%s is there twice", op.Name)
		}
		if client && op.Toolset != "" {
			t.Errorf("%s, a tool, is behind what is none", op.Name)
		}
		names[op.Name], client = true, op.Toolset == ""
		sets[op.Toolset]++
	}
	for _, set := range []c3po.Toolset{c3po.Core, c3po.More, c3po.Rooms, c3po.Diag, c3po.Compat, c3po.Bridge, ""} {
		if sets[set] == 0 {
			t.Errorf("no operation of the toolset %q", set)
		}
	}
}

func TestAnOperationOfADialectIsFoundAndAStrangerIsNot(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"ping", "send_request", "await_reply"} {
		if op, err := dialect.FindOperation(name); err != nil || op.Name != name {
			t.Errorf("%s = %q, %v", name, op.Name, err)
		}
	}
	if _, err := dialect.FindOperation("teleport"); !errors.Is(err, c3po.InvalidRequest) {
		t.Errorf("teleport: %v", err)
	}
}
