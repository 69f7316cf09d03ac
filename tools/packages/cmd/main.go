// Command cmd writes what other package managers need to know of a release:
//
//	go run ./tools/packages/cmd dist v1.2.3 FOLDER
//
// dist holds what goreleaser made. The time in the index of packages is SOURCE_DATE_EPOCH.
package main

import (
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/c3po-dev/c3po/tools/packages"
)

func main() {
	if err := write(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "packages:", err)
		os.Exit(1)
	}
}

func write(args []string) error {
	if len(args) != 3 {
		return fmt.Errorf("give it a folder, a tag and a folder: go run ./tools/packages/cmd dist v1.2.3 packages")
	}
	seconds, err := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64)
	if err != nil {
		return fmt.Errorf("SOURCE_DATE_EPOCH is not the time of the commit: %w", err)
	}
	return packages.Release{Tag: args[1], When: time.Unix(seconds, 0), Files: os.DirFS(args[0])}.Write(args[2])
}
