package redisstore

import (
	"strings"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
)

// wordText spells what a draft goes back to: "ID milliseconds passkey", without the passkey if
// a token was enough. What a person writes goes back to itself, so only its passkey is kept;
// once it is handed on it has another id, and is spelled in full. message_reply.lua does the same.
func wordText(d store.Draft) string {
	switch {
	case d.From == c3po.Human && d.Proof != nil:
		return d.Proof.Passkey
	case d.From == c3po.Human || d.GoesBackTo == nil:
		return ""
	}
	text := string(d.GoesBackTo.ID) + " " + itoa(stamp(d.GoesBackTo.At))
	if d.GoesBackTo.Passkey != "" {
		text += " " + d.GoesBackTo.Passkey
	}
	return text
}

// word reads what wordText wrote; nil for what goes back to nothing but itself.
func (f fact) word() *c3po.Word {
	if f.GoesBack == "" || f.From == c3po.Human && f.Ticket == "" {
		return nil
	}
	id, rest, _ := strings.Cut(f.GoesBack, " ")
	at, passkey, _ := strings.Cut(rest, " ")
	return &c3po.Word{ID: c3po.MessageID(id), At: instant(atoi(at)), Passkey: passkey}
}
