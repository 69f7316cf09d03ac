package c3po_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/c3po-dev/c3po/c3po"
)

func TestAnAgentIDIsANameOrHostAndName(t *testing.T) {
	t.Parallel()
	for _, valid := range []string{
		"homeassistant", "web-frontend", "sensor.temp1", "agent_2", "nas/meshtastic", "7", "A", strings.Repeat("x", 64),
		strings.Repeat("h", 64) + "/" + strings.Repeat("n", 64),
	} {
		if id, err := c3po.ParseAgentID(valid); err != nil || string(id) != valid {
			t.Errorf("ParseAgentID(%q) = %q, %v", valid, id, err)
		}
	}
	for _, bad := range []string{
		"", "-agent", "_test", "agent with spaces", "agent@home", "a/b/c", "/a", "a/", "a::b", "é", "a\n", strings.Repeat("x", 65), ".a",
	} {
		if id, err := c3po.ParseAgentID(bad); err == nil {
			t.Errorf("ParseAgentID(%q) = %q, want a refusal", bad, id)
		}
	}
}

func TestAMessageIDHasThreePartsAndEightHex(t *testing.T) {
	t.Parallel()
	id, err := c3po.ParseMessageID("nas/a::b::abc12345")
	if err != nil {
		t.Fatal(err)
	}
	if from, to, hex := id.Split(); from != "nas/a" || to != "b" || hex != "abc12345" {
		t.Errorf("Split = %q %q %q", from, to, hex)
	}
	for _, bad := range []string{"", "a::b", "a::b::abc1234", "a::b::abc123456", "a::b::ABC12345", "a::b::xyz99999", "a:b:abc12345", "a::b::abc12345::x", "-a::b::abc12345"} {
		if _, err := c3po.ParseMessageID(bad); err == nil {
			t.Errorf("ParseMessageID(%q) was accepted", bad)
		}
	}
}

func TestNamesThatPoseAsAPersonAreReserved(t *testing.T) {
	t.Parallel()
	for _, id := range []c3po.AgentID{"human", "Human", "SYSTEM", "c3po", "admin", "operator", "nas/human"} {
		if !id.Reserved() {
			t.Errorf("%q is not reserved", id)
		}
	}
	if c3po.AgentID("humane").Reserved() {
		t.Error("a name that only begins like a reserved one is reserved")
	}
}

// A model is told that what is "from human" was written by a person.
func TestANameThatReadsLikeThePersonsIsNoNewName(t *testing.T) {
	t.Parallel()
	for _, id := range []c3po.AgentID{"human", "human-2", "Human2", "H.u.m.a.n", "human_", "Human-Operator", "your-person", "the.human.1", "person2-x", "SYSTEM-1", "c3po-2", "admin3", "a-d-m-i-n", "nas/human-2", "human/api", "human-2/api", "SYSTEM/web", "your.person/x"} {
		if !id.Poses() {
			t.Errorf("%q can be had", id)
		}
	}
	for _, id := range []c3po.AgentID{"humane", "personal", "user-service", "admin-panel", "system-tests", "c3po-web", "api-2", "nas/web", "humane/api", "admin-pc/api"} {
		if id.Poses() {
			t.Errorf("%q cannot be had", id)
		}
	}
	for folder, want := range map[string]c3po.AgentID{"human": "humanagent", "human-2": "human2agent", "human-resources": "humanresources", "person-api": "personapi", "admin": "admin-agent", "c3po": "c3po-agent", "c3po-2": "c3po2agent", "user-service": "user-service"} {
		if got := c3po.AgentIDFromFolder(folder); got != want || got.Poses() {
			t.Errorf("AgentIDFromFolder(%q) = %q, want %q", folder, got, want)
		}
	}
}

func TestAFolderAlwaysGivesAValidName(t *testing.T) {
	t.Parallel()
	for folder, want := range map[string]c3po.AgentID{
		"home assistant": "home-assistant", "_private": "private", "": "agent", "...": "agent-ab5d", "+++": "agent-29f5", "日本": "agent-cf2a", "admin": "admin-agent",
		"système": "systeme", "-x-": "x", "Mein Projekt ü": "Mein-Projekt-ue", "Zoë": "Zoe", "Überblick": "Ueberblick", "проект Щи": "proekt-Shchi",
		"Ελλάδα": "Ellada", "e\u0301te\u0301": "ete", "日本 api": "api", strings.Repeat("y", 80): c3po.AgentID(strings.Repeat("y", 64)),
	} {
		if got := c3po.AgentIDFromFolder(folder); got != want {
			t.Errorf("AgentIDFromFolder(%q) = %q, want %q", folder, got, want)
		}
	}
}

func TestNumberedIDsStayValid(t *testing.T) {
	t.Parallel()
	long := c3po.AgentID("host/" + strings.Repeat("n", 64))
	for n, want := range map[int]string{1: string(long), 2: "host/" + strings.Repeat("n", 62) + "-2", 12: "host/" + strings.Repeat("n", 61) + "-12"} {
		got := long.Numbered(n)
		if _, err := c3po.ParseAgentID(string(got)); err != nil || string(got) != want {
			t.Errorf("Numbered(%d) = %q, %v, want %q", n, got, err, want)
		}
	}
}

func FuzzAgentID(f *testing.F) {
	for _, seed := range []string{"a", "nas/a", "-a", "a::b", "\x00", strings.Repeat("x", 130)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		id, err := c3po.ParseAgentID(s)
		if err == nil && (string(id) != s || len(s) > 129 || strings.ContainsAny(s, ": \n\x00#|")) {
			t.Errorf("ParseAgentID(%q) accepted it as %q", s, id)
		}
		if made := c3po.AgentIDFromFolder(s); made.Reserved() {
			t.Errorf("AgentIDFromFolder(%q) = %q is reserved", s, made)
		} else if _, err := c3po.ParseAgentID(string(made)); err != nil {
			t.Errorf("AgentIDFromFolder(%q) = %q: %v", s, made, err)
		}
	})
}

func FuzzMessageID(f *testing.F) {
	for _, seed := range []string{"a::b::abc12345", "nas/a::b/c::00000000", "a::b::abc1234", "::::"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		id, err := c3po.ParseMessageID(s)
		if err != nil {
			return
		}
		if from, to, hex := id.Split(); string(c3po.NewMessageID(from, to, hex)) != s {
			t.Errorf("%q does not survive Split", s)
		}
		text, err := json.Marshal(id)
		var back c3po.MessageID
		if err != nil || json.Unmarshal(text, &back) != nil || back != id {
			t.Errorf("%q does not survive JSON: %q, %v", s, back, err)
		}
	})
}
