// Command cmd prints the bill of materials of a Go binary:
//
//	go run ./internal/sbom/cmd bin/c3po >c3po.cdx.json
package main

import (
	"debug/buildinfo"
	"fmt"
	"os"

	"github.com/c3po-dev/c3po/internal/sbom"
)

func main() {
	if err := bill(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

func bill(args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("give it one binary: go run ./internal/sbom/cmd bin/c3po")
	}
	info, err := buildinfo.ReadFile(args[0])
	if err != nil {
		return err
	}
	text, err := sbom.Of(info)
	if err != nil {
		return fmt.Errorf("%s: %w", args[0], err)
	}
	_, err = os.Stdout.Write(text)
	return err
}
