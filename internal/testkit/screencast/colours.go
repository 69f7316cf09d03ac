package screencast

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// A part is a piece of a line that looks the same throughout.
type part struct {
	text, fore, back   string
	bold, dim, reverse bool
}

func (p part) attributes() string {
	fill := p.fore
	if fill == "" {
		fill = ink
	}
	text := fmt.Sprintf(` fill="%s"`, fill)
	if p.bold {
		text += ` font-weight="bold"`
	}
	if p.dim {
		text += ` opacity=".6"`
	}
	return text
}

var escapes = regexp.MustCompile("\x1b\\[([0-9;:]*)m|\x1b\\][^\x07\x1b]*(?:\x07|\x1b\\\\)|\x1b[()][A-Z0-9]|\x1b\\[[0-9;?]*[A-Za-z]|[\x0e\x0f]")

// parse splits a line at its escape sequences, and keeps those of colour and weight.
func parse(line string) []part {
	var parts []part
	now := part{}
	add := func(text string) {
		if text == "" {
			return
		}
		shown := now
		shown.text = text
		if now.reverse {
			shown.fore, shown.back = now.back, now.fore
			if shown.fore == "" {
				shown.fore = background
			}
			if shown.back == "" {
				shown.back = ink
			}
		}
		parts = append(parts, shown)
	}
	for {
		at := escapes.FindStringSubmatchIndex(line)
		if at == nil {
			add(line)
			return parts
		}
		add(line[:at[0]])
		if at[2] >= 0 {
			now.apply(strings.FieldsFunc(line[at[2]:at[3]], func(r rune) bool { return r == ';' || r == ':' }))
		}
		line = line[at[1]:]
	}
}

// apply takes over what one sequence says (SGR).
func (p *part) apply(codes []string) {
	if len(codes) == 0 {
		*p = part{}
	}
	for len(codes) > 0 {
		code, _ := strconv.Atoi(codes[0])
		codes = codes[1:]
		switch {
		case code == 0:
			*p = part{}
		case code == 1:
			p.bold = true
		case code == 2:
			p.dim = true
		case code == 7:
			p.reverse = true
		case code == 22:
			p.bold, p.dim = false, false
		case code == 27:
			p.reverse = false
		case code >= 30 && code <= 37:
			p.fore = colour(code - 30)
		case code >= 90 && code <= 97:
			p.fore = colour(code - 90 + 8)
		case code == 39:
			p.fore = ""
		case code >= 40 && code <= 47:
			p.back = colour(code - 40)
		case code >= 100 && code <= 107:
			p.back = colour(code - 100 + 8)
		case code == 49:
			p.back = ""
		case code == 38 || code == 48:
			var chosen string
			chosen, codes = extended(codes)
			if code == 38 {
				p.fore = chosen
			} else {
				p.back = chosen
			}
		}
	}
}

// extended reads a colour of 256, or one by red, green and blue.
func extended(codes []string) (string, []string) {
	number := func(i int) int {
		if i >= len(codes) {
			return 0
		}
		n, _ := strconv.Atoi(codes[i])
		return n
	}
	switch number(0) {
	case 5:
		return colour(number(1)), codes[min(2, len(codes)):]
	case 2:
		return fmt.Sprintf("#%02x%02x%02x", number(1), number(2), number(3)), codes[min(4, len(codes)):]
	}
	return "", nil
}

var sixteen = [...]string{
	"#3b4048", "#e06c75", "#98c379", "#e5c07b", "#61afef", "#c678dd", "#56b6c2", "#c8ccd4",
	"#7f8590", "#ff8791", "#b5e890", "#ffdb99", "#82c4ff", "#e19bf5", "#7ad8e3", "#ffffff",
}

// colour is one of the 256 of a terminal.
func colour(n int) string {
	switch {
	case n < 0 || n > 255:
		return ""
	case n < len(sixteen):
		return sixteen[n]
	case n >= 232:
		grey := 8 + 10*(n-232)
		return fmt.Sprintf("#%02x%02x%02x", grey, grey, grey)
	}
	level := func(v int) int {
		if v == 0 {
			return 0
		}
		return 55 + 40*v
	}
	n -= 16
	return fmt.Sprintf("#%02x%02x%02x", level(n/36), level(n/6%6), level(n%6))
}
