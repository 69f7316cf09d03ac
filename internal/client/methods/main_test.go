package main

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTheClientHasEveryOperation(t *testing.T) {
	t.Parallel()
	const root = "../../.."
	want, err := generate(root)
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(root + "/" + written)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s is not current; run make contract (-want +got):\n%s", written, diff)
	}
}
