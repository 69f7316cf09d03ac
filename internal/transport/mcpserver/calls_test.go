package mcpserver_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/text/envelope"
	"github.com/c3po-dev/c3po/internal/transport/mcpserver"
)

func TestTheClientsNameOfACallIsItsKey(t *testing.T) {
	t.Parallel()
	for arguments, want := range map[string]string{
		`{"target":"api","message":"x"}`:                        "toolu_1",
		`{"target":"api","message":"x","client_key":""}`:        "toolu_1",
		`{"target":"api","message":"x","client_key":"its own"}`: "its own",
	} {
		var got c3po.SendInput
		client := connected(t, &scripted{sent: func(in c3po.SendInput) { got = in }}, nil, c3po.Core)
		_, err := client.CallTool(t.Context(), &mcp.CallToolParams{
			Meta: mcp.Meta{"claudecode/toolUseId": "toolu_1"}, Name: "send_message", Arguments: raw(arguments),
		})
		if err != nil {
			t.Fatal(err)
		}
		if got.ClientKey != want || got.Message != "x" {
			t.Errorf("%s was sent as %+v, want key %q", arguments, got, want)
		}
	}
}

func TestAToolWithoutAKeyTakesNone(t *testing.T) {
	t.Parallel()
	result, err := connected(t, &scripted{}, nil, c3po.Core).CallTool(t.Context(), &mcp.CallToolParams{
		Meta: mcp.Meta{"claudecode/toolUseId": "toolu_1"}, Name: "ping",
	})
	if err != nil || result.IsError {
		t.Errorf("%v, %v", result, err)
	}
}

func TestMailIsPagedByTheSizeOfWhatIsShown(t *testing.T) {
	t.Parallel()
	svc := &scripted{}
	for i := range 30 {
		m := asked()
		m.ID = c3po.NewMessageID("api", "web", fmt.Sprintf("%08x", i))
		m.Message = strings.Repeat("line\n", 1000)
		svc.inbox = append(svc.inbox, m)
	}
	asks, shownPerAsk := []int{}, []int{}
	svc.pages = func(op string, in c3po.GetMessagesInput) {
		if op == "get_messages" {
			asks = append(asks, in.Limit)
		}
	}
	client := connected(t, svc, nil, c3po.Core)
	var shown []string
	arguments := `{}`
	for arguments != "" {
		text := textOf(t, called(t, client, "get_messages", arguments))
		if len(text) > 40_000 {
			t.Errorf("an answer has %d bytes", len(text))
		}
		got, err := envelope.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if len(got) == 0 {
			t.Fatalf("a page without messages:\n%s", text)
		}
		for _, m := range got {
			shown = append(shown, strings.Fields(m.Header)[1])
		}
		shownPerAsk = append(shownPerAsk, len(got))
		arguments = ""
		if _, rest, found := strings.Cut(text, `with cursor="`); found {
			cursor, _, _ := strings.Cut(rest, `"`)
			arguments = fmt.Sprintf(`{"cursor":%q}`, cursor)
		}
	}
	var want []string
	for _, m := range svc.inbox {
		want = append(want, string(m.ID))
	}
	if diff := cmp.Diff(want, shown); diff != "" {
		t.Errorf("page by page, not every message was shown once and in order:\n%s", diff)
	}
	// What get_messages answers counts as served, so no more may be asked for
	// than is shown.
	if diff := cmp.Diff(shownPerAsk, asks); diff != "" {
		t.Errorf("shown and asked for differ:\n%s", diff)
	}
}

func TestAMessageLargerThanAPageIsShownWhole(t *testing.T) {
	t.Parallel()
	m := asked()
	m.Message = strings.Repeat("x", 50_000)
	text := textOf(t, called(t, connected(t, &scripted{inbox: []c3po.Message{m, asked()}}, nil, c3po.Core), "get_messages", `{}`))
	got, err := envelope.Parse(text)
	if err != nil || len(got) != 1 || got[0].Text != m.Message {
		t.Fatalf("%d messages, %v", len(got), err)
	}
	if !strings.Contains(text, `call get_messages again with cursor="1"`) {
		t.Error("the next page is not offered")
	}
}

func TestALongWaitReportsProgress(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		svc := &scripted{wait: func(ctx context.Context) (c3po.WaitResult, error) {
			select {
			case <-time.After(50 * time.Second):
				return c3po.WaitResult{Outcome: noAnswer()}, nil
			case <-ctx.Done():
				return c3po.WaitResult{}, ctx.Err()
			}
		}}
		var progress []float64
		client := connected(t, svc, &mcp.ClientOptions{
			ProgressNotificationHandler: func(_ context.Context, n *mcp.ProgressNotificationClientRequest) {
				progress = append(progress, n.Params.Progress)
			},
		}, c3po.Core)
		params := &mcp.CallToolParams{Name: "wait_for_message", Arguments: raw(`{}`)}
		params.SetProgressToken("p1")
		result, err := client.CallTool(t.Context(), params)
		if err != nil {
			t.Fatal(err)
		}
		if result.IsError {
			t.Errorf("a timeout is an error: %s", textOf(t, result))
		}
		synctest.Wait()
		if diff := cmp.Diff([]float64{15, 30, 45}, progress); diff != "" {
			t.Errorf("progress differs (-want +got):\n%s", diff)
		}
		progress = nil
		if _, err := client.CallTool(t.Context(), &mcp.CallToolParams{Name: "wait_for_message", Arguments: raw(`{}`)}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if len(progress) > 0 {
			t.Errorf("a client that gave no token was told %v", progress)
		}
		// The session must end inside the bubble.
		client.Close()
	})
}

func TestAPanicInAToolIsAnAnswer(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	s := mcpserver.New(mcpserver.Config{Log: slog.New(slog.NewTextHandler(&log, nil))})
	here, there := mcp.NewInMemoryTransports()
	svc := &scripted{wait: func(context.Context) (c3po.WaitResult, error) { panic("out of order") }}
	server, err := s.ServerFor(svc, []c3po.Toolset{c3po.Core}).Connect(t.Context(), there, nil)
	if err != nil {
		t.Fatal(err)
	}
	client, err := mcp.NewClient(&mcp.Implementation{Name: "test"}, nil).Connect(t.Context(), here, nil)
	if err != nil {
		t.Fatal(err)
	}
	result := called(t, client, "wait_for_message", `{}`)
	if text := textOf(t, result); !result.IsError || !strings.Contains(text, `"code":"INTERNAL"`) || strings.Contains(text, "out of order") {
		t.Errorf("isError %v: %s", result.IsError, text)
	}
	if result := called(t, client, "ping", `{}`); result.IsError {
		t.Errorf("afterwards ping fails: %s", textOf(t, result))
	}
	client.Close()
	server.Wait()
	if !strings.Contains(log.String(), "out of order") {
		t.Errorf("the log does not name the panic: %s", log.String())
	}
}

func TestCancellingACallEndsTheServicesWork(t *testing.T) {
	t.Parallel()
	svc, began, ended := waiting(t)
	client := connected(t, svc, nil, c3po.Core)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-began
		cancel()
	}()
	if _, err := client.CallTool(ctx, &mcp.CallToolParams{Name: "wait_for_message", Arguments: raw(`{}`)}); err == nil {
		t.Error("a cancelled call was answered")
	}
	arrives(t, ended, "the end of the service's context")
}

func TestACallThatWasCutOffIsNoFaultOfC3po(t *testing.T) {
	t.Parallel()
	svc := &scripted{wait: func(context.Context) (c3po.WaitResult, error) {
		return c3po.WaitResult{}, fmt.Errorf("read: %w", context.Canceled)
	}}
	result := called(t, connected(t, svc, nil, c3po.Core), "wait_for_message", `{}`)
	if text := textOf(t, result); !result.IsError || !strings.Contains(text, `"code":"UNKNOWN_OUTCOME"`) || strings.Contains(text, "fault") {
		t.Errorf("isError %v: %s", result.IsError, text)
	}
}

// waiting is a service whose wait ends with its context, and says when it began
// and ended. With the test it ends in any case, so that a server can be closed.
func waiting(t *testing.T) (svc *scripted, began, ended chan struct{}) {
	began, ended = make(chan struct{}, 1), make(chan struct{}, 1)
	return &scripted{wait: func(ctx context.Context) (c3po.WaitResult, error) {
		began <- struct{}{}
		select {
		case <-ctx.Done():
			ended <- struct{}{}
		case <-t.Context().Done():
		}
		return c3po.WaitResult{}, ctx.Err()
	}}, began, ended
}

func arrives(t *testing.T, signal <-chan struct{}, what string) {
	t.Helper()
	select {
	case <-signal:
	case <-time.After(10 * time.Second):
		t.Fatalf("%s did not come", what)
	}
}
