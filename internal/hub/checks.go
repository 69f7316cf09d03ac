package hub

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/c3po-dev/c3po/c3po"
)

const (
	maxCapabilities     = 50
	maxKeyBytes         = 200
	maxThreadBytes      = 200
	maxContentTypeBytes = 100
	maxReasonBytes      = 200
)

// refuse is INVALID_REQUEST with the advice that fits most of them.
func refuse(format string, args ...any) *c3po.Error {
	return c3po.Errorf(c3po.InvalidRequest, format, args...).Suggest("Check parameter values and formats.")
}

// checkText holds a text to its size. It is kept as it came, so nothing is
// trimmed; characters count, not bytes.
func checkText(field, text string, most int) error {
	if !utf8.ValidString(text) {
		return refuse("%s is not valid UTF-8", field)
	}
	// A text of so few bytes cannot have too many characters.
	if len(text) <= most {
		return nil
	}
	if n := utf8.RuneCountInString(text); n > most {
		return c3po.Errorf(c3po.InvalidRequest, "%s has %d characters, at most %d are allowed", field, n, most).
			Suggest("Shorten it or send it in parts.")
	}
	return nil
}

func checkGiven(field, text string) error {
	if strings.TrimSpace(text) == "" {
		return refuse("%s is empty", field)
	}
	return nil
}

// A label is a short text that is shown in one line, to people and to models.
type label struct {
	field string
	text  string
	most  int
}

// checkLabels refuses what could break out of its line.
func checkLabels(labels ...label) error {
	for _, l := range labels {
		if err := checkText(l.field, l.text, l.most); err != nil {
			return err
		}
		if strings.ContainsFunc(l.text, func(r rune) bool { return !unicode.IsPrint(r) }) {
			return refuse("%s holds a character that cannot be printed", l.field)
		}
	}
	return nil
}

// checkMetadata returns the object without its spaces, so that the same object
// has the same fingerprint.
func checkMetadata(raw json.RawMessage, most int) ([]byte, error) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil
	}
	if raw[0] != '{' {
		return nil, refuse("metadata is not a JSON object")
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, raw); err != nil {
		return nil, refuse("metadata is not a JSON object")
	}
	if compact.Len() > most {
		return nil, refuse("metadata has %d bytes, at most %d are allowed", compact.Len(), most)
	}
	return compact.Bytes(), nil
}

func (h *Hub) checkIDs(ids []c3po.MessageID) error {
	if len(ids) > h.limits.BatchIDs {
		return c3po.Errorf(c3po.InvalidRequest, "%d message ids are too many, at most %d go into one call", len(ids), h.limits.BatchIDs).
			Suggest("Call it several times.")
	}
	for _, id := range ids {
		if id == "" {
			return refuse("a message id is empty")
		}
	}
	return nil
}

func checkID(id c3po.MessageID) error {
	if id == "" {
		return c3po.Errorf(c3po.InvalidRequest, "message_id is missing").
			Suggest("Copy the id whole from get_messages or from the receipt.")
	}
	return nil
}

func (h *Hub) pageLimit(asked int) (int, error) {
	switch {
	case asked < 0:
		return 0, refuse("limit cannot be negative")
	case asked == 0:
		return h.limits.PageItems, nil
	default:
		return min(asked, h.limits.MaxPageItems), nil
	}
}

// checkWait turns seconds into a duration; 0 stands for what the operation
// does when none are given.
func (h *Hub) checkWait(field string, seconds int) (time.Duration, error) {
	most := int(h.limits.MaxWait / time.Second)
	if seconds < 0 || seconds > most {
		return 0, refuse("%s is %d; it must be between 1 and %d seconds", field, seconds, most)
	}
	return time.Duration(seconds) * time.Second, nil
}

func (me *identity) person() error {
	if me.caller.Person() {
		return nil
	}
	return c3po.RefuseAgent()
}
