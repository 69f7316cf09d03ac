package settings_test

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/host/settings"
)

func keys() []string { return []string{"listen", "redis", "log_level", "name"} }

func TestWhatTheFileSaysIsKnownWithItsLine(t *testing.T) {
	t.Parallel()
	f, err := settings.Parse("c3po.yaml", []byte(`# ours
listen: 127.0.0.1:9000
name: [a.example, "b.example"]
log_level: 'warn'
redis: |-
  redis://box:6379

limits:
  sends_per_minute: 0
  message_life: 2d
  inbox_messages: 5_000
`), keys())
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]settings.Value{
		"listen": {Text: "127.0.0.1:9000", Line: 2}, "name": {Text: "a.example,b.example", Line: 3}, "log_level": {Text: "warn", Line: 4},
		"redis": {Text: "redis://box:6379", Line: 5}, "limits.message_life": {Text: "2d", Line: 10},
	} {
		if got, ok := f.Get(key); !ok || got != want {
			t.Errorf("%s is %+v, want %+v", key, got, want)
		}
	}
	want := c3po.DefaultLimits()
	want.SendsPerMinute, want.MessageLife, want.InboxMessages = 0, 48*time.Hour, 5000
	if diff := cmp.Diff(want, f.Limits()); diff != "" {
		t.Error(diff)
	}
}

func TestNoFileSetsNothing(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), settings.Name)
	f, err := settings.Read(path, keys())
	if f != nil || err != nil {
		t.Fatalf("%v, %v", f, err)
	}
	if _, ok := f.Get("listen"); ok || f.Limits() != c3po.DefaultLimits() {
		t.Error("a file that is not there sets something")
	}
	for _, text := range []string{"", "\n", "# nothing\n", "limits:\n", "---\n"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := settings.Read(path, keys())
		if err != nil || f == nil || f.Limits() != c3po.DefaultLimits() {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestWhatTheFileMaySayAndDoesNotIsAnErrorWithItsLineAndAdvice(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][2]string{
		"\nlisen: x":           {`c3po.yaml:2: there is no setting "lisen"`, "Did you mean listen?"},
		"log-level: x":         {`c3po.yaml:1: there is no setting "log-level"`, "Did you mean log_level?"},
		"colour: red":          {`c3po.yaml:1: there is no setting "colour"`, "`c3po config` lists all settings."},
		"limit:\n  streams: 1": {`c3po.yaml:1: there is no setting "limit"`, "Did you mean limits?"},
		"streams: 1":           {`c3po.yaml:1: there is no setting "streams"`, "It belongs under limits."},
		"limits:\n  streams: 1\n  mesage_life: x": {`c3po.yaml:3: there is no setting "limits.mesage_life"`, "Did you mean message_life?"},
		"limits:\n  message_life: 3":              {`c3po.yaml:2: message_life cannot be "3"`, "Give a duration such as 30s, 24h or 7d."},
		"limits:\n  message_life: 0":              {`c3po.yaml:2: message_life cannot be "0"`, "Give a duration such as 30s, 24h or 7d."},
		"limits:\n  characters: 0":                {`c3po.yaml:2: characters cannot be "0"`, "Give a number from 1."},
		"limits:\n  streams: -1":                  {`c3po.yaml:2: streams cannot be "-1"`, "Give a number from 1, or 0 to switch it off."},
		"limits:\n  streams: many":                {`c3po.yaml:2: streams cannot be "many"`, "Give a number from 1, or 0 to switch it off."},
		"limits: 3":                               {`c3po.yaml:1: limits holds no keys`, "Write each setting as `key: value` on a separate line."},
		"- listen":                                {`c3po.yaml:1: the file holds no keys`, "Write each setting as `key: value` on a separate line."},
		"listen: {a: b}":                          {`c3po.yaml:1: listen takes one value or a list of them`, "Write `listen: value`."},
		"listen: &x y\nredis: *x":                 {`c3po.yaml:1: listen takes one value or a list of them`, "Write `listen: value`."},
		"listen: x\n---\nredis: y":                {`c3po.yaml:3: there is a second document`, "Keep all settings in one, without ---."},
		"listen: x\nlisten: y":                    {`c3po.yaml:2: this is not YAML: mapping key "listen" already defined at [1:1]`, "A setting is written `key: value`; keys of limits are indented."},
	} {
		_, err := settings.Parse("c3po.yaml", []byte(text), keys())
		if err == nil {
			t.Errorf("%q was taken", text)
			continue
		}
		e := c3po.AsError(err)
		if diff := cmp.Diff(want, [2]string{e.Message, e.Suggestion}); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	}
}

func TestEveryLimitCanBeSetByItsName(t *testing.T) {
	t.Parallel()
	names := settings.LimitNames()
	if want := reflect.TypeFor[c3po.Limits]().NumField(); len(names) != want {
		t.Fatalf("%d names for %d limits", len(names), want)
	}
	seen := map[string]bool{}
	for _, name := range names {
		if seen[name] || !regexp.MustCompile(`^[a-z]+(_[a-z]+)*$`).MatchString(name) {
			t.Errorf("%q is no name", name)
		}
		seen[name] = true
		was := c3po.DefaultLimits()
		text := "7"
		if strings.ContainsAny(settings.LimitText(was, name), "smhd") {
			text = "7s"
		}
		now := was
		if err := settings.SetLimit(&now, name, text); err != nil {
			t.Error(err)
		}
		if got := settings.LimitText(now, name); got != text || now == was {
			t.Errorf("%s is %s after it was set to %s", name, got, text)
		}
		// What is shown can be written.
		if err := settings.SetLimit(&now, name, settings.LimitText(was, name)); err != nil || now != was {
			t.Errorf("%s set to what it was: %v", name, err)
		}
	}
	if !seen["batch_ids"] || !seen["sends_per_minute"] {
		t.Errorf("the names are %v", names)
	}
}

// The comment is what people read, the tag is what counts.
func TestALimitThatSaysSoIsSwitchedOffByZero(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("../../../c3po/limits.go")
	if err != nil {
		t.Fatal(err)
	}
	off := 0
	for line := range strings.Lines(string(source)) {
		if strings.Contains(line, "0 = off") != strings.Contains(line, `zero:"off"`) {
			t.Errorf("comment and tag differ: %s", line)
		}
		if strings.Contains(line, `zero:"off"`) {
			off++
		}
	}
	if off == 0 {
		t.Error("no limit can be switched off")
	}
}

func FuzzSettings(f *testing.F) {
	for _, seed := range []string{"listen: x", "limits:\n  streams: 1", "a: [1, {b: c}]", "? x\n: y", "!!binary x", "\t", "&a [*a]", "listen: |\n  x"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := settings.Parse("c3po.yaml", data, keys())
		if err != nil {
			if e := c3po.AsError(err); e.Code != c3po.InvalidRequest || e.Suggestion == "" || strings.Contains(e.Message, "\n") {
				t.Errorf("%q is refused with %+v", data, e)
			}
			return
		}
		for _, name := range settings.LimitNames() {
			if settings.LimitText(file.Limits(), name) == "" {
				t.Errorf("%q leaves no %s", data, name)
			}
		}
	})
}
