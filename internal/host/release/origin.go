package release

import (
	"path/filepath"
	"strings"
)

// Script is the kind of a program that the install script has put there.
const Script = "script"

// An Origin is how the program came to a host, and how the next one does.
type Origin struct {
	Kind     string   `json:"kind"` // deb, rpm, brew or script
	Commands []string `json:"commands"`
}

// OriginOf tells it by where the program is. The architecture is that of Go;
// exists says whether there is a file, and home is that of the user, if any.
func OriginOf(program, system, architecture, home string, exists func(string) bool) Origin {
	file := Page + "/latest/download/c3po-linux-" + architecture
	switch {
	case strings.Contains(program, "/Caskroom/") || strings.Contains(program, "/Cellar/"):
		return Origin{"brew", []string{"brew update", "brew upgrade c3po"}}
	case program == "/usr/bin/c3po" && exists("/var/lib/dpkg/info/c3po.list"):
		return Origin{"deb", []string{"curl -fsSLO " + file + ".deb", "sudo apt install ./c3po-linux-" + architecture + ".deb"}}
	case program == "/usr/bin/c3po" && (exists("/usr/lib/sysimage/rpm") || exists("/var/lib/rpm")):
		return Origin{"rpm", []string{"sudo dnf install " + file + ".rpm"}}
	case system == "windows":
		return Origin{"archive", []string{"unpack " + Page + "/latest/download/c3po-windows-" + architecture + ".zip over " + program}}
	}
	shell := "sh"
	folder := filepath.Dir(program)
	switch {
	case program == "": // where it is cannot be known without /proc
	case home != "" && folder == filepath.Join(home, ".local", "bin"): // where the script puts it
	case folder == "/usr/local/bin":
		shell = "sudo sh"
	default:
		shell = "C3PO_BIN=" + shellQuote(folder) + " sh"
	}
	return Origin{Script, []string{"curl -fsSL " + Page + "/latest/download/install.sh | " + shell}}
}

// shellQuote is a text as a shell reads it as one word.
func shellQuote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }
