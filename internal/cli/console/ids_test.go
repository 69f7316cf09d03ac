package console_test

import (
	"context"
	"errors"
	"testing"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/cli/console"
)

// A failing service answers every call that looks for a message with one error each.
type failing struct {
	c3po.Service
	peek, human, tickets error
	calls                int
}

func (f *failing) Peek(context.Context, c3po.GetMessagesInput) (c3po.MessageList, error) {
	f.calls++
	return c3po.MessageList{}, f.peek
}

func (f *failing) HumanList(context.Context, c3po.GetMessagesInput) (c3po.MessageList, error) {
	f.calls++
	return c3po.MessageList{}, f.human
}

func (f *failing) Tickets(context.Context, c3po.TicketsInput) (c3po.TicketList, error) {
	f.calls++
	return c3po.TicketList{}, f.tickets
}

func (f *failing) GetThread(context.Context, c3po.ThreadInput) (c3po.MessageList, error) {
	f.calls++
	return c3po.MessageList{}, c3po.Errorf(c3po.InvalidRequest, "there is no such thread")
}

// What could not be looked up is not said to be missing, and nobody waits once more for it.
func TestALookThatFailsSaysWhyAndIsNotMadeAgain(t *testing.T) {
	t.Parallel()
	forbidden := c3po.Errorf(c3po.Forbidden, "not yours to read")
	for name, c := range map[string]struct {
		svc   failing
		want  error
		calls int
	}{
		"the coordinator is away":              {failing{peek: c3po.CoordDown}, c3po.CoordDown, 1},
		"Redis is away":                        {failing{peek: c3po.Errorf(c3po.RedisUnavailable, "Redis restarts")}, c3po.RedisUnavailable, 1},
		"interrupted":                          {failing{peek: context.Canceled}, context.Canceled, 1},
		"away when the person's list is read":  {failing{peek: forbidden, human: c3po.Errorf(c3po.CoordDown, "gone")}, c3po.CoordDown, 2},
		"away when the tickets are read":       {failing{tickets: c3po.Errorf(c3po.CoordDown, "gone")}, c3po.CoordDown, 2},
		"it has another run":                   {failing{peek: c3po.Errorf(c3po.Superseded, "taken")}, c3po.Superseded, 1},
		"what may not be read holds no others": {failing{peek: forbidden, human: forbidden, tickets: forbidden}, c3po.InvalidRequest, 4},
	} {
		svc := c.svc
		if _, err := console.MessageID(t.Context(), &svc, "0a1b"); !errors.Is(err, c.want) || svc.calls != c.calls {
			t.Errorf("%s: %v after %d calls, want %v after %d", name, err, svc.calls, c.want, c.calls)
		}
		thread := c.svc
		if _, err := console.ThreadID(t.Context(), &thread, "0a1b"); c.want != error(c3po.InvalidRequest) && !errors.Is(err, c.want) {
			t.Errorf("%s: a thread: %v, want %v", name, err, c.want)
		}
	}
}
