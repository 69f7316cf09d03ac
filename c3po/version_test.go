package c3po

import (
	"errors"
	"strings"
	"testing"
)

func TestProtocolsAreReadAsTheyAreWritten(t *testing.T) {
	t.Parallel()
	for text, ok := range map[string]bool{
		"1-1": true, "1-12": true, "3-4": true, OwnProtocols().String(): true,
		"": false, "1": false, "2-1": false, "0-1": false, "-1-1": false, "1-1 ": false, "01-1": false, "1-x": false, "1-1-1": false,
	} {
		p, err := ParseProtocols(text)
		if (err == nil) != ok || ok && p.String() != text {
			t.Errorf("%q is %v, %v", text, p, err)
		}
	}
}

func TestTwoVersionsThatDoNotMeetAreToldWhichToUpgrade(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		client, coordinator Protocols
		upgrade             string // words of the suggestion; empty if they understand each other
	}{
		"the same":                          {Protocols{1, 1}, Protocols{1, 1}, ""},
		"a newer client that speaks both":   {Protocols{1, 2}, Protocols{1, 1}, ""},
		"a newer coordinator, speaks both":  {Protocols{1, 1}, Protocols{1, 3}, ""},
		"a client that is too old":          {Protocols{1, 1}, Protocols{2, 3}, "Upgrade c3po on this host to 2.0.0"},
		"a coordinator that is too old":     {Protocols{3, 4}, Protocols{1, 2}, "Upgrade the coordinator to 1.0.0"},
		"ranges that touch in one protocol": {Protocols{2, 4}, Protocols{1, 2}, ""},
	} {
		err := Meet(c.client, "1.0.0", c.coordinator, "2.0.0")
		if c.upgrade == "" {
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Suggestion, c.upgrade) || !strings.Contains(err.Message, "c3po 1.0.0 ") || !strings.Contains(err.Message, "2.0.0") {
			t.Errorf("%s: %v, want both versions and %q", name, err, c.upgrade)
		}
	}
}

func TestWhatAnotherVersionMayKnowIsRefusedWithBothVersions(t *testing.T) {
	t.Parallel()
	_, noOperation := FindOperation(native, "teleport")
	_, noField := Decode[SendInput]([]byte(`{"target":"a","mood":"good"}`))
	_, wrongType := Decode[SendInput]([]byte(`{"target":1}`))
	for name, err := range map[string]error{"an operation": noOperation, "a field": noField} {
		refused := AsError(err)
		told := OtherVersion(refused, "1.5.0", "1.4.0")
		if told.Message != refused.Message || !strings.Contains(told.Suggestion, "1.5.0") || !strings.Contains(told.Suggestion, "1.4.0") {
			t.Errorf("%s that does not exist: %q, %q", name, told.Message, told.Suggestion)
		}
		for _, client := range []string{"", "1.4.0"} {
			if told := OtherVersion(refused, client, "1.4.0"); told != refused {
				t.Errorf("%s, from a client %q of the same version: %q", name, client, told.Suggestion)
			}
		}
	}
	if told := OtherVersion(AsError(wrongType), "1.5.0", "1.4.0"); !errors.Is(told, InvalidRequest) || strings.Contains(told.Suggestion, "1.5.0") {
		t.Errorf("a wrong type is blamed on the version: %q", told.Suggestion)
	}
}

func TestTheVersionOfAClientIsReadFromItsName(t *testing.T) {
	t.Parallel()
	for client, want := range map[string]string{"c3po/1.2 claude-code": "1.2", "c3po/dev": "dev", "curl/8.1": "", "": ""} {
		if got := ClientVersion(client); got != want {
			t.Errorf("%q is %q, want %q", client, got, want)
		}
	}
}
