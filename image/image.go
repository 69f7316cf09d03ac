// Package image is the container image in which agents run: a Dockerfile and an
// entrypoint, carried in the binary. It is built on the host that runs it and
// never published.
package image

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

const (
	// Name is what the image is called.
	Name = "localhost/c3po-agent"
	// HashLabel is the label that says what an image was built from.
	HashLabel = "build.hash"
	// ClaudeVersion is the Claude Code that is built in unless another is asked for
	// with VersionArg.
	ClaudeVersion = "2.1.325"
	// VersionArg is the build argument for it.
	VersionArg = "CLAUDE_CODE_VERSION"

	// Home and Workspace are folders in the image that anybody may write to.
	Home      = "/home/agent"
	Workspace = "/workspace"
	// Handoff is the file in a container that gets the id of its agent.
	Handoff = "/tmp/claude-docker-trigger-handoff"
)

//go:embed Dockerfile entrypoint.sh
var files embed.FS

func names() []string { return []string{"Dockerfile", "entrypoint.sh"} }

// Hash is what HashLabel must say of an image that is current.
func Hash(claudeVersion string) string {
	sum := sha256.New()
	for _, name := range names() {
		data, _ := files.ReadFile(name) // it is built in
		fmt.Fprintf(sum, "%s %d\n", name, len(data))
		sum.Write(data)
	}
	if claudeVersion != "" && claudeVersion != ClaudeVersion {
		fmt.Fprintf(sum, "%s=%s\n", VersionArg, claudeVersion)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// Write puts the files of the image into a folder to build it from.
func Write(folder string) error {
	for _, name := range names() {
		data, err := files.ReadFile(name)
		if err != nil {
			return err
		}
		// #nosec G306 -- one of them is a program, and neither is secret
		if err := os.WriteFile(filepath.Join(folder, name), data, 0o755); err != nil {
			return err
		}
	}
	return nil
}

// AddClaude puts a Claude Code for Linux beside the files of the image, for a host
// that cannot fetch one while it builds.
func AddClaude(folder, program string) (err error) {
	target := filepath.Join(folder, "claude")
	if os.Link(program, target) == nil { // it has hundreds of megabytes
		return nil
	}
	from, err := os.Open(program)
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := os.OpenFile(target, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o755) // #nosec G302 -- a program, and not secret
	if err != nil {
		return err
	}
	_, err = io.Copy(to, from)
	return errors.Join(err, to.Close())
}
