// Package web holds the dashboard as `make web` built it, so that the binary
// serves it without Node. Where it was not built there is a page that says how.
package web

import (
	"embed"
	"io/fs"
)

// The pattern matches dist-unbuilt, which is always there, and dist if it was
// built.
//
//go:embed dist*
var files embed.FS

// Files is the folder that is served.
func Files() fs.FS {
	for _, folder := range []string{"dist", "dist-unbuilt"} {
		if _, err := fs.Stat(files, folder+"/index.html"); err == nil {
			page, err := fs.Sub(files, folder)
			if err == nil {
				return page
			}
		}
	}
	panic("web: the page that is always there is not")
}
