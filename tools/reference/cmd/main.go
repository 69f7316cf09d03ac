// Command cmd writes the reference pages into a folder, from the folder of the
// repository:
//
//	go run ./tools/reference/cmd docs/reference
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/c3po-dev/c3po/tools/reference"
)

func main() {
	if err := write(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "reference:", err)
		os.Exit(1)
	}
}

func write(args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("give it one folder: go run ./tools/reference/cmd docs/reference")
	}
	openapi, err := os.ReadFile("internal/transport/rest/openapi.yaml")
	if err != nil {
		return err
	}
	pages, err := reference.Pages(openapi)
	if err != nil {
		return err
	}
	for name, page := range pages {
		if err := os.WriteFile(filepath.Join(args[0], name), page, 0o600); err != nil {
			return err
		}
	}
	return nil
}
