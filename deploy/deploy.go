// Package deploy carries the script that installs c3po on a host; the folder also
// holds the images, units and manifests of a release.
package deploy

import _ "embed"

// InstallScript fetches the program to a host that has nothing of ours: from the
// page of releases as it is, from a coordinator that has filled in the marks.
//
//go:embed install.sh
var InstallScript string

// The marks in InstallScript: what a coordinator is known by, and a line for each
// program it offers.
const (
	InstallPinMark      = "@PIN@"
	InstallProgramsMark = "@PROGRAMS@"
)
