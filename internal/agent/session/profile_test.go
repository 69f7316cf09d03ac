package session_test

import (
	"slices"
	"testing"

	"github.com/c3po-dev/c3po/c3po"
)

func TestWhatAModelSaysOfItselfIsAddedToWhatItsSessionSays(t *testing.T) {
	t.Parallel()
	url := coordinator(t).URL()
	r := start(t, url, "box:1:1")
	r.prompt()
	for _, said := range []struct {
		capabilities, want []string
	}{{[]string{"mqtt"}, []string{"mqtt"}}, {nil, []string{"mqtt"}}, {[]string{}, []string{}}, {[]string{"go"}, []string{"go"}}} {
		arguments := map[string]any{}
		if said.capabilities != nil {
			arguments["capabilities"] = said.capabilities
		}
		if text, failed := r.call("", "register_agent", arguments); failed {
			t.Fatal(text)
		}
		if api := r.agents()["api"]; api.Type != "test" || !slices.Equal(api.Capabilities, said.want) {
			t.Errorf("after %v the agent is %q and can %v", said.capabilities, api.Type, api.Capabilities)
		}
	}
	if text, failed := r.call("", "set_status", map[string]any{"status": "busy", "current_task": "tests"}); failed {
		t.Fatal(text)
	}
	r.hangUp()
	next := start(t, url, "box:2:2")
	next.prompt()
	if api := next.agents()["api"]; api.Status != c3po.Online || api.Availability != c3po.Available || api.CurrentTask != "" || !slices.Equal(api.Capabilities, []string{"go"}) {
		t.Errorf("the next session is %+v", api)
	}
}
