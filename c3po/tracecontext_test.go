package c3po_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/c3po-dev/c3po/c3po"
)

const goodParent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

func TestATraceparentIsReadAsTheSpecificationHasIt(t *testing.T) {
	t.Parallel()
	for text, good := range map[string]bool{
		goodParent: true,
		"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00":      true,
		"cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01":      true, // of a version to come
		"cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-what": true,
		"":                             false,
		goodParent + "-00":             false, // version 00 ends there
		goodParent + "\n":              false,
		" " + goodParent:               false,
		strings.ToUpper(goodParent):    false,
		goodParent[:54]:                false,
		"ff" + goodParent[2:]:          false,
		"zz" + goodParent[2:]:          false,
		"cc" + goodParent[2:] + "what": false,
		"cc" + goodParent[2:] + "-" + strings.Repeat("x", 600):           false,
		"00-00000000000000000000000000000000-00f067aa0ba902b7-01":        false,
		"00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01":        false,
		"00_4bf92f3577b34da6a3ce929d0e0e4736_00f067aa0ba902b7_01":        false,
		"00-4bf92f3577b34da6a3ce929d0e0e473é-00f067aa0ba902b7-01":        false,
		"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0x":        false,
		"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01,second": false,
	} {
		got, ok := c3po.ParseTraceContext(text, "")
		if ok != good {
			t.Errorf("%q: %v", text, ok)
		}
		if !ok && got != (c3po.TraceContext{}) {
			t.Errorf("of %q %+v is left", text, got)
		}
		if ok && text == goodParent && got.Parent() != goodParent {
			t.Errorf("%q becomes %q", text, got.Parent())
		}
	}
}

func TestATracestateThatIsTooLongOrBrokenIsLeftOut(t *testing.T) {
	t.Parallel()
	many := strings.TrimSuffix(strings.Repeat("a=b,", 33), ",")
	for state, kept := range map[string]bool{
		"rojo=00f067aa0ba902b7,congo=t61rcWkgMzE": true, "": true, "a=b": true,
		strings.Repeat("a=b,", 31) + "a=b": true, many: false,
		"a=" + strings.Repeat("x", 600): false, "a=\x00": false, "a=é": false, "novalue": false, "=x": false, "a=b\r\nX-Evil: 1": false,
	} {
		got, ok := c3po.ParseTraceContext(goodParent, state)
		if !ok || (got.State == state) != kept || !kept && got.State != "" {
			t.Errorf("%.40q: %v, state %.40q", state, ok, got.State)
		}
	}
}

func TestAMessageCarriesItsPlaceBesideItsMetadata(t *testing.T) {
	t.Parallel()
	caller, _ := c3po.ParseTraceContext(goodParent, "rojo=1,c3po=deadbeefdeadbeef")
	own := c3po.SpanID{1, 2, 3}
	for _, metadata := range []string{"", `{}`, `{"z":1,"a":{"traceparent":"x"}}`, `{"traceparent":"junk","b":"\u003c","a":[1,2]}`, `{"tracestate":7}`} {
		carried := caller.Within(own).Into([]byte(metadata), 4096)
		if !json.Valid(carried) {
			t.Fatalf("%s becomes %s", metadata, carried)
		}
		place, ok := c3po.TraceIn("main", "a::b::00000001", carried)
		if !ok || place.Trace != caller.Trace || place.Span != own || place.From != caller.Span || place.State != "c3po=00f067aa0ba902b7,rojo=1" {
			t.Errorf("%s becomes %s, which is read as %+v", metadata, carried, place)
		}
		if left, want := string(c3po.WithoutTrace(carried)), string(c3po.WithoutTrace([]byte(metadata))); left != want && !(left == "" && want == "{}") {
			t.Errorf("of %s is left %s, not %s", carried, left, want)
		}
	}
	root := c3po.TraceContext{Trace: caller.Trace, Flags: 1}.Within(own).Into(nil, 4096)
	if place, ok := c3po.TraceIn("main", "a::b::00000001", root); !ok || place.From != (c3po.SpanID{}) || place.Span != own {
		t.Errorf("%s is read as %+v", root, place)
	}
	// What a caller wrote there itself is its own place, which the message follows from.
	theirs := []byte(`{"traceparent":"` + goodParent + `"}`)
	if place, ok := c3po.TraceIn("main", "a::b::00000001", theirs); !ok || place.From != caller.Span || place.Span != c3po.SpanOf("main", "a::b::00000001") {
		t.Errorf("%s is read as %+v", theirs, place)
	}
}

func TestMetadataThatIsFullStaysAsItIs(t *testing.T) {
	t.Parallel()
	caller, _ := c3po.ParseTraceContext(goodParent, "rojo="+strings.Repeat("x", 200))
	place := caller.Within(c3po.SpanID{1})
	full := []byte(`{"a":"` + strings.Repeat("x", 4000) + `"}`)
	if got := place.Into(full, 4096); string(got) != string(full) {
		t.Errorf("%d bytes became %d", len(full), len(got))
	}
	if got := place.Into(full, 4150); len(got) > 4150 || strings.Contains(string(got), "rojo") || !strings.Contains(string(got), "traceparent") {
		t.Errorf("%d bytes became %d: %s", len(full), len(got), got[4000:])
	}
}

func FuzzTraceContext(f *testing.F) {
	f.Add(goodParent, "a=b", `{"a":1}`)
	f.Add(goodParent, "", `{"a":"0","trACestAte":[{}]}`)
	f.Add("cc"+goodParent[2:]+"-x", strings.Repeat("a=b,", 40), `{"traceparent":"x","tracestate":[{}]}`)
	f.Fuzz(func(t *testing.T, parent, state, metadata string) {
		got, ok := c3po.ParseTraceContext(parent, state)
		if !ok {
			return
		}
		if len(got.State) > c3po.MaxTraceState || got.Trace == (c3po.TraceID{}) || got.Span == (c3po.SpanID{}) {
			t.Errorf("%q, %q is read as %+v", parent, state, got)
		}
		if again, ok := c3po.ParseTraceContext(got.Parent(), got.State); !ok || again.Trace != got.Trace || again.Span != got.Span {
			t.Errorf("%q becomes %q", parent, got.Parent())
		}
		var object map[string]json.RawMessage
		var compact bytes.Buffer
		if json.Unmarshal([]byte(metadata), &object) != nil || object == nil || json.Compact(&compact, []byte(metadata)) != nil {
			return
		}
		carried := got.Within(c3po.SpanID{7}).Into(compact.Bytes(), 1<<20)
		if !json.Valid(carried) {
			t.Fatalf("%s becomes %s", metadata, carried)
		}
		if place, ok := c3po.TraceIn("main", "a::b::00000001", carried); !ok || place.Span != (c3po.SpanID{7}) || place.From != got.Span {
			t.Errorf("%s is read as %+v", carried, place)
		}
	})
}
