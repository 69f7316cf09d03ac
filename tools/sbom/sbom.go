// Package sbom writes the software bill of materials of a Go binary, as
// CycloneDX 1.6, from what the linker recorded in it: so it says what is in that
// binary, not what a folder would give if it were built again. Of what npm has
// brought into it, and built it with, nothing is recorded but the lock files.
package sbom

import (
	"cmp"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
)

// A document is the part of CycloneDX that we write. It has neither a time nor a
// serial number: one binary has one bill, byte for byte.
type document struct {
	Format       string       `json:"bomFormat"`
	Spec         string       `json:"specVersion"`
	Version      int          `json:"version"`
	Metadata     metadata     `json:"metadata"`
	Components   []component  `json:"components"`
	Dependencies []dependency `json:"dependencies"`
}

type metadata struct {
	Component component `json:"component"`
}

type component struct {
	Type       string     `json:"type"`
	Ref        string     `json:"bom-ref"`
	Name       string     `json:"name"`
	Version    string     `json:"version"`
	Scope      string     `json:"scope,omitempty"`
	PURL       string     `json:"purl"`
	Hashes     []hash     `json:"hashes,omitempty"`
	Properties []property `json:"properties,omitempty"`
}

type hash struct {
	Algorithm string `json:"alg"`
	Content   string `json:"content"`
}

type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type dependency struct {
	Ref       string   `json:"ref"`
	DependsOn []string `json:"dependsOn,omitempty"`
}

// Of is the bill of a binary with this build information: the program, the
// modules in it with the hashes that go.sum has of them, the standard library,
// and how it was built; and the packages of npm that these lock files name.
func Of(info *debug.BuildInfo, locks ...Lock) ([]byte, error) {
	if info == nil || info.Main.Path == "" {
		return nil, fmt.Errorf("the binary says nothing of the modules it was built from")
	}
	program := componentOf("application", &info.Main)
	for _, setting := range info.Settings {
		// Flags of the linker and paths name the builder's machine.
		if setting.Key == "GOOS" || setting.Key == "GOARCH" || setting.Key == "CGO_ENABLED" {
			program.Properties = append(program.Properties, property{"go:build:" + setting.Key, setting.Value})
		}
	}
	components := []component{{
		Type: "library", Name: "std", Version: strings.TrimPrefix(info.GoVersion, "go"),
		Ref: "pkg:golang/std@" + strings.TrimPrefix(info.GoVersion, "go"), PURL: "pkg:golang/std@" + strings.TrimPrefix(info.GoVersion, "go"),
	}}
	for _, module := range info.Deps {
		c, err := libraryOf(module)
		if err != nil {
			return nil, err
		}
		components = append(components, c)
	}
	for _, lock := range locks {
		more, err := lock.components()
		if err != nil {
			return nil, err
		}
		components = append(components, more...)
	}
	slices.SortFunc(components, func(a, b component) int { return cmp.Or(cmp.Compare(a.Ref, b.Ref), -cmp.Compare(a.Scope, b.Scope)) })
	// One that two lock files name is one: needed, if one of them needs it.
	components = slices.CompactFunc(components, func(a, b component) bool { return a.Ref == b.Ref })
	// The linker does not say which module needs which: the program needs all.
	needs := dependency{Ref: program.Ref}
	for _, c := range components {
		if c.Scope != excluded {
			needs.DependsOn = append(needs.DependsOn, c.Ref)
		}
	}
	bill, err := json.MarshalIndent(document{
		Format: "CycloneDX", Spec: "1.6", Version: 1,
		Metadata: metadata{program}, Components: components, Dependencies: []dependency{needs},
	}, "", "  ")
	return append(bill, '\n'), err
}

func componentOf(kind string, module *debug.Module) component {
	purl := "pkg:golang/" + module.Path + "@" + module.Version
	return component{Type: kind, Ref: purl, Name: module.Path, Version: module.Version, PURL: purl}
}

// libraryOf is what was built, which is the replacement where there is one.
func libraryOf(module *debug.Module) (component, error) {
	if module.Replace != nil {
		module = module.Replace
	}
	c := componentOf("library", module)
	// go.sum's h1 is a SHA-256 over the sorted hashes of the module's files.
	sum, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(module.Sum, "h1:"))
	if err != nil || len(sum) != 32 {
		return component{}, fmt.Errorf("%s %s has no hash: it was not built from a released module", module.Path, module.Version)
	}
	c.Hashes = []hash{{"SHA-256", hex.EncodeToString(sum)}}
	return c, nil
}
