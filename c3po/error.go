package c3po

import (
	"encoding/json"
	"errors"
	"fmt"
)

// A Code says what went wrong in a way a program can act on. It is an error
// itself, so errors.Is(err, c3po.AgentNotFound) works here and across HTTP.
// Codes are added, never renamed.
type Code string

// The codes, in the order of the error table in docs/reference/rest.md.
const (
	InvalidRequest   Code = "INVALID_REQUEST"
	Unauthorized     Code = "UNAUTHORIZED"
	Forbidden        Code = "FORBIDDEN"
	ProofRequired    Code = "PROOF_REQUIRED"
	AgentNotFound    Code = "AGENT_NOT_FOUND"
	TicketNotFound   Code = "TICKET_NOT_FOUND"
	KeyConflict      Code = "KEY_CONFLICT"
	AgentUnavailable Code = "AGENT_UNAVAILABLE"
	RateLimited      Code = "RATE_LIMITED"
	BudgetSpent      Code = "BUDGET_SPENT"
	InboxFull        Code = "INBOX_FULL"
	RedisUnavailable Code = "REDIS_UNAVAILABLE"
	StoreFull        Code = "STORE_FULL"
	UnknownOutcome   Code = "UNKNOWN_OUTCOME"
	Superseded       Code = "SUPERSEDED"
	CoordDown        Code = "COORD_DOWN"
	Timeout          Code = "TIMEOUT"
	Internal         Code = "INTERNAL"
)

// Retry says whether the same request may be made again.
type Retry string

// The three answers to "may I try again?".
const (
	RetryNo      Retry = "no"
	RetryLater   Retry = "later"
	RetrySameKey Retry = "same_key"
)

type codeFacts struct {
	status int
	retry  Retry
}

var codes = map[Code]codeFacts{
	InvalidRequest:   {400, RetryNo},
	Unauthorized:     {401, RetryNo},
	Forbidden:        {403, RetryNo},
	ProofRequired:    {403, RetryLater},
	AgentNotFound:    {404, RetryNo},
	TicketNotFound:   {404, RetryNo},
	KeyConflict:      {409, RetryNo},
	AgentUnavailable: {409, RetryLater},
	RateLimited:      {429, RetryLater},
	BudgetSpent:      {429, RetryLater},
	InboxFull:        {429, RetryLater},
	RedisUnavailable: {503, RetrySameKey},
	StoreFull:        {503, RetrySameKey},
	UnknownOutcome:   {502, RetrySameKey},
	Superseded:       {409, RetryLater},
	CoordDown:        {503, RetrySameKey},
	Timeout:          {200, RetryLater},
	Internal:         {500, RetrySameKey},
}

func (c Code) Error() string { return string(c) }

// Status is the HTTP status an error of this code is answered with.
func (c Code) Status() int { return codes[c].status }

// Retry is the advice that goes with every error of this code.
func (c Code) Retry() Retry {
	if f, ok := codes[c]; ok {
		return f.retry
	}
	return RetryNo
}

// An Error is what a caller gets: a code, a sentence, and what to do next.
// It travels unchanged from the store to the command line.
type Error struct {
	Code       Code   `json:"code"`
	Message    string `json:"error"`      // a sentence
	Suggestion string `json:"suggestion"` // what to do next
	// Proof is what a person has to confirm before the same request is made again with it.
	Proof string `json:"proof,omitempty"`
	// NotStored: the key of the request was looked up, and nothing is stored under it.
	// Only such a refusal settles an earlier try of the same request that got no answer.
	NotStored bool `json:"not_stored,omitempty"`
	cause     error
}

// Errorf makes an Error. A %w in the format is kept as its cause, which is
// logged and never shown.
func Errorf(code Code, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	return &Error{Code: code, Message: err.Error(), cause: errors.Unwrap(err)}
}

// Because makes an Error whose cause stays out of the sentence.
func Because(cause error, code Code, sentence string) *Error {
	return &Error{Code: code, Message: sentence, cause: cause}
}

// Suggest adds what to do next.
func (e *Error) Suggest(format string, args ...any) *Error {
	e.Suggestion = fmt.Sprintf(format, args...)
	return e
}

func (e *Error) Error() string { return e.Message }

// Is lets a Code be the target of errors.Is.
func (e *Error) Is(target error) bool { return target == error(e.Code) }

// Unwrap gives the cause, for the log.
func (e *Error) Unwrap() error { return e.cause }

// MarshalJSON writes the one wire form of an error, retry advice included.
func (e *Error) MarshalJSON() ([]byte, error) {
	type plain Error
	return json.Marshal(struct {
		*plain
		Retry Retry `json:"retry"`
	}{(*plain)(e), e.Code.Retry()})
}

// AsError turns any error into what a caller may be told. What is not an
// *Error is our fault: the caller learns no detail of it.
func AsError(err error) *Error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	return Because(err, Internal, "internal error").
		Suggest("This is a fault of c3po, not of your request; the coordinator's log says more.")
}
