package c3po

import (
	"fmt"
	"strconv"
)

// A Usage is what a model has used, as its client counts it. No field is ever negative.
type Usage struct {
	InputTokens      int64 `json:"input_tokens,omitempty" jsonschema:"Tokens the model was sent, without those of its cache"`
	OutputTokens     int64 `json:"output_tokens,omitempty" jsonschema:"Tokens the model wrote"`
	CacheReadTokens  int64 `json:"cache_read_tokens,omitempty" jsonschema:"Tokens read from the model's cache"`
	CacheWriteTokens int64 `json:"cache_write_tokens,omitempty" jsonschema:"Tokens written to the model's cache"`
	MicroUSD         int64 `json:"micro_usd,omitempty" jsonschema:"Millionths of a US dollar, if the client names a price"`
}

// MaxUsage bounds each number that one session reports of one message.
const MaxUsage = 1_000_000_000

// Tokens is all of them.
func (u Usage) Tokens() int64 {
	return u.InputTokens + u.OutputTokens + u.CacheReadTokens + u.CacheWriteTokens
}

// String is the usage as a person reads it: "1,234 tokens, $0.02".
func (u Usage) String() string {
	digits := strconv.FormatInt(u.Tokens(), 10)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	switch {
	case u.MicroUSD == 0:
		return digits + " tokens"
	case u.MicroUSD < 10_000:
		return fmt.Sprintf("%s tokens, $%.4f", digits, float64(u.MicroUSD)/1e6)
	}
	return fmt.Sprintf("%s tokens, $%.2f", digits, float64(u.MicroUSD)/1e6)
}

// Plus is the sum of two.
func (u Usage) Plus(v Usage) Usage {
	return Usage{
		u.InputTokens + v.InputTokens, u.OutputTokens + v.OutputTokens, u.CacheReadTokens + v.CacheReadTokens,
		u.CacheWriteTokens + v.CacheWriteTokens, u.MicroUSD + v.MicroUSD,
	}
}

// Minus is what u has more than v, and never less than nothing.
func (u Usage) Minus(v Usage) Usage {
	return Usage{
		max(0, u.InputTokens-v.InputTokens), max(0, u.OutputTokens-v.OutputTokens), max(0, u.CacheReadTokens-v.CacheReadTokens),
		max(0, u.CacheWriteTokens-v.CacheWriteTokens), max(0, u.MicroUSD-v.MicroUSD),
	}
}

// Used reports what a session has used for one message since it was given the message.
// It counts on: a repeat, or a report that was overtaken, adds nothing.
type Used struct {
	MessageID MessageID `json:"message_id" jsonschema:"Id of the message"`
	Usage     Usage     `json:"usage" jsonschema:"What the session has used for it so far"`
	Shared    bool      `json:"shared,omitempty" jsonschema:"The session had other messages to answer at the same time: this is its part"`
}

// A Cost is what an answer, or a whole conversation, has cost as far as clients say.
type Cost struct {
	Usage    Usage    `json:"usage"`
	Clients  []string `json:"clients,omitempty"`  // that say so
	Shared   bool     `json:"shared,omitempty"`   // a part of it is this message's part of what several have cost together
	Messages int      `json:"messages,omitempty"` // of a conversation: whose cost is known
}
