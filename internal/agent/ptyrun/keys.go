package ptyrun

import (
	"bytes"
	"regexp"

	"github.com/c3po-dev/c3po/c3po"
)

// lineState is what is known of the line the person may be typing.
type lineState int

const (
	lineEmpty   lineState = iota // provably: nothing came after the last Enter
	lineTyped                    // there is something in it
	lineUnknown                  // it was edited in a way that only the screen can tell
)

// keys follows what the person types. It knows what a key does to a line only
// where every program agrees.
type keys struct {
	piped bool // not from a terminal: a line feed ends a line

	state   lineState
	typed   int // characters in the line, while it is lineTyped
	parse   keyParse
	params  []byte
	pasting bool

	plain   []byte // the latest of what was typed, for marks
	tickets map[c3po.MessageID]bool
}

type keyParse int

const (
	keyPlain keyParse = iota
	keyEscape
	keyCSI
	keySS3
	keyString       // OSC, DCS and the like: answers of the terminal
	keyStringEscape // the first half of their end
)

// maxPlainBytes is more than a mark and a ticket are long.
const maxPlainBytes = 512

var typedMark = regexp.MustCompile(regexp.QuoteMeta(openMark) + `([A-Za-z0-9_.:/-]+)`)

// feed takes in what is about to go to the program.
func (k *keys) feed(input []byte) {
	for _, b := range input {
		k.next(b)
	}
	if k.parse != keyPlain {
		// What a terminal says comes whole. So this was a key, Escape or one together
		// with Alt, and what follows it is none of its business.
		if k.parse != keyEscape && k.parse != keyCSI {
			k.parse = keyPlain
		}
		k.markUnknown()
	}
	for _, m := range typedMark.FindAllSubmatch(k.plain, -1) {
		if id, err := c3po.ParseMessageID(string(m[1])); err == nil {
			if k.tickets == nil {
				k.tickets = map[c3po.MessageID]bool{}
			}
			k.tickets[id] = true
		}
	}
	if len(k.plain) > maxPlainBytes {
		k.plain = bytes.Clone(k.plain[len(k.plain)-maxPlainBytes:])
	}
}

// clearLine says that the line was sent, by us.
func (k *keys) clearLine() { k.state, k.typed = lineEmpty, 0 }

// typedTicket says that the person has typed the mark of an answer to it: what
// is on the screen of it may be an echo.
func (k *keys) typedTicket(id c3po.MessageID) bool { return k.tickets[id] }

func (k *keys) next(b byte) {
	switch k.parse {
	case keyEscape:
		k.afterEscape(b)
	case keyCSI:
		if b >= 0x40 && b <= 0x7e {
			k.parse = keyPlain
			k.sequence(b)
		} else {
			k.params = append(k.params, b)
		}
	case keySS3:
		k.parse = keyPlain
		k.markUnknown()
	case keyString:
		switch b {
		case 0x1b:
			k.parse = keyStringEscape
		case 0x07:
			k.parse = keyPlain
		}
	case keyStringEscape:
		k.parse = keyPlain
	default:
		k.key(b)
	}
}

func (k *keys) afterEscape(b byte) {
	switch b {
	case '[':
		k.parse, k.params = keyCSI, k.params[:0]
	case 'O':
		k.parse = keySS3
	case ']', 'P', '_', '^', 'X':
		k.parse = keyString
	case 0x1b:
		k.markUnknown()
	default: // a key together with Alt
		k.parse = keyPlain
		k.markUnknown()
	}
}

// sequence is a whole CSI sequence. Some are the terminal's word, not a key.
func (k *keys) sequence(final byte) {
	params := string(k.params)
	switch {
	case final == '~' && params == "200":
		k.pasting = true
	case final == '~' && params == "201":
		k.pasting = false
	case final == 'I' || final == 'O': // the window has, or has not, the focus
	case (final == 'M' || final == 'm') && len(params) > 0 && params[0] == '<': // the mouse
	case len(params) > 0 && (params[0] == '?' || params[0] == '>'): // what the terminal can do
	case final == 'R' && bytes.IndexByte(k.params, ';') > 0: // where the cursor is
	case final == 'n' || final == 't': // how the terminal is
	default:
		k.markUnknown()
	}
}

// key is one key, or one byte of a character.
func (k *keys) key(b byte) {
	switch {
	case b == 0x1b:
		k.parse = keyEscape
	case k.pasting, b >= 0x20 && b != 0x7f:
		k.plain = append(k.plain, b)
		if b < 0x80 || b >= 0xc0 { // what follows the first byte of a character is no other
			k.typed++
		}
		k.state = lineTyped
	case b == '\r', b == '\n' && k.piped:
		k.plain = append(k.plain, '\n')
		k.clearLine()
	case (b == 0x7f || b == 0x08) && k.state == lineTyped && k.typed > 1:
		k.typed--
	default:
		// Also what deletes the last character, or all: that it did is for the screen
		// to tell.
		k.markUnknown()
	}
}

func (k *keys) markUnknown() { k.state, k.typed = lineUnknown, 0 }
