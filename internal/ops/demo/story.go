// Package demo plays a short story with a real coordinator: two scripted agents
// work on a small repository, one asks the other, and one asks the person. It
// speaks to the coordinator only through the commands that a person could type.
package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"
)

// A Stage is what the story needs of who plays it.
type Stage struct {
	Folder string // an empty folder for the repository

	Call func(ctx context.Context, args ...string) ([]byte, error) // c3po, which prints JSON
	Say  func(who, what string)                                    // somebody does something
	Ran  func(args ...string)                                      // a command that was run for it
	// Ask is the person's choice; empty if they have answered elsewhere, when done ends.
	Ask func(done context.Context, question string, choices []string) (string, error)
}

// Seen is what a story left to look at.
type Seen struct {
	Question string        // the id of what web asked api
	Answer   time.Duration // how long question and answer were on their way, without what api did between them
	Chosen   string        // by the person
}

const (
	web, api = "web", "api"

	patience = "30s" // for an agent's answer, which comes at once

	question = "Which field of prices.json has the price, and in which unit?"
	decision = "Which currency do customers see in the cart?"
)

var currencies = []string{"EUR", "USD"}

// Play tells the story once.
func (s Stage) Play(ctx context.Context) (seen Seen, err error) {
	repository, err := newShop(s.Folder)
	if err != nil {
		return seen, err
	}
	failed := repository.check()
	if failed == nil {
		return seen, errors.New("the shop has no mistake to find")
	}
	s.Say(web, "runs its test, which fails: "+failed.Error())
	if err := s.askTheOther(ctx, repository, &seen); err != nil {
		return seen, err
	}
	return seen, s.askThePerson(ctx, repository, &seen)
}

// askTheOther is web's question to api, which is waiting for mail.
func (s Stage) askTheOther(ctx context.Context, repository shop, seen *Seen) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s.Say(api, "waits for mail")
	asked := s.start(ctx, "wait", "--timeout", patience, "--as", api)
	if err := s.untilWaiting(ctx); err != nil {
		return err
	}
	s.Say(web, "doesn't own prices.json, so it asks api and waits")
	began := time.Now()
	answered := s.start(ctx, "send", api, question, "--as", web, "--wait", patience)
	var mail struct {
		ID string `json:"id"`
	}
	if err := asked.into(&mail); err != nil {
		return err
	}
	seen.Question, seen.Answer = mail.ID, time.Since(began)
	field, err := repository.priceField()
	if err != nil {
		return err
	}
	unit := field[strings.LastIndex(field, "_")+1:]
	s.Say(api, "wakes, looks into prices.json and replies")
	began = time.Now()
	if _, err := s.call(ctx, "reply", mail.ID, field+", in "+unit, "--as", api); err != nil {
		return err
	}
	var receipt struct {
		Reply struct {
			Response string `json:"response"`
		} `json:"reply"`
	}
	if err := answered.into(&receipt); err != nil {
		return err
	}
	seen.Answer += time.Since(began)
	s.Say(web, fmt.Sprintf("got %q (%d ms on the way), changes cart.js, and its test passes", receipt.Reply.Response, seen.Answer.Milliseconds()))
	named := regexp.MustCompile(`^[a-z_]+`).FindString(receipt.Reply.Response)
	if err := repository.show(named, ""); err != nil {
		return err
	}
	return repository.check()
}

// askThePerson is web's question to whoever watches.
func (s Stage) askThePerson(ctx context.Context, repository shop, seen *Seen) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s.Say(web, "can't decide one thing alone, so it asks you")
	args := []string{"ask-human", "The cart shows bare numbers", "--question", decision, "--as", web}
	for _, choice := range currencies {
		args = append(args, "--choice", choice)
	}
	var open struct {
		ID string `json:"message_id"`
	}
	if out, err := s.call(ctx, args...); err != nil {
		return err
	} else if err := json.Unmarshal(out, &open); err != nil {
		return err
	}
	// The answer may also come from the dashboard.
	done, answer := context.WithCancel(ctx)
	defer answer()
	waiting := s.start(ctx, "wait", "--for", open.ID, "--timeout", "1h", "--as", web)
	go func() { <-waiting.done; answer() }()
	choice, err := s.Ask(done, decision, currencies)
	if err != nil {
		return err
	}
	if choice != "" {
		if _, err := s.call(ctx, "human", "answer", open.ID, "--choice", choice); err != nil {
			return err
		}
	}
	var reply struct {
		Response string `json:"response"`
	}
	if err := waiting.into(&reply); err != nil {
		return err
	}
	seen.Chosen = reply.Response
	field, err := repository.priceField()
	if err != nil {
		return err
	}
	if err := repository.show(field, strings.TrimSpace(reply.Response)+" "); err != nil {
		return err
	}
	line, err := repository.line()
	if err != nil {
		return err
	}
	s.Say(web, fmt.Sprintf("got your %q and goes on: %s", reply.Response, line))
	return repository.check()
}

// untilWaiting returns when api waits for mail, so that the mail wakes it.
func (s Stage) untilWaiting(ctx context.Context) error {
	for {
		out, err := s.Call(ctx, "agents", api)
		if err == nil && strings.Contains(string(out), `"now"`) {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// call runs a command that the watcher sees.
func (s Stage) call(ctx context.Context, args ...string) ([]byte, error) {
	s.Ran(args...)
	return s.Call(ctx, args...)
}

// A running command has not answered yet.
type running struct {
	done chan struct{}
	out  []byte
	err  error
}

// start runs a command beside the story.
func (s Stage) start(ctx context.Context, args ...string) *running {
	s.Ran(args...)
	r := &running{done: make(chan struct{})}
	go func() {
		defer close(r.done)
		r.out, r.err = s.Call(ctx, args...)
	}()
	return r
}

func (r *running) into(v any) error {
	<-r.done
	if r.err != nil {
		return r.err
	}
	return json.Unmarshal(r.out, v)
}
