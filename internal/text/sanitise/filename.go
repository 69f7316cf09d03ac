package sanitise

import (
	"path"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxFileName leaves room for a number behind it in what every file system takes.
const maxFileName = 200

// FileName is a stranger's name for a file, made fit to be one in a folder of ours: one
// name, seen as it is, not hidden, of no device, and not too long. It is never empty.
func FileName(name string) string {
	var out strings.Builder
	for i, r := range name {
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(name[i:], string(utf8.RuneError)),
			Hidden(r), unicode.IsSpace(r) && r != ' ', strings.ContainsRune(`/\<>:"|?*`, r):
			out.WriteByte('_')
		default:
			out.WriteRune(r)
		}
	}
	// Windows drops what stands at the end; a dot in front hides a file, and what
	// configures programs has one; a dash in front makes it an option.
	safe := strings.TrimRight(out.String(), ". ")
	if trimmed := strings.TrimLeft(safe, ".- "); trimmed != safe {
		safe = "_" + trimmed
	}
	if safe == "" {
		return "file"
	}
	ending := path.Ext(safe)
	stem := strings.TrimSuffix(safe, ending)
	if isDevice(stem) {
		stem = "_" + stem
	}
	if len(ending) > 20 {
		stem, ending = stem+ending, ""
	}
	return cutText(stem, maxFileName-len(ending)) + ending
}

// isDevice says that Windows takes a name for a device, whatever its ending.
func isDevice(stem string) bool {
	stem, _, _ = strings.Cut(strings.ToUpper(strings.TrimSpace(stem)), ".")
	switch stem {
	case "CON", "PRN", "AUX", "NUL":
		return true
	}
	return len(stem) == 4 && (strings.HasPrefix(stem, "COM") || strings.HasPrefix(stem, "LPT")) && stem[3] >= '0' && stem[3] <= '9'
}

// cutText keeps whole characters of at most so many bytes.
func cutText(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most]
}
