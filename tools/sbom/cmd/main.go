// Command cmd prints the bill of materials of our binary, from the folder of
// its repository. The binary doesn't say which version it is, so that two builds
// of one commit are the same in any folder:
//
//	go run ./tools/sbom/cmd bin/c3po v1.2.3 >c3po.cdx.json
package main

import (
	"debug/buildinfo"
	"fmt"
	"os"

	"github.com/c3po-dev/c3po/tools/sbom"
)

func main() {
	if err := bill(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

func bill(args []string) error {
	if len(args) != 2 {
		return fmt.Errorf("give it one binary and its version: go run ./tools/sbom/cmd bin/c3po v1.2.3")
	}
	info, err := buildinfo.ReadFile(args[0])
	if err != nil {
		return err
	}
	info.Main.Version = args[1]
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
