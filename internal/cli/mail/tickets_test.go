package mail

import (
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
)

// Mail whose text came with the wake is in the session before the session proves it.
func TestAStalledTicketIsSaidToBeInEveryOpenState(t *testing.T) {
	t.Parallel()
	at := time.Now()
	for ticket, want := range map[*c3po.Ticket]string{
		{State: c3po.TicketPending, StalledAt: at}:                    "pending, stalled",
		{State: c3po.TicketDelivered, StalledAt: at, SilentAt: at}:    "served, stalled",
		{State: c3po.TicketResponded, StalledAt: at, RespondedAt: at}: "answered",
		{State: c3po.TicketPending}:                                   "pending",
	} {
		if got := ticketState(*ticket); got != want {
			t.Errorf("%+v is %q, want %q", *ticket, got, want)
		}
	}
	if since := stateSince(c3po.Ticket{State: c3po.TicketPending, CreatedAt: at.Add(-time.Hour), StalledAt: at}); !since.Equal(at) {
		t.Errorf("it is stalled since %s, want %s", since, at)
	}
}
