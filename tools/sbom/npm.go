package sbom

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// The scopes of npm's packages: those in the binary, and those that only helped
// to build.
const (
	required = "required"
	excluded = "excluded"
)

// A Lock is a package-lock.json.
type Lock struct {
	Name string // what the bill calls it
	Data []byte
	// Builds says that nothing of it is in the binary, whatever the lock says.
	Builds bool
}

// components are the packages that a lock file names.
func (l Lock) components() ([]component, error) {
	var lock struct {
		Version  int `json:"lockfileVersion"`
		Packages map[string]struct {
			Version   string `json:"version"`
			Integrity string `json:"integrity"`
			Dev       bool   `json:"dev"`
		} `json:"packages"`
	}
	if err := json.Unmarshal(l.Data, &lock); err != nil {
		return nil, fmt.Errorf("%s: %w", l.Name, err)
	}
	if lock.Version != 3 {
		return nil, fmt.Errorf("%s: version %d of lock files is not known", l.Name, lock.Version)
	}
	var all []component
	for _, path := range slices.Sorted(maps.Keys(lock.Packages)) {
		if path == "" {
			continue // what the lock is of
		}
		is := lock.Packages[path]
		name := path[strings.LastIndex(path, "node_modules/")+len("node_modules/"):]
		// A scope is the namespace of a package URL, where an @ is written so.
		purl := "pkg:npm/" + strings.Replace(name, "@", "%40", 1) + "@" + is.Version
		c := component{Type: "library", Ref: purl, Name: name, Version: is.Version, PURL: purl, Scope: required, Properties: []property{{"npm:lock", l.Name}}}
		if is.Dev || l.Builds {
			c.Scope = excluded
		}
		sum, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(is.Integrity, "sha512-"))
		switch {
		case err == nil && len(sum) == 64:
			c.Hashes = []hash{{"SHA-512", hex.EncodeToString(sum)}}
		case c.Scope == required:
			return nil, fmt.Errorf("%s: %s %s has no hash", l.Name, name, is.Version)
		}
		all = append(all, c)
	}
	return all, nil
}
