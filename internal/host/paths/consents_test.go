package paths

import (
	"testing"

	"github.com/c3po-dev/c3po/c3po"
)

func TestADeniedAgentStaysDeniedWhenAllAreAllowed(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	f := Folders{Getenv: func(string) string { return home }}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	allow := func(name string, as Consent) {
		t.Helper()
		_, err := f.Consent(name, &as)
		must(err)
	}
	deny := func(name string, wasAllowed bool) {
		t.Helper()
		was, err := f.Consent(name, nil)
		must(err)
		if was != wasAllowed {
			t.Errorf("%s was allowed before: %v", name, was)
		}
	}
	allowed := func() (modes [2]string) {
		all, err := f.Consents()
		must(err)
		for i, id := range []c3po.AgentID{"pi/api", "web"} {
			if consent, ok := all.For(id); ok {
				modes[i] = consent.Mode
			}
		}
		return modes
	}
	allow("pi/api", Consent{Mode: "manual", Starts: 1})
	allow(Everyone, Consent{Mode: "acceptEdits", Starts: 1})
	deny("api", true)
	if got := allowed(); got != [2]string{"", "acceptEdits"} {
		t.Errorf("after the denial of api the modes are %q", got)
	}
	deny("api", false)
	deny("web", true)
	allow("web", Consent{Mode: "manual", Starts: 1})
	deny(Everyone, true)
	if got := allowed(); got != [2]string{"", "manual"} {
		t.Errorf("after the denial of all the modes are %q", got)
	}
	allow("api", Consent{Mode: "auto", Starts: 1})
	if got := allowed(); got != [2]string{"auto", "manual"} {
		t.Errorf("after api is allowed again the modes are %q", got)
	}
}
