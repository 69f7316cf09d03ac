package mcpserver_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/transport/dialect"
	"github.com/c3po-dev/c3po/internal/transport/mcpserver"
)

func TestEveryToolsetCanBeChosenAndHoldsItsToolsAndNoOthers(t *testing.T) {
	t.Parallel()
	server := served(t, always(&scripted{}))
	want := map[c3po.Toolset][]string{}
	for _, op := range dialect.Operations() {
		if op.Toolset != "" {
			want[op.Toolset] = append(want[op.Toolset], op.Tool)
		}
	}
	if len(want) < 5 {
		t.Fatalf("there are %d toolsets", len(want))
	}
	for set, names := range want {
		t.Run(string(set), func(t *testing.T) {
			t.Parallel()
			sets, err := mcpserver.ParseToolsets(string(set))
			if err != nil {
				t.Fatal(err)
			}
			slices.Sort(names)
			for door, client := range map[string]*mcp.ClientSession{
				"/mcp?tools=": dialled(t, server.URL+"?tools="+string(set), "", nil),
				"a pipe":      connected(t, &scripted{}, nil, sets...),
			} {
				list, err := client.ListTools(t.Context(), nil)
				if err != nil {
					t.Fatal(err)
				}
				var got []string
				for _, tool := range list.Tools {
					got = append(got, tool.Name)
				}
				slices.Sort(got)
				if diff := cmp.Diff(names, got); diff != "" {
					t.Errorf("over %s: %s", door, diff)
				}
			}
		})
	}
}
