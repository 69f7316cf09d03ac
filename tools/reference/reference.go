// Package reference writes the pages that list everything there is, from what the
// program itself says: its commands, its tools, its paths. They are made when they are
// needed, by make docs, and are not kept with the sources.
package reference

import "github.com/c3po-dev/c3po/internal/cli"

// Pages are the pages by the names of their files in docs. openapi is the text of
// openapi.yaml.
func Pages(openapi []byte) (map[string][]byte, error) {
	tools, err := toolReference()
	if err != nil {
		return nil, err
	}
	rest, err := restReference(openapi)
	if err != nil {
		return nil, err
	}
	return map[string][]byte{"cli-reference.md": cli.Reference(), "reference-tools.md": tools, "reference-rest.md": rest}, nil
}
