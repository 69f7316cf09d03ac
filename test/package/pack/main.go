// Command pack makes a package of a release from the lines of .goreleaser.yaml, with
// the loader of goreleaser and the library it packs with:
//
//	pack .goreleaser.yaml bin/c3po VERSION FILE
//
// FILE ends with .deb or .rpm. goreleaser itself takes minutes to build, so that make
// release-check is the one to try all targets; this is for every change.
package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/goreleaser/goreleaser/v2/pkg/config"
	"github.com/goreleaser/nfpm/v2"
	_ "github.com/goreleaser/nfpm/v2/deb"
	"github.com/goreleaser/nfpm/v2/files"
	_ "github.com/goreleaser/nfpm/v2/rpm"
)

func main() {
	if err := pack(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "pack:", err)
		os.Exit(1)
	}
}

func pack(args []string) error {
	if len(args) != 4 {
		return errors.New("give it .goreleaser.yaml, a program, a version and the file to write")
	}
	project, err := config.Load(args[0])
	if err != nil {
		return err
	}
	if len(project.NFPMs) != 1 {
		return fmt.Errorf("%s has %d packages, one is expected", args[0], len(project.NFPMs))
	}
	format := strings.TrimPrefix(filepath.Ext(args[3]), ".")
	packager, err := nfpm.Get(format)
	if err != nil {
		return err
	}
	info, err := describe(project.NFPMs[0], format, args[1], args[2])
	if err != nil {
		return err
	}
	if err := nfpm.PrepareForPackager(info, format); err != nil {
		return err
	}
	file, err := os.Create(args[3])
	if err != nil {
		return err
	}
	defer file.Close()
	return errors.Join(packager.Package(info, file), file.Close())
}

// describe says of a package to the library what goreleaser says of it.
func describe(p config.NFPM, format, program, version string) (*nfpm.Info, error) {
	contents := files.Contents{{Source: program, Destination: "/usr/bin/c3po", FileInfo: &files.ContentFileInfo{Mode: 0o755}}}
	for _, c := range p.Contents {
		if strings.Contains(c.Source+c.Destination, "{{") {
			return nil, fmt.Errorf("%s: templates are not filled in here", c.Source)
		}
		contents = append(contents, &files.Content{Source: c.Source, Destination: c.Destination, Type: c.Type, Packager: c.Packager, FileInfo: &files.ContentFileInfo{Mode: fs.FileMode(c.FileInfo.Mode)}})
	}
	return nfpm.WithDefaults(&nfpm.Info{
		Name: "c3po", Arch: runtime.GOARCH, Platform: "linux", Version: version, Section: p.Section, Maintainer: p.Maintainer, Description: p.Description,
		Vendor: p.Vendor, Homepage: p.Homepage, License: p.License, MTime: time.Unix(0, 0),
		Overridables: nfpm.Overridables{
			Recommends: p.Overrides[format].Recommends, Contents: contents,
			Scripts: nfpm.Scripts{PreInstall: p.Scripts.PreInstall, PostInstall: p.Scripts.PostInstall, PreRemove: p.Scripts.PreRemove, PostRemove: p.Scripts.PostRemove},
		},
	}), nil
}
