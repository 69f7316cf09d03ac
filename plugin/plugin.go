// Package plugin holds the Claude Code plugin, file by file as a marketplace
// installs it, so that the binary can install the one that belongs to it.
package plugin

import "embed"

// Files is the folder of the plugin.
//
//go:embed .claude-plugin .mcp.json bin hooks monitors skills
var Files embed.FS
