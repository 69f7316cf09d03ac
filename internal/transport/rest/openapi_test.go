package rest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"io"
	"net/http"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/google/go-cmp/cmp"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/transport/dialect"
	"github.com/c3po-dev/c3po/internal/transport/rest"
)

// document is openapi.yaml, made strict: a client should bear fields it does
// not know, so the document allows them; an answer of ours must have none.
var document = sync.OnceValues(func() (*openapi3.T, error) {
	data, err := os.ReadFile("openapi.yaml")
	if err != nil {
		return nil, err
	}
	doc, err := openapi3.NewLoader().LoadFromData(data)
	if err != nil {
		return nil, err
	}
	if err := doc.Validate(context.Background()); err != nil {
		return nil, err
	}
	for _, schema := range doc.Components.Schemas {
		closeObjects(schema.Value)
	}
	return doc, nil
})

func closeObjects(schema *openapi3.Schema) {
	if schema.Type.Is("object") && schema.Properties != nil && schema.AdditionalProperties.Has == nil {
		no := false
		schema.AdditionalProperties.Has = &no
	}
	for _, form := range schema.OneOf {
		if form.Ref == "" {
			closeObjects(form.Value)
		}
	}
}

func loadDocument(t *testing.T) *openapi3.T {
	t.Helper()
	doc, err := document()
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

var update = flag.Bool("update", false, "write what is generated anew")

func TestTheDocumentIsWhatTheRoutesAndTypesSay(t *testing.T) {
	t.Parallel()
	want, err := rest.Document()
	if err != nil {
		t.Fatal(err)
	}
	checkGenerated(t, "openapi.yaml", want)
}

// checkGenerated compares a file with what it is generated from, or writes it.
func checkGenerated(t *testing.T, name string, want []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(name, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(name)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s is not current; run make contract: %v\n%s", name, err, cmp.Diff(string(want), string(got)))
	}
}

// checkAgainstDocument fails the test if the document does not describe the
// answer. A path that is not in it is none of ours: 404, 405 or unknown name.
func checkAgainstDocument(t *testing.T, r *http.Request, got answer) {
	t.Helper()
	doc := loadDocument(t)
	path := describedPath(doc, r)
	item := doc.Paths.Value(path)
	if item == nil || item.GetOperation(r.Method) == nil {
		checkError(t, doc, got)
		return
	}
	err := openapi3filter.ValidateResponse(context.WithoutCancel(t.Context()), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: &openapi3filter.RequestValidationInput{
			Request: r,
			Route:   &routers.Route{Spec: doc, Path: path, PathItem: item, Method: r.Method, Operation: item.GetOperation(r.Method)},
		},
		Status: got.status,
		Header: got.header,
		Body:   io.NopCloser(bytes.NewReader(got.body)),
		Options: &openapi3filter.Options{
			IncludeResponseStatus: true,
			ExcludeResponseBody:   got.header.Get("Content-Type") == "text/event-stream", // which the library cannot read
		},
	})
	if err != nil {
		t.Errorf("%s %s answered what openapi.yaml does not describe: %v\n%s", r.Method, r.URL.Path, err, got.body)
	}
}

// describedPath is how the document calls the path of a request.
func describedPath(doc *openapi3.T, r *http.Request) string {
	if strings.HasPrefix(r.URL.Path, "/agent/") {
		return strings.TrimPrefix(r.URL.Path, "/agent")
	}
	if doc.Paths.Value(r.URL.Path) != nil {
		return r.URL.Path
	}
	segments := strings.Split(r.URL.EscapedPath(), "/")
	for path := range doc.Paths.Map() {
		if slices.EqualFunc(strings.Split(path, "/"), segments, func(part, segment string) bool {
			return part == segment || strings.HasPrefix(part, "{")
		}) {
			return path
		}
	}
	return r.URL.Path
}

func checkError(t *testing.T, doc *openapi3.T, got answer) {
	t.Helper()
	var value any
	if err := json.Unmarshal(got.body, &value); err != nil {
		t.Fatalf("the answer is not JSON: %v\n%s", err, got.body)
	}
	if err := doc.Components.Schemas["Error"].Value.VisitJSON(value, openapi3.EnableJSONSchema2020()); err != nil {
		t.Errorf("not the form of an error: %v\n%s", err, got.body)
	}
}

func TestTheDocumentDescribesEveryRouteAndNoOther(t *testing.T) {
	t.Parallel()
	doc := loadDocument(t)
	var described []string
	for path, item := range doc.Paths.Map() {
		servers := doc.Servers
		if item.Servers != nil {
			servers = item.Servers
		}
		for _, server := range servers {
			for method := range item.Operations() {
				described = append(described, method+" "+strings.TrimSuffix(server.URL, "/")+path)
			}
		}
	}
	served := rest.Routes()
	slices.Sort(described)
	slices.Sort(served)
	if diff := cmp.Diff(served, described); diff != "" {
		t.Errorf("routes (-served +described):\n%s", diff)
	}
}

func TestTheDocumentDescribesTheArgumentsOfEveryOperation(t *testing.T) {
	t.Parallel()
	doc := loadDocument(t)
	for _, op := range dialect.Operations() {
		described := doc.Paths.Value("/api/op/" + op.Name).Post
		schema := described.RequestBody.Value.Content.Get("application/json").Schema.Value
		var want, required, got []string
		for field := range fields(op.In) {
			name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
			want = append(want, name)
			if !strings.Contains(options, "omitempty") && !strings.Contains(options, "omitzero") {
				required = append(required, name)
			}
			if property := schema.Properties[name]; property != nil && property.Value.Description != field.Tag.Get("jsonschema") {
				t.Errorf("%s.%s is described as %q, the tool says %q", op.Name, name, property.Value.Description, field.Tag.Get("jsonschema"))
			}
		}
		for name := range schema.Properties {
			got = append(got, name)
		}
		slices.Sort(want)
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("arguments of %s (-code +document):\n%s", op.Name, diff)
		}
		if diff := cmp.Diff(required, schema.Required); diff != "" {
			t.Errorf("required arguments of %s (-code +document):\n%s", op.Name, diff)
		}
		if described.Summary != op.Doc {
			t.Errorf("%s is described as %q, the tool says %q", op.Name, described.Summary, op.Doc)
		}
	}
}

func fields(t reflect.Type) func(func(reflect.StructField) bool) {
	return func(yield func(reflect.StructField) bool) {
		for i := range t.NumField() {
			if !yield(t.Field(i)) {
				return
			}
		}
	}
}

func TestTheDocumentKnowsEveryCode(t *testing.T) {
	t.Parallel()
	schema := loadDocument(t).Components.Schemas["Code"].Value
	for _, code := range []c3po.Code{
		c3po.InvalidRequest, c3po.Unauthorized, c3po.Forbidden, c3po.AgentNotFound, c3po.TicketNotFound, c3po.KeyConflict, c3po.AgentUnavailable,
		c3po.RateLimited, c3po.BudgetSpent, c3po.InboxFull, c3po.RedisUnavailable, c3po.StoreFull, c3po.UnknownOutcome,
		c3po.Superseded, c3po.CoordDown, c3po.Timeout, c3po.Internal,
	} {
		if !slices.Contains(schema.Enum, any(string(code))) {
			t.Errorf("the document does not know %s", code)
		}
	}
}

// The checks above are worth something only if they bite.
func TestAnAnswerWithAFieldTheDocumentDoesNotKnowIsNoticed(t *testing.T) {
	t.Parallel()
	doc := loadDocument(t)
	for schema, text := range map[string]string{
		"Pong":       `{"pong": true, "timestamp": "2024-01-15T10:30:00Z", "more": 1}`,
		"WaitResult": `{"status": "timeout", "code": "TIMEOUT", "message": "m", "suggestion": "s", "seq": 1, "more": 1}`,
		"Health":     `{"status": "ok", "agents_online": "three"}`,
	} {
		var value any
		if err := json.Unmarshal([]byte(text), &value); err != nil {
			t.Fatal(err)
		}
		if err := doc.Components.Schemas[schema].Value.VisitJSON(value, openapi3.EnableJSONSchema2020()); err == nil {
			t.Errorf("%s passed as %s", text, schema)
		}
	}
}
