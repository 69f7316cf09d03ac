package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/auth"
	"github.com/c3po-dev/c3po/internal/hub"
	"github.com/c3po-dev/c3po/internal/person/notify"
)

const (
	// buttonPatience is for how long a press is tried again while Redis is away.
	buttonPatience = time.Minute
	// buttonFresh is how old a press may be for its person to be told that it came to nothing:
	// a coordinator that starts hears the ones of hours again.
	buttonFresh = 2 * time.Minute
)

// A buttonDoor takes a person's choices from the buttons of their notices.
type buttonDoor struct {
	notifier *notify.Notifier
	hub      *hub.Hub
	keeper   *auth.Keeper
	log      *slog.Logger
}

// Run listens until ctx ends, if there are buttons.
func (d buttonDoor) Run(ctx context.Context) error {
	if d.notifier.HasButtons() {
		d.notifier.Listen(ctx, notify.Listener{Pressed: d.pressed, Refused: d.refused, Lost: func(ctx context.Context, err error) {
			d.log.WarnContext(ctx, "buttons of notices cannot be heard; it is tried again", "err", err)
		}})
	}
	return nil
}

func (d buttonDoor) pressed(ctx context.Context, p notify.Press) {
	patience, cancel := context.WithTimeout(ctx, buttonPatience)
	defer cancel()
	for pause := firstPause; ; pause = min(2*pause, maxPause) {
		err := d.answer(patience, p)
		switch {
		case err == nil || ctx.Err() != nil: // one that was cut short is heard again after the next start
			return
		case errors.Is(err, c3po.RedisUnavailable) || errors.Is(err, c3po.UnknownOutcome):
			select {
			case <-time.After(pause):
				continue
			case <-patience.Done():
			}
		}
		d.refused(ctx, p, err)
		return
	}
}

// answer gives the answer as the person. All buttons of a question share a key, so that
// one of them works, once.
func (d buttonDoor) answer(ctx context.Context, p notify.Press) error {
	if proof, err := d.keeper.Demands(ctx, "human_answer"); err != nil || proof {
		if err != nil {
			return err
		}
		return c3po.Errorf(c3po.Forbidden, "an answer needs your passkey, which a button can't bring")
	}
	caller, ctx := d.keeper.Button(ctx, p.Space)
	person := d.hub.As(caller)
	question, err := person.HumanShow(ctx, c3po.MessageInput{MessageID: p.MessageID})
	if err != nil {
		return err
	}
	switch question.State {
	case c3po.TicketResponded:
		return c3po.Errorf(c3po.InvalidRequest, "the question is answered already")
	case c3po.TicketCancelled:
		return c3po.Errorf(c3po.InvalidRequest, "the agent has withdrawn the question")
	}
	in := c3po.AnswerInput{MessageID: p.MessageID, Choice: p.Choice, ClientKey: "button of " + string(p.MessageID)}
	if _, err := person.HumanAnswer(ctx, in); err != nil {
		return err
	}
	arguments, err := json.Marshal(in)
	if err == nil {
		person.Done(ctx, c3po.Operation{Name: "human_answer"}, arguments)
	}
	return err
}

// refused records a press that did nothing, and tells the person of their own.
func (d buttonDoor) refused(ctx context.Context, p notify.Press, err error) {
	if time.Since(p.At) > buttonFresh {
		return
	}
	d.keeper.RefusedButton(ctx, p.Space, p.MessageID, err)
	if p.MessageID == "" {
		return // nobody's press of ours
	}
	from, _, _ := p.MessageID.Split()
	if err := d.notifier.Say(ctx, fmt.Sprintf("Your answer to %s was not taken", from), c3po.AsError(err).Message+". See the question with: c3po human show "+string(p.MessageID)); err != nil {
		d.log.WarnContext(ctx, "the person was not told that a button did nothing", "message_id", p.MessageID, "err", err)
	}
}
