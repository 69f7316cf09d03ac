//go:build !linux

package faultrig

import (
	"errors"
	"os"
	"os/exec"
	"time"
)

// Elsewhere a program ends with its test, and nothing can be frozen or loaded
// in front of Redis.
func dieWithParent(*exec.Cmd) {}

func ownMounts(*exec.Cmd) {}

var errNotHere = errors.New("the rig can do this on Linux only")

func freeze(*os.Process) error { return errNotHere }

func thaw(*os.Process) error { return errNotHere }

func inode(os.FileInfo) uint64 { return 0 }

func threadTime() time.Duration { return 0 }
