package rest

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/auth"
	"github.com/c3po-dev/c3po/internal/hub"
	"github.com/c3po-dev/c3po/internal/transport/dialect"
)

// The paths of the agent-to-agent bridge. Who calls is a handle and nothing
// else here: there are no runs, and to register again is to reconnect. Callers
// of that document say who they are only where the handle is in the path or the
// body, so elsewhere X-Agent-ID may be left out: a ticket says who asks and who
// answers. Whether a caller may be that agent its token says, as everywhere.

const (
	// bridgeAsker is the asker of a request that names no asker.
	bridgeAsker = "bridge"
	// replyWait is how long GET /replies waits unless it is told.
	replyWait = 25 * time.Second
)

// serveBridge serves the bridge's form of an operation. read says what is asked for
// and as whom; without a name as who the caller says it is.
func (s *server) serveBridge(mirrors string, read func(*http.Request) (string, bridgeCall, error)) http.Handler {
	op := operationCalled(mirrors)
	return s.admit(func(w http.ResponseWriter, r *http.Request, caller c3po.Caller) {
		err := op.Check(caller.Role)
		var id string
		var call bridgeCall
		if err == nil {
			id, call, err = read(r)
		}
		if err != nil {
			s.refuse(w, r, err)
			return
		}
		s.actAs(w, r, id, call)
	})
}

// A bridgeCall does what was asked for, and answers or gives an error.
type bridgeCall func(w http.ResponseWriter, r *http.Request, caller c3po.Caller) error

// actAs makes a call as the agent that is named, if the caller may be that one.
func (s *server) actAs(w http.ResponseWriter, r *http.Request, id string, call bridgeCall) {
	named := r.Clone(r.Context())
	for _, header := range []string{auth.SessionHeader, auth.RunHeader, auth.EpochHeader} {
		named.Header.Del(header)
	}
	if id != "" {
		named.Header.Set(auth.AgentHeader, id)
	}
	caller, ctx, release, err := s.auth.Caller(named, door)
	if err != nil {
		s.refuse(w, r, err)
		return
	}
	defer release()
	r = r.WithContext(ctx)
	if err := call(w, r, caller); err != nil {
		s.refuse(w, r, err)
	}
}

func bridgeBody[In any](r *http.Request) (In, error) {
	data, err := readBody(r)
	if err != nil {
		var none In
		return none, err
	}
	return c3po.DecodeOpen[In](data)
}

func (s *server) bridgeRegister(r *http.Request) (string, bridgeCall, error) {
	in, err := bridgeBody[dialect.Register](r)
	return in.AgentID, func(w http.ResponseWriter, r *http.Request, caller c3po.Caller) error {
		actor := s.hub.As(caller)
		out, err := dialect.Broker{Service: actor}.Register(r.Context(), in, s.limits.OnlineWindow)
		return s.bridgeAnswer(w, r, actor, out, err)
	}, err
}

// bridgeHeartbeat keeps an agent online that was registered before.
func (s *server) bridgeHeartbeat(r *http.Request) (string, bridgeCall, error) {
	_, err := readBody(r)
	return r.PathValue("id"), func(w http.ResponseWriter, r *http.Request, caller c3po.Caller) error {
		actor := s.hub.As(caller)
		// A heartbeat registers no agent, so the look-up before it is anonymous.
		nobody := caller
		nobody.ID = ""
		if _, err := s.hub.As(nobody).GetAgentStatus(r.Context(), c3po.AgentInput{AgentID: string(caller.ID)}); err != nil {
			return dialect.RefuseNotRegistered(string(caller.ID), err)
		}
		self, err := actor.WhoAmI(r.Context(), c3po.None{})
		out := dialect.Registered{AgentID: self.ID, Status: "registered", ExpiresAt: self.Expires(s.limits.OnlineWindow)}
		return s.bridgeAnswer(w, r, actor, out, err)
	}, err
}

func (s *server) bridgeSend(r *http.Request) (string, bridgeCall, error) {
	in, err := bridgeBody[dialect.Send](r)
	target := r.PathValue("id")
	return callerOr(r, bridgeAsker), func(w http.ResponseWriter, r *http.Request, caller c3po.Caller) error {
		if callerOr(r, "") == "" {
			caller.Payer = bridgeAsker + "#" + cmp.Or(caller.KID, address(r))
		}
		actor := s.hub.As(caller)
		out, err := dialect.Broker{Service: actor}.Send(r.Context(), target, in)
		record(r, actor, "bridge_send_message", target, err)
		if in.ExpectReply == nil || *in.ExpectReply {
			out.WaitEndpoint = "/replies/" + url.PathEscape(out.TicketID) + "/stream"
		}
		return s.bridgeAnswer(w, r, actor, out, err)
	}, err
}

// record hands what was done for a person on to the audit, as a call of the operation does.
func record(r *http.Request, actor *hub.Actor, operation, to string, err error) {
	if arguments, wrong := json.Marshal(map[string]string{"target": to}); err == nil && wrong == nil {
		actor.Done(r.Context(), operationCalled(operation), arguments)
	}
}

// address is where a request comes from, without the port, which is another one
// for each connection.
func address(r *http.Request) string {
	if host, _, err := net.SplitHostPort(r.RemoteAddr); err == nil {
		return host
	}
	return "local"
}

// callerOr is who the caller says it is, else somebody.
func callerOr(r *http.Request, other string) string {
	if given := r.Header.Get(auth.AgentHeader); given != "" {
		return given
	}
	return other
}

// bridgeReply answers a ticket, as the one it was sent to unless the caller
// says who it is.
func (s *server) bridgeReply(r *http.Request) (string, bridgeCall, error) {
	in, err := bridgeBody[dialect.Reply](r)
	if err == nil {
		err = c3po.CheckTicketID(in.TicketID)
	}
	reply := func(w http.ResponseWriter, r *http.Request, caller c3po.Caller) error {
		actor := s.hub.As(caller)
		_, err := dialect.Broker{Service: actor}.Reply(r.Context(), in)
		record(r, actor, "post_reply", in.TicketID, err)
		introduce(w.Header(), actor)
		if err == nil {
			w.WriteHeader(http.StatusNoContent)
		}
		return err
	}
	if given := callerOr(r, ""); given != "" || err != nil {
		return given, reply, err
	}
	if id, err := c3po.ParseMessageID(in.TicketID); err == nil {
		_, to, _ := id.Split()
		return string(to), reply, nil
	}
	// A name of the asker's own: its ticket says who was asked.
	return "", func(w http.ResponseWriter, r *http.Request, nobody c3po.Caller) error {
		id, err := s.hub.As(nobody).TicketFor(r.Context(), in.TicketID)
		if err == nil {
			_, to, _ := id.Split()
			s.actAs(w, r, string(to), reply)
		}
		return err
	}, nil
}

// asAsker has a wait made as the agent that has asked, unless the caller says who it is.
func (s *server) asAsker(r *http.Request, wait bridgeCall) (string, bridgeCall) {
	ticket := r.PathValue("ticket")
	if given := callerOr(r, ""); given != "" {
		return given, wait
	}
	if id, err := c3po.ParseMessageID(ticket); err == nil {
		from, _, _ := id.Split()
		return string(from), wait
	}
	return "", func(w http.ResponseWriter, r *http.Request, nobody c3po.Caller) error {
		err := c3po.CheckTicketID(ticket)
		var id c3po.MessageID
		if err == nil {
			id, err = s.hub.As(nobody).TicketFrom(r.Context(), ticket)
		}
		if err == nil {
			from, _, _ := id.Split()
			s.actAs(w, r, string(from), wait)
		}
		return err
	}
}

// bridgeAwait answers with the reply to a ticket, or with nothing.
func (s *server) bridgeAwait(r *http.Request) (string, bridgeCall, error) {
	wait, err := s.waitMS(r, replyWait)
	asker, call := s.asAsker(r, func(w http.ResponseWriter, r *http.Request, caller c3po.Caller) error {
		actor := s.hub.As(caller)
		out, err := awaitFor(r.Context(), actor, r.PathValue("ticket"), wait)
		if err == nil && (out.Status == c3po.WaitTimeout || out.Status == c3po.WaitRetry) {
			introduce(w.Header(), actor)
			w.WriteHeader(http.StatusNoContent)
			return nil
		}
		return s.bridgeAnswer(w, r, actor, out, err)
	})
	return asker, call, err
}

// awaitFor waits to the millisecond, which the hub does not.
func awaitFor(ctx context.Context, actor *hub.Actor, ticket string, wait time.Duration) (dialect.Ticket, error) {
	broker := dialect.Broker{Service: actor}
	if wait > 0 {
		limited, cancel := context.WithTimeout(ctx, wait)
		defer cancel()
		out, err := broker.Await(limited, ticket, wait)
		if err == nil || limited.Err() == nil || ctx.Err() != nil {
			return out, err
		}
		// Look once more: an answer that is there is given however short the wait.
	}
	return broker.Await(ctx, ticket, 0)
}

// waitMS reads how long to wait.
func (s *server) waitMS(r *http.Request, otherwise time.Duration) (time.Duration, error) {
	if !r.URL.Query().Has("waitMs") {
		return otherwise, nil
	}
	n, err := number[int64](r, "waitMs")
	if most := s.limits.MaxWait.Milliseconds(); err == nil && (n < 0 || n > most) {
		err = c3po.Errorf(c3po.InvalidRequest, "waitMs is %d; it must be between 0 and %d", n, most).Suggest("For example ?waitMs=25000.")
	}
	return time.Duration(n) * time.Millisecond, err
}

// bridgeStream is bridgeAwait as a stream of server-sent events: one event with
// the reply, or with the word that there is none.
func (s *server) bridgeStream(r *http.Request) (string, bridgeCall, error) {
	wait, err := s.waitMS(r, s.limits.MaxWait)
	told := r.URL.Query().Has("waitMs")
	ticket := r.PathValue("ticket")
	asker, call := s.asAsker(r, func(w http.ResponseWriter, r *http.Request, caller c3po.Caller) error {
		actor := s.hub.As(caller)
		// What is wrong with the ticket is said before the stream begins.
		out, err := awaitFor(r.Context(), actor, ticket, 0)
		introduce(w.Header(), actor)
		if err != nil {
			return err
		}
		if !told && !out.Deadline.IsZero() {
			wait = min(wait, time.Until(out.Deadline))
		}
		stream := openStream(w)
		for until := time.Now().Add(wait); err == nil && stream.err == nil && out.Status == c3po.WaitTimeout; {
			left := time.Until(until)
			if left <= 0 {
				break
			}
			out, err = awaitFor(r.Context(), actor, ticket, min(left, keepAlive))
			if left > keepAlive && out.Status == c3po.WaitTimeout {
				stream.write(": here\n\n")
			}
		}
		s.bridgeEvent(stream, r, actor, out, err)
		return nil
	})
	return asker, call, err
}

// bridgeEvent ends a stream with its one event, named after what it says.
func (s *server) bridgeEvent(stream *stream, r *http.Request, actor *hub.Actor, out dialect.Ticket, err error) {
	if err != nil && r.Context().Err() == nil {
		s.note(r, c3po.AsError(err))
	}
	if err != nil && c3po.AsError(err).Code.Retry() == c3po.RetryNo && r.Context().Err() == nil {
		if data, err := json.Marshal(c3po.AsError(err)); err == nil {
			stream.write(fmt.Sprintf("event: error\ndata: %s\n\n", data))
		}
		return
	}
	if err != nil || out.Status == c3po.WaitRetry {
		stream.write(fmt.Sprintf("retry: %d\n\n", max(out.RetryAfterMS, 200)))
		return
	}
	name := out.Status
	switch {
	case out.Payload != nil:
		name = "reply"
	case name == c3po.WaitTimeout:
		// What else is in it speaks of the last part of the wait alone.
		out = dialect.Ticket{TicketID: out.TicketID, Status: name}
	}
	data, err := json.Marshal(out)
	if err != nil {
		s.note(r, c3po.AsError(err))
		return
	}
	stream.write(fmt.Sprintf("event: %s\ndata: %s\n\n", name, data))
	if stream.err == nil && r.Context().Err() == nil {
		actor.Delivered()
	}
}

// bridgeAnswer writes what a broker has answered.
func (s *server) bridgeAnswer(w http.ResponseWriter, r *http.Request, actor *hub.Actor, out any, err error) error {
	introduce(w.Header(), actor)
	if err != nil {
		return err
	}
	if s.answer(w, r, out) {
		actor.Delivered()
	}
	return nil
}

func bridgeAgentsQuery(r *http.Request) (dialect.AgentsInput, error) {
	limit, err := number[int](r, "limit")
	query := r.URL.Query()
	return dialect.AgentsInput{
		Type: query.Get("type"), Status: c3po.Status(query.Get("status")), Cursor: query.Get("cursor"), Limit: limit,
	}, err
}

func bridgeAgents(svc c3po.Service, ctx context.Context, in dialect.AgentsInput) (dialect.AgentList, error) {
	return dialect.Broker{Service: svc}.Agents(ctx, in)
}
