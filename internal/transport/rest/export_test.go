package rest

import "strings"

// Routes is every method and path that is served, for the test that compares
// them with the document.
func Routes() []string {
	var all []string
	for _, r := range (&server{}).routes() {
		all = append(all, r.method+" "+r.path)
		if strings.HasPrefix(r.path, apiPrefix) {
			all = append(all, r.method+" "+agentPrefix+r.path)
		}
	}
	return all
}
