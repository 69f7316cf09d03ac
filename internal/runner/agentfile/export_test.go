package agentfile

import "github.com/goccy/go-yaml/ast"

// AgentKeyNames are the keys that the block of an agent may have.
func AgentKeyNames() []string { return names(agentKeys(&Agent{}, new(ast.Node))) }

// LimitKeyNames are those of its limits.
func LimitKeyNames() []string { return names(limitKeys(&Limits{})) }

func names(keys []key) []string {
	var all []string
	for _, k := range keys {
		all = append(all, k.name)
	}
	return all
}
