package faultrig

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

// A Disk is a small file system in memory that only what is started on it sees.
// It goes when the test does.
type Disk struct {
	t    testing.TB
	dir  string
	keep *process // its namespace lasts as long as somebody is in it
}

// NewDisk makes a disk of so many MiB. A machine that cannot do that skips the
// test, unless CI=true: there it fails.
func NewDisk(t testing.TB, mib int) *Disk {
	t.Helper()
	d := &Disk{t: t, dir: t.TempDir()}
	if err := d.mount(mib); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("no disk of its own: %v", err)
		}
		t.Skipf("no disk of its own: %v", err)
	}
	t.Cleanup(func() { _ = d.keep.end(syscall.SIGKILL) })
	return d
}

func (d *Disk) mount(mib int) error {
	if os.Geteuid() != 0 {
		return errors.New("only root may mount")
	}
	said, out, err := os.Pipe()
	if err != nil {
		return err
	}
	defer said.Close()
	cmd := exec.Command("sh", "-c", `mount -t tmpfs -o size="$1" c3po "$2" && echo mounted && exec sleep infinity`, "sh", fmt.Sprintf("%dm", mib), d.dir)
	cmd.Stdout, cmd.Stderr = out, out
	ownMounts(cmd)
	d.keep, err = run(cmd)
	_ = out.Close()
	if err != nil {
		return err
	}
	if line, err := bufio.NewReader(said).ReadString('\n'); line != "mounted\n" {
		_ = d.keep.end(syscall.SIGKILL)
		return fmt.Errorf("mount: %s (%w)", line, err)
	}
	return nil
}

// Redis starts a server that keeps its files on the disk.
func (d *Disk) Redis(args ...string) *redistest.Server {
	d.t.Helper()
	server, err := exec.LookPath("redis-server")
	if err != nil {
		server, err = exec.LookPath("valkey-server")
	}
	if err != nil {
		d.t.Fatal(err)
	}
	program := filepath.Join(d.t.TempDir(), "redis-on-the-disk")
	text := fmt.Sprintf("#!/bin/sh\nexec nsenter --mount --target %d %s \"$@\"\n", d.keep.handle.Pid, server)
	if err := os.WriteFile(program, []byte(text), 0o700); err != nil {
		d.t.Fatal(err)
	}
	s, err := redistest.NewAt(d.t, redistest.Place{Dir: d.dir, Program: program}, args...)
	if err != nil {
		d.t.Fatal(err)
	}
	return s
}

// ballast is a file on the disk, as it is seen from outside.
func (d *Disk) ballast() string {
	return filepath.Join("/proc", fmt.Sprint(d.keep.handle.Pid), "root", d.dir, "ballast")
}

// Fill leaves no room on the disk.
func (d *Disk) Fill() {
	d.t.Helper()
	file, err := os.Create(d.ballast())
	if err != nil {
		d.t.Fatal(err)
	}
	defer file.Close()
	block := make([]byte, 4<<10)
	for {
		if _, err := file.Write(block); errors.Is(err, syscall.ENOSPC) {
			return
		} else if err != nil {
			d.t.Fatal(err)
		}
	}
}

// Free takes back what Fill took.
func (d *Disk) Free() {
	d.t.Helper()
	if err := os.Remove(d.ballast()); err != nil {
		d.t.Fatal(err)
	}
}
