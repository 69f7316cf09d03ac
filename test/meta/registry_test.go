package meta

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// A registryEntry is server.json, with the fields that the MCP registry's schema of
// 2025-12-11 has and we use. One that is not here is refused, as a misspelt one would be ignored.
type registryEntry struct {
	Schema      string `json:"$schema"`
	Name        string
	Title       string
	Description string
	Version     string
	WebsiteURL  string `json:"websiteUrl"`
	Repository  struct{ URL, Source string }
	Packages    []registryPackage
}

type registryPackage struct {
	RegistryType         string
	Identifier           string
	Version              *string
	RuntimeHint          string
	RuntimeArguments     []registryInput
	PackageArguments     []registryInput
	Transport            struct{ Type string }
	EnvironmentVariables []registryInput
}

type registryInput struct {
	Type, Name, Value, ValueHint, Description, Default, Placeholder string
	IsRequired, IsSecret                                            bool
}

var (
	registryName = regexp.MustCompile(`^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$`)
	exactVersion = regexp.MustCompile(`^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$`)
)

// checkRegistryEntry is what the registry's schema, and the registry itself, ask of an
// entry for a container image.
func checkRegistryEntry(text []byte) (registryEntry, error) {
	var entry registryEntry
	strict := json.NewDecoder(bytes.NewReader(text))
	strict.DisallowUnknownFields()
	if err := strict.Decode(&entry); err != nil {
		return entry, err
	}
	var all []error
	must := func(holds bool, format string, args ...any) {
		if !holds {
			all = append(all, fmt.Errorf(format, args...))
		}
	}
	must(entry.Schema == "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json", "the schema is %q", entry.Schema)
	must(registryName.MatchString(entry.Name) && len(entry.Name) <= 200, "the name is %q", entry.Name)
	must(entry.Title != "" && utf8.RuneCountInString(entry.Title) <= 100, "the title is %q", entry.Title)
	must(entry.Description != "" && utf8.RuneCountInString(entry.Description) <= 100, "the description has %d characters", utf8.RuneCountInString(entry.Description))
	must(exactVersion.MatchString(entry.Version), "the version %q is not one release", entry.Version)
	must(strings.HasPrefix(entry.WebsiteURL, "https://") && strings.HasPrefix(entry.Repository.URL, "https://") && entry.Repository.Source == "github", "it does not say where it comes from")
	must(len(entry.Packages) > 0, "it has no package")
	for _, p := range entry.Packages {
		must(p.RegistryType == "oci" && strings.HasPrefix(p.Identifier, "ghcr.io/"), "%s of %s is no image that the registry takes", p.Identifier, p.RegistryType)
		must(p.Version == nil, "an image has its version in the identifier alone")
		must(strings.HasSuffix(p.Identifier, ":v"+entry.Version), "the image %s is not of version %s", p.Identifier, entry.Version)
		must(p.Transport.Type == "stdio", "the transport is %q", p.Transport.Type)
		must(p.RuntimeHint != "" || len(p.RuntimeArguments) == 0, "arguments of a runtime that is not named")
		for _, arg := range slices.Concat(p.RuntimeArguments, p.PackageArguments) {
			must(arg.Type == "named" && arg.Name != "" || arg.Type == "positional" && (arg.Value != "" || arg.ValueHint != ""), "the argument %+v", arg)
		}
		for _, variable := range p.EnvironmentVariables {
			must(variable.Name != "" && variable.Type == "", "the variable %+v", variable)
		}
	}
	return entry, errors.Join(all...)
}

func TestTheRegistryTakesOurEntryOfARelease(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("deploy/server.json")
	if err != nil {
		t.Fatal(err)
	}
	entry, err := checkRegistryEntry(text)
	if err != nil {
		t.Error(err)
	}
	// The registry asks the image which server it is.
	image, err := os.ReadFile("deploy/Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	if label := `LABEL io.modelcontextprotocol.server.name="` + entry.Name + `"`; !strings.Contains(string(image), label) {
		t.Errorf("deploy/Dockerfile has no line %s", label)
	}
	images, err := os.ReadFile("deploy/images.sh")
	if err != nil {
		t.Fatal(err)
	}
	if name, _, _ := strings.Cut(entry.Packages[0].Identifier, ":"); !strings.Contains(string(images), "name=${C3PO_IMAGE:-"+name+"}") {
		t.Errorf("deploy/images.sh does not make %s", name)
	}
	// A release has its own version in all places.
	made := filepath.Join(t.TempDir(), "bin")
	if out, err := exec.CommandContext(t.Context(), "make", "-s", "server-json", "VERSION=v12.34.56", "REGISTRY="+made).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	released, err := os.ReadFile(filepath.Join(made, "server.json"))
	if err != nil {
		t.Fatal(err)
	}
	if entry, err := checkRegistryEntry(released); err != nil || entry.Version != "12.34.56" || bytes.Contains(released, []byte("0.0.0")) {
		t.Errorf("the entry of a release is %+v: %v", entry, err)
	}
}
