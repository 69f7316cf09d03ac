package sbom_test

import (
	"bytes"
	"debug/buildinfo"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/tools/sbom"
)

func TestMain(m *testing.M) { faultrig.Main(m) }

type bill struct {
	BOMFormat   string
	SpecVersion string
	Metadata    struct{ Component part }
	Components  []part
}

type part struct {
	Name, Version, PURL string
	Hashes              []struct{ Alg, Content string }
}

func TestTheBillOfTheBinaryNamesEveryModuleInItWithItsHash(t *testing.T) {
	t.Parallel()
	info, err := buildinfo.ReadFile(faultrig.Binary(t))
	if err != nil {
		t.Fatal(err)
	}
	text, err := sbom.Of(info)
	if err != nil {
		t.Fatal(err)
	}
	var got bill
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if got.BOMFormat != "CycloneDX" || got.SpecVersion != "1.6" || got.Metadata.Component.Name != "github.com/c3po-dev/c3po" {
		t.Errorf("the head is %+v", got)
	}
	var names []string
	sha := regexp.MustCompile(`^[0-9a-f]{64}$`)
	for _, part := range got.Components {
		names = append(names, part.Name)
		if part.PURL != "pkg:golang/"+part.Name+"@"+part.Version || part.Version == "" {
			t.Errorf("%s is called %s", part.Name, part.PURL)
		}
		if part.Name != "std" && (len(part.Hashes) != 1 || part.Hashes[0].Alg != "SHA-256" || !sha.MatchString(part.Hashes[0].Content)) {
			t.Errorf("%s has the hashes %v", part.Name, part.Hashes)
		}
	}
	for _, module := range info.Deps {
		if !slices.Contains(names, module.Path) {
			t.Errorf("%s is in the binary and not in its bill", module.Path)
		}
	}
	if len(names) != len(info.Deps)+1 || !slices.Contains(names, "std") {
		t.Errorf("%d components for %d modules and the standard library", len(names), len(info.Deps))
	}
	again, err := sbom.Of(info)
	if err != nil || !bytes.Equal(text, again) {
		t.Errorf("a second bill of the same binary differs: %v", err)
	}
	if home, err := os.UserHomeDir(); err == nil && home != "/" && bytes.Contains(text, []byte(home)) {
		t.Error("the bill names a folder of this machine")
	}
}

func TestTheBillNamesThePackagesOfTheDashboardAndWhatBuiltItApart(t *testing.T) {
	t.Parallel()
	info := &debug.BuildInfo{Main: debug.Module{Path: "x"}, GoVersion: "go1.26"}
	var locks []sbom.Lock
	for _, name := range []string{"web/package-lock.json", "site/package-lock.json"} {
		data, err := os.ReadFile("../../" + name)
		if err != nil {
			t.Fatal(err)
		}
		locks = append(locks, sbom.Lock{Name: name, Data: data, Builds: strings.HasPrefix(name, "site")})
	}
	text, err := sbom.Of(info, locks...)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Components []struct {
			part
			Scope string
		}
		Dependencies []struct{ DependsOn []string }
	}
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	scopes, seen := map[string]string{}, map[string]bool{}
	for _, c := range got.Components {
		if seen[c.PURL] {
			t.Errorf("%s is there twice", c.PURL)
		}
		seen[c.PURL], scopes[c.Name] = true, c.Scope
		if c.Scope == "required" && (len(c.Hashes) != 1 || c.Hashes[0].Alg != "SHA-512" || len(c.Hashes[0].Content) != 128) {
			t.Errorf("%s has the hashes %v", c.Name, c.Hashes)
		}
		if strings.HasPrefix(c.Name, "@") && !strings.HasPrefix(c.PURL, "pkg:npm/%40") {
			t.Errorf("%s is called %s", c.Name, c.PURL)
		}
		if needed := slices.Contains(got.Dependencies[0].DependsOn, c.PURL); needed == (c.Scope == "excluded") {
			t.Errorf("%s, %s: the program needs it: %v", c.Name, c.Scope, needed)
		}
	}
	for name, want := range map[string]string{"react": "required", "@tanstack/react-query": "required", "vite": "excluded", "vitepress": "excluded"} {
		if scopes[name] != want {
			t.Errorf("%s is %q, want %q", name, scopes[name], want)
		}
	}
	for name, lock := range map[string]string{
		"no hash": `{"lockfileVersion":3,"packages":{"node_modules/x":{"version":"1.0.0"}}}`, "an old lock": `{"lockfileVersion":1}`, "no lock": `x`,
	} {
		if _, err := sbom.Of(info, sbom.Lock{Name: "l", Data: []byte(lock)}); err == nil {
			t.Errorf("%s: there is a bill", name)
		}
	}
}

func TestABinaryWithoutModulesOrHashesHasNoBill(t *testing.T) {
	t.Parallel()
	for name, info := range map[string]*debug.BuildInfo{
		"nothing known":    nil,
		"no modules":       {},
		"a module by path": {Main: debug.Module{Path: "x"}, Deps: []*debug.Module{{Path: "y", Version: "v1", Replace: &debug.Module{Path: "../y"}}}},
	} {
		if _, err := sbom.Of(info); err == nil {
			t.Errorf("%s: there is a bill", name)
		}
	}
}

// A licence is known by words that only it has.
var licences = map[string]string{
	"Permission is hereby granted, free of charge":               "MIT",
	"Redistribution and use in source and binary forms":          "BSD",
	"Apache License Version 2.0":                                 "Apache-2.0",
	"Permission to use, copy, modify, and/or distribute":         "ISC",
	"Mozilla Public License Version 2.0":                         "MPL-2.0",
	"Mozilla Public License, version 2.0":                        "MPL-2.0",
	"This is free and unencumbered software released into the p": "Unlicense",
}

func licenceOf(text string) string {
	flat := strings.Join(strings.Fields(text), " ")
	for words, name := range licences {
		if strings.Contains(flat, words) {
			return name
		}
	}
	return ""
}

// What is in the binary, and what its tests are made with, may be given on with it.
func TestEveryModuleHasALicenceThatLetsItBeGivenOn(t *testing.T) {
	t.Parallel()
	list := exec.Command("go", "list", "-deps", "-test", "-f", "{{with .Module}}{{if not .Main}}{{.Path}} {{.Dir}}{{end}}{{end}}", "./...")
	list.Dir = "../.."
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	modules := strings.Split(strings.TrimSpace(string(out)), "\n")
	slices.Sort(modules)
	for _, module := range slices.Compact(modules) {
		name, folder, _ := strings.Cut(module, " ")
		licence := ""
		files, _ := filepath.Glob(filepath.Join(folder, "*")) // the pattern is ours
		for _, file := range files {
			base := strings.ToUpper(filepath.Base(file))
			if !strings.HasPrefix(base, "LICEN") && !strings.HasPrefix(base, "COPYING") {
				continue
			}
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if licence = licenceOf(string(text)); licence != "" {
				break
			}
		}
		t.Logf("%-12s %s", licence, name)
		if licence == "" {
			t.Errorf("%s: no licence that is known to let it be given on", name)
		}
	}
}

func TestALicenceThatIsNotKnownIsNotAllowed(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Permission is hereby granted,\n free of charge, to any person": "MIT",
		"All rights reserved.":                               "",
		"GNU AFFERO GENERAL PUBLIC LICENSE Version 3":        "",
		"                 Apache License\n   Version 2.0, 1": "Apache-2.0",
	} {
		if got := licenceOf(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}
