package client

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/client/attempt"
)

// silence is how long a stream may be without even a comment: three of them.
const silence = 50 * time.Second

// Events gives what changes in the client's space, after a place or from now
// on, until ctx ends or the coordinator refuses. It hides restarts: it comes
// back with the place of its last event, and the first word of the stream after
// that is given on only if something was missed. A coordinator that this client
// has never reached is down: that is the error after Patience.
func (c *Client) Events(ctx context.Context, after *c3po.EventCursor) iter.Seq2[c3po.StreamEvent, error] {
	return func(yield func(c3po.StreamEvent, error) bool) {
		r := &eventReader{client: c, after: after, pause: attempt.Backoff{Min: firstPause, Max: maxPause}}
		giveUp := time.Now().Add(c.patience)
		for {
			err := r.read(ctx, yield)
			var lost *lostError
			switch {
			case errors.Is(err, errEnough):
				return
			case ctx.Err() != nil:
				yield(c3po.StreamEvent{}, context.Cause(ctx))
				return
			case errors.As(err, &lost) && !c.everReached() && time.Now().After(giveUp),
				!errors.As(err, &lost) && !passing(err):
				yield(c3po.StreamEvent{}, final(err, true))
				return
			}
			if !attempt.Sleep(ctx, r.rest()) {
				yield(c3po.StreamEvent{}, context.Cause(ctx))
				return
			}
		}
	}
}

// errEnough says that who reads wants no more.
var errEnough = errors.New("enough")

// An eventReader reads one stream after another, each from where the last ended.
type eventReader struct {
	client *Client
	after  *c3po.EventCursor
	begun  bool            // the first word of the first stream was given
	pause  attempt.Backoff // before the next try, if the coordinator says nothing
	retry  time.Duration   // what it said
}

func (r *eventReader) rest() time.Duration {
	if r.retry > 0 {
		rest := r.retry
		r.retry = 0
		return rest
	}
	return attempt.Jitter(r.pause.Step())
}

// read is one stream. It always ends with an error, a *lostError if it may be
// opened again.
func (r *eventReader) read(ctx context.Context, yield func(c3po.StreamEvent, error) bool) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	// A connection that has died says nothing, so silence ends it.
	watchdog := time.AfterFunc(silence, cancel)
	defer watchdog.Stop()
	path := "/api/events"
	if r.after != nil {
		path += "?after=" + url.QueryEscape(r.after.String())
	}
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, r.client.base+path, nil)
	if err != nil {
		return c3po.Errorf(c3po.InvalidRequest, "%q is not the address of a coordinator", r.client.base).
			Suggest("Write it as http://host:port.")
	}
	r.client.introduce(q.Header)
	answer, err := r.client.http.Do(q)
	if err != nil {
		return &lostError{cause: err}
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		body, err := io.ReadAll(io.LimitReader(answer.Body, answerBytes))
		if err != nil {
			return &lostError{cause: err}
		}
		return r.client.refusal(answer, body)
	}
	r.client.learn(answer.Header)
	lines := bufio.NewScanner(answer.Body) // up to 64 KiB a line; an event has a few hundred bytes
	var e entry
	for lines.Scan() {
		watchdog.Reset(silence)
		if lines.Text() != "" {
			e.line(lines.Text())
			continue
		}
		if err := r.give(e, yield); err != nil {
			return err
		}
		e = entry{}
	}
	return &lostError{cause: fmt.Errorf("the stream of events ended: %w", errors.Join(lines.Err(), io.ErrUnexpectedEOF))}
}

// An entry is one server-sent event as it was written.
type entry struct {
	id, name, data, retry string
}

func (e *entry) line(text string) {
	field, value, _ := strings.Cut(text, ":")
	value = strings.TrimPrefix(value, " ")
	switch field {
	case "id":
		e.id = value
	case "event":
		e.name = value
	case "data":
		e.data += value
	case "retry":
		e.retry = value
	}
}

// give passes an entry on and remembers its place.
func (r *eventReader) give(e entry, yield func(c3po.StreamEvent, error) bool) error {
	if ms, err := strconv.Atoi(e.retry); err == nil {
		r.retry = time.Duration(ms) * time.Millisecond
	}
	if e.data == "" {
		return nil // a comment
	}
	at, err := c3po.ParseEventCursor(e.id)
	if err != nil {
		return foreign(http.StatusOK, err)
	}
	out := c3po.StreamEvent{At: at}
	switch e.name {
	case "resume", "reset":
		out.Start = &c3po.StreamStart{}
		err = json.Unmarshal([]byte(e.data), out.Start)
	case "":
		out.Event = &c3po.Event{}
		err = json.Unmarshal([]byte(e.data), out.Event)
	default:
		return nil // a word of a later version
	}
	if err != nil {
		return foreign(http.StatusOK, err)
	}
	r.after = &at
	r.pause.Reset()
	if out.Start != nil && out.Start.Recovered && r.begun {
		return nil // it came back, and nothing was missed
	}
	r.begun = true
	if !yield(out, nil) {
		return errEnough
	}
	return nil
}
