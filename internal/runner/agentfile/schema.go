package agentfile

import _ "embed"

//go:embed agents.schema.json
var schema []byte

// Schema is the JSON Schema of the file, for editors. It accepts what Parse
// accepts, and refuses what can be told without knowing this host.
func Schema() []byte { return append([]byte(nil), schema...) }
