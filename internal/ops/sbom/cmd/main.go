// Command cmd prints the bill of materials of our binary, from the folder of
// its repository:
//
//	go run ./internal/ops/sbom/cmd bin/c3po >c3po.cdx.json
package main

import (
	"debug/buildinfo"
	"fmt"
	"os"

	"github.com/c3po-dev/c3po/internal/ops/sbom"
)

func main() {
	if err := bill(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

func bill(args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("give it one binary: go run ./internal/ops/sbom/cmd bin/c3po")
	}
	info, err := buildinfo.ReadFile(args[0])
	if err != nil {
		return err
	}
	locks := []sbom.Lock{{Name: "web/package-lock.json"}, {Name: "site/package-lock.json", Builds: true}}
	for i := range locks {
		if locks[i].Data, err = os.ReadFile(locks[i].Name); err != nil {
			return err
		}
	}
	text, err := sbom.Of(info, locks...)
	if err != nil {
		return fmt.Errorf("%s: %w", args[0], err)
	}
	_, err = os.Stdout.Write(text)
	return err
}
