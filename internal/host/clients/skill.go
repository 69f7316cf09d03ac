package clients

import _ "embed"

// skill tells a model how mail is read and answered. All clients read the same
// folder of skills.
//
//go:embed SKILL.md
var skill string
