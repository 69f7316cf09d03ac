// Package meta checks the repository itself: documents, workflows, the installer and
// the layout of the code. Its tests run in the repository's root.
package meta

import (
	"fmt"
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	if err := os.Chdir("../.."); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}
